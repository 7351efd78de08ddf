"""What the objects of the service have in common: an object key that cannot be guessed, a life that ends once, QoS.

factory ─┬─ channel ─┬─ consumer admin ─── proxy suppliers  ─▶ consumers
         │           ├─ supplier admin ─── proxy consumers  ◀─ suppliers
         │           └─ filter factory ─── filters, mapping filters
         └─ …
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.peer import is_visible, peer_host
from adapters.cosnotification.service.qos import Qos
from adapters.cosnotification.service.store.kept import KeptObject
from adapters.cosnotification.service.stubs import CORBA

if TYPE_CHECKING:
    from adapters.cosnotification.local_orb import LocalOrb
    from adapters.cosnotification.service.host import ServiceHost


class ServiceObject(KeptObject):
    """Mixed into every servant of the service."""

    orb: LocalOrb

    @property
    def is_shown(self) -> bool:
        """Whether the caller of the moment may find it by asking others."""
        return not self.service.hides_others or is_visible(self)

    def __init__(self, service: ServiceHost, place: str, *, fixed: bool = False) -> None:
        """`fixed`: what stands at this place is made at every start, and has the same key then."""
        self.service = service
        self.owner = peer_host()  # who obtained it, or had it made
        self.orb = service.orb
        self.place = place
        self.key = service.fixed_key(place) if fixed else service.new_key(place)
        self._alive = True
        self._life = threading.Lock()
        self.reference = service.room.activate(self, self.key)

    def end(self) -> bool:
        """True for the one who ends it. From then on clients get OBJECT_NOT_EXIST, at the latest when all calls are through."""
        with self._life:
            alive, self._alive = self._alive, False
        if alive:
            self.service.room.deactivate(self.key)
        return alive

    @property
    def alive(self) -> bool:
        return self._alive

    def check_alive(self) -> None:
        """For calls that were under way when the object ended."""
        if not self._alive:
            raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)


class QosAdmin(KeptObject):
    """CosNotification::QoSAdmin."""

    qos: Qos

    def get_qos(self) -> Any:
        return self.qos.to_orb()

    def set_qos(self, qos: Any) -> None:
        self.qos.change(qos)
        self.qos_changed()
        self.changed(*self.descendants())

    def validate_qos(self, required_qos: Any) -> Any:
        return self.qos.validate(required_qos)

    def qos_changed(self) -> None:
        """Make what was set effective, here and at everything below that has no setting of its own."""

    def descendants(self) -> Iterable[KeptObject]:
        """Everything below: whether it is kept may have changed with this."""
        return ()

    @property
    def connections_persist(self) -> bool:
        return bool(self.qos.get("ConnectionReliability"))


class Numbers:
    """Ids that are never used again."""

    def __init__(self, first: int) -> None:
        self.next = first
        self._lock = threading.Lock()

    def take(self) -> int:
        with self._lock:
            number = self.next
            self.next += 1
        return number

    def restart(self, at: int) -> None:
        """After a restart of the service."""
        self.next = max(self.next, at)
