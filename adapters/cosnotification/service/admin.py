"""What ConsumerAdmin and SupplierAdmin share: the proxies that were obtained from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from adapters.cosnotification.service.admin_properties import property_
from adapters.cosnotification.service.event_types import Declared
from adapters.cosnotification.service.filter_admin import FilterAdmin
from adapters.cosnotification.service.objects import Numbers, QosAdmin, ServiceObject
from adapters.cosnotification.service.proxy import Proxy
from adapters.cosnotification.service.qos import Level, Qos
from adapters.cosnotification.service.store.kept import Find
from adapters.cosnotification.service.stubs import CORBA, CosNotifyChannelAdmin

if TYPE_CHECKING:
    from adapters.cosnotification.service.channel import Channel
    from adapters.cosnotification.service.host import ServiceHost

P = TypeVar("P", bound=Proxy)


class Admin(ServiceObject, QosAdmin, FilterAdmin, Generic[P]):
    RANK = 1  # it may have filters
    LIMIT: ClassVar[str]  # the admin property that bounds the number of clients

    def __init__(self, channel: Channel, id_: int, operator: Any) -> None:
        self.channel = channel
        self.id = id_
        self.operator = operator
        self.qos = Qos(Level.ADMIN, channel.qos)
        self.declared = Declared()
        self._ids = Numbers(1)
        self._proxies: dict[int, P] = {}
        self.init_filters()
        fixed = id_ == 0 and channel.is_initial
        super().__init__(channel.service, f"{channel.place}/{type(self).__name__}/{id_}", fixed=fixed)

    # What clients call

    def _get_MyID(self) -> int:
        return self.id

    def _get_MyChannel(self) -> Any:
        return self.channel.reference

    def _get_MyOperator(self) -> Any:
        return self.operator

    def destroy(self) -> None:
        """RULES.md 1.10: every client of its proxies is disconnected. The default admins live as long as the channel."""
        if self.id == 0:
            raise CORBA.NO_PERMISSION(0, CORBA.COMPLETED_NO)
        gone = self.proxies
        self.dismiss()
        self.changed(*gone)

    # What the store asks

    @property
    def kept(self) -> bool:
        return self.alive and self.channel.kept and (self.id == 0 or self.connections_persist)

    @property
    def connections_persist(self) -> bool:
        return self.channel.connections_persist and super().connections_persist

    def state(self) -> dict[str, Any]:
        return {
            **super().state(),
            "operator": self.operator == CosNotifyChannelAdmin.OR_OP,
            "qos": self.qos.state(),
            "types": self.declared.state(),
            "next": self._ids.next,
            "owner": self.owner,
            **self.filters_state(),
        }

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        operator = CosNotifyChannelAdmin.OR_OP if state["operator"] else CosNotifyChannelAdmin.AND_OP
        return parent.admin_again(cls, id_, operator)

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self.qos.restore(state["qos"])
        self.declared.restore(state["types"])
        self._ids.restart(state["next"])
        self.owner = state["owner"]
        self.restore_filters(state, find)
        self.qos_changed()

    def descendants(self) -> list[P]:
        return self.proxies

    # What the service calls

    def proxy_again(self, kind: Callable[..., P], id_: int) -> P:
        """One that the store has."""
        proxy = self._proxies[id_] = kind(self, id_)
        return proxy

    def own_proxy(self, kind: Callable[..., P]) -> P:
        """One that the service itself uses."""
        return self.proxy_again(kind, self._ids.take())

    def dismiss(self) -> None:
        if self.end():
            self.channel.forget_admin(self)
            for proxy in self.proxies:
                proxy.dismiss()
            self.drop_filters()

    def forget(self, id_: int) -> None:
        self._proxies.pop(id_, None)

    @property
    def proxies(self) -> list[P]:
        return list(self._proxies.values())

    def qos_changed(self) -> None:
        for proxy in self.proxies:
            proxy.qos_changed()

    def filters_changed(self) -> None:
        for proxy in self.proxies:
            proxy.filters_changed()

    # For the kinds of admin

    def _obtain(self, kinds: Mapping[Any, Callable[..., P]], client_type: Any) -> tuple[Any, int]:
        self.check_alive()
        with self.channel.obtaining:
            limit = self.channel.admin_properties.values[self.LIMIT]
            if limit and self.channel.clients_of(type(self)) >= limit:
                value = property_(self.LIMIT, limit).value
                raise CosNotifyChannelAdmin.AdminLimitExceeded(CosNotifyChannelAdmin.AdminLimit(self.LIMIT, value))
            proxy = kinds[client_type](self, self._ids.take())
            self._proxies[proxy.id] = proxy
        if not self.alive:  # it was destroyed meanwhile
            proxy.dismiss()
            self.check_alive()
        self.changed(proxy)
        return proxy.reference, proxy.id

    def _obtain_plain(self, kind: Callable[..., P]) -> Any:
        """For clients of the Event Service, who do not know AdminLimitExceeded."""
        try:
            return self._obtain({None: kind}, None)[0]
        except CosNotifyChannelAdmin.AdminLimitExceeded:
            raise CORBA.IMP_LIMIT(0, CORBA.COMPLETED_NO) from None

    def _find(self, id_: int) -> Any:
        proxy = self._proxies.get(id_)
        if proxy is None or not proxy.is_shown:
            raise CosNotifyChannelAdmin.ProxyNotFound
        return proxy.reference

    def _ids_of(self, kinds: tuple[type, ...]) -> list[int]:
        return [proxy.id for proxy in self.proxies if isinstance(proxy, kinds) and proxy.is_shown]
