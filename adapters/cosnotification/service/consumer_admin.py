"""ConsumerAdmin: where consumers obtain the proxies that supply them."""

from __future__ import annotations

from typing import Any, Final

from adapters.cosnotification.service import pull_suppliers, push_suppliers
from adapters.cosnotification.service.admin import Admin
from adapters.cosnotification.service.mapped_qos import MappedQos
from adapters.cosnotification.service.proxy_supplier import ProxySupplier
from adapters.cosnotification.service.store.kept import Find
from adapters.cosnotification.service.stubs import CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA

_PUSH: Final = {
    CosNotifyChannelAdmin.ANY_EVENT: push_suppliers.ProxyPushSupplier,
    CosNotifyChannelAdmin.STRUCTURED_EVENT: push_suppliers.StructuredProxyPushSupplier,
    CosNotifyChannelAdmin.SEQUENCE_EVENT: push_suppliers.SequenceProxyPushSupplier,
}
_PULL: Final = {
    CosNotifyChannelAdmin.ANY_EVENT: pull_suppliers.ProxyPullSupplier,
    CosNotifyChannelAdmin.STRUCTURED_EVENT: pull_suppliers.StructuredProxyPullSupplier,
    CosNotifyChannelAdmin.SEQUENCE_EVENT: pull_suppliers.SequenceProxyPullSupplier,
}


class ConsumerAdmin(Admin[ProxySupplier], MappedQos, CosNotifyChannelAdmin__POA.ConsumerAdmin):  # type: ignore[misc]
    LIMIT = "MaxConsumers"

    def __init__(self, *arguments: Any) -> None:
        self.init_mappings(arguments[0].service)
        super().__init__(*arguments)

    def obtain_notification_push_supplier(self, ctype: Any) -> tuple[Any, int]:
        return self._obtain(_PUSH, ctype)

    def obtain_notification_pull_supplier(self, ctype: Any) -> tuple[Any, int]:
        return self._obtain(_PULL, ctype)

    def obtain_push_supplier(self) -> Any:
        return self._obtain_plain(push_suppliers.EventProxyPushSupplier)

    def obtain_pull_supplier(self) -> Any:
        return self._obtain_plain(pull_suppliers.EventProxyPullSupplier)

    def get_proxy_supplier(self, proxy_id: int) -> Any:
        return self._find(proxy_id)

    def _get_push_suppliers(self) -> list[int]:
        return self._ids_of(tuple(_PUSH.values()))

    def _get_pull_suppliers(self) -> list[int]:
        return self._ids_of(tuple(_PULL.values()))

    def subscription_change(self, added: Any, removed: Any) -> None:
        """For those of its proxies that have no subscription of their own."""
        self.declared.change(added, removed)
        self.filters_changed()
        self.changed()

    def state(self) -> dict[str, Any]:
        return {**super().state(), **self.mappings_state()}

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self.restore_mappings(state, find)
        super().restored(state, find)

    def mappings_changed(self) -> None:
        self.filters_changed()
