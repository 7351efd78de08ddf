"""Our place at a channel of the peer: an admin object of our own, one proxy of it, and a servant that the peer can call.

The peer's default admins are never used: on most services they let everything through that a proxy's filter should hold back.
After any trouble everything is made anew: proxies that have failed once are not to be trusted.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, NamedTuple

from adapters.base import AdapterError, ReconnectError
from adapters.cosnotification.faults import on_connect, spell
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.references import narrow, resolve, shorten
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin

FAREWELL_MS: Final = 2_000  # how long we wait for a peer to hear that we go


class Connection:
    """One of the two below. `open` and `close` pair up; `close` twice is fine."""

    _admin_interface: Any
    _kinds: ClassVar[Mapping[str, Kind]]

    def __init__(
        self, orb: LocalOrb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel, servant: Any
    ) -> None:
        self._orb = orb
        self._endpoint = endpoint
        self._channel_id = channel.channel
        self._kind = self._kinds[channel.events]
        self._timeout_ms = endpoint.call_timeout_ms or orb.settings.call_timeout_ms
        self._servant = servant
        self._key = b""
        self._admin: Any = None
        self.proxy: Any = None

    def open(self, left_behind: Sequence[str] = ()) -> str:
        """The reference of our admin at the peer, to be removed by whoever comes after us should we die; `left_behind` are such.

        Raises ReconnectError or StopError, with nothing left behind.
        """
        try:
            for reference in left_behind:
                self._remove(reference)
            channel = self._find_channel()
            self._admin = self._bounded(self._new_admin(channel))
            self.proxy = narrow(
                self._obtain(self._admin), self._kind.proxy, self._timeout_ms, f"the proxy of {self._peer}"
            )
            self._key = b"client-" + secrets.token_hex(12).encode()
            getattr(self.proxy, self._kind.connect)(self._orb.activate(self._servant, self._key))
            return self._orb.to_string(self._admin)
        except AdapterError:
            self.close()
            raise
        except CORBA.Exception as error:
            self.close()
            raise on_connect(error, f"connecting to channel {self._channel_id} of {self._peer}") from error

    def close(self) -> None:
        """Blocks a few seconds at the most: a peer that does not hear the first word is not told the second."""
        admin, proxy, self._admin, self.proxy = self._admin, self.proxy, None, None
        try:
            if proxy is not None:
                set_time_out(proxy, min(self._timeout_ms, FAREWELL_MS))
                getattr(proxy, self._kind.disconnect)()
        except (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF):
            pass  # it has gone before us: the admin may be there still
        except CORBA.Exception:
            admin = None
        try:
            if admin is not None:
                set_time_out(admin, min(self._timeout_ms, FAREWELL_MS))
                admin.destroy()
        except CORBA.Exception:
            pass
        if self._key:
            self._orb.deactivate(self._key)
            self._key = b""

    def _remove(self, admin: str) -> None:
        """By its reference, never by its id: after a restart of the peer the id may be somebody else's."""
        with suppress(CORBA.Exception):
            found = self._orb.corba.string_to_object(admin)
            set_time_out(found, min(self._timeout_ms, FAREWELL_MS))
            found._unchecked_narrow(self._admin_interface).destroy()

    def ping(self) -> ReconnectError | None:
        """What is wrong with the peer, or None."""
        proxy = self.proxy
        if proxy is None:
            return None
        try:
            if not proxy._non_existent():
                return None
        except CORBA.Exception as error:
            trouble = on_connect(error, f"asking {self._peer} whether it still knows us")
            return trouble if isinstance(trouble, ReconnectError) else ReconnectError("COR-PEER", spell(error))
        return ReconnectError("COR-GONE", f"{self._peer} does not know our proxy any more")

    @property
    def _peer(self) -> str:
        return shorten(self._endpoint.factory)

    def _find_channel(self) -> Any:
        factory = resolve(
            self._orb, self._endpoint.factory, CosNotifyChannelAdmin.EventChannelFactory, self._timeout_ms
        )
        return self._bounded(factory.get_event_channel(self._channel_id))

    def _bounded(self, reference: Any) -> Any:
        if reference is None:
            raise ReconnectError("COR-PEER", f"{self._peer} gave no object where it must")
        set_time_out(reference, self._timeout_ms)
        return reference

    def _new_admin(self, channel: Any) -> Any:
        raise NotImplementedError

    def _obtain(self, admin: Any) -> Any:
        raise NotImplementedError


class Kind(NamedTuple):
    """What a kind of client (`events` of a channel) asks of an admin, and how its proxy is used."""

    client_type: Any
    proxy: Any  # interface
    connect: str  # operations of the proxy
    disconnect: str


class ConsumerConnection(Connection):
    """We consume: the peer pushes to our servant."""

    _admin_interface = CosNotifyChannelAdmin.ConsumerAdmin
    _kinds = {  # noqa: RUF012 - never changed
        "any": Kind(
            CosNotifyChannelAdmin.ANY_EVENT,
            CosNotifyChannelAdmin.ProxyPushSupplier,
            "connect_any_push_consumer",
            "disconnect_push_supplier",
        ),
        "structured": Kind(
            CosNotifyChannelAdmin.STRUCTURED_EVENT,
            CosNotifyChannelAdmin.StructuredProxyPushSupplier,
            "connect_structured_push_consumer",
            "disconnect_structured_push_supplier",
        ),
        "sequence": Kind(
            CosNotifyChannelAdmin.SEQUENCE_EVENT,
            CosNotifyChannelAdmin.SequenceProxyPushSupplier,
            "connect_sequence_push_consumer",
            "disconnect_sequence_push_supplier",
        ),
    }

    def _new_admin(self, channel: Any) -> Any:
        return channel.new_for_consumers(CosNotifyChannelAdmin.AND_OP)[0]

    def _obtain(self, admin: Any) -> Any:
        return admin.obtain_notification_push_supplier(self._kind.client_type)[0]


class SupplierConnection(Connection):
    """We supply: events are pushed to the peer's proxy."""

    _admin_interface = CosNotifyChannelAdmin.SupplierAdmin
    _kinds = {  # noqa: RUF012 - never changed
        "any": Kind(
            CosNotifyChannelAdmin.ANY_EVENT,
            CosNotifyChannelAdmin.ProxyPushConsumer,
            "connect_any_push_supplier",
            "disconnect_push_consumer",
        ),
        "structured": Kind(
            CosNotifyChannelAdmin.STRUCTURED_EVENT,
            CosNotifyChannelAdmin.StructuredProxyPushConsumer,
            "connect_structured_push_supplier",
            "disconnect_structured_push_consumer",
        ),
        "sequence": Kind(
            CosNotifyChannelAdmin.SEQUENCE_EVENT,
            CosNotifyChannelAdmin.SequenceProxyPushConsumer,
            "connect_sequence_push_supplier",
            "disconnect_sequence_push_consumer",
        ),
    }

    def _new_admin(self, channel: Any) -> Any:
        return channel.new_for_suppliers(CosNotifyChannelAdmin.AND_OP)[0]

    def _obtain(self, admin: Any) -> Any:
        return admin.obtain_notification_push_consumer(self._kind.client_type)[0]


class Pulse:
    """Asks now and then whether the peer is alive, on a thread of its own, and reports the first trouble."""

    def __init__(
        self, interval_secs: float, ping: Callable[[], ReconnectError | None], report: Callable[[ReconnectError], None]
    ) -> None:
        self._interval_secs = interval_secs
        self._ping = ping
        self._report = report
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cosnotification-pulse", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(FAREWELL_MS / 1000)

    def _run(self) -> None:
        while not self._stopping.wait(self._interval_secs):
            trouble = self._ping()
            if trouble is not None:
                self._report(trouble)
                return
