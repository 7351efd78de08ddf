"""StructuredProxyPushConsumer: takes the events of one StructuredPushSupplier into the channel."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adapters.cosnotification import shims
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.objects import QosAdmin, ServiceObject
from adapters.cosnotification.service.proxy_supplier import FAREWELL_MS
from adapters.cosnotification.service.qos import Qos
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
)

if TYPE_CHECKING:
    from adapters.cosnotification.service.supplier_admin import SupplierAdmin


class StructuredProxyPushConsumer(
    ServiceObject,
    QosAdmin,
    CosNotifyChannelAdmin__POA.StructuredProxyPushConsumer,  # type: ignore[misc]
):
    def __init__(self, admin: SupplierAdmin, id_: int) -> None:
        self.id = id_
        self._admin = admin
        self.qos = Qos(admin.qos)
        self._lock = threading.Lock()
        self._connected = False
        self._supplier: Any = None
        self._publish = admin.channel.hub.publish
        super().__init__(admin.orb, admin.channel.service.key(f"{admin.place}/{id_}"))

    # What clients call (states: RULES.md 1.10)

    def connect_structured_push_supplier(self, push_supplier: Any) -> None:
        """A nil supplier is allowed: it cannot be told when the connection ends."""
        with self._lock:
            self.check_alive()
            if self._connected:
                raise CosEventChannelAdmin.AlreadyConnected
            self._connected = True
            self._supplier = None if shims.is_nil(push_supplier) else push_supplier

    def push_structured_event(self, notification: Any) -> None:
        if not self._connected:
            raise CosEventComm.Disconnected
        self._publish(notification)

    def disconnect_structured_push_consumer(self) -> None:
        self.leave()

    def offer_change(self, added: Any, removed: Any) -> None:
        """What suppliers offer is not passed on: consumers are pushed whatever comes."""

    def _get_MyType(self) -> Any:
        return CosNotifyChannelAdmin.PUSH_STRUCTURED

    def _get_MyAdmin(self) -> Any:
        return self._admin.reference

    # What the service calls

    def leave(self) -> bool:
        """The connection is over, whoever ended it; the client is not told. True for the first caller."""
        if not self.end():
            return False
        self._connected = False
        self._admin.forget(self.id)
        return True

    def dismiss(self) -> None:
        """The service ends the connection, and tells the client while there is time for it."""
        if self.leave() and self._admin.channel.service.has_time and self._supplier is not None:
            with suppress(CORBA.Exception):
                set_time_out(self._supplier, FAREWELL_MS)
                self._supplier.disconnect_structured_push_supplier()
