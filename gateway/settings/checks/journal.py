"""The journal: where it lies, its keys, and links that would not use it as they say."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

from pydantic import SecretStr

from gateway.journal.envelope import key_from_text
from gateway.journal.errors import JournalError
from gateway.settings.document import quoted
from gateway.settings.journal import JournalSettings
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_journal(settings: Settings, report: Report) -> None:
    if settings.journal is None:
        return
    folder = PurePosixPath(settings.journal.folder)
    if folder.is_absolute() or ".." in folder.parts:
        path = ("journal", "folder")
        message = f"{report.document.shown(path)} is not inside run_dir"
        report.error("CFG-JOURNAL", path, message, "write a relative path without ..")
    _check_sizes(settings.journal, report)
    _check_key(settings.journal.secret_key, ("journal", "secret_key"), report)
    if settings.journal.older_secret_keys and settings.journal.secret_key is None:
        message = "older keys are given, and none to write with: the newest would be taken for it"
        report.error("CFG-JOURNAL", ("journal", "older_secret_keys"), message, "give secret_key too")
    for index, key in enumerate(settings.journal.older_secret_keys):
        _check_key(key, ("journal", "older_secret_keys", index), report)


def check_journalled_links(settings: Settings, report: Report) -> None:
    """Options without a journal, and sources that some links take from the journal and others not."""
    users: defaultdict[str, dict[bool, str]] = defaultdict(dict)
    for id_, link in settings.links.items():
        path = ("links", id_, "delivery", "journal")
        if link.source not in settings.channels:
            continue  # it has a finding of its own
        uses = settings.journalled(id_)
        if not uses and link.delivery.journal.model_fields_set - {"enabled"}:
            message = "this link uses no journal"
            hint = "add `journal: {}`, or `enabled: true` here; or remove it"
            report.warning("CFG-NO-EFFECT", path, message, hint, at=report.key(path))
        if not link.enabled:
            continue
        users[link.source].setdefault(uses, id_)
        if len(users[link.source]) == 2 and not uses:
            other = users[link.source][True]
            message = (
                f"link {quoted(other)} takes the same channel from the journal: a queue would give each only a part"
            )
            report.warning("CFG-JOURNAL-MIXED", path, message, "let all links of a channel use the journal, or none")


def _check_sizes(journal: JournalSettings, report: Report) -> None:
    if journal.keep_bytes is not None and not journal.keep_secs:
        path = ("journal", "keep_bytes")
        message = "keep_bytes has no effect without keep_secs: nothing is kept that every link has settled"
        report.warning("CFG-NO-EFFECT", path, message, "set keep_secs, or remove it", at=report.key(path))
    if "segment_bytes" not in journal.model_fields_set or journal.max_bytes is None:
        return
    if journal.segment_bytes > journal.max_bytes // 4:
        message = f"segments are begun anew at a quarter of max_bytes, {journal.max_bytes // 4}, at the latest"
        report.note("CFG-JOURNAL", ("journal", "segment_bytes"), message)


def _check_key(key: SecretStr | None, path: Path, report: Report) -> None:
    if key is None:
        return
    try:
        key_from_text(key.get_secret_value())
    except JournalError as wrong:
        report.error("CFG-JOURNAL", path, wrong.message, wrong.hint)
