"""One connection of a domain as it is in the world: its two ends, looked after.

Events pass from channel to channel without us. When one of both dies its proxies die with it, mostly; what is left of them at the
other is then removed and everything made anew: a proxy that has lost its peer is good for nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any

from adapters.cosnotification.faults import spell
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.our_channels import NOBODY
from gateway.domain.connection import Connection
from gateway.domain.corba.ends import Ends
from gateway.domain.corba.farewells import Farewells
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.stubs import CORBA, CosNotification, CosNotifyChannelAdmin


class WireState(StrEnum):
    JOINED = "joined"
    BROKEN = "broken"
    REMOVED = "removed"


class Wire:
    """`join` it, `look` after it now and then, `cut` it for good. Safe for threads; `changed` is told of every change of state."""

    def __init__(
        self,
        orb: LocalOrb,
        connection: Connection,
        supplier: MemberChannel,
        consumer: MemberChannel,
        farewells: Farewells,
        changed: Callable[[Wire, WireState, str], None],
        *,
        on_demand: bool = False,
        references: dict[str, str] | None = None,
    ) -> None:
        """`references` are those of an earlier life, to go on with where they still are."""
        self.connection = connection
        self.state: WireState | None = None  # not known yet
        self.trouble = ""
        self.times_joined = 0
        self.ends = Ends(orb, connection, references)
        self._orb = orb
        self._supplier, self._consumer = supplier, consumer
        self._farewells = farewells
        self._changed = changed
        self._on_demand = on_demand and consumer.tells_all_subscriptions
        self._lock = threading.RLock()
        self._ended = False
        self._offered: set[tuple[str, str]] = set()

    def join(self) -> None:
        """RULES.md 4.3 step 6. Raises what the channels raise, with nothing left behind. The ends are to be removed, by what the
        store says, until whoever called puts them there as those of a connection."""
        with self._lock:
            ends = Ends(self._orb, self.connection)
            try:
                ends.obtain(self._supplier, self._consumer)
                self._farewells.expect(ends)
                if self._on_demand:
                    ends.proxy_supplier.subscription_change(_types({NOBODY}), [])
                ends.connect()
            except BaseException:
                self._farewells.say(ends)
                raise
            self.ends = ends
            self._introduce()
            self.times_joined += 1
            self._set(WireState.JOINED)

    def look(self) -> bool:
        """Whether it is whole now. A wire that has lost a proxy is made anew when both channels answer; one that cannot be reached
        is left as it is, for what its proxies hold would be lost with them."""
        with self._lock:
            if self._ended:
                return False
            lost, trouble = self._examine()
            if not lost and not trouble:
                self._carry_offers()
                self._set(WireState.JOINED)
                return True
            self._set(WireState.BROKEN, trouble or "a proxy has gone")
            if not lost or not self._channels_answer():
                return False
            self._farewells.say(self.ends)
            self.ends = Ends(self._orb, self.connection)
            try:
                self.join()
            except CORBA.Exception as error:
                self.trouble = spell(error)
                return False
            return True

    def anew(self) -> Wire:
        """Of the same connection, not joined yet."""
        made = Wire(self._orb, self.connection, self._supplier, self._consumer, self._farewells, self._changed)
        made._on_demand = self._on_demand
        return made

    def cut(self) -> None:
        with self._lock:
            self._ended = True
            self._farewells.say(self.ends)

    # Inside, with the lock held

    def _introduce(self) -> None:
        """What was offered and wanted before they met. From then on channels tell each other of changes; those that do not have
        their offers carried by `look`."""
        self._offered = set()
        self._carry_offers()
        if self._consumer.tells_all_subscriptions:
            with suppress(CORBA.Exception):
                wanted = self.ends.proxy_consumer.obtain_subscription_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON)
                if wanted:
                    self.ends.proxy_supplier.subscription_change(wanted, [])

    def _carry_offers(self) -> None:
        supplier, consumer = self.ends.proxy_supplier, self.ends.proxy_consumer
        with suppress(CORBA.Exception):  # a service without this: TAO's raises NO_IMPLEMENT
            types = supplier.obtain_offered_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON)
            offered = {(type_.domain_name, type_.type_name) for type_ in types}
            if offered != self._offered:
                consumer.offer_change(_types(offered - self._offered), _types(self._offered - offered))
                self._offered = offered

    def _examine(self) -> tuple[bool, str]:
        """Whether a proxy is lost, and what else is wrong."""
        if not self.ends.are_whole:
            return True, ""
        trouble = ""
        for proxy in (self.ends.proxy_supplier, self.ends.proxy_consumer):
            try:
                if proxy._non_existent():
                    return True, ""
            except (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF):
                return True, ""
            except CORBA.Exception as error:
                trouble = spell(error)
        return False, trouble

    def _channels_answer(self) -> bool:
        """Otherwise there is no use in trying: what a peer that hangs is asked for is made there when nobody waits any more."""
        try:
            return not any(channel.reference._non_existent() for channel in (self._supplier, self._consumer))
        except CORBA.Exception as error:
            self.trouble = spell(error)
            return False

    def _set(self, state: WireState, trouble: str = "") -> None:
        changed = state is not self.state
        self.state, self.trouble = state, trouble
        if changed:
            self._changed(self, state, trouble)


def _types(types: set[tuple[str, str]]) -> Any:
    return [CosNotification.EventType(*type_) for type_ in sorted(types)]
