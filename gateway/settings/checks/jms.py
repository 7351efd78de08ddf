"""What JMS channels ask of their provider."""

from __future__ import annotations

from adapters.jms.settings import JmsChannel, JmsEndpoint
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_jms_channels(settings: Settings, report: Report) -> None:
    sources = {link.source for link in settings.links.values()}
    sinks = {link.sink for link in settings.links.values()}
    durable: dict[str, str] = {}  # endpoint -> the first channel with a durable subscription
    for id_, channel in settings.channels.items():
        endpoint = settings.endpoints.get(channel.endpoint)
        if not isinstance(channel, JmsChannel) or not isinstance(endpoint, JmsEndpoint):
            continue
        path = ("channels", id_, "subscription")
        if channel.subscription is not None:
            if not channel.destination.startswith("topic://"):
                message = "only a topic has durable subscriptions; a queue keeps its messages anyway"
                report.error("CFG-SUBSCRIPTION", path, message, "remove it", at=report.key(path))
            first = durable.setdefault(channel.endpoint, id_)
            if endpoint.client_id is not None and first != id_:
                message = f"{first} holds the client id of {channel.endpoint}, and one connection only may have it"
                hint = "remove `client_id`: each subscription then has its own; or give it an endpoint of its own"
                report.error("CFG-SUBSCRIPTION", path, message, hint, at=report.key(path))
        for key in ("selector", "subscription"):
            if getattr(channel, key) is not None and id_ in sinks and id_ not in sources:
                path = ("channels", id_, key)
                message = f"{key} bears on taking messages, and links only send to this channel"
                report.warning("CFG-NO-EFFECT", path, message, "remove it", at=report.key(path))
