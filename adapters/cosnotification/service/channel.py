"""EventChannel: admins for both sides, and the hub between them. `typed_channel.py` has the other kind of channel."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from adapters.cosnotification.service.admin import Admin
from adapters.cosnotification.service.admin_properties import AdminProperties
from adapters.cosnotification.service.announcer import Announcer
from adapters.cosnotification.service.consumer_admin import ConsumerAdmin
from adapters.cosnotification.service.engine.hub import Hub
from adapters.cosnotification.service.event_types import TypeBoard, Types, types_to_orb
from adapters.cosnotification.service.filter_factory import FilterFactory
from adapters.cosnotification.service.losses import LossesOfThePast
from adapters.cosnotification.service.objects import Numbers, QosAdmin, ServiceObject
from adapters.cosnotification.service.proxy import Proxy
from adapters.cosnotification.service.qos import Level, Qos
from adapters.cosnotification.service.store.kept import Find, KeptObject
from adapters.cosnotification.service.stubs import CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA
from adapters.cosnotification.service.supplier_admin import SupplierAdmin

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost


class Channel(ServiceObject, QosAdmin):
    """What both kinds of channel have."""

    PLACE: ClassVar[str]
    CONSUMER_ADMIN: ClassVar[type[ConsumerAdmin]]
    SUPPLIER_ADMIN: ClassVar[type[SupplierAdmin]]

    def __init__(self, service: ServiceHost, id_: int) -> None:
        self.id = id_
        self.is_initial = id_ < service.initial[self.PLACE]
        place = f"{self.PLACE}/{id_}"
        self.hub = Hub(place)
        self.qos = Qos(Level.CHANNEL, persistent=service.store is not None)
        self.admin_properties = AdminProperties()
        self.past_losses = LossesOfThePast()
        self.offers = TypeBoard(self._tell_consumers)
        self.subscriptions = TypeBoard(self._tell_suppliers)
        self._announcer = Announcer(str(id_))
        self._lock = threading.Lock()
        self.obtaining = threading.Lock()  # held from the look at a limit until the proxy counts
        self._consumer_admin_ids = Numbers(1)  # 0 is the default admin of either side (RULES.md 1.4)
        self._supplier_admin_ids = Numbers(1)
        self._consumer_admins: dict[int, ConsumerAdmin] = {}
        self._supplier_admins: dict[int, SupplierAdmin] = {}
        super().__init__(service, place, fixed=self.is_initial)
        self.filter_factory = FilterFactory(self)
        self._consumer_admins[0] = self.CONSUMER_ADMIN(self, 0, CosNotifyChannelAdmin.AND_OP)
        self._supplier_admins[0] = self.SUPPLIER_ADMIN(self, 0, CosNotifyChannelAdmin.AND_OP)

    # What clients call

    def _get_MyFactory(self) -> Any:
        return self.service.factory.reference

    def _get_default_consumer_admin(self) -> Any:
        return self._consumer_admins[0].reference

    def _get_default_supplier_admin(self) -> Any:
        return self._supplier_admins[0].reference

    def _get_default_filter_factory(self) -> Any:
        return self.filter_factory.reference

    for_consumers = _get_default_consumer_admin
    for_suppliers = _get_default_supplier_admin

    def _new_for_consumers(self, op: Any) -> tuple[Any, int]:
        self.check_alive()
        admin = self.CONSUMER_ADMIN(self, self._consumer_admin_ids.take(), op)
        self._keep(self._consumer_admins, admin)
        self.changed(admin)
        return admin.reference, admin.id

    def _new_for_suppliers(self, op: Any) -> tuple[Any, int]:
        self.check_alive()
        admin = self.SUPPLIER_ADMIN(self, self._supplier_admin_ids.take(), op)
        self._keep(self._supplier_admins, admin)
        self.changed(admin)
        return admin.reference, admin.id

    def get_consumeradmin(self, id_: int) -> Any:
        return _find(self._consumer_admins, id_)

    def get_supplieradmin(self, id_: int) -> Any:
        return _find(self._supplier_admins, id_)

    def get_all_consumeradmins(self) -> list[int]:
        return _shown(self._consumer_admins)

    def get_all_supplieradmins(self) -> list[int]:
        return _shown(self._supplier_admins)

    def get_admin(self) -> Any:
        return self.admin_properties.to_orb()

    def set_admin(self, admin: Any) -> None:
        self.admin_properties.change(admin)
        self.qos_changed()
        self.changed()

    def destroy(self) -> None:
        gone = list(self.descendants())
        self.dismiss()
        self.changed(*gone)

    # What the store asks

    @property
    def kept(self) -> bool:
        """What is made at every start keeps its settings and its ids in any case."""
        return self.alive and (self.is_initial or self.connections_persist)

    def state(self) -> dict[str, Any]:
        return {
            **super().state(),
            "qos": self.qos.state(),
            "admin": self.admin_properties.state(),
            "next": [self._consumer_admin_ids.next, self._supplier_admin_ids.next, self.filter_factory.ids.next],
        }

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Channel:
        return service.channel(cls, id_) or service.add_channel(cls(service, id_))

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self.qos.restore(state["qos"])
        self.admin_properties.restore(state["admin"])
        for ids, next_ in zip(
            (self._consumer_admin_ids, self._supplier_admin_ids, self.filter_factory.ids), state["next"], strict=True
        ):
            ids.restart(next_)
        self.qos_changed()

    def descendants(self) -> Iterator[KeptObject]:
        yield from self.filter_factory.filters
        for admin in self.admins:
            yield admin
            yield from admin.proxies

    # What the service calls

    def admin_again(self, kind: type[Admin[Any]], id_: int, operator: Any) -> Admin[Any]:
        """One that the store has; the default admins are there already."""
        admins: dict[int, Any] = self._consumer_admins if issubclass(kind, ConsumerAdmin) else self._supplier_admins
        if id_ not in admins:
            admins[id_] = kind(self, id_, operator)
        found: Admin[Any] = admins[id_]
        return found

    def dismiss(self) -> None:
        """End everything in the channel, and tell the clients."""
        if self.end():
            self.service.forget(self)
            for admin in self.admins:
                admin.dismiss()
            self.filter_factory.dismiss()

    def forget_admin(self, admin: Admin[Any]) -> None:
        admins: dict[int, Any] = self._consumer_admins if isinstance(admin, ConsumerAdmin) else self._supplier_admins
        if admin.id != 0:
            with self._lock:
                admins.pop(admin.id, None)

    @property
    def supplier_admins(self) -> list[SupplierAdmin]:
        with self._lock:
            return list(self._supplier_admins.values())

    @property
    def admins(self) -> list[Admin[Any]]:
        with self._lock:
            return [*self._supplier_admins.values(), *self._consumer_admins.values()]

    @property
    def proxies(self) -> list[Proxy]:
        return [proxy for admin in self.admins for proxy in admin.proxies]

    def clients_of(self, kind: type) -> int:
        return sum(len(admin.proxies) for admin in self.admins if isinstance(admin, kind))

    @property
    def max_queue_length(self) -> int:
        """Where the queues of consumers end; 0 where the channel refuses events instead, or has no limit."""
        values = self.admin_properties.values
        return 0 if values["RejectNewEvents"] else int(values["MaxQueueLength"])

    def qos_changed(self) -> None:
        values = self.admin_properties.values
        self.hub.ledger = self.service.ledger if self.connections_persist else None
        self.hub.persistent = bool(self.qos.get("EventReliability"))
        self.hub.reject_over = values["MaxQueueLength"] if values["RejectNewEvents"] else 0
        for admin in self.admins:
            admin.qos_changed()

    def _tell_consumers(self, added: Types, removed: Types) -> None:
        self._tell([proxy for admin in list(self._consumer_admins.values()) for proxy in admin.proxies], added, removed)

    def _tell_suppliers(self, added: Types, removed: Types) -> None:
        self._tell([proxy for admin in list(self._supplier_admins.values()) for proxy in admin.proxies], added, removed)

    def _tell(self, proxies: Iterable[Proxy], added: Types, removed: Types) -> None:
        if self.service.reviving:
            return  # they have heard of them before the crash
        gained, lost = types_to_orb(added), types_to_orb(removed)
        for proxy in proxies:
            listener = proxy.listener
            if listener is not None and proxy.updates_on:
                self._announcer.tell(lambda call=listener.call: call(gained, lost))  # type: ignore[misc]

    def _keep(self, admins: dict[int, Any], admin: Admin[Any]) -> None:
        with self._lock:
            admins[admin.id] = admin
        if not self.alive:  # it was destroyed meanwhile
            admin.dismiss()
            self.check_alive()


class EventChannel(Channel, CosNotifyChannelAdmin__POA.EventChannel):  # type: ignore[misc]
    PLACE = "channel"
    CONSUMER_ADMIN = ConsumerAdmin
    SUPPLIER_ADMIN = SupplierAdmin

    new_for_consumers = Channel._new_for_consumers
    new_for_suppliers = Channel._new_for_suppliers


def _find(admins: Any, id_: int) -> Any:
    admin = admins.get(id_)
    if admin is None or not _is_shown(admin):
        raise CosNotifyChannelAdmin.AdminNotFound
    return admin.reference


def _shown(admins: dict[int, Any]) -> list[int]:
    return [id_ for id_, admin in list(admins.items()) if _is_shown(admin)]


def _is_shown(admin: Any) -> bool:
    """The default admins are everybody's."""
    return admin.id == 0 or bool(admin.is_shown)
