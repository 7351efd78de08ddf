"""An inlet: takes deliveries from one source, writes them to the journal, and acknowledges them when they are safe there.

    source.receive ─▶ journal.append ─▶ written, or synced to disk ─▶ source.acknowledge
                                     └▶ every link of the channel, by its own cursor

One thread owns the source. The journal's thread tells it what is safe; acknowledging is left to this one.

- **Safe**: what `is_durable` says of a delivery decides whether it is acknowledged after the sync or after the write.
- **Back-pressure**: while the journal is held (full, or no room on disk) or too much waits to be written, the source is not
  asked. What was received and not taken by the journal waits here: one batch at the most.
- **Nothing is lost**: what is not safe is not acknowledged, and comes again after a crash.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from adapters.base import Delivery, ReconnectError, Source, StopError
from adapters.settings_base import BackOff
from gateway.inlet.observer import AsSide, InletObserver
from gateway.inlet.status import InletStatus
from gateway.journal.errors import JournalClosed, JournalHeld
from gateway.journal.journal import Journal
from gateway.links.connection import Connection
from gateway.links.observer import State
from mappings.errors import IsthmusError

BATCH: Final = 100  # deliveries in one append
IDLE_SECS: Final = 0.5  # how long one wait lasts when nothing happens; stop() and safe events end it early
HELD_SECS: Final = 0.05  # … while the source is held back


class Inlet:
    def __init__(
        self,
        channel: str,
        source: Source,
        journal: Journal[Delivery],
        is_durable: Callable[[Delivery], bool],
        back_off: BackOff,
        observer: InletObserver,
        drain_secs: float = 10.0,
    ) -> None:
        self.channel = channel
        self.is_durable = is_durable  # may be replaced while it runs
        self._source = source
        self._journal = journal
        self._observer = observer
        self._drain_secs = drain_secs
        self._end = Connection(channel, "source", source, back_off, AsSide(channel, observer))
        self._waiting: list[Delivery] = []  # received, and not taken by the journal yet
        self._safe: deque[list[Delivery]] = deque()  # to be acknowledged; the journal's thread adds
        self._unsafe = 0
        self._received = 0
        self._receiving = False  # True while receive() may be blocked, and a wake() is worth its cost
        self._stopping = threading.Event()
        self._news = threading.Event()
        self._error: IsthmusError | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=f"inlet-{channel}", daemon=True)

    # For others

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take nothing more, wait up to `drain_secs` until what was taken is safe and acknowledged, disconnect. Returns at once."""
        self._stopping.set()
        self._news.set()
        self._source.wake()

    def join(self, timeout_secs: float | None = None) -> bool:
        """True when it has ended."""
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    def status(self) -> InletStatus:
        state: State = "stopped" if self._ended else self._end.state
        error = self._error or self._end.error
        changes = dict(self._end.changes)
        return InletStatus(self.channel, state, error, self._received, self._unsafe, self._journal.status(), changes)

    # Its own thread

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._turn()
            self._drain()
        except StopError as error:
            self._error = error
        except Exception as bug:  # noqa: BLE001 - a fault of ours must stop this inlet alone, and be seen
            self._error = StopError("LNK-BUG", f"unexpected {type(bug).__name__}: {bug}", hint="please report this")
        finally:
            self._end.close()  # what is not acknowledged is released: the peer keeps it
            self._ended = True
            self._observer.inlet_changed(self.channel, "stopped", self._error, 0)

    def _turn(self) -> None:
        """One round: acknowledge, connect, receive; waits at the most IDLE_SECS."""
        self._acknowledge()
        self._end.attempt()
        if not self._append():
            if not self._journal.await_room(HELD_SECS):
                self._wait(HELD_SECS)
        elif not self._end.ready:
            self._wait(min(IDLE_SECS, self._end.pause_secs))
        else:
            self._receive()

    def _drain(self) -> None:
        self._end.drain()
        deadline = time.monotonic() + self._drain_secs
        while True:
            self._append()
            self._acknowledge()
            nothing_to_wait_for = not self._waiting and not (self._unsafe and self._end.ready)
            if nothing_to_wait_for or time.monotonic() > deadline:
                return
            self._wait(HELD_SECS)

    def _receive(self) -> None:
        self._receiving = True
        try:
            # From here on what becomes safe wakes us; what became so before is seen by this test.
            deliveries = [] if self._safe else self._source.receive(BATCH, IDLE_SECS)
        except ReconnectError as error:
            self._end.lost(error)
            return
        finally:
            self._receiving = False
        self._received += len(deliveries)
        self._waiting = deliveries
        self._append()

    def _append(self) -> bool:
        """Give the journal what waits here; False while it is held, or takes nothing more: then no more is to be received."""
        if self._waiting:
            taken = self._waiting
            durable = any(map(self.is_durable, taken))
            try:
                self._journal.append(taken, durable=durable, on_safe=lambda: self._on_safe(taken))
            except JournalHeld:
                return False
            except JournalClosed as closed:
                raise StopError(closed.code, closed.message, path=f"channels.{self.channel}") from closed
            self._unsafe += len(taken)
            self._waiting = []
        return self._journal.held is None

    def _on_safe(self, deliveries: list[Delivery]) -> None:
        """On the journal's thread."""
        self._safe.append(deliveries)
        self._news.set()
        if self._receiving:
            self._source.wake()

    def _acknowledge(self) -> None:
        if not self._end.ready:
            return  # they wait for the next connection: where the peer would deliver them again, it may know them still
        while self._safe:
            deliveries = self._safe.popleft()
            self._unsafe -= len(deliveries)
            try:
                self._source.acknowledge(deliveries)
            except ReconnectError as error:  # they may come again: at least once
                self._end.lost(error)
                return

    def _wait(self, timeout_secs: float) -> None:
        self._news.wait(max(0.001, timeout_secs))
        self._news.clear()
