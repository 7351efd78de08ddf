"""ProxySupplier: what the proxies share that give the channel's events to one consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.announcer import offers_to
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.event_queue import QueueRules
from adapters.cosnotification.service.engine.filter_set import Test, combined
from adapters.cosnotification.service.engine.ordering import Order, Rules
from adapters.cosnotification.service.engine.outlet import Outlet
from adapters.cosnotification.service.engine.route import Mapping, Route
from adapters.cosnotification.service.event_types import EVERYTHING
from adapters.cosnotification.service.losses import Losses
from adapters.cosnotification.service.mapped_qos import MappedQos
from adapters.cosnotification.service.proxy import Proxy
from adapters.cosnotification.service.store.kept import Find
from adapters.cosnotification.service.stubs import CosNotifyChannelAdmin
from mappings.filters.event_types import EventTypes

if TYPE_CHECKING:
    from adapters.cosnotification.service.consumer_admin import ConsumerAdmin


class ProxySupplier(Proxy, MappedQos):
    admin: ConsumerAdmin
    outlet: Outlet | None = None  # of a consumer that is pushed to
    can_take: Test | None = None  # what a consumer of this kind can be given at all; None: everything

    def __init__(self, admin: ConsumerAdmin, id_: int) -> None:
        self.route = Route(
            (admin.id, id_), f"{admin.channel.id}-{admin.id}-{id_}", admin.service.ledger, admin.channel.place
        )
        self.queue = self.route.queue
        self.init_mappings(admin.service)
        super().__init__(admin, id_)
        self.filters_changed()
        self.qos_changed()

    # What clients call

    def subscription_change(self, added: Any, removed: Any) -> None:
        self.declared.change(added, removed)
        self.filters_changed()
        self.types_changed()
        self.changed()

    def obtain_offered_types(self, mode: Any) -> Any:
        return self.types_to_tell(self.channel.offers.all, mode)

    # What the store asks

    def state(self) -> dict[str, Any]:
        return {**super().state(), **self.mappings_state()}

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self.restore_mappings(state, find)
        super().restored(state, find)

    # What the service calls

    def on_connect(self, client: Any) -> None:
        self.listener = offers_to(client)
        self.channel.hub.add(self.route)

    @property
    def waiting(self) -> int:
        return self.route.waiting

    @property
    def losses(self) -> Losses:
        """Of a consumer that is there."""
        discarded = self.queue.discarded + self.route.discarded
        return Losses(discarded, self.queue.expired, 0 if self.outlet is None else self.outlet.unfit)

    def on_leave(self) -> None:
        self.channel.hub.remove(self.route)
        self.channel.past_losses.add(self.losses._replace(abandoned=self.waiting))
        self.channel.subscriptions.set(self, frozenset())
        self.route.stop()
        self.queue.nudge()
        if self.route.backlog is not None and self.route.backlog.behind:
            self.service.farewell(self.route.backlog.abandon)

    def types_changed(self) -> None:
        """What the consumer may get: what it subscribes to, or its filters can pass, or everything. Never too little."""
        if self.alive and self._connected:
            filtered = self.test is not None or self.admin.test is not None
            wanted = self.declared.types or self.admin.declared.types
            wanted = wanted or (self.filter_types | self.admin.filter_types if filtered else EVERYTHING)
            self.channel.subscriptions.set(self, wanted)
            if not self.alive:  # it left meanwhile
                self.channel.subscriptions.set(self, frozenset())

    def filters_changed(self) -> None:
        if not self.alive:
            return
        all_of = self.admin.operator == CosNotifyChannelAdmin.AND_OP
        test = combined(self.admin.test, self.test, all_of=all_of)
        subscribed = self.declared.types or self.admin.declared.types
        if subscribed:
            test = _both(_of(EventTypes(subscribed)), test)
        if self.can_take is not None:
            test = _both(self.can_take, test)
        foreign = self.has_foreign_filters or self.admin.has_foreign_filters
        foreign = foreign or self.has_foreign_mappings or self.admin.has_foreign_mappings
        self.route.set(test, self._mapping("priority"), self._mapping("lifetime"), slow=foreign)
        if not self.alive:  # it left meanwhile
            self.route.stop()
        self.types_changed()

    mappings_changed = filters_changed

    def qos_changed(self) -> None:
        get = self.qos.get
        self.route.kept = self.connections_persist
        own = [get("MaxEventsPerConsumer"), self.channel.max_queue_length]
        limits = [*own, self.service.queue_limit]
        if self.route.backlog is not None:
            self.route.backlog.most = 0 if any(own) else self.service.in_memory
        self.queue.change(
            QueueRules(
                Rules(
                    Order(get("OrderPolicy")),
                    Order(get("DiscardPolicy")),
                    min(limit for limit in limits if limit),
                ),
                get("Priority"),
                get("Timeout"),
                get("StartTimeSupported"),
                get("StopTimeSupported"),
            )
        )

    def _mapping(self, which: str) -> Mapping | None:
        """The proxy's mapping filter first, then the admin's (RULES.md 1.7)."""
        own, admins = self.mapping(which), self.admin.mapping(which)
        if own.reference is None and admins.reference is None:
            return None
        if admins.reference is None:
            return own.value_for
        if own.reference is None:
            return admins.value_for

        def first(event: CarriedEvent) -> int | None:
            value = own.value_for(event)
            return admins.value_for(event) if value is None else value

        return first


def _of(types: EventTypes) -> Test:
    return lambda event: types.covers(event.domain_name, event.type_name)


def _both(one: Test, other: Test | None) -> Test:
    return one if other is None else lambda event: one(event) and other(event)
