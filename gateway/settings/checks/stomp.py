"""What STOMP channels ask of their broker."""

from __future__ import annotations

from adapters.stomp.settings import StompChannel, StompEndpoint
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_stomp_channels(settings: Settings, report: Report) -> None:
    sources = {link.source for link in settings.links.values()}
    sinks = {link.sink for link in settings.links.values()}
    for id_, channel in settings.channels.items():
        endpoint = settings.endpoints.get(channel.endpoint)
        if not isinstance(channel, StompChannel) or not isinstance(endpoint, StompEndpoint):
            continue
        if channel.subscription is not None and not channel.destination.startswith("topic://"):
            path = ("channels", id_, "subscription")
            message = "only a topic has durable subscriptions; a queue keeps its messages anyway"
            report.error("CFG-SUBSCRIPTION", path, message, "remove it", at=report.key(path))
        if channel.selector is not None and endpoint.broker == "rabbitmq":
            path = ("channels", id_, "selector")
            hint = "write it as `selector:` of the link"
            report.error("CFG-FILTER-KIND", path, "RabbitMQ applies no selectors", hint, at=report.key(path))
        has_types = endpoint.broker == "rabbitmq" and channel.destination.startswith("queue://")
        if channel.queue_type is not None and not has_types:
            path = ("channels", id_, "queue_type")
            message = "only queues of RabbitMQ have a type"
            report.warning("CFG-NO-EFFECT", path, message, "remove it", at=report.key(path))
        if endpoint.broker == "artemis" and id_ in sources:
            report.note(
                "CFG-BODIES-LOST",
                ("channels", id_, "destination"),
                "of JMS producers Artemis delivers MapMessage, StreamMessage and ObjectMessage over STOMP empty or not at all",
                "if there are such producers, use an endpoint of type jms",
            )
        for key in ("selector", "subscription"):
            if getattr(channel, key) is not None and id_ in sinks and id_ not in sources:
                path = ("channels", id_, key)
                message = f"{key} bears on taking messages, and links only send to this channel"
                report.warning("CFG-NO-EFFECT", path, message, "remove it", at=report.key(path))
