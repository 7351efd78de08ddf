"""The way to one consumer that is pushed to: a thread that empties its queue.

A consumer that hangs, fails or is slow has only its own thread and its own queue: no other consumer, and no supplier, waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.event_queue import Batching, EventQueue
from adapters.cosnotification.service.engine.failures import Verdict, verdict

IDLE_SECS = 5.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long a consumer is tried again before its connection is given up; for ever where its connection is Persistent."""

    first_pause_secs: float = 0.1
    longest_pause_secs: float = 2.0
    give_up_secs: float = 300.0
    tries_of_unfit: int = 3


Deliver = Callable[[list[CarriedEvent]], object]


class Outlet:
    """`deliver` makes one call and raises where it fails; `gone` is called once when the consumer is lost."""

    def __init__(
        self, name: str, queue: EventQueue, deliver: Deliver, gone: Callable[[], object], retry: RetryPolicy
    ) -> None:
        self.queue = queue
        self.batching = Batching()
        self.delivered = 0
        self.unfit = 0
        self.persistent = False
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
        self.queue.pause()

    def resume(self) -> None:
        self.queue.resume()
        self._active.set()

    def _run(self) -> None:
        queue, batching = self.queue, self.batching
        while not self._stopping:
            events = queue.take(batching, IDLE_SECS, stop=self._is_stopping)
            if not events:
                continue
            if self._stopping:
                return
            try:
                self._deliver(events)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next event must not wait for it
                if not self._deliver_again(events, verdict(error)):
                    return
            else:
                self.delivered += len(events)
            queue.settle()

    def _is_stopping(self) -> bool:
        return self._stopping

    def _deliver_again(self, events: list[CarriedEvent], how: Verdict) -> bool:
        """Until they are delivered or given up; False when the consumer is. An unfit batch is taken apart."""
        pause_secs = self._retry.first_pause_secs
        give_up = time.monotonic() + self._retry.give_up_secs
        tries = 1
        while not self._stopping:
            if how is Verdict.GONE or (not self.persistent and time.monotonic() > give_up):
                self._gone()
                return False
            if how is Verdict.UNFIT and tries >= self._retry.tries_of_unfit:
                if len(events) == 1:
                    self.unfit += 1
                    return True
                return all(self._deliver_alone(event) for event in events)
            self._pause.wait(pause_secs)
            pause_secs = min(pause_secs * 2, self._retry.longest_pause_secs)
            self._active.wait()
            if self._stopping:
                return False
            events = self.queue.expire(events)
            if not events:
                return True
            tries += 1
            try:
                self._deliver(events)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next event must not wait for it
                how = verdict(error)
            else:
                self.delivered += len(events)
                return True
        return False

    def _deliver_alone(self, event: CarriedEvent) -> bool:
        """One of a batch that did not go; False when the consumer is given up."""
        try:
            self._deliver([event])
        except Exception as error:  # noqa: BLE001 - whatever it is, the next event must not wait for it
            return self._deliver_again([event], verdict(error))
        self.delivered += 1
        return True
