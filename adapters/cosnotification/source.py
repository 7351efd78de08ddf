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

from adapters.base import DeadLetterError, Delivery, EventTypes, HearTypes, ReconnectError, Source
from adapters.cosnotification.client_end import ClientEnd
from adapters.cosnotification.orb import Orb, Worker
from adapters.cosnotification.received_octets import ReceivedOctets
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, capabilities
from adapters.cosnotification.worker.parcels import NumberedTypes
from adapters.cosnotification.worker.told import heard
from mappings.makers import maker

_make_delivery: Final = maker(Delivery)

CREDIT_SHARE: Final = 8  # room is told of when an eighth of the buffer is free again


class _Entry:
    """One event, from its arrival to its acknowledgement."""

    __slots__ = ("content", "id", "number", "octets", "place", "received_at", "redelivered", "types", "worker")

    def __init__(self, id_: str, worker: Worker, number: int, content: Any, received_at: float) -> None:
        self.id = id_
        self.worker: Worker | None = worker  # whose push waits for it; None: nobody's
        self.types: NumberedTypes = worker.types_in
        self.number = number
        self.content = content
        self.received_at = received_at
        self.octets: ReceivedOctets | None = None  # of a push that is held as one
        self.redelivered = False
        self.place = "waiting"  # or "handed" to the link, or "settled"

    def delivery(self) -> Delivery:
        persistent, payload, error, original = self.content
        return _make_delivery(payload, self.id, self.received_at, persistent, self.redelivered, original, error, self)


class CosNotificationSource(ClientEnd, Source):
    """The ORB must run before `connect` and until after `close`."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        super().__init__(orb, endpoint, channel)
        self.capabilities = capabilities(channel)
        self._arrived = threading.Condition(self._lock)
        self._waiting: deque[_Entry] = deque()
        self._handed: dict[_Entry, None] = {}  # in the order in which they were handed over
        self._taking = False
        self._woken = False
        self._uncredited = 0
        self._prefix = uuid.uuid4().hex[:12]
        self._count = 0

    # For the link

    def connect(self) -> None:
        self._uncredited = 0
        self._open("receiver")

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
            worker, number = self._worker, self._number
        if worker is not None and self._uncredited * CREDIT_SHARE >= self._channel.buffer:
            worker.post("credit", number, self._uncredited)
            self._uncredited = 0
        unheld: list[int] = []
        deliveries = [_unpacked(entry, unheld).delivery() for entry in taken]
        if unheld and worker is not None:
            worker.post("settled", number, unheld)
        return deliveries

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        settled: list[int] = []
        with self._lock:
            for delivery in deliveries:
                entry: _Entry = delivery.token
                if entry.place == "handed":
                    del self._handed[entry]
                elif entry.place == "waiting":  # of an earlier connection, and about to come again: it needs not
                    self._waiting.remove(entry)
                if entry.place != "settled" and entry.content[0]:
                    octets = entry.octets
                    if (octets is None or octets.settle_one()) and entry.worker is self._worker:
                        settled.append(entry.number if octets is None else octets.first)
                entry.place = "settled"
            worker, number = self._worker, self._number
        if settled and worker is not None:
            worker.post("settled", number, settled)

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
        self._leave()
        with self._lock:
            self._give_back(list(self._handed))
            for entry in self._waiting:
                entry.worker = None

    def watch_offers(self, heard: HearTypes) -> None:
        self._types.watch(heard)

    def want(self, types: EventTypes) -> None:
        self._types.tell(types)

    # For the supervisor

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        held = False
        if frame[0] == "types_told":
            self._types.heard(frame)
            return False
        with self._lock:
            if frame[0] == "failed":
                self._fail(heard(frame[2]))
                return False
            if frame[0] == "traces":
                self._traces.remember(frame[2])
                return False
            number, contents = frame[2], frame[3]
            octets: ReceivedOctets | None = None
            if frame[0] == "octets":
                octets = ReceivedOctets(*frame[2:])
                contents = [(False, octets, index, None) for index in range(octets.count)]
                if octets.held:
                    held = True
                else:
                    octets = None
            now = time.time()
            for content in contents:
                held = held or content[0]
                self._count += 1
                entry = _Entry(f"{self._prefix}-{self._count}", worker, number, content, now)
                entry.octets = octets
                self._waiting.append(entry)
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


def _unpacked(entry: _Entry, unheld: list[int]) -> _Entry:
    """From the parcel or octets to the event, on the link's thread; once, though it may be handed over twice.

    `unheld` gets the number of a push that was held and turns out to hold nothing that is persistent.
    """
    persistent, content, error, original = entry.content
    if type(content) is ReceivedOctets:
        first = content.held and not content.is_read
        entry.content = content.content(error)
        if first and content.unsettled == 0:
            unheld.append(content.first)
    elif type(content) is tuple:
        entry.content = (persistent, entry.types.event(content), None, None)
    elif type(error) is tuple:
        trouble = heard(error)
        assert isinstance(trouble, DeadLetterError)
        entry.content = (persistent, None, trouble, original)
    return entry
