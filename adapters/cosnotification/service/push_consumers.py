"""The proxies that suppliers push to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from adapters.cosnotification.service.engine.carried_event import CarriedAny, carried
from adapters.cosnotification.service.engine.carried_octets import CarriedOctets, all_events, one_event
from adapters.cosnotification.service.engine.wire import PUSH_MANY, PUSH_ONE
from adapters.cosnotification.service.octet_consumer import OctetConsumer
from adapters.cosnotification.service.proxy_consumer import ProxyConsumer
from adapters.cosnotification.service.stubs import (
    CosEventChannelAdmin__POA,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosNotifyComm,
)


class AnyPushConsumer(ProxyConsumer):
    TYPE = CosNotifyChannelAdmin.PUSH_ANY
    CLIENT = CosEventComm.PushSupplier
    FAREWELL = "disconnect_push_supplier"
    NIL_CLIENT = True

    def push(self, data: Any) -> None:
        self.take_event(CarriedAny(data))

    def disconnect_push_consumer(self) -> None:
        self.disconnect()


class ProxyPushConsumer(AnyPushConsumer, CosNotifyChannelAdmin__POA.ProxyPushConsumer):  # type: ignore[misc]
    def connect_any_push_supplier(self, push_supplier: Any) -> None:
        self.connect(push_supplier)


class EventProxyPushConsumer(AnyPushConsumer, CosEventChannelAdmin__POA.ProxyPushConsumer):  # type: ignore[misc]
    """For those who know nothing but the Event Service."""

    def connect_push_supplier(self, push_supplier: Any) -> None:
        self.connect(push_supplier)


class StructuredProxyPushConsumer(OctetConsumer, CosNotifyChannelAdmin__POA.StructuredProxyPushConsumer):  # type: ignore[misc]
    TYPE = CosNotifyChannelAdmin.PUSH_STRUCTURED
    CLIENT = CosNotifyComm.StructuredPushSupplier
    FAREWELL = "disconnect_structured_push_supplier"
    NIL_CLIENT = True
    PUSH = "push_structured_event"
    _omni_op_d: ClassVar[Any] = {
        **CosNotifyChannelAdmin__POA.StructuredProxyPushConsumer._omni_op_d,
        "push_structured_event": PUSH_ONE,
    }

    def connect_structured_push_supplier(self, push_supplier: Any) -> None:
        self.connect(push_supplier)

    def read_octets(self, arguments: bytes, little: bool) -> tuple[CarriedOctets] | None:
        return one_event(arguments, little)

    def push_structured_event(self, notification: Any) -> None:
        self.take_event(carried(notification))

    def disconnect_structured_push_consumer(self) -> None:
        self.disconnect()


class SequenceProxyPushConsumer(OctetConsumer, CosNotifyChannelAdmin__POA.SequenceProxyPushConsumer):  # type: ignore[misc]
    TYPE = CosNotifyChannelAdmin.PUSH_SEQUENCE
    CLIENT = CosNotifyComm.SequencePushSupplier
    FAREWELL = "disconnect_sequence_push_supplier"
    NIL_CLIENT = True
    PUSH = "push_structured_events"
    _omni_op_d: ClassVar[Any] = {
        **CosNotifyChannelAdmin__POA.SequenceProxyPushConsumer._omni_op_d,
        "push_structured_events": PUSH_MANY,
    }

    def connect_sequence_push_supplier(self, push_supplier: Any) -> None:
        self.connect(push_supplier)

    def read_octets(self, arguments: bytes, little: bool) -> Sequence[CarriedOctets] | None:
        return all_events(arguments, little)

    def push_structured_events(self, notifications: Any) -> None:
        self.take_many(notifications)

    def disconnect_sequence_push_consumer(self) -> None:
        self.disconnect()
