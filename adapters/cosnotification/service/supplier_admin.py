"""SupplierAdmin: where suppliers obtain the proxies that consume what they supply."""

from __future__ import annotations

from typing import Any, Final

from adapters.cosnotification.service import pull_consumers, push_consumers
from adapters.cosnotification.service.admin import Admin
from adapters.cosnotification.service.proxy_consumer import ProxyConsumer
from adapters.cosnotification.service.store.kept import Find
from adapters.cosnotification.service.stubs import CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA

_PUSH: Final = {
    CosNotifyChannelAdmin.ANY_EVENT: push_consumers.ProxyPushConsumer,
    CosNotifyChannelAdmin.STRUCTURED_EVENT: push_consumers.StructuredProxyPushConsumer,
    CosNotifyChannelAdmin.SEQUENCE_EVENT: push_consumers.SequenceProxyPushConsumer,
}
_PULL: Final = {
    CosNotifyChannelAdmin.ANY_EVENT: pull_consumers.ProxyPullConsumer,
    CosNotifyChannelAdmin.STRUCTURED_EVENT: pull_consumers.StructuredProxyPullConsumer,
    CosNotifyChannelAdmin.SEQUENCE_EVENT: pull_consumers.SequenceProxyPullConsumer,
}


class SupplierAdmin(Admin[ProxyConsumer], CosNotifyChannelAdmin__POA.SupplierAdmin):  # type: ignore[misc]
    LIMIT = "MaxSuppliers"

    def obtain_notification_push_consumer(self, ctype: Any) -> tuple[Any, int]:
        return self._obtain(_PUSH, ctype)

    def obtain_notification_pull_consumer(self, ctype: Any) -> tuple[Any, int]:
        return self._obtain(_PULL, ctype)

    def obtain_push_consumer(self) -> Any:
        return self._obtain_plain(push_consumers.EventProxyPushConsumer)

    def obtain_pull_consumer(self) -> Any:
        return self._obtain_plain(pull_consumers.EventProxyPullConsumer)

    def get_proxy_consumer(self, proxy_id: int) -> Any:
        return self._find(proxy_id)

    def _get_push_consumers(self) -> list[int]:
        return self._ids_of(tuple(_PUSH.values()))

    def _get_pull_consumers(self) -> list[int]:
        return self._ids_of(tuple(_PULL.values()))

    def offer_change(self, added: Any, removed: Any) -> None:
        """What its suppliers offer together, beside what each says for itself."""
        self.declared.change(added, removed)
        self._contribute()
        self.changed()

    def restored(self, state: dict[str, Any], find: Find) -> None:
        super().restored(state, find)
        self._contribute()

    def dismiss(self) -> None:
        super().dismiss()
        self.channel.offers.set(self, frozenset())

    def _contribute(self) -> None:
        if self.alive:
            self.channel.offers.set(self, self.declared.types)
