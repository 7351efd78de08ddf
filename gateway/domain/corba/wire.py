"""One connection of a domain as it is in the world: two admins and two proxies of ours, one of each at each channel.

Events pass from channel to channel without us. When one of both dies its proxies die with it, mostly; what is left of them at the
other is then removed and everything made anew: a proxy that has lost its peer is good for nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final

from adapters.cosnotification.faults import spell
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.our_channels import NOBODY
from gateway.domain.connection import Connection
from gateway.domain.corba.kinds import Place, places_of
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.stubs import CORBA, CosNotification, CosNotifyChannelAdmin

FAREWELL_MS: Final = 2_000


class WireState(StrEnum):
    JOINED = "joined"
    BROKEN = "broken"


class Wire:
    """`join` it, `look` after it now and then, `cut` it for good. Safe for threads; `changed` is told of every change of state."""

    def __init__(
        self,
        orb: LocalOrb,
        connection: Connection,
        supplier: MemberChannel,
        consumer: MemberChannel,
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
        self._orb = orb
        self._supplier, self._consumer = supplier, consumer
        self._at_supplier, self._at_consumer = places_of(connection)
        self._changed = changed
        self._on_demand = on_demand and consumer.tells_all_subscriptions
        self._lock = threading.RLock()
        self._ended = False
        self._objects: dict[str, Any] = {}
        self._offered: set[tuple[str, str]] = set()
        if references:
            self._recall(references)

    @property
    def references(self) -> dict[str, str]:
        """To be kept: `consumer_admin` and `proxy_supplier` at the supplier channel, the other two at the consumer channel."""
        return {name: self._orb.to_string(found) for name, found in self._objects.items()}

    def join(self) -> None:
        """RULES.md 4.3 step 6. Raises what the channels raise, with nothing left behind."""
        with self._lock:
            try:
                self._obtain()
                self._connect()
            except BaseException:
                self._remove()
                raise
            self._introduce()
            self.times_joined += 1
            self._set(WireState.JOINED)

    def look(self) -> bool:
        """Whether it is whole now. A wire that has lost a proxy is made anew; one that cannot be reached is left as it is, for
        what its proxies hold would be lost with them."""
        with self._lock:
            if self._ended:
                return False
            lost, trouble = self._examine()
            if not lost and not trouble:
                self._carry_offers()
                self._set(WireState.JOINED)
                return True
            self._set(WireState.BROKEN, trouble or "a proxy has gone")
            if not lost:
                return False
            self._remove()
            try:
                self.join()
            except CORBA.Exception as error:
                self.trouble = spell(error)
                return False
            return True

    def cut(self) -> None:
        with self._lock:
            self._ended = True
            self._remove()

    # Inside, with the lock held

    def _obtain(self) -> None:
        found = self._objects
        found["consumer_admin"] = self._supplier.new_admin("consumer")
        found["proxy_supplier"] = self._bounded(
            self._at_supplier.obtain(found["consumer_admin"], self.connection.interface)
        )
        found["supplier_admin"] = self._consumer.new_admin("supplier")
        found["proxy_consumer"] = self._bounded(
            self._at_consumer.obtain(found["supplier_admin"], self.connection.interface)
        )

    def _connect(self) -> None:
        """Whoever acts comes last: the proxy that pushes, or the one that pulls."""
        supplier, consumer = self._objects["proxy_supplier"], self._objects["proxy_consumer"]
        if self._on_demand:
            supplier.subscription_change(_types({NOBODY}), [])
        if self._at_supplier.style == "push":
            self._at_consumer.connect(consumer, supplier)
            self._at_supplier.connect(supplier, consumer)
        else:
            self._at_supplier.connect(supplier, consumer)
            self._at_consumer.connect(consumer, supplier)

    def _introduce(self) -> None:
        """What was offered and wanted before they met. From then on channels tell each other of changes; those that do not have
        their offers carried by `look`."""
        supplier, consumer = self._objects["proxy_supplier"], self._objects["proxy_consumer"]
        self._offered = set()
        self._carry_offers()
        if self._consumer.tells_all_subscriptions:
            with suppress(CORBA.Exception):
                wanted = consumer.obtain_subscription_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON)
                if wanted:
                    supplier.subscription_change(wanted, [])

    def _carry_offers(self) -> None:
        supplier, consumer = self._objects["proxy_supplier"], self._objects["proxy_consumer"]
        with suppress(CORBA.Exception):  # a service without this: TAO's raises NO_IMPLEMENT
            types = supplier.obtain_offered_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON)
            offered = {(type_.domain_name, type_.type_name) for type_ in types}
            if offered != self._offered:
                consumer.offer_change(_types(offered - self._offered), _types(self._offered - offered))
                self._offered = offered

    def _examine(self) -> tuple[bool, str]:
        """Whether a proxy is lost, and what else is wrong."""
        if len(self._objects) < 4:
            return True, ""
        trouble = ""
        for name in ("proxy_supplier", "proxy_consumer"):
            try:
                if self._objects[name]._non_existent():
                    return True, ""
            except (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF):
                return True, ""
            except CORBA.Exception as error:
                trouble = spell(error)
        return False, trouble

    def _remove(self) -> None:
        """Proxies first: a channel whose admin is destroyed may tell the other side, which would not know what that means."""
        objects, self._objects = self._objects, {}
        order = (("proxy_supplier", self._at_supplier), ("proxy_consumer", self._at_consumer))
        dead: set[str] = set()
        for name, place in order:
            if name in objects and not _heard(objects[name], place.disconnect):
                dead.add(name)
        for name, beside in (("consumer_admin", "proxy_supplier"), ("supplier_admin", "proxy_consumer")):
            if name in objects and beside not in dead:
                _heard(objects[name], lambda admin: admin.destroy())

    def _recall(self, references: dict[str, str]) -> None:
        module = CosNotifyChannelAdmin
        interfaces = {
            "consumer_admin": module.ConsumerAdmin,
            "proxy_supplier": self._at_supplier.interface,
            "supplier_admin": module.SupplierAdmin,
            "proxy_consumer": self._at_consumer.interface,
        }
        for name, interface in interfaces.items():
            if name in references:
                found = self._orb.corba.string_to_object(references[name])
                self._objects[name] = self._bounded(found._unchecked_narrow(interface))

    def _bounded(self, reference: Any) -> Any:
        set_time_out(reference, self._orb.settings.call_timeout_ms)
        return reference

    def _set(self, state: WireState, trouble: str = "") -> None:
        changed = state is not self.state
        self.state, self.trouble = state, trouble
        if changed:
            self._changed(self, state, trouble)


def _types(types: set[tuple[str, str]]) -> Any:
    return [CosNotification.EventType(*type_) for type_ in sorted(types)]


def _heard(reference: Any, call: Callable[[Any], None]) -> bool:
    """Whether the peer can be reached; it may have forgotten the object already."""
    try:
        set_time_out(reference, FAREWELL_MS)
        call(reference)
    except (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF):
        return True
    except CORBA.Exception:
        return False
    return True


def disconnect(place: Place, proxy: Any) -> None:
    """A proxy whose client was not taken."""
    _heard(proxy, place.disconnect)
