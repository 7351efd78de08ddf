"""What ConsumerAdmin and SupplierAdmin share: the proxies that were obtained from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from adapters.cosnotification.service.objects import Numbers, QosAdmin, ServiceObject
from adapters.cosnotification.service.qos import Qos
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin

if TYPE_CHECKING:
    from adapters.cosnotification.service.channel import EventChannel

Proxy = TypeVar("Proxy", bound=Any)


class Admin(ServiceObject, QosAdmin, Generic[Proxy]):
    def __init__(self, channel: EventChannel, id_: int, operator: Any) -> None:
        self.channel = channel
        self.id = id_
        self._operator = operator
        self.qos = Qos(channel.qos)
        self._ids = Numbers(1)
        self._proxies: dict[int, Proxy] = {}
        self.place = f"{channel.place}/{type(self).__name__}/{id_}"
        super().__init__(channel.orb, channel.service.key(self.place))

    def _get_MyID(self) -> int:
        return self.id

    def _get_MyChannel(self) -> Any:
        return self.channel.reference

    def _get_MyOperator(self) -> Any:
        return self._operator

    def destroy(self) -> None:
        """RULES.md 1.10: every client of its proxies is disconnected. The default admins live as long as the channel."""
        if self.id == 0:
            raise CORBA.NO_PERMISSION(0, CORBA.COMPLETED_NO)
        self.dismiss()

    def dismiss(self) -> None:
        if self.end():
            self.channel.forget_admin(self)
            for proxy in list(self._proxies.values()):
                proxy.dismiss()

    def forget(self, id_: int) -> None:
        self._proxies.pop(id_, None)

    @property
    def proxies(self) -> list[Proxy]:
        return list(self._proxies.values())

    def _add(self, proxy: Proxy) -> tuple[Any, int]:
        self._proxies[proxy.id] = proxy
        return proxy.reference, proxy.id

    def _find(self, id_: int) -> Any:
        proxy = self._proxies.get(id_)
        if proxy is None:
            raise CosNotifyChannelAdmin.ProxyNotFound
        return proxy.reference


def only_structured(client_type: Any) -> None:
    """The other kinds of client are not served yet."""
    if client_type != CosNotifyChannelAdmin.STRUCTURED_EVENT:
        raise CORBA.NO_IMPLEMENT(0, CORBA.COMPLETED_NO)
