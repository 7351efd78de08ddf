"""What the objects of the service have in common: an object key that cannot be guessed, a life that ends once, QoS.

factory ─┬─ channel ─┬─ consumer admin ─── proxy suppliers  ─▶ consumers
         │           ├─ supplier admin ─── proxy consumers  ◀─ suppliers
         │           └─ filter factory ─── filters, mapping filters
         └─ …
"""

from __future__ import annotations

import threading
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.qos import Qos
from adapters.cosnotification.service.stubs import CORBA


class ServiceObject:
    """Mixed into every servant of the service."""

    def __init__(self, orb: LocalOrb, key: bytes) -> None:
        self.orb = orb
        self._key = key
        self._alive = True
        self._life = threading.Lock()
        self.reference = orb.activate(self, self._key)

    def end(self) -> bool:
        """True for the one who ends it. From then on clients get OBJECT_NOT_EXIST, at the latest when all calls are through."""
        with self._life:
            alive, self._alive = self._alive, False
        if alive:
            self.orb.deactivate(self._key)
        return alive

    @property
    def alive(self) -> bool:
        return self._alive

    def check_alive(self) -> None:
        """For calls that were under way when the object ended."""
        if not self._alive:
            raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)


class QosAdmin:
    """CosNotification::QoSAdmin."""

    qos: Qos

    def get_qos(self) -> Any:
        return self.qos.to_orb()

    def set_qos(self, qos: Any) -> None:
        self.qos.change(qos)
        self.qos_changed()

    def validate_qos(self, required_qos: Any) -> Any:
        return self.qos.validate(required_qos)

    def qos_changed(self) -> None:
        """Make what was set effective, here and at everything below that has no setting of its own."""


class Numbers:
    """Ids that are never used again."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._lock = threading.Lock()

    def take(self) -> int:
        with self._lock:
            number = self._next
            self._next += 1
        return number
