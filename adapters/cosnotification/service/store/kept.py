"""Objects that outlive their process, and how their kinds register themselves.

Every class of object is a kind by being a subclass of KeptObject: the store knows it by its name. A kind

- says with `kept` whether it is in the store now, and with `state` what of it: plain values for JSON;
- is made again by `revived`, from its parent, its id and that state, when nothing but its ancestors is there;
- gets the rest back in `restored`, when every object is there but no client can call yet.

`place` is the path of an object: `channel/0/ConsumerAdmin/3/proxy/7`. A subclass that keeps more than its base adds to `state`
and `restored` (and calls the base's). Whatever changes it calls `changed` before it answers its client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from adapters.cosnotification.service.store.database import StoreFailed
from adapters.cosnotification.service.stubs import CORBA
from adapters.cosnotification.stubs import omniORB

if TYPE_CHECKING:
    from adapters.cosnotification.local_orb import LocalOrb
    from adapters.cosnotification.service.host import ServiceHost

Find = Callable[[str], Any]
"""The object that stands at a place, None where there is none any more."""

KINDS: Final[dict[str, type[KeptObject]]] = {}


class KeptObject:
    """Its constructor takes (parent, id) where `revived` is not another."""

    RANK: ClassVar[int] = 0  # of those with the same number of ancestors, lower ones are made first
    service: ServiceHost
    place: str
    key: bytes
    _noted = False  # something of it may be in the store

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        KINDS[cls.__name__] = cls

    @property
    def kept(self) -> bool:
        return False

    def kind_name(self) -> str:
        return type(self).__name__

    def state(self) -> dict[str, Any]:
        return {"key": self.key.decode()}

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        raise NotImplementedError

    def restored(self, state: dict[str, Any], find: Find) -> None: ...

    def started(self) -> None:
        """Called last: from now on it may call its clients."""

    def changed(self, *others: KeptObject) -> None:
        """Returns when it is on disk, where it is kept. Raises PERSIST_STORE: it is done, but may be undone by a crash."""
        store = self.service.store
        if store is None or self.service.reviving:
            return
        changed = [each for each in (self, *others) if each._to_be_noted()]
        if changed:
            store.touch(changed)
            try:
                store.sync()
            except StoreFailed:
                raise CORBA.PERSIST_STORE(0, CORBA.COMPLETED_YES) from None

    def _to_be_noted(self) -> bool:
        if self.kept:
            self._noted = True
        return self._noted


def reference_text(orb: LocalOrb, reference: Any) -> str | None:
    return None if reference is None else orb.to_string(reference)


def reference_from(orb: LocalOrb, text: str | None, interface: Any = None) -> Any:
    """Nobody is asked whether it is one: it was, when it was given to us."""
    if text is None:
        return None
    found = orb.corba.string_to_object(text)
    return found if interface is None or found is None else found._unchecked_narrow(interface)


def any_text(any_: Any) -> str:
    octets: bytes = omniORB.cdrMarshal(CORBA.TC_any, any_, True)
    return octets.hex()


def any_from(text: str) -> Any:
    return omniORB.cdrUnmarshal(CORBA.TC_any, bytes.fromhex(text), True)
