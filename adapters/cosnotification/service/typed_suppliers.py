"""The proxies of typed consumers: those that call operations of `<I>` on consumers, and those that offer a Pull<I>."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.carried_operation import operation_in
from adapters.cosnotification.service.pull_suppliers import HOLD_SECS, AnyPull
from adapters.cosnotification.service.push_suppliers import PushSupplier
from adapters.cosnotification.service.stubs import (
    CORBA,
    CosEventChannelAdmin__POA,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosTypedEventChannelAdmin__POA,
    CosTypedEventComm,
    CosTypedNotifyChannelAdmin__POA,
)
from adapters.cosnotification.service.typed_objects import OfInterface, TypedClient
from adapters.cosnotification.typed.dynamic import Form, invoke, pull_servant
from adapters.cosnotification.typed.interface import TypedInterface

if TYPE_CHECKING:
    from adapters.cosnotification.service.consumer_admin import ConsumerAdmin

SHORTEST_NAP_SECS: Final = 0.005
LONGEST_NAP_SECS: Final = 0.05


class TypedPushSupplier(OfInterface, PushSupplier):
    TYPE = CosNotifyChannelAdmin.PUSH_TYPED
    CLIENT = CosTypedEventComm.TypedPushConsumer
    FAREWELL = "disconnect_push_consumer"

    def __init__(self, admin: ConsumerAdmin, id_: int, interface: TypedInterface) -> None:
        self.interface = interface
        self.can_take = lambda event: operation_in(event, interface) is not None
        self._typed_client: TypedClient = TypedClient(
            interface.id, CosTypedEventComm.TypedPushConsumer, "get_typed_consumer"
        )
        super().__init__(admin, id_)

    def deliver(self, client: Any, events: list[CarriedEvent]) -> None:
        found = operation_in(events[0], self.interface)
        assert found is not None, "can_take has let it pass"
        form, anys = found
        invoke(self._typed_client.typed, form.operation.name, anys)

    def disconnect_push_supplier(self) -> None:
        self.disconnect()


class TypedProxyPushSupplier(TypedPushSupplier, CosTypedNotifyChannelAdmin__POA.TypedProxyPushSupplier):  # type: ignore[misc]
    def connect_typed_push_consumer(self, push_consumer: Any) -> None:
        self.connect(push_consumer)


class EventTypedProxyPushSupplier(TypedPushSupplier, CosEventChannelAdmin__POA.ProxyPushSupplier):  # type: ignore[misc]
    """For those who know nothing but the typed Event Service."""

    def connect_push_consumer(self, push_consumer: Any) -> None:
        self.connect(push_consumer)


class TypedPullSupplier(OfInterface, AnyPull):
    """Gives operations of `<I>` at its typed object, each in its own order, and the same events untyped itself."""

    TYPE = CosNotifyChannelAdmin.PULL_TYPED

    def __init__(self, admin: ConsumerAdmin, id_: int, interface: TypedInterface) -> None:
        self.interface = interface
        self.can_take = lambda event: operation_in(event, interface) is not None
        super().__init__(admin, id_)
        self._typed_key = self.key + b"-typed"
        self._typed = self.service.room.activate(
            pull_servant(interface, self._wait_for, self._look_for), self._typed_key
        )

    def get_typed_supplier(self) -> Any:
        return self._typed

    def on_leave(self) -> None:
        super().on_leave()
        self.service.room.deactivate(self._typed_key)

    def _wait_for(self, form: Form) -> list[Any]:
        until, nap_secs = time.monotonic() + HOLD_SECS, SHORTEST_NAP_SECS
        while (anys := self._look_for(form)) is None:
            if time.monotonic() >= until:
                raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)
            time.sleep(nap_secs)
            nap_secs = min(nap_secs * 2, LONGEST_NAP_SECS)
            self.check_alive()
        return anys

    def _look_for(self, form: Form) -> list[Any] | None:
        try:
            self.check_connected()
        except CosEventComm.Disconnected:  # which operations of Pull<I> do not declare
            raise CORBA.BAD_INV_ORDER(0, CORBA.COMPLETED_NO) from None

        def wanted(event: CarriedEvent) -> bool:
            found = operation_in(event, self.interface)
            return found is not None and found[0] is form

        event = self.queue.take_first(wanted)
        found = None if event is None else operation_in(event, self.interface)
        return None if found is None else found[1]


class TypedProxyPullSupplier(TypedPullSupplier, CosTypedNotifyChannelAdmin__POA.TypedProxyPullSupplier):  # type: ignore[misc]
    def connect_typed_pull_consumer(self, pull_consumer: Any) -> None:
        self.connect(pull_consumer)


class EventTypedProxyPullSupplier(TypedPullSupplier, CosTypedEventChannelAdmin__POA.TypedProxyPullSupplier):  # type: ignore[misc]
    """For those who know nothing but the typed Event Service."""

    def connect_pull_consumer(self, pull_consumer: Any) -> None:
        self.connect(pull_consumer)
