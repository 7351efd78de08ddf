"""Source of the CosNotification wire: a consumer at a channel of the peer, in the ORB's process.

What was taken in and not acknowledged stays here when the connection ends, and comes again after the next one: a channel forgets
what it has handed over, so nobody else has it.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from adapters.base import DeadLetterError, Delivery, ReconnectError, Source
from adapters.cosnotification.left_behind import Traces
from adapters.cosnotification.orb import Orb, Worker, await_, close_end
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, capabilities, peer_key
from adapters.cosnotification.worker.parcels import NumberedTypes
from adapters.cosnotification.worker.told import heard
from mappings.makers import maker

_make_delivery: Final = maker(Delivery)

CONNECT_CALLS: Final = 8  # calls to the peer that a connection takes at the most, each with its own time-out
CREDIT_SHARE: Final = 8  # room is told of when an eighth of the buffer is free again


class _Entry:
    """One event, from its arrival to its acknowledgement."""

    __slots__ = ("content", "id", "number", "place", "received_at", "redelivered", "types", "worker")

    def __init__(self, id_: str, worker: Worker, number: int, content: Any, received_at: float) -> None:
        self.id = id_
        self.worker: Worker | None = worker  # whose push waits for it; None: nobody's
        self.types: NumberedTypes = worker.types_in
        self.number = number
        self.content = content
        self.received_at = received_at
        self.redelivered = False
        self.place = "waiting"  # or "handed" to the link, or "settled"

    def delivery(self) -> Delivery:
        persistent, payload, error, original = self.content
        return _make_delivery(payload, self.id, self.received_at, persistent, self.redelivered, original, error, self)


class CosNotificationSource(Source):
    """The ORB must run before `connect` and until after `close`."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        self.capabilities = capabilities(channel)
        self._orb = orb
        self._endpoint = endpoint
        self._channel = channel
        self._timeout_secs = (endpoint.call_timeout_ms or orb.settings.call_timeout_ms) / 1000
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._waiting: deque[_Entry] = deque()
        self._handed: dict[_Entry, None] = {}  # in the order in which they were handed over
        self._taking = False
        self._woken = False
        self._failure: ReconnectError | None = None
        self._number = 0  # of this end at the worker; 0: closed
        self._worker: Worker | None = None
        self._uncredited = 0
        self._traces = Traces(orb.left_behind, peer_key(endpoint, channel))
        self._prefix = uuid.uuid4().hex[:12]
        self._count = 0

    # For the link

    def connect(self) -> None:
        with self._lock:
            self._failure = None
            self._uncredited = 0
            self._number, self._worker = number, worker = self._orb.attach(self)
        arguments = (self._endpoint.model_dump_json(), self._channel.model_dump_json(), self._traces.of_others())
        try:
            await_(worker.call("receiver", number, *arguments), self._timeout_secs * CONNECT_CALLS)
        except BaseException:
            self.close()
            raise
        self._traces.connected()

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        if self._number == 0:
            raise ReconnectError("COR-CLOSED", "the source is not connected")
        deadline = time.monotonic() + timeout_secs
        with self._lock:
            while not self._waiting:
                if self._failure is not None:
                    raise self._failure
                remaining = deadline - time.monotonic()
                if self._woken or remaining <= 0:
                    self._woken = False
                    return []
                self._taking = True
                self._arrived.wait(remaining)
                self._taking = False
            taken = [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]
            for entry in taken:
                entry.place = "handed"
                self._handed[entry] = None
                self._uncredited += entry.worker is self._worker and not entry.redelivered
            self._give_credit()
        return [entry.delivery() for entry in map(_unpacked, taken)]

    def _give_credit(self) -> None:
        if self._worker is not None and self._uncredited * CREDIT_SHARE >= self._channel.buffer:
            self._worker.post("credit", self._number, self._uncredited)
            self._uncredited = 0

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        settled: list[int] = []
        with self._lock:
            for delivery in deliveries:
                entry: _Entry = delivery.token
                if entry.place == "handed":
                    del self._handed[entry]
                elif entry.place == "waiting":  # of an earlier connection, and about to come again: it needs not
                    self._waiting.remove(entry)
                if entry.place != "settled" and entry.worker is self._worker and entry.content[0]:
                    settled.append(entry.number)
                entry.place = "settled"
            if settled and self._worker is not None:
                self._worker.post("settled", self._number, settled)

    def release(self, deliveries: Sequence[Delivery]) -> None:
        with self._lock:
            self._give_back([delivery.token for delivery in deliveries if delivery.token in self._handed])

    def _give_back(self, entries: list[_Entry]) -> None:
        for entry in reversed(entries):
            del self._handed[entry]
            entry.place = "waiting"
            entry.redelivered = True
            self._waiting.appendleft(entry)

    def wake(self) -> None:
        with self._lock:
            self._woken = True
            self._arrived.notify_all()

    def close(self) -> None:
        with self._lock:
            number, self._number = self._number, 0
            worker, self._worker = self._worker, None
        if number and worker is not None:
            self._traces.gone(removed=close_end(self._orb, worker, number))
        with self._lock:
            self._give_back(list(self._handed))
            for entry in self._waiting:
                entry.worker = None

    # For the supervisor

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        held = False
        with self._lock:
            if frame[0] == "failed":
                self._fail(heard(frame[2]))
                return False
            if frame[0] == "traces":
                self._traces.remember(frame[2])
                return False
            _, _, number, contents = frame
            now = time.time()
            for content in contents:
                held = held or content[0]
                self._count += 1
                self._waiting.append(_Entry(f"{self._prefix}-{self._count}", worker, number, content, now))
                number += 1
            if self._taking:
                self._arrived.notify()
        return held  # the push of a persistent event waits for us

    def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None:
        with self._lock:
            if self._worker is worker:
                self._fail(error)

    def _fail(self, error: Any) -> None:
        self._failure = self._failure or error
        self._arrived.notify_all()


def _unpacked(entry: _Entry) -> _Entry:
    """From the parcel to the event, on the link's thread; once, though it may be handed over twice."""
    persistent, content, error, original = entry.content
    if type(content) is tuple:
        entry.content = (persistent, entry.types.event(content), None, None)
    elif type(error) is tuple:
        trouble = heard(error)
        assert isinstance(trouble, DeadLetterError)
        entry.content = (persistent, None, trouble, original)
    return entry
