"""Our place at a channel of the peer: an admin object of our own, one proxy of it, and a servant that the peer can call.

The peer's default admins are never used: on most services they let everything through that a proxy's filter should hold back.
(A plain Event Service has no others.) After any trouble everything is made anew: proxies that have failed once are not to be
trusted.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from adapters.base import ReconnectError
from adapters.cosnotification.faults import on_connect, spell
from adapters.cosnotification.giop.held import Held
from adapters.cosnotification.ior import Address, BadReference, decode_ior
from adapters.cosnotification.kinds.kind import Kind, Role
from adapters.cosnotification.left_behind import Trace
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.our_channels import tells_all_subscriptions
from adapters.cosnotification.received_octets import Form
from adapters.cosnotification.references import find_channel, narrow, peer_of
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA
from adapters.cosnotification.terms import add_filter, set_channel_terms, set_proxy_terms

TakeOctets = Callable[[Form, bytes, bool], bool | Held]
"""Takes what a peer pushes before the ORB library has seen it (`worker/octet_intake.py`)."""

FAREWELL_MS: Final = 2_000  # how long we wait for a peer to hear that we go


class Connection:
    """`open` and `close` pair up, also where `open` fails; `close` twice is fine."""

    def __init__(
        self,
        orb: LocalOrb,
        endpoint: CosNotificationEndpoint,
        channel: CosNotificationChannel,
        kind: Kind,
        role: Role,
        servant: Any,
        take_octets: TakeOctets | None = None,
    ) -> None:
        self._orb = orb
        self._endpoint = endpoint
        self._channel = channel
        self._kind = kind
        self._role: Final = role
        self._place = kind.places[role, channel.style]
        self._timeout_ms = endpoint.call_timeout_ms or orb.settings.call_timeout_ms
        self._servant = servant
        self._take_octets = take_octets
        self._keys: list[bytes] = []  # of our objects that the peer can call
        self._admin: Any = None  # where it is ours
        self._filter: Any = None
        self.proxy: Any = None
        self.tells_all_subscriptions = (
            False  # whether the types that the channel names are all that its consumers may want
        )
        self.partner: Any = None  # whom events are pushed to or pulled from: the proxy, but for typed clients

    def open(self, left_behind: Sequence[Trace], remember: Callable[[list[Trace]], None]) -> int:
        """Removes what was left behind, from the first on, and says how many of it are no more; `remember` is told of what we have
        at the peer before anybody can rely on it.

        Raises ReconnectError or StopError.
        """
        removed = self._remove_all(left_behind)
        try:
            self._open(remember)
        except CORBA.Exception as error:
            raise on_connect(error, f"connecting to {self._peer}") from error
        return removed

    def _open(self, remember: Callable[[list[Trace]], None]) -> None:
        place = self._place
        channel = find_channel(self._orb, self._endpoint, self._channel, self._kind, self._timeout_ms)
        self.tells_all_subscriptions = tells_all_subscriptions(self._orb.to_string(channel))
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
        reference = self._activate(self._servant)
        if self._take_octets is not None and self._kind.octets is not None:
            operation, form = self._kind.octets
            self._orb.serve_octets(reference, operation, partial(self._take_octets, form))
        getattr(self.proxy, place.connect)(reference)
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

    def _remove_all(self, left_behind: Sequence[Trace]) -> int:
        """How many of these are no more, or stand at an address where nobody answers: the peer has moved, if it can be connected to
        at all. Takes about as long as two calls at the most, lest a peer with a past be one that is never reached."""
        deaf: set[Address] = set()
        until = time.monotonic() + 2 * self._timeout_ms / 1000
        for count, (operation, reference) in enumerate(left_behind):
            if time.monotonic() > until:
                return count
            address = _address(reference)
            if address not in deaf and not self._remove(operation, reference) and address is not None:
                deaf.add(address)
        return len(left_behind)

    def _remove(self, operation: str, reference: str) -> bool:
        """Whether somebody is there. Who takes the call and is slow to answer is: JacORB ends an admin only after it has called
        the dead client some times."""
        for _ in range(2):  # the first call to a peer that was restarted may meet its old connection, and no more
            try:
                found = self._orb.corba.string_to_object(reference)
                set_time_out(found, min(self._timeout_ms, FAREWELL_MS))
                found._dynamic_op(operation, (), ())()
            except CORBA.COMM_FAILURE:
                continue
            except CORBA.TIMEOUT as error:
                return bool(error.completed != CORBA.COMPLETED_NO)
            except CORBA.TRANSIENT:
                return False
            except CORBA.Exception:
                return True
            else:
                return True
        return False

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


def _address(reference: str) -> Address | None:
    try:
        profiles = decode_ior(reference).profiles
    except BadReference:
        return None
    return profiles[0].addresses[0] if profiles else None


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
