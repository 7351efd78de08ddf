"""The way from one supplier that is pulled: a thread that asks it for events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.failures import Verdict, verdict
from adapters.cosnotification.service.engine.hub import Full, Hub
from adapters.cosnotification.service.engine.outlet import RetryPolicy
from adapters.cosnotification.service.store.database import StoreFailed

SHORTEST_PAUSE_SECS: Final = 0.01
LONGEST_PAUSE_SECS: Final = 0.5
FULL_PAUSE_SECS: Final = 0.1
SUSPEND_SECS: Final = 1.0


class Inlet:
    """`pull` gives what the supplier has now; what fits of it goes into the hub.

    A supplier without events is asked less and less often; one that cannot be reached is given up after a time, as a consumer is.
    """

    def __init__(
        self,
        name: str,
        pull: Callable[[], list[CarriedEvent]],
        fits: Callable[[CarriedEvent], bool],
        hub: Hub,
        gone: Callable[[], object],
        retry: RetryPolicy,
    ) -> None:
        self.persistent = False  # the supplier is asked again for as long as it takes
        self.interval_secs = 0.0  # PacingInterval; 0: as above
        self._pull = pull
        self._fits = fits
        self._hub = hub
        self._gone = gone
        self._retry = retry
        self._stopping = threading.Event()
        self._active = threading.Event()
        self._active.set()
        self._turn = threading.Lock()  # held while the supplier is asked
        self._thread = threading.Thread(target=self._run, name=f"inlet-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._active.set()

    def join(self, timeout_secs: float) -> bool:
        if self._thread is threading.current_thread() or self._thread.ident is None:
            return True
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    def suspend(self) -> None:
        """Nothing is pulled after that; for a call that hangs it does not wait long."""
        self._active.clear()
        if self._turn.acquire(timeout=SUSPEND_SECS):
            self._turn.release()

    def resume(self) -> None:
        self._active.set()

    def _run(self) -> None:
        pause_secs = SHORTEST_PAUSE_SECS
        failing_since: float | None = None
        while True:
            self._active.wait()
            if self._stopping.is_set():
                return
            if self._hub.is_full:
                self._stopping.wait(FULL_PAUSE_SECS)
                continue
            try:
                with self._turn:
                    if not self._active.is_set():
                        continue
                    got = self._pull()
                failing_since = None
            except Exception as error:  # noqa: BLE001 - a supplier may fail in any way, and only its own thread ends
                now = time.monotonic()
                failing_since = failing_since or now
                lost = not self.persistent and now - failing_since > self._retry.give_up_secs
                if verdict(error) is Verdict.GONE or lost:
                    self._gone()
                    return
                got = []
            self._send([event for event in got if self._fits(event)])
            pause_secs = SHORTEST_PAUSE_SECS if got else min(pause_secs * 2, LONGEST_PAUSE_SECS)
            if self.interval_secs or not got:
                self._stopping.wait(self.interval_secs or pause_secs)

    def _send(self, events: list[CarriedEvent]) -> None:
        """They are ours now, and not lost because others have filled the channel meanwhile."""
        while events and not self._stopping.is_set():
            try:
                self._hub.send_many(events)
            except (Full, StoreFailed):
                self._stopping.wait(FULL_PAUSE_SECS)
            else:
                break
