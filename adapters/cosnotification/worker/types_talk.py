"""What we and the peer tell each other about event types, by way of our proxy (RULES.md 1.9): a consumer hears what is offered and
says what it wants, a supplier hears what is wanted and says what it offers.

On a thread of its own, which lives only where somebody asked: the peer may be in the middle of a call to us, and every question is
a call to the peer. What the peer announces is a reason to ask it, no more, so nothing depends on the order of announcements; and a
peer that announces nothing is asked now and then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from adapters.base import EventTypes, ReconnectError
from adapters.cosnotification.connection import Connection
from adapters.cosnotification.faults import spell
from adapters.cosnotification.kinds.kind import Role
from adapters.cosnotification.our_channels import NOBODY
from adapters.cosnotification.settings import CosNotificationChannel, event_types_of
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin, CosNotifyComm
from mappings.filters.event_types import ALL, EventType
from mappings.filters.event_types import EventTypes as Covering

Types = frozenset[tuple[str, str]]
ReportTypes = Callable[[list[tuple[str, str]] | None], None]
EVERYTHING: Final = ("*", ALL)
FAREWELL_SECS: Final = 0.5  # a call to a peer that hangs is not waited for: it does no harm any more
_UNSUPPORTED: Final = (CORBA.NO_IMPLEMENT, CORBA.BAD_OPERATION, AttributeError)
"""A peer, or a kind of proxy (that of a plain Event Service), that knows nothing of types."""


class TypesTalk:
    """Of one connection. `watch` and `tell` from any thread, also before it is open; then `stop`."""

    def __init__(
        self,
        connection: Connection,
        channel: CosNotificationChannel,
        role: Role,
        servant: Any,
        interval_secs: float,
        report: ReportTypes,
        fail: Callable[[ReconnectError], None],
    ) -> None:
        self._connection = connection
        self._role: Final = role
        self._interval_secs = interval_secs
        self._report = report
        self._fail = fail
        self._configured: Types = frozenset(event_types_of(channel))
        self._declared = self._configured  # what the proxy knows of us; nothing: everything, or nothing in particular
        self._to_tell: tuple[EventTypes] | None = None
        self._watching = False
        self._heard: tuple[EventTypes] | None = None  # reported last
        self._news = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        servant.types_changed = self._news.set

    def watch(self) -> None:
        self._watching = True
        self._begin()

    def tell(self, types: EventTypes) -> None:
        self._to_tell = (types,)
        self._begin()

    def stop(self) -> None:
        self._stopping = True
        self._news.set()
        if self._thread is not None:
            self._thread.join(FAREWELL_SECS)

    def _begin(self) -> None:
        self._news.set()
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._run, name="cosnotification-types", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            self._news.wait(self._interval_secs)
            self._news.clear()
            if self._stopping:
                return
            proxy = self._connection.proxy
            if proxy is not None:
                self._say(proxy)
                self._ask(proxy)

    # What we say

    def _say(self, proxy: Any) -> None:
        if self._to_tell is None:
            return
        types = self._wanted(*self._to_tell) if self._role == "consumer" else self._offered(*self._to_tell)
        if types == self._declared:
            return
        try:
            self._declare(proxy, types)
        except _UNSUPPORTED:
            pass  # it does not want to know, and goes on as it is
        except CORBA.Exception as error:
            if not self._stopping:  # what it has heard is not known: with a new proxy it is
                self._fail(ReconnectError("COR-PEER", f"telling the peer of event types: {spell(error)}"))
            return
        self._declared = types

    def _declare(self, proxy: Any, types: Types) -> None:
        declare = proxy.subscription_change if self._role == "consumer" else proxy.offer_change
        added, removed = types - self._declared, self._declared - types
        try:
            declare(_to_orb(added), _to_orb(removed))
        except CosNotifyComm.InvalidEventType:  # patterns that this peer does not have
            if self._role == "consumer":
                declare(_to_orb({EVERYTHING}), _to_orb(self._declared - {EVERYTHING}))

    def _wanted(self, types: EventTypes) -> Types:
        """Never wider than what the channel's `event_types` says, and never too narrow."""
        base = self._configured
        if types is None:
            # Who declares nothing gets everything; but who takes back all that he had declared might get nothing elsewhere
            return base if base or self._connection.tells_all_subscriptions or not self._declared else _ALL
        if not types:
            return _NOBODY
        if not base:
            return types
        if any("*" in domain or "*" in name or not domain or not name for domain, name in types):
            return base  # patterns: their common part has no simple name
        covers = Covering(base).covers
        return frozenset(type_ for type_ in types if covers(*type_)) or _NOBODY

    def _offered(self, types: EventTypes) -> Types:
        """What the configuration says of us stays as it is."""
        return self._configured or types or frozenset()

    # What we ask

    def _ask(self, proxy: Any) -> None:
        if not self._watching:
            return
        found: EventTypes = None
        try:
            if self._role == "consumer":
                found = _plain(proxy.obtain_offered_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON))
            elif self._connection.tells_all_subscriptions:
                found = _plain(proxy.obtain_subscription_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON))
            else:
                self._watching = False
        except _UNSUPPORTED:
            self._watching = False
        except CORBA.Exception:
            return  # the next time; that the peer is away others find out
        if self._heard != (found,):
            self._heard = (found,)
            self._report(None if found is None else sorted(found))


def nobody_hears(_: list[tuple[str, str]] | None) -> None:
    """Where no types are watched."""


_NOBODY: Final[Types] = frozenset({NOBODY})
_ALL: Final[Types] = frozenset({EVERYTHING})


def _to_orb(types: Types | set[tuple[str, str]]) -> list[Any]:
    return [CosNotification.EventType(*type_) for type_ in sorted(types)]


def _plain(types: Any) -> EventTypes:
    """Everything is None; what nobody wants is left out."""
    found = frozenset((type_.domain_name, type_.type_name) for type_ in types) - _NOBODY
    return None if any(EventType(*type_).normal() == ("*", "*") for type_ in found) else found
