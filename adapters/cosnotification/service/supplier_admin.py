"""SupplierAdmin: where suppliers obtain the proxies that consume what they supply."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.service.admin import Admin, only_structured
from adapters.cosnotification.service.proxy_consumer import StructuredProxyPushConsumer
from adapters.cosnotification.stubs import CosNotifyChannelAdmin__POA


class SupplierAdmin(Admin[StructuredProxyPushConsumer], CosNotifyChannelAdmin__POA.SupplierAdmin):  # type: ignore[misc]
    def obtain_notification_push_consumer(self, ctype: Any) -> tuple[Any, int]:
        only_structured(ctype)
        self.check_alive()
        return self._add(StructuredProxyPushConsumer(self, self._ids.take()))

    def get_proxy_consumer(self, proxy_id: int) -> Any:
        return self._find(proxy_id)

    def _get_push_consumers(self) -> list[int]:
        return [proxy.id for proxy in self.proxies]

    def _get_pull_consumers(self) -> list[int]:
        return []

    def offer_change(self, added: Any, removed: Any) -> None:
        """What suppliers offer is not passed on: consumers are pushed whatever comes."""
