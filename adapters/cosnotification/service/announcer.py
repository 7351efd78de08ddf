"""Tells clients what others offer or subscribe to: on a thread of its own, in order, and without harm where a client fails."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.stubs import CORBA, CosNotifyComm

CALL_MS: Final = 2_000
IDLE_SECS: Final = 1.0


class Announcer:
    """The thread runs only while there is something to tell."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: deque[Callable[[], None]] = deque()
        self._lock = threading.Lock()
        self._running = False
        self._wake = threading.Event()

    def tell(self, call: Callable[[], None]) -> None:
        """`call` handles its own errors."""
        with self._lock:
            self._calls.append(call)
            if self._running:
                self._wake.set()
                return
            self._running = True
        threading.Thread(target=self._run, name=f"announcer-{self._name}", daemon=True).start()

    def _run(self) -> None:
        while True:
            while self._calls:
                self._calls.popleft()()
            self._wake.wait(IDLE_SECS)
            self._wake.clear()
            with self._lock:
                if not self._calls:
                    self._running = False
                    return


class Listener:
    """One client's offer_change or subscription_change. Who does not know the operation, or is gone, is not asked again."""

    def __init__(self, client: Any, interface: type, operation: str) -> None:
        self._client = client
        self._interface = interface
        self._operation = operation
        self._ready: Any = None
        self.on = True

    def call(self, added: Any, removed: Any) -> None:
        if not self.on or self._client is None:
            return
        try:
            if self._ready is None:
                self._ready = self._client._narrow(self._interface)
                if self._ready is None:
                    self._client = None
                    return
                set_time_out(self._ready, CALL_MS)
            getattr(self._ready, self._operation)(added, removed)
        except (CORBA.NO_IMPLEMENT, CORBA.BAD_OPERATION, CORBA.OBJECT_NOT_EXIST):
            self._client = None
        except CORBA.Exception:
            pass  # it may hear the next change; delivery is not disturbed


def offers_to(client: Any) -> Listener:
    return Listener(client, CosNotifyComm.NotifyPublish, "offer_change")


def subscriptions_to(client: Any) -> Listener:
    return Listener(client, CosNotifyComm.NotifySubscribe, "subscription_change")
