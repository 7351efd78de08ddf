"""A link with `replies` and the link that brings the answers back must lie side by side, in opposite directions."""

from __future__ import annotations

from adapters.jms.settings import JmsChannel
from adapters.stomp.settings import StompChannel
from gateway.settings.document import quoted
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_replies(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        answers = settings.links.get(link.replies or "")
        if answers is None:
            continue
        path = ("links", id_, "replies")
        ends = [settings.channels.get(end) for end in (link.source, answers.sink, link.sink, answers.source)]
        asker, back, answerer, source = ends
        if asker is None or back is None or answerer is None or source is None:
            continue
        if asker.endpoint != back.endpoint or answerer.endpoint != source.endpoint:
            report.error(
                "CFG-REPLIES",
                path,
                f"{quoted(link.replies or '')} does not go the way back: from endpoint {quoted(answerer.endpoint)} "
                f"to endpoint {quoted(asker.endpoint)}",
                "answers must be taken from the broker that the questions go to, and sent to the one that they came from",
            )
        elif isinstance(source, StompChannel | JmsChannel) and source.pattern is not None:
            report.error(
                "CFG-REPLIES",
                path,
                f"{quoted(link.replies or '')} takes from a pattern of topics, and nobody can answer to one",
                "take the answers from a queue",
            )
