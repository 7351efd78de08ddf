"""What all proxies share: the states of RULES.md 1.10, QoS, filters, and the farewell to their client."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, Final

from adapters.cosnotification import shims
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.announcer import Listener
from adapters.cosnotification.service.event_types import Declared, Types, types_to_orb
from adapters.cosnotification.service.filter_admin import FilterAdmin
from adapters.cosnotification.service.objects import QosAdmin, ServiceObject
from adapters.cosnotification.service.qos import Level, Qos
from adapters.cosnotification.service.store.kept import Find, reference_from, reference_text
from adapters.cosnotification.service.stubs import CORBA, CosEventChannelAdmin, CosEventComm, CosNotifyChannelAdmin

if TYPE_CHECKING:
    from adapters.cosnotification.service.admin import Admin
    from adapters.cosnotification.service.host import ServiceHost

FAREWELL_MS: Final = 1_000
_NOW: Final = (CosNotifyChannelAdmin.ALL_NOW_UPDATES_OFF, CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON)
_UPDATES: Final = (CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON, CosNotifyChannelAdmin.NONE_NOW_UPDATES_ON)


class Proxy(ServiceObject, QosAdmin, FilterAdmin):
    """Between CREATED and DESTROYED it may be connected, and then suspended.

    A kind of proxy is kept without doing anything for it (store/kept.py): what it has beside all this goes into `state`.
    """

    TYPE: ClassVar[Any]  # ProxyType
    FAREWELL: ClassVar[str]  # the client's operation that ends a connection
    CLIENT: ClassVar[Any]  # the client's interface
    NIL_CLIENT: ClassVar[bool]  # whether the client may be nil: it cannot be told when the connection ends

    def __init__(self, admin: Admin[Any], id_: int) -> None:
        self.id = id_
        self.admin = admin
        self.channel = admin.channel
        self.qos = Qos(Level.PROXY, admin.qos)
        self.declared = Declared()
        self.updates_on = True
        self.listener: Listener | None = None  # the client's offer_change or subscription_change
        self._lock = threading.Lock()
        self._connected = False
        self._suspended = False
        self._client: Any = None
        self.init_filters()
        super().__init__(admin.service, f"{admin.place}/proxy/{id_}")

    # What clients call

    def _get_MyType(self) -> Any:
        return self.TYPE

    def _get_MyAdmin(self) -> Any:
        return self.admin.reference

    def validate_event_qos(self, required_qos: Any) -> Any:
        return self.qos.validate_event(required_qos)

    def suspend_connection(self) -> None:
        with self._lock:
            self._check_connected()
            if self._suspended:
                raise CosNotifyChannelAdmin.ConnectionAlreadyInactive
            self._suspended = True
            self.on_suspend()
        self.changed()

    def resume_connection(self) -> None:
        with self._lock:
            self._check_connected()
            if not self._suspended:
                raise CosNotifyChannelAdmin.ConnectionAlreadyActive
            self._suspended = False
            self.on_resume()
        self.changed()

    # What the store asks

    @property
    def kept(self) -> bool:
        return self.alive and self.admin.kept and self.connections_persist

    @property
    def connections_persist(self) -> bool:
        return self.admin.connections_persist and super().connections_persist

    def state(self) -> dict[str, Any]:
        return {
            **super().state(),
            "qos": self.qos.state(),
            "types": self.declared.state(),
            "updates": self.updates_on,
            "owner": self.owner,
            "connected": self._connected,
            "suspended": self._suspended,
            "client": reference_text(self.orb, self._client),
            **self.filters_state(),
        }

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        return parent.proxy_again(cls, id_)

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self.qos.restore(state["qos"])
        self.declared.restore(state["types"])
        self.updates_on = state["updates"]
        self.owner = state["owner"]
        self.restore_filters(state, find)
        if state["connected"]:
            self._join(reference_from(self.orb, state["client"], self.CLIENT))
            if state["suspended"]:
                self._suspended = True
                self.on_suspend()
        self.filters_changed()
        self.qos_changed()
        self.types_changed()

    def started(self) -> None:
        if self._connected:
            self.on_start()

    # For the kinds of proxy

    @property
    def connected(self) -> bool:
        return self._connected

    def connect(self, client: Any) -> None:
        """CREATED to CONNECTED, or an exception of RULES.md 1.10."""
        client = self._fit(client)
        with self._lock:
            self.check_alive()
            if self._connected:
                raise CosEventChannelAdmin.AlreadyConnected
            self._join(client)
            self.on_start()
        if not self.alive:  # it left meanwhile
            self.on_leave()
            self.check_alive()
        self.types_changed()
        self.changed()

    def disconnect(self) -> None:
        """By the client."""
        if not self._depart():
            raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)
        self.changed()

    def types_to_tell(self, types: Types, mode: Any) -> Any:
        """obtain_offered_types, obtain_subscription_types."""
        self.updates_on = mode in _UPDATES
        self.changed()
        return types_to_orb(types) if mode in _NOW else []

    def on_connect(self, client: Any) -> None:
        """Under the lock. No client is called yet."""

    def on_start(self) -> None:
        """It is connected, and may call its client from now on."""

    def on_suspend(self) -> None: ...

    def on_resume(self) -> None: ...

    def on_leave(self) -> None: ...

    def types_changed(self) -> None:
        """What this client offers or wants may have become something else."""

    def check_connected(self) -> None:
        """For push and pull."""
        if not self._connected:
            self.check_alive()
            raise CosEventComm.Disconnected

    def _join(self, client: Any) -> None:
        if client is not None:
            set_time_out(client, self.orb.settings.call_timeout_ms)
        self._client = client
        self._connected = True
        self.on_connect(client)

    def _check_connected(self) -> None:
        self.check_alive()
        if not self._connected:
            raise CosNotifyChannelAdmin.NotConnected

    def _fit(self, client: Any) -> Any:
        if shims.is_nil(client):
            if self.NIL_CLIENT:
                return None
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        try:
            if client._is_a(self.CLIENT._NP_RepositoryId):
                return client
        except CORBA.SystemException:
            return client  # it cannot be asked now: that it fails, if it does, is seen when it is called
        if self.NIL_CLIENT:  # these have no TypeError, and nothing is called but the farewell
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        raise CosEventChannelAdmin.TypeError

    # What the service calls

    def leave(self) -> bool:
        """The client is lost: it wants nothing more, or could not be reached for too long. As `_depart`."""
        return self._depart(lost=True)

    @property
    def waiting(self) -> int:
        """Events that are on their way to the client."""
        return 0

    def _depart(self, *, lost: bool = False) -> bool:
        """The connection is over, whoever ended it; the client is not told. True for the first caller."""
        if not self.end():
            return False
        if lost:
            self.service.client_lost(self.place, self.owner, self.waiting)
        self._connected = False
        self.admin.forget(self.id)
        self.on_leave()
        self.drop_filters()
        self._note_end()
        return True

    def _note_end(self) -> None:
        """Nobody waits for that: after a crash its client is called once more, and it is gone then."""
        store = self.service.store
        if store is not None and self._to_be_noted():
            store.touch([self])

    def dismiss(self) -> None:
        """The service ends the connection, and tells the client; nobody waits for that."""
        if self._depart() and self._client is not None:
            self.channel.service.farewell(self._say_farewell)

    def _say_farewell(self) -> None:
        with suppress(CORBA.Exception):
            set_time_out(self._client, FAREWELL_MS)
            self.say_farewell(self._client)

    def say_farewell(self, client: Any) -> None:
        """For the kinds of proxy: the call itself. Raises CORBA.Exception."""
        getattr(client, self.FAREWELL)()
