"""The middle of a channel: what suppliers push goes to the queue of every connected consumer."""

from __future__ import annotations

import threading
from typing import Any

from adapters.cosnotification.service.engine.outlet import Outlet


class Hub:
    """`publish` takes no lock: it walks a tuple that is replaced, never changed."""

    def __init__(self) -> None:
        self.accepted = 0
        self._outlets: tuple[Outlet, ...] = ()
        self._lock = threading.Lock()

    @property
    def outlets(self) -> tuple[Outlet, ...]:
        return self._outlets

    def add(self, outlet: Outlet) -> None:
        with self._lock:
            self._outlets = (*self._outlets, outlet)

    def remove(self, outlet: Outlet) -> None:
        with self._lock:
            self._outlets = tuple(other for other in self._outlets if other is not outlet)

    def publish(self, event: Any) -> None:
        self.accepted += 1
        for outlet in self._outlets:
            outlet.put(event)
