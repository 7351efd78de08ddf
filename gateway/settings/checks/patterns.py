"""Channels that stand for many topics (RULES section 10)."""

from __future__ import annotations

from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.stomp.settings import StompChannel
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_patterns(settings: Settings, report: Report) -> None:
    sinks = {link.sink for link in settings.links.values()}
    for id_, channel in settings.channels.items():
        if not isinstance(channel, StompChannel | JmsChannel) or channel.pattern is None:
            continue
        path = ("channels", id_, "destination")
        if id_ in sinks:
            report.error(
                "CFG-PATTERN",
                path,
                "a link sends to this channel, and nobody can send to a pattern of topics",
                "name one topic; the pattern may be a channel of its own",
            )
        endpoint = settings.endpoints.get(channel.endpoint)
        if isinstance(endpoint, JmsEndpoint) and endpoint.ways is None:
            report.error(
                "CFG-PATTERN",
                path,
                "nothing is known of this provider's wildcards, so it cannot be asked for a pattern of topics",
                "say whose ways it follows with `provider:` of the endpoint, or name one topic",
            )
