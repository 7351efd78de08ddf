"""The way to one consumer: its queue, and a thread that empties it in order.

A consumer that hangs, fails or is slow has only its own thread and its own queue: no other consumer, and no supplier, waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adapters.cosnotification.service.engine.event_queue import EventQueue
from adapters.cosnotification.service.engine.failures import Verdict, verdict

IDLE_SECS = 5.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a consumer is tried again before its connection is given up."""

    first_pause_secs: float = 0.1
    longest_pause_secs: float = 2.0
    give_up_secs: float = 300.0
    tries_of_unfit: int = 3


class Outlet:
    """`deliver` pushes one event and raises a CORBA exception where it fails; `gone` is called once when the consumer is lost."""

    def __init__(
        self,
        name: str,
        queue: EventQueue,
        deliver: Callable[[Any], None],
        gone: Callable[[], object],
        retry: RetryPolicy,
    ) -> None:
        self.queue = queue
        self.put = queue.put
        self.delivered = 0
        self.unfit = 0
        self._deliver = deliver
        self._gone = gone
        self._retry = retry
        self._stopping = False
        self._active = threading.Event()  # cleared while the connection is suspended
        self._active.set()
        self._pause = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"outlet-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after the call that it is in; what waits in the queue is dropped. From any thread, also its own."""
        self._stopping = True
        self._pause.set()
        self._active.set()
        self.queue.nudge()

    def join(self, timeout_secs: float) -> bool:
        if self._thread is threading.current_thread() or self._thread.ident is None:
            return True
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    def suspend(self) -> None:
        self._active.clear()

    def resume(self) -> None:
        self._active.set()

    def _run(self) -> None:
        queue = self.queue
        while not self._stopping:
            event = queue.peek(IDLE_SECS)
            if event is None:
                continue
            self._active.wait()
            if self._stopping:
                return
            try:
                self._deliver(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next event must not wait for it
                if not self._deliver_again(event, verdict(error)):
                    return
            else:
                self.delivered += 1
            queue.pop()

    def _deliver_again(self, event: Any, how: Verdict) -> bool:
        """Until it is delivered or given up; False when the consumer is."""
        pause_secs = self._retry.first_pause_secs
        give_up = time.monotonic() + self._retry.give_up_secs
        tries = 1
        while not self._stopping:
            if how is Verdict.GONE or time.monotonic() > give_up:
                self._gone()
                return False
            if how is Verdict.UNFIT and tries >= self._retry.tries_of_unfit:
                self.unfit += 1
                return True
            self._pause.wait(pause_secs)
            pause_secs = min(pause_secs * 2, self._retry.longest_pause_secs)
            self._active.wait()
            if self._stopping:
                return False
            tries += 1
            try:
                self._deliver(event)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next event must not wait for it
                how = verdict(error)
            else:
                self.delivered += 1
                return True
        return False
