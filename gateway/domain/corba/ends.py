"""The two ends of a connection: an admin and a proxy of ours at each of its channels, which are each other's clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from gateway.domain.connection import Connection
from gateway.domain.corba.kinds import Place, places_of
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.stubs import CORBA, CosNotifyChannelAdmin

FAREWELL_MS: Final = 2_000
_UNREACHED: Final = (CORBA.COMM_FAILURE, CORBA.TRANSIENT, CORBA.TIMEOUT)


class Ends:
    """`obtain` them, `connect` them, in the end `remove` them: as often as it takes. One thread at a time."""

    def __init__(self, orb: LocalOrb, connection: Connection, references: dict[str, str] | None = None) -> None:
        """`references` are those of an earlier life, to go on with where they still are."""
        self.connection = connection
        self.at_supplier, self.at_consumer = places_of(connection)
        self.farewell: int | None = None  # where it is written down that they are to be removed (farewells.py)
        self._orb = orb
        self._objects: dict[str, Any] = {}
        if references:
            self._recall(references)

    @property
    def references(self) -> dict[str, str]:
        """To be kept: `consumer_admin` and `proxy_supplier` at the supplier channel, the other two at the consumer channel."""
        return {name: self._orb.to_string(found) for name, found in self._objects.items()}

    @property
    def are_whole(self) -> bool:
        return len(self._objects) == 4

    @property
    def proxy_supplier(self) -> Any:
        return self._objects["proxy_supplier"]

    @property
    def proxy_consumer(self) -> Any:
        return self._objects["proxy_consumer"]

    def obtain(self, supplier: MemberChannel, consumer: MemberChannel) -> None:
        """From admins of their own. Raises what the channels raise."""
        found, key = self._objects, self.connection.interface
        found["consumer_admin"] = supplier.new_admin("consumer")
        found["proxy_supplier"] = self._bounded(self.at_supplier.obtain(found["consumer_admin"], key))
        found["supplier_admin"] = consumer.new_admin("supplier")
        found["proxy_consumer"] = self._bounded(self.at_consumer.obtain(found["supplier_admin"], key))

    def connect(self) -> None:
        """Whoever acts comes last: the proxy that pushes, or the one that pulls."""
        if self.at_supplier.style == "push":
            self.at_consumer.connect(self.proxy_consumer, self.proxy_supplier)
            self.at_supplier.connect(self.proxy_supplier, self.proxy_consumer)
        else:
            self.at_supplier.connect(self.proxy_supplier, self.proxy_consumer)
            self.at_consumer.connect(self.proxy_consumer, self.proxy_supplier)

    def remove(self) -> bool:
        """Whether nothing is left; what is at a channel that cannot be reached stays for another time. Proxies first: a channel
        whose admin is destroyed may tell the other side, which would not know what that means."""
        pairs = (
            ("proxy_supplier", "consumer_admin", self.at_supplier),
            ("proxy_consumer", "supplier_admin", self.at_consumer),
        )
        reached = [self._removed(proxy, place.disconnect) for proxy, _, place in pairs]
        for (_, admin, _), is_reached in zip(pairs, reached, strict=True):
            if is_reached:
                self._removed(admin, lambda found: found.destroy())
        return not self._objects

    # Inside

    def _removed(self, name: str, farewell: Callable[[Any], None]) -> bool:
        found = self._objects.get(name)
        if found is not None:
            if not heard(found, farewell):
                return False
            del self._objects[name]
        return True

    def _recall(self, references: dict[str, str]) -> None:
        module = CosNotifyChannelAdmin
        interfaces = {
            "consumer_admin": module.ConsumerAdmin,
            "proxy_supplier": self.at_supplier.interface,
            "supplier_admin": module.SupplierAdmin,
            "proxy_consumer": self.at_consumer.interface,
        }
        for name, interface in interfaces.items():
            if name in references:
                found = self._orb.corba.string_to_object(references[name])
                self._objects[name] = self._bounded(found._unchecked_narrow(interface))

    def _bounded(self, reference: Any) -> Any:
        set_time_out(reference, self._orb.settings.call_timeout_ms)
        return reference


def heard(reference: Any, call: Callable[[Any], None]) -> bool:
    """Whether the peer could be reached; it may have forgotten the object already."""
    set_time_out(reference, FAREWELL_MS)
    try:
        call(reference)
    except _UNREACHED:
        return False
    except CORBA.Exception:
        pass
    return True


def disconnect(place: Place, proxy: Any) -> None:
    """A proxy whose client was not taken."""
    heard(proxy, place.disconnect)
