"""Channels of notices: what the gateway says of itself."""

from __future__ import annotations

from adapters.notices.settings import NoticesChannel
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_notices(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        if isinstance(settings.channels.get(link.sink), NoticesChannel):
            report.error(
                "CFG-NOTICES",
                ("links", id_, "to"),
                "a link sends to this channel, and notices come from the gateway alone",
                "take from it: from: " + link.sink,
            )
        if isinstance(settings.channels.get(link.source), NoticesChannel) and not settings.journalled(id_):
            report.error(
                "CFG-NOTICES",
                ("links", id_, "from"),
                "the link takes notices and has no journal: what the sink does not take now would end with the process",
                "leave `journal: null` or `delivery.journal.enabled: false` away",
            )
