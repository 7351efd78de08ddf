"""The proxies that push to consumers."""

from __future__ import annotations

from typing import Any, ClassVar

from adapters.cosnotification import shims
from adapters.cosnotification.giop.caller import Caller
from adapters.cosnotification.giop.neighbour import Neighbour
from adapters.cosnotification.giop.target import Target, target_of
from adapters.cosnotification.giop.visitor import Handler
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.boxing import RmiConsumer
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.event_queue import Batching
from adapters.cosnotification.service.engine.outlet import Outlet
from adapters.cosnotification.service.engine.relay import Relay
from adapters.cosnotification.service.engine.wire import push_many, push_one
from adapters.cosnotification.service.proxy_supplier import ProxySupplier
from adapters.cosnotification.service.stubs import (
    CORBA,
    CosEventChannelAdmin__POA,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosNotifyComm,
)


class PushSupplier(ProxySupplier):
    NIL_CLIENT = False
    RELAYED: ClassVar[str | None] = None  # the operation to which octets can be passed on
    outlet: Outlet | None = None
    relay: Relay | None = None

    def deliver(self, client: Any, events: list[CarriedEvent]) -> None:
        raise NotImplementedError

    def on_connect(self, client: Any) -> None:
        name = f"{self.channel.id}-{self.admin.id}-{self.id}"
        self.outlet = Outlet(
            name, self.queue, lambda events: self.deliver(client, events), self.leave, self.channel.service.retry
        )
        self.qos_changed()
        self.relay = self._relay_to(client)
        self.route.takes_octets = self.relay is not None
        super().on_connect(client)

    def on_start(self) -> None:
        assert self.outlet is not None
        self.outlet.start()

    def rest(self) -> None:
        """The service stops, and the connection stays: what the consumer has not got it gets from the next process."""
        if self.outlet is not None:
            self.outlet.stop()
        if self.relay is not None:
            self.relay.close()

    def on_suspend(self) -> None:
        assert self.outlet is not None
        self.outlet.suspend()

    def on_resume(self) -> None:
        assert self.outlet is not None
        self.outlet.resume()

    def on_leave(self) -> None:
        super().on_leave()
        self.rest()

    def qos_changed(self) -> None:
        if self.outlet is not None:
            self.outlet.persistent = self.connections_persist
            batching = self.batching()
            self.outlet.batching.most, self.outlet.batching.pacing = batching.most, batching.pacing
        super().qos_changed()

    def batching(self) -> Batching:
        return Batching()

    @property
    def _consumer(self) -> Any:
        return self._client

    def _relay_to(self, client: Any) -> Relay | None:
        """None where no octets come, or the library must call."""
        settings = self.orb.settings
        if self.RELAYED is None or settings.bidirectional or settings.code_set != "UTF-8":
            return None
        target, own = target_of(self.orb.to_string(client)), target_of(self.orb.to_string(self.reference))
        if target is None:
            return None
        caller: Caller | Neighbour
        if own is not None and not set(own.addresses).isdisjoint(target.addresses):
            if self._handler_of(target) is None:
                return None
            caller = Neighbour(lambda: self._handler_of(target), settings.max_message_bytes)
        else:
            disconnected = (CosEventComm.Disconnected,)
            caller = Caller(target, self.RELAYED, settings.call_timeout_ms, settings.max_message_bytes, disconnected)
        return Relay(caller, lambda: self._answers(client), self._relay_lost)

    def _handler_of(self, target: Target) -> Handler | None:
        """Of a consumer in this process, where it takes octets: a link of the gateway, or a proxy of another channel."""
        return None if self.RELAYED is None else self.orb.octets_handler(target.key, self.RELAYED)

    def _answers(self, client: Any) -> bool:
        try:
            return not client._non_existent()
        except CORBA.Exception:
            return False

    def _relay_lost(self) -> None:
        self.route.takes_octets = False
        self.channel.hub.consider_octets()


class AnyPushSupplier(PushSupplier):
    TYPE = CosNotifyChannelAdmin.PUSH_ANY
    CLIENT = CosEventComm.PushConsumer
    FAREWELL = "disconnect_push_consumer"

    def deliver(self, client: Any, events: list[CarriedEvent]) -> None:
        client.push(events[0].any)

    def disconnect_push_supplier(self) -> None:
        self.disconnect()


class ProxyPushSupplier(AnyPushSupplier, CosNotifyChannelAdmin__POA.ProxyPushSupplier):  # type: ignore[misc]
    def connect_any_push_consumer(self, push_consumer: Any) -> None:
        self.connect(push_consumer)


class EventProxyPushSupplier(AnyPushSupplier, CosEventChannelAdmin__POA.ProxyPushSupplier):  # type: ignore[misc]
    """For those who know nothing but the Event Service."""

    def connect_push_consumer(self, push_consumer: Any) -> None:
        self.connect(push_consumer)


class StructuredProxyPushSupplier(PushSupplier, CosNotifyChannelAdmin__POA.StructuredProxyPushSupplier):  # type: ignore[misc]
    """A consumer that is a Java remote interface gets its events boxed (RULES.md 7.3)."""

    TYPE = CosNotifyChannelAdmin.PUSH_STRUCTURED
    CLIENT = CosNotifyComm.StructuredPushConsumer
    FAREWELL = "disconnect_structured_push_consumer"
    RELAYED = "push_structured_event"

    def connect_structured_push_consumer(self, push_consumer: Any) -> None:
        self.connect(push_consumer)

    _rmi: RmiConsumer | None = None

    def _fit(self, client: Any) -> Any:
        return client if self._is_rmi(client) else super()._fit(client)

    def on_connect(self, client: Any) -> None:
        if self._is_rmi(client):
            reference = self.orb.corba.string_to_object(self.orb.to_string(client))
            set_time_out(reference, self.orb.settings.call_timeout_ms)
            self._rmi = RmiConsumer(reference, self.service.boxing)
        super().on_connect(client)

    def deliver(self, client: Any, events: list[CarriedEvent]) -> None:
        if self._rmi is None:
            push_one(client, events[0], self.relay)
        else:
            self._rmi.push(events[0].structured)

    def _relay_to(self, client: Any) -> Relay | None:
        return super()._relay_to(client) if self._rmi is None else None

    def say_farewell(self, client: Any) -> None:
        if self._rmi is None:
            super().say_farewell(client)
        else:
            self._rmi.disconnect()

    def _is_rmi(self, client: Any) -> bool:
        return not shims.is_nil(client) and self.service.boxing.is_for(self.orb.to_string(client))

    def disconnect_structured_push_supplier(self) -> None:
        self.disconnect()


class SequenceProxyPushSupplier(PushSupplier, CosNotifyChannelAdmin__POA.SequenceProxyPushSupplier):  # type: ignore[misc]
    TYPE = CosNotifyChannelAdmin.PUSH_SEQUENCE
    CLIENT = CosNotifyComm.SequencePushConsumer
    FAREWELL = "disconnect_sequence_push_consumer"
    RELAYED = "push_structured_events"

    def connect_sequence_push_consumer(self, push_consumer: Any) -> None:
        self.connect(push_consumer)

    def deliver(self, client: Any, events: list[CarriedEvent]) -> None:
        push_many(client, events, self.relay)

    def batching(self) -> Batching:
        return Batching(self.qos.get("MaximumBatchSize"), self.qos.get("PacingInterval"))

    def disconnect_sequence_push_supplier(self) -> None:
        self.disconnect()
