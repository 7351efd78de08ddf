"""StructuredProxyPushSupplier: pushes the channel's events to one StructuredPushConsumer."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adapters.cosnotification import shims
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.engine.event_queue import EventQueue
from adapters.cosnotification.service.engine.outlet import Outlet
from adapters.cosnotification.service.objects import QosAdmin, ServiceObject
from adapters.cosnotification.service.qos import Qos
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
)

if TYPE_CHECKING:
    from adapters.cosnotification.service.consumer_admin import ConsumerAdmin

FAREWELL_MS = 1_000


class StructuredProxyPushSupplier(
    ServiceObject,
    QosAdmin,
    CosNotifyChannelAdmin__POA.StructuredProxyPushSupplier,  # type: ignore[misc]
):
    def __init__(self, admin: ConsumerAdmin, id_: int) -> None:
        self.id = id_
        self._admin = admin
        self.qos = Qos(admin.qos)
        self._lock = threading.Lock()
        self._consumer: Any = None
        self._outlet: Outlet | None = None
        self._suspended = False
        super().__init__(admin.orb, admin.channel.service.key(f"{admin.place}/{id_}"))

    # What clients call (states: RULES.md 1.10)

    def connect_structured_push_consumer(self, push_consumer: Any) -> None:
        if shims.is_nil(push_consumer):
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        with self._lock:
            self.check_alive()
            if self._outlet is not None:
                raise CosEventChannelAdmin.AlreadyConnected
            set_time_out(push_consumer, self.orb.settings.call_timeout_ms)
            service = self._admin.channel.service
            queue = EventQueue(self.qos.get("MaxEventsPerConsumer") or service.queue_limit)
            self._consumer = push_consumer
            self._outlet = Outlet(
                f"{self._admin.channel.id}-{self._admin.id}-{self.id}",
                queue,
                push_consumer.push_structured_event,
                self.leave,
                service.retry,
            )
            self._admin.channel.hub.add(self._outlet)
            self._outlet.start()

    def disconnect_structured_push_supplier(self) -> None:
        self.leave()

    def suspend_connection(self) -> None:
        with self._lock:
            outlet = self._connected()
            if self._suspended:
                raise CosNotifyChannelAdmin.ConnectionAlreadyInactive
            self._suspended = True
            outlet.suspend()

    def resume_connection(self) -> None:
        with self._lock:
            outlet = self._connected()
            if not self._suspended:
                raise CosNotifyChannelAdmin.ConnectionAlreadyActive
            self._suspended = False
            outlet.resume()

    def _get_MyType(self) -> Any:
        return CosNotifyChannelAdmin.PUSH_STRUCTURED

    def _get_MyAdmin(self) -> Any:
        return self._admin.reference

    def _get_priority_filter(self) -> None:
        return None

    def _get_lifetime_filter(self) -> None:
        return None

    def _connected(self) -> Outlet:
        self.check_alive()
        if self._outlet is None:
            raise CosNotifyChannelAdmin.NotConnected
        return self._outlet

    # What the service calls

    def leave(self) -> bool:
        """The connection is over, whoever ended it; the client is not told. True for the first caller."""
        if not self.end():
            return False
        self._admin.forget(self.id)
        with self._lock:
            outlet = self._outlet
        if outlet is not None:
            self._admin.channel.hub.remove(outlet)
            outlet.stop()
        return True

    def dismiss(self) -> None:
        """The service ends the connection, and tells the client while there is time for it."""
        if self.leave() and self._admin.channel.service.has_time and self._consumer is not None:
            with suppress(CORBA.Exception):
                set_time_out(self._consumer, FAREWELL_MS)
                self._consumer.disconnect_structured_push_consumer()

    @property
    def outlet(self) -> Outlet | None:
        return self._outlet
