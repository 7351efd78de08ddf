"""ProxyConsumer: what the proxies share that take the events of one supplier into the channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from adapters.cosnotification.service.announcer import subscriptions_to
from adapters.cosnotification.service.engine.carried_event import CarriedEvent, CarriedStructured, carried, now
from adapters.cosnotification.service.engine.filter_set import Test, combined
from adapters.cosnotification.service.engine.hub import Full
from adapters.cosnotification.service.proxy import Proxy
from adapters.cosnotification.service.store.database import StoreFailed
from adapters.cosnotification.service.stubs import CORBA, CosNotifyChannelAdmin

if TYPE_CHECKING:
    from adapters.cosnotification.service.supplier_admin import SupplierAdmin


class ProxyConsumer(Proxy):
    admin: SupplierAdmin

    def __init__(self, admin: SupplierAdmin, id_: int) -> None:
        self._accepts: Test | None = None
        self._priority: int | None = None
        self._timeout: int | None = None
        self.plain = True  # nothing stands between the supplier and the hub
        self._hub = admin.channel.hub
        super().__init__(admin, id_)
        self.filters_changed()
        self.qos_changed()

    # What clients call

    def offer_change(self, added: Any, removed: Any) -> None:
        self.declared.change(added, removed)
        self.types_changed()
        self.changed()

    def obtain_subscription_types(self, mode: Any) -> Any:
        return self.types_to_tell(self.channel.subscriptions.all, mode)

    # For the kinds of proxy

    def take_structured(self, structured: Any) -> None:
        self.take_event(carried(structured))

    def take_event(self, event: CarriedEvent) -> None:
        if not self._connected:
            self.check_connected()
        if self.plain or self._fits(event):
            try:
                self._hub.send(event)
            except (Full, StoreFailed) as refusal:
                self.refuse(refusal)

    def take_many(self, batch: Sequence[Any]) -> None:
        self.check_connected()
        events = arrived_together(batch)
        if not self.plain:
            events = [event for event in events if self._fits(event)]
        try:
            self._hub.send_many(events)
        except (Full, StoreFailed) as refusal:
            self.refuse(refusal)

    def refuse(self, why: Exception) -> NoReturn:
        """Nothing of what was pushed is taken."""
        if isinstance(why, Full):
            raise CORBA.IMP_LIMIT(0, CORBA.COMPLETED_NO) from None
        raise CORBA.PERSIST_STORE(0, CORBA.COMPLETED_NO) from None

    def _fits(self, event: CarriedEvent) -> bool:
        """Whether the filters pass it; it gets what the supplier's QoS says of events that say nothing."""
        event.set_defaults(self._priority, self._timeout)
        return self._accepts is None or self._accepts(event)

    def on_connect(self, client: Any) -> None:
        self.listener = subscriptions_to(client)

    def on_leave(self) -> None:
        self.channel.offers.set(self, frozenset())

    def types_changed(self) -> None:
        if self.alive:
            self.channel.offers.set(self, self.declared.types)
            if not self.alive:  # it left meanwhile
                self.channel.offers.set(self, frozenset())

    def filters_changed(self) -> None:
        all_of = self.admin.operator == CosNotifyChannelAdmin.AND_OP
        self._accepts = combined(self.admin.test, self.test, all_of=all_of)
        self._set_plain()

    def qos_changed(self) -> None:
        self._priority, self._timeout = self.qos.said("Priority"), self.qos.said("Timeout")
        self._set_plain()

    def _set_plain(self) -> None:
        self.plain = self._accepts is None and self._priority is None and self._timeout is None


def arrived_together(batch: Sequence[Any]) -> Sequence[CarriedStructured]:
    """The events of one call: they share one time."""
    if not _ALL_CARRIED(map(type, batch)):
        return [carried(structured) for structured in batch]
    at = now()
    for event in batch:
        event.arrived = at
    return batch


_ALL_CARRIED: Final = frozenset((CarriedStructured,)).issuperset
