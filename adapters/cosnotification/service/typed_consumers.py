"""The proxies of typed suppliers: those that suppliers call operations of `<I>` on, and those that pull from a Pull<I>."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.engine.carried_event import CarriedAny, CarriedEvent
from adapters.cosnotification.service.engine.carried_operation import CarriedOperation
from adapters.cosnotification.service.proxy_consumer import ProxyConsumer
from adapters.cosnotification.service.pull_consumers import PullConsumer
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
from adapters.cosnotification.typed.dynamic import Form, forms, push_servant, try_pull
from adapters.cosnotification.typed.interface import TypedInterface

if TYPE_CHECKING:
    from adapters.cosnotification.service.supplier_admin import SupplierAdmin


class TypedPushConsumer(OfInterface, ProxyConsumer):
    """Takes operations of `<I>` at its typed object, and untyped events itself."""

    TYPE = CosNotifyChannelAdmin.PUSH_TYPED
    CLIENT = CosEventComm.PushSupplier
    FAREWELL = "disconnect_push_supplier"
    NIL_CLIENT = True

    def __init__(self, admin: SupplierAdmin, id_: int, interface: TypedInterface) -> None:
        self.interface = interface
        super().__init__(admin, id_)
        self._typed_key = self.key + b"-typed"
        self._typed = self.service.room.activate(push_servant(interface, self._take_operation), self._typed_key)

    def get_typed_consumer(self) -> Any:
        return self._typed

    def push(self, data: Any) -> None:
        self.take_event(CarriedAny(data))

    def disconnect_push_consumer(self) -> None:
        self.disconnect()

    def on_leave(self) -> None:
        super().on_leave()
        self.service.room.deactivate(self._typed_key)

    def _take_operation(self, form: Form, anys: list[Any]) -> None:
        try:
            self.take_event(CarriedOperation(self.interface, form, anys))
        except CosEventComm.Disconnected:  # which operations of <I> do not declare
            raise CORBA.BAD_INV_ORDER(0, CORBA.COMPLETED_NO) from None


class TypedProxyPushConsumer(TypedPushConsumer, CosTypedNotifyChannelAdmin__POA.TypedProxyPushConsumer):  # type: ignore[misc]
    def connect_typed_push_supplier(self, push_supplier: Any) -> None:
        self.connect(push_supplier)


class EventTypedProxyPushConsumer(TypedPushConsumer, CosTypedEventChannelAdmin__POA.TypedProxyPushConsumer):  # type: ignore[misc]
    """For those who know nothing but the typed Event Service."""

    def connect_push_supplier(self, push_supplier: Any) -> None:
        self.connect(push_supplier)


class TypedPullConsumer(OfInterface, PullConsumer):
    """Asks each `try_op` of the supplier's typed object in turn."""

    TYPE = CosNotifyChannelAdmin.PULL_TYPED
    CLIENT = CosTypedEventComm.TypedPullSupplier
    FAREWELL = "disconnect_pull_supplier"

    def __init__(self, admin: SupplierAdmin, id_: int, interface: TypedInterface) -> None:
        self.interface = interface
        self._typed_client: TypedClient = TypedClient(
            interface.pull_id, CosTypedEventComm.TypedPullSupplier, "get_typed_supplier"
        )
        super().__init__(admin, id_)

    def pull_from(self, client: Any) -> list[CarriedEvent]:
        typed = self._typed_client.typed
        got: list[CarriedEvent] = []
        for form in forms(self.interface).values():
            try:
                anys = try_pull(typed, form)
            except CORBA.Exception:
                if got:
                    break  # what was pulled is ours; the next turn meets the error again
                raise
            if anys is not None:
                got.append(CarriedOperation(self.interface, form, anys))
        return got

    def disconnect_pull_consumer(self) -> None:
        self.disconnect()


class TypedProxyPullConsumer(TypedPullConsumer, CosTypedNotifyChannelAdmin__POA.TypedProxyPullConsumer):  # type: ignore[misc]
    def connect_typed_pull_supplier(self, pull_supplier: Any) -> None:
        self.connect(pull_supplier)


class EventTypedProxyPullConsumer(TypedPullConsumer, CosEventChannelAdmin__POA.ProxyPullConsumer):  # type: ignore[misc]
    """For those who know nothing but the typed Event Service."""

    def connect_pull_supplier(self, pull_supplier: Any) -> None:
        self.connect(pull_supplier)
