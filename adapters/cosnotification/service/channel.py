"""EventChannel: admins for both sides, and the hub between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.admin import Admin
from adapters.cosnotification.service.consumer_admin import ConsumerAdmin
from adapters.cosnotification.service.engine.hub import Hub
from adapters.cosnotification.service.objects import Numbers, QosAdmin, ServiceObject
from adapters.cosnotification.service.qos import Qos
from adapters.cosnotification.service.supplier_admin import SupplierAdmin
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost

_ADMIN_LIMITS = ("MaxQueueLength", "MaxConsumers", "MaxSuppliers")


class EventChannel(ServiceObject, QosAdmin, CosNotifyChannelAdmin__POA.EventChannel):  # type: ignore[misc]
    def __init__(self, service: ServiceHost, id_: int) -> None:
        self.service = service
        self.id = id_
        self.hub = Hub()
        self.qos = Qos()
        self._admin_ids = Numbers(1)  # 0 is the default admin of either side (RULES.md 1.4)
        self.place = f"channel/{id_}"
        super().__init__(service.orb, service.key(self.place))
        self._consumer_admins = {0: ConsumerAdmin(self, 0, CosNotifyChannelAdmin.AND_OP)}
        self._supplier_admins = {0: SupplierAdmin(self, 0, CosNotifyChannelAdmin.AND_OP)}

    # What clients call

    def _get_MyFactory(self) -> Any:
        return self.service.factory.reference

    def _get_default_consumer_admin(self) -> Any:
        return self._consumer_admins[0].reference

    def _get_default_supplier_admin(self) -> Any:
        return self._supplier_admins[0].reference

    for_consumers = _get_default_consumer_admin
    for_suppliers = _get_default_supplier_admin

    def new_for_consumers(self, op: Any) -> tuple[Any, int]:
        self.check_alive()
        admin = ConsumerAdmin(self, self._admin_ids.take(), op)
        self._consumer_admins[admin.id] = admin
        return admin.reference, admin.id

    def new_for_suppliers(self, op: Any) -> tuple[Any, int]:
        self.check_alive()
        admin = SupplierAdmin(self, self._admin_ids.take(), op)
        self._supplier_admins[admin.id] = admin
        return admin.reference, admin.id

    def get_consumeradmin(self, id_: int) -> Any:
        return _find(self._consumer_admins, id_)

    def get_supplieradmin(self, id_: int) -> Any:
        return _find(self._supplier_admins, id_)

    def get_all_consumeradmins(self) -> list[int]:
        return list(self._consumer_admins)

    def get_all_supplieradmins(self) -> list[int]:
        return list(self._supplier_admins)

    def get_admin(self) -> Any:
        limits = [CosNotification.Property(name, CORBA.Any(CORBA.TC_long, 0)) for name in _ADMIN_LIMITS]
        return [*limits, CosNotification.Property("RejectNewEvents", CORBA.Any(CORBA.TC_boolean, False))]

    def destroy(self) -> None:
        self.dismiss()

    # What the service calls

    def dismiss(self) -> None:
        """End everything in the channel, and tell the clients."""
        if self.end():
            self.service.forget(self)
            for admin in (*self._supplier_admins.values(), *self._consumer_admins.values()):
                admin.dismiss()

    def forget_admin(self, admin: Admin[Any]) -> None:
        admins: dict[int, Any] = self._consumer_admins if isinstance(admin, ConsumerAdmin) else self._supplier_admins
        if admin.id != 0:
            admins.pop(admin.id, None)


def _find(admins: Any, id_: int) -> Any:
    admin = admins.get(id_)
    if admin is None:
        raise CosNotifyChannelAdmin.AdminNotFound
    return admin.reference
