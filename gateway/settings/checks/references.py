"""Ids that name something: it must exist, and what exists should be named."""

from __future__ import annotations

from gateway.settings.document import quoted
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_references(settings: Settings, report: Report) -> None:
    """That a channel's endpoint exists has been seen before: its model depends on it."""
    channels = dict.fromkeys(report.document.keys(("channels",)))
    for section, entries in (("links", settings.links), ("foreign_links", settings.foreign_links)):
        for id_, link in entries.items():
            _must_exist(report, (section, id_, "from"), link.source, channels, "channel", "CFG-UNKNOWN-CHANNEL")
            _must_exist(report, (section, id_, "to"), link.sink, channels, "channel", "CFG-UNKNOWN-CHANNEL")
    for id_, its in settings.links.items():
        if its.dead_letter.channel is not None:
            path = ("links", id_, "dead_letter", "channel")
            _must_exist(report, path, its.dead_letter.channel, channels, "channel", "CFG-UNKNOWN-CHANNEL")
    links = dict.fromkeys(report.document.keys(("links",)))
    for id_, asking in settings.links.items():
        if asking.replies is not None:
            _must_exist(report, ("links", id_, "replies"), asking.replies, links, "link", "CFG-UNKNOWN-LINK")
    for index, test in enumerate(settings.tests):
        _must_exist(report, ("tests", index, "link"), test.link, links, "link", "CFG-UNKNOWN-LINK")


def check_unused(settings: Settings, report: Report) -> None:
    """By what the file says, valid or not: a broken link uses its channels too."""
    document = report.document
    joined = {
        document.value((section, link, end))
        for section in ("links", "foreign_links")
        for link in document.keys((section,))
        for end in ("from", "to")
    } | {link.dead_letter.channel for link in settings.links.values()}
    for channel in settings.channels:
        if channel not in joined:
            path = ("channels", channel)
            report.warning(
                "CFG-UNUSED-CHANNEL", path, f"no link uses channel {quoted(channel)}", "add a link, or remove it",
                at=report.key(path),
            )  # fmt: skip
    named = {document.value(("channels", channel, "endpoint")) for channel in document.keys(("channels",))}
    for endpoint in settings.endpoints:
        if endpoint not in named:
            path = ("endpoints", endpoint)
            report.warning(
                "CFG-UNUSED-ENDPOINT", path, f"no channel is at endpoint {quoted(endpoint)}", "add one, or remove it",
                at=report.key(path),
            )  # fmt: skip


def _must_exist(report: Report, path: Path, id_: str, known: dict[str, None], what: str, code: str) -> None:
    if id_ not in known:
        hint = report.suggestion(path, known, what)
        report.error(code, path, f"there is no {what} {report.document.shown(path)}", hint)
