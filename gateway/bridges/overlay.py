"""Bridges as links: a configuration, and what CORBA clients have added to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from adapters.cosnotification.settings import CosNotificationChannel
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.stomp.settings import StompChannel, StompEndpoint
from gateway.bridges.bridge import Bridge, EndPoint, ErrorCode, FlowStyle, InvalidEndPoints, MessageType, Role
from gateway.settings.links import Delivery, LinkSettings
from gateway.settings.settings import Settings
from gateway.settings.wires import Channel

_EVENTS: Final = {MessageType.STRUCTURED_EVENT: "structured", MessageType.SEQUENCE_EVENT: "sequence"}


def with_bridges(settings: Settings, bridges: Iterable[Bridge]) -> Settings:
    """With a link for each bridge that is started. Raises InvalidEndPoints."""
    channels, links = dict(settings.channels), dict(settings.links)
    for bridge in bridges:
        if not bridge.started:
            continue
        ends = {end: channel_of(settings, bridge, end) for end in ("source", "sink")}
        channels.update({f"{bridge.link}.{end}": channel for end, channel in ends.items()})
        links[bridge.link] = _link(bridge)
    return settings.model_copy(update={"channels": channels, "links": links})


def channel_of(settings: Settings, bridge: Bridge, end: str) -> Channel:
    """Raises InvalidEndPoints."""
    point: EndPoint = getattr(bridge, end)
    service = settings.services.bridges
    role = Role.SOURCE if end == "source" else Role.SINK
    if service is None:
        raise InvalidEndPoints([(role, ErrorCode.INVALID_CHANNELID)])
    if not point.is_jms:
        return CosNotificationChannel(
            endpoint=service.channels,
            channel=point.channel,
            events=_EVENTS[MessageType(point.type)],  # type: ignore[arg-type]
            style="pull" if point.style == FlowStyle.PULL else "push",
        )
    endpoint = point.factory_name or service.destinations
    destination = f"{point.destination_type}://{point.destination_name}"
    match settings.endpoints.get(endpoint):
        case StompEndpoint():
            return StompChannel(endpoint=endpoint, destination=destination)
        case JmsEndpoint():
            return JmsChannel(endpoint=endpoint, destination=destination)
    raise InvalidEndPoints(
        [(role, ErrorCode.INVALID_JMSDESTINATION)], f"there is no broker {endpoint!r} in the configuration"
    )


def _link(bridge: Bridge) -> LinkSettings:
    delivery = Delivery()
    if bridge.events:
        delivery = Delivery(
            batch=bridge.events, batch_wait_ms=bridge.timeout_ms, window=max(bridge.events, Delivery().window)
        )
    ends = {"from": f"{bridge.link}.source", "to": f"{bridge.link}.sink"}
    return LinkSettings(**ends, delivery=delivery)  # type: ignore[arg-type]
