"""Links that forward on demand: nothing may be thrown away that somebody relies on, and there must be a demand to know of."""

from __future__ import annotations

from adapters.cosnotification.settings import CosNotificationEndpoint
from gateway.settings.report import Report
from gateway.settings.settings import Settings
from gateway.settings.wires import Channel

TOPIC = "topic://"


def check_on_demand(settings: Settings, report: Report) -> None:
    for id_, link in settings.links.items():
        source, sink = settings.channels.get(link.source), settings.channels.get(link.sink)
        if not link.on_demand or source is None or sink is None:
            continue
        path = ("links", id_, "on_demand")
        if (what := _keeps(source)) is not None:
            report.error(
                "CFG-ON-DEMAND",
                path,
                f"the source is {what}: what it keeps would be thrown away while nobody downstream wants it",
                "leave on_demand out, or take from a topic without a durable subscription",
            )
        elif link.numbered is not None:
            report.error(
                "CFG-ON-DEMAND",
                path,
                "`numbered` would report what nobody wanted as missing",
                "leave on_demand or numbered out",
            )
        elif not _tells(settings, sink):
            shown = report.document.shown(("links", id_, "to"))
            report.warning(
                "CFG-NO-EFFECT",
                path,
                f"what the consumers of {shown} want cannot be known: everything is forwarded",
                "it is known of channels of a Notification Service of Isthmus, and of topics of the broker that this gateway hosts",
            )


def _keeps(channel: Channel) -> str | None:
    """What a source is that keeps messages for whoever comes."""
    if getattr(channel, "subscription", None) is not None:
        return "a durable subscription"
    if (getattr(channel, "destination", None) or "").startswith("queue://"):
        return "a queue"
    return None


def _tells(settings: Settings, channel: Channel) -> bool:
    endpoint = settings.endpoints.get(channel.endpoint)
    if isinstance(endpoint, CosNotificationEndpoint):
        return endpoint.service == "notification"
    is_topic = (getattr(channel, "destination", None) or "").startswith(TOPIC)
    return is_topic and settings.is_own_broker(channel.endpoint)
