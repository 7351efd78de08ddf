"""ConsumerAdmin: where consumers obtain the proxies that supply them."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.service.admin import Admin, only_structured
from adapters.cosnotification.service.proxy_supplier import StructuredProxyPushSupplier
from adapters.cosnotification.stubs import CosNotifyChannelAdmin__POA


class ConsumerAdmin(Admin[StructuredProxyPushSupplier], CosNotifyChannelAdmin__POA.ConsumerAdmin):  # type: ignore[misc]
    def obtain_notification_push_supplier(self, ctype: Any) -> tuple[Any, int]:
        only_structured(ctype)
        self.check_alive()
        return self._add(StructuredProxyPushSupplier(self, self._ids.take()))

    def get_proxy_supplier(self, proxy_id: int) -> Any:
        return self._find(proxy_id)

    def _get_push_suppliers(self) -> list[int]:
        return [proxy.id for proxy in self.proxies]

    def _get_pull_suppliers(self) -> list[int]:
        return []

    def _get_priority_filter(self) -> None:
        return None

    def _get_lifetime_filter(self) -> None:
        return None
