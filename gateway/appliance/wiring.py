"""From a channel of the configuration to its source or sink. The library of a wire is imported when a link first needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from adapters.base import Sink, Source
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.memory.settings import MemoryChannel, MemoryEndpoint
from adapters.mq.settings import MqChannel, MqEndpoint
from adapters.notices.settings import NoticesChannel
from adapters.stomp.settings import StompChannel, StompEndpoint
from gateway.appliance.fencing import FencedSink, beat_ms
from gateway.appliance.services import Services
from gateway.settings.settings import Settings
from gateway.settings.wires import Channel, Endpoint

if TYPE_CHECKING:
    from adapters.memory.connection import MemoryPeer


class Wiring:
    """Makes the ends of links. `settings` may be replaced between links, when the gateway takes over another configuration."""

    def __init__(
        self,
        settings: Settings,
        services: Services,
        notices: MemoryPeer | None = None,
        leads: Callable[[], bool] | None = None,
    ) -> None:
        """`notices` has a queue for each channel of notices, by its id; None: no link takes from one. `leads`: whether this gateway
        may send, where there is a standby that may take over."""
        self.settings = settings
        self._leads = leads
        self._beat_ms = None if settings.standby is None else beat_ms(settings.standby.lease_secs)
        self._services = services
        self._notices = notices
        self._memory_peers: dict[str, MemoryPeer] = {}

    def source(self, channel_id: str) -> Source:
        match self._end(channel_id):
            case CosNotificationChannel() as channel, CosNotificationEndpoint() as endpoint:
                from adapters.cosnotification.source import CosNotificationSource

                return CosNotificationSource(self._services.orb(endpoint.orb), endpoint, channel)
            case StompChannel() as channel, StompEndpoint() as endpoint:
                from adapters.stomp.source import StompSource

                return StompSource(endpoint, channel, beat_ms=self._beat_ms)
            case JmsChannel() as channel, JmsEndpoint() as endpoint:
                from adapters.jms.source import JmsSource

                return JmsSource(endpoint, channel)
            case MqChannel() as channel, MqEndpoint() as endpoint:
                from adapters.mq.source import MqSource

                return MqSource(endpoint, channel)
            case MemoryChannel() as channel, MemoryEndpoint():
                from adapters.memory.source import MemorySource

                return MemorySource(self.memory_peer(channel.endpoint), channel)
            case NoticesChannel() as channel, _ if self._notices is not None:
                from adapters.memory.source import MemorySource

                return MemorySource(self._notices, MemoryChannel(endpoint=channel.endpoint, name=channel_id))
            case other:
                raise TypeError(f"no wire has such a channel: {other!r}")

    def sink(self, link: str) -> Sink:
        """Of a link: one connection, or several that share its events."""
        its = self.settings.links[link]
        if its.delivery.parallel == 1:
            return self.sink_of(its.sink)
        from gateway.links.lanes import LanedSink, key_of, round_robin

        key = key_of(its.delivery.order_by) if its.delivery.order_by else round_robin()
        return LanedSink([self.sink_of(its.sink) for _ in range(its.delivery.parallel)], key)

    def sink_of(self, channel_id: str) -> Sink:
        sink = self._sink_of(channel_id)
        return sink if self._leads is None else FencedSink(sink, self._leads)

    def _sink_of(self, channel_id: str) -> Sink:
        match self._end(channel_id):
            case CosNotificationChannel() as channel, CosNotificationEndpoint() as endpoint:
                from adapters.cosnotification.sink import CosNotificationSink

                return CosNotificationSink(self._services.orb(endpoint.orb), endpoint, channel)
            case StompChannel() as channel, StompEndpoint() as endpoint:
                from adapters.stomp.sink import StompSink

                return StompSink(endpoint, channel, beat_ms=self._beat_ms)
            case JmsChannel() as channel, JmsEndpoint() as endpoint:
                from adapters.jms.sink import JmsSink

                return JmsSink(endpoint, channel)
            case MqChannel() as channel, MqEndpoint() as endpoint:
                from adapters.mq.sink import MqSink

                return MqSink(endpoint, channel)
            case MemoryChannel() as channel, MemoryEndpoint():
                from adapters.memory.sink import MemorySink

                return MemorySink(self.memory_peer(channel.endpoint), channel)
            case other:
                raise TypeError(f"no wire has such a channel: {other!r}")

    def _end(self, channel_id: str) -> tuple[Channel, Endpoint]:
        channel = self.settings.channels[channel_id]
        return channel, self.settings.endpoints[channel.endpoint]

    def memory_peer(self, endpoint: str) -> MemoryPeer:
        """The far side of an in-memory endpoint, which lives as long as this gateway."""
        from adapters.memory.connection import MemoryPeer

        return self._memory_peers.setdefault(endpoint, MemoryPeer())
