"""Our place at a channel of the peer: an admin object of our own, one proxy of it, and a servant that the peer can call.

The peer's default admins are never used: on most services they let everything through that a proxy's filter should hold back.
(A plain Event Service has no others.) After any trouble everything is made anew: proxies that have failed once are not to be
trusted.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from adapters.base import AdapterError, ReconnectError
from adapters.cosnotification.faults import on_connect, spell
from adapters.cosnotification.kinds.kind import Kind, Role
from adapters.cosnotification.left_behind import Trace
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.references import find_channel, narrow, peer_of
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA
from adapters.cosnotification.terms import add_filter, set_channel_terms, set_proxy_terms

FAREWELL_MS: Final = 2_000  # how long we wait for a peer to hear that we go


class Connection:
    """`open` and `close` pair up; `close` twice is fine."""

    def __init__(
        self,
        orb: LocalOrb,
        endpoint: CosNotificationEndpoint,
        channel: CosNotificationChannel,
        kind: Kind,
        role: Role,
        servant: Any,
    ) -> None:
        self._orb = orb
        self._endpoint = endpoint
        self._channel = channel
        self._kind = kind
        self._role: Final = role
        self._place = kind.places[role, channel.style]
        self._timeout_ms = endpoint.call_timeout_ms or orb.settings.call_timeout_ms
        self._servant = servant
        self._keys: list[bytes] = []  # of our objects that the peer can call
        self._admin: Any = None  # where it is ours
        self._filter: Any = None
        self.proxy: Any = None
        self.partner: Any = None  # whom events are pushed to or pulled from: the proxy, but for typed clients

    def open(self, left_behind: Sequence[Trace], remember: Callable[[list[Trace]], None]) -> None:
        """Removes what was left behind; `remember` is told of what we have at the peer before anybody can rely on it.

        Raises ReconnectError or StopError, with nothing left behind.
        """
        try:
            for operation, reference in left_behind:
                self._remove(operation, reference)
            self._open(remember)
        except AdapterError:
            self.close()
            raise
        except CORBA.Exception as error:
            self.close()
            raise on_connect(error, f"connecting to {self._peer}") from error

    def _open(self, remember: Callable[[list[Trace]], None]) -> None:
        place = self._place
        channel = find_channel(self._orb, self._endpoint, self._channel, self._kind, self._timeout_ms)
        if place.own_admin:
            set_channel_terms(channel, self._channel)
        admin = self._bounded(place.new_admin(channel))
        traces: list[Trace] = []
        if place.own_admin:
            self._admin = admin
            traces.append(("destroy", self._orb.to_string(admin)))
            remember(traces)
        self.proxy = narrow(place.obtain(admin), place.proxy, self._timeout_ms, f"the proxy of {self._peer}")
        if place.own_admin:
            self._set_terms(channel, traces)
        else:
            traces.append((place.disconnect, self._orb.to_string(self.proxy)))
        remember(traces)
        companion = None if self._kind.companion is None else self._kind.companion(self._servant)
        if companion is not None:
            self._servant.companion = self._activate(companion)
        getattr(self.proxy, place.connect)(self._activate(self._servant))
        self.partner = self.proxy if self._kind.partner is None else self._kind.partner(self.proxy, self._timeout_ms)

    def _activate(self, servant: Any) -> Any:
        self._keys.append(b"client-" + secrets.token_hex(12).encode())
        return self._orb.activate(servant, self._keys[-1])

    def _set_terms(self, channel: Any, traces: list[Trace]) -> None:
        set_proxy_terms(self.proxy, self._channel, self._role)
        if self._role == "consumer":
            self._filter = add_filter(self.proxy, channel, self._channel, self._timeout_ms)
            if self._filter is not None:
                traces.append(("destroy", self._orb.to_string(self._filter)))

    def suspend(self) -> None:
        """Asks the peer to push nothing until `resume`. A peer that cannot, or that has gone, goes on, or not."""
        self._tell_proxy("suspend_connection")

    def resume(self) -> None:
        self._tell_proxy("resume_connection")

    def _tell_proxy(self, operation: str) -> None:
        proxy = self.proxy
        if proxy is not None:
            with suppress(CORBA.Exception):
                getattr(proxy, operation)()

    def close(self) -> bool:
        """Whether nothing of us is left at the peer. Blocks a few seconds at the most: a peer that does not hear the first word is
        not told the second."""
        admin, proxy, self._admin, self.proxy, self.partner = self._admin, self.proxy, None, None, None
        made, self._filter = self._filter, None
        heard = (
            (proxy is None or self._tell(proxy, self._place.disconnect))
            and (made is None or self._tell(made, "destroy"))
            and (admin is None or self._tell(admin, "destroy"))
        )
        while self._keys:
            self._orb.deactivate(self._keys.pop())
        return heard

    def _tell(self, there: Any, operation: str) -> bool:
        try:
            set_time_out(there, min(self._timeout_ms, FAREWELL_MS))
            getattr(there, operation)()
        except (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF):
            pass  # it has gone before us
        except CORBA.Exception:
            return False
        return True

    def _remove(self, operation: str, reference: str) -> None:
        with suppress(CORBA.Exception):
            found = self._orb.corba.string_to_object(reference)
            set_time_out(found, min(self._timeout_ms, FAREWELL_MS))
            found._dynamic_op(operation, (), ())()

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
        return peer_of(self._endpoint, self._channel)

    def _bounded(self, reference: Any) -> Any:
        if reference is None:
            raise ReconnectError("COR-PEER", f"{self._peer} gave no object where it must")
        set_time_out(reference, self._timeout_ms)
        return reference


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
