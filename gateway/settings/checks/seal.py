"""Bodies that are sealed between two gateways: links that have none, and keys that are none."""

from __future__ import annotations

from pydantic import SecretStr

from gateway.journal.envelope import key_from_text
from gateway.journal.errors import JournalError
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of


def check_seals(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        path = ("links", id_, "seal")
        if link.seal is not None:
            _has_messages(settings, report, path, link.sink, "is sent to")
            if link.seal.compression == "none" and link.seal.secret_key is None:
                message = "neither compression nor a key is given: bodies would be wrapped for nothing"
                report.warning("CFG-NO-EFFECT", path, message, "give one, or remove it", at=report.key(path))
            if link.seal.secret_key is not None:
                _is_key(report, (*path, "secret_key"), link.seal.secret_key)
        path = ("links", id_, "unseal")
        if link.unseal is not None:
            _has_messages(settings, report, path, link.source, "comes from")
            for index, key in enumerate(link.unseal.secret_keys):
                _is_key(report, (*path, "secret_keys", index), key)


def _has_messages(settings: Settings, report: Report, path: Path, channel: str, what: str) -> None:
    its = settings.channels.get(channel)
    if its is not None and capabilities_of(its).form != "message":
        message = f"what {what} channel {channel} is events, and only bodies of messages are sealed"
        report.error("CFG-SEAL", path, message, "remove it", at=report.key(path))


def _is_key(report: Report, path: Path, key: SecretStr) -> None:
    try:
        key_from_text(key.get_secret_value())
    except JournalError as wrong:
        report.error("CFG-SEAL", path, wrong.message.replace("the journal", "this kind"), wrong.hint)
