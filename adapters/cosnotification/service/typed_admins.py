"""TypedConsumerAdmin and TypedSupplierAdmin: where clients of a typed channel obtain proxies, typed ones and all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.cosnotification.service.consumer_admin import ConsumerAdmin
from adapters.cosnotification.service.stubs import CosTypedEventChannelAdmin, CosTypedNotifyChannelAdmin__POA
from adapters.cosnotification.service.supplier_admin import SupplierAdmin
from adapters.cosnotification.service.typed_consumers import (
    EventTypedProxyPullConsumer,
    EventTypedProxyPushConsumer,
    TypedProxyPullConsumer,
    TypedProxyPushConsumer,
)
from adapters.cosnotification.service.typed_suppliers import (
    EventTypedProxyPullSupplier,
    EventTypedProxyPushSupplier,
    TypedProxyPullSupplier,
    TypedProxyPushSupplier,
)

NotSupported = CosTypedEventChannelAdmin.InterfaceNotSupported
NoSuchImplementation = CosTypedEventChannelAdmin.NoSuchImplementation


def _typed(admin: Any, kind: Callable[..., Any], key: str, unknown: type[Exception]) -> Callable[..., Any]:
    """Makes a proxy for the interface of that key. Raises `unknown`."""
    interface = admin.channel.service.interface(key)
    if interface is None:
        raise unknown
    return lambda admin, id_: kind(admin, id_, interface)


class TypedConsumerAdmin(ConsumerAdmin, CosTypedNotifyChannelAdmin__POA.TypedConsumerAdmin):  # type: ignore[misc]
    def obtain_typed_notification_pull_supplier(self, supported_interface: str) -> tuple[Any, int]:
        make = _typed(self, TypedProxyPullSupplier, supported_interface, NotSupported)
        return self._obtain({None: make}, None)

    def obtain_typed_notification_push_supplier(self, uses_interface: str) -> tuple[Any, int]:
        make = _typed(self, TypedProxyPushSupplier, uses_interface, NoSuchImplementation)
        return self._obtain({None: make}, None)

    def obtain_typed_pull_supplier(self, supported_interface: str) -> Any:
        return self._obtain_plain(_typed(self, EventTypedProxyPullSupplier, supported_interface, NotSupported))

    def obtain_typed_push_supplier(self, uses_interface: str) -> Any:
        return self._obtain_plain(_typed(self, EventTypedProxyPushSupplier, uses_interface, NoSuchImplementation))

    def _get_push_suppliers(self) -> list[int]:
        return sorted([*super()._get_push_suppliers(), *self._ids_of((TypedProxyPushSupplier,))])

    def _get_pull_suppliers(self) -> list[int]:
        return sorted([*super()._get_pull_suppliers(), *self._ids_of((TypedProxyPullSupplier,))])


class TypedSupplierAdmin(SupplierAdmin, CosTypedNotifyChannelAdmin__POA.TypedSupplierAdmin):  # type: ignore[misc]
    def obtain_typed_notification_push_consumer(self, supported_interface: str) -> tuple[Any, int]:
        make = _typed(self, TypedProxyPushConsumer, supported_interface, NotSupported)
        return self._obtain({None: make}, None)

    def obtain_typed_notification_pull_consumer(self, uses_interface: str) -> tuple[Any, int]:
        make = _typed(self, TypedProxyPullConsumer, uses_interface, NoSuchImplementation)
        return self._obtain({None: make}, None)

    def obtain_typed_push_consumer(self, supported_interface: str) -> Any:
        return self._obtain_plain(_typed(self, EventTypedProxyPushConsumer, supported_interface, NotSupported))

    def obtain_typed_pull_consumer(self, uses_interface: str) -> Any:
        return self._obtain_plain(_typed(self, EventTypedProxyPullConsumer, uses_interface, NoSuchImplementation))

    def _get_push_consumers(self) -> list[int]:
        return sorted([*super()._get_push_consumers(), *self._ids_of((TypedProxyPushConsumer,))])

    def _get_pull_consumers(self) -> list[int]:
        return sorted([*super()._get_pull_consumers(), *self._ids_of((TypedProxyPullConsumer,))])
