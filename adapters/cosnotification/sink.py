"""Sink of the CosNotification wire: a supplier at a channel of the peer, in the ORB's process.

Batches go to the worker without waiting; it pushes them in order and reports. Two things are remembered over a broken connection:
which events of a batch the peer had taken already, and which event killed the worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Final

from adapters.base import (
    Confirmation,
    DeadLetterError,
    EventTypes,
    HearTypes,
    Outgoing,
    ReconnectError,
    Refusal,
    RetryLaterError,
    Sink,
)
from adapters.cosnotification.client_end import ClientEnd
from adapters.cosnotification.orb import Orb, Worker
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, capabilities
from adapters.cosnotification.worker.frames import pack
from adapters.cosnotification.worker.told import heard
from mappings.model import StructuredEvent

REMEMBERED: Final = 10_000  # ids


class _Batch:
    """A batch at the worker."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._all = ids  # of the link's batch
        self.places: list[int] = []  # in the link's batch, of what goes to the worker
        self.refusals: list[Refusal] = []  # known before it goes there
        self.careful = False
        self.confirmation: Confirmation = Future()
        self.trying: int | None = None  # what the worker was at, in careful mode, …
        self.refused: set[int] = set()  # … and what had been refused by then

    @property
    def ids(self) -> list[str]:
        """Of what goes to the worker."""
        return [self._all[place] for place in self.places]

    def taken(self, count: int, refused: set[int]) -> list[str]:
        """Of the first so many: what was refused must be refused again, or nobody hears of it."""
        return [id_ for index, id_ in enumerate(self.ids[:count]) if index not in refused]


class CosNotificationSink(ClientEnd, Sink):
    """The ORB must run before `connect` and until after `close`."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        super().__init__(orb, endpoint, channel)
        self.capabilities = capabilities(channel)
        self._batches: dict[int, _Batch] = {}  # at the worker, in order
        self._next = 0
        self._told_to_wait = False
        self._taken: dict[str, None] = {}  # ids that the peer took before a batch broke off
        self._suspects: dict[str, None] = {}  # ids in the batch that the worker died over
        self._poison: dict[str, None] = {}  # ids that killed it

    # For the link

    def connect(self) -> None:
        self._told_to_wait = False
        self._open("sender")

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        with self._lock:
            if self._worker is None:
                raise ReconnectError("COR-CLOSED", "the sink is not connected")
            if self._failure is not None:
                raise self._failure
            resuming = self._told_to_wait
            if resuming and self._batches:
                raise RetryLaterError("COR-BUSY", "the peer has reached a limit of its own")
            self._told_to_wait = False
            worker, end = self._worker, self._number
            number = self._next
            self._next += 1
            sending = self._batches[number] = self._sort_out(batch)
        try:
            if resuming:
                worker.post("resume", end)
            worker.post_packed(_frame(worker, end, number, sending, batch))
        except BaseException:
            with self._lock:
                self._batches.pop(number, None)
            raise
        return sending.confirmation

    def _sort_out(self, outgoings: Sequence[Outgoing]) -> _Batch:
        """What goes to the worker, and what is refused already. With the lock."""
        sorted_out = _Batch([outgoing.id for outgoing in outgoings])
        for place, outgoing in enumerate(outgoings):
            if self._taken and outgoing.id in self._taken:
                del self._taken[outgoing.id]  # the batch comes again, this one needs not
            elif outgoing.id in self._poison:
                sorted_out.refusals.append(Refusal(place, _crashes_the_orb()))
            elif not isinstance(outgoing.payload, StructuredEvent):
                error = DeadLetterError("COR-VALUE", "a message cannot be pushed to a channel: it takes events")
                sorted_out.refusals.append(Refusal(place, error))
            else:
                sorted_out.places.append(place)
        if self._suspects:
            sorted_out.careful = any(id_ in self._suspects for id_ in sorted_out.ids)
        return sorted_out

    def close(self) -> None:
        self._leave()
        self._fail_all(ReconnectError("COR-CLOSED", "closed before the peer confirmed"))

    def watch_wanted(self, heard: HearTypes) -> None:
        self._types.watch(heard)

    def offer(self, types: EventTypes) -> None:
        self._types.tell(types)

    # For the supervisor

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        if frame[0] == "failed":
            with self._lock:
                error = heard(frame[2])
                assert isinstance(error, ReconnectError)
                self._failure = self._failure or error
            return True
        if frame[0] == "traces":
            self._traces.remember(frame[2])
            return False
        if frame[0] == "types_told":
            self._types.heard(frame)
            return False
        if frame[0] == "trying":
            with self._lock:
                trying = self._batches.get(frame[2])
                if trying is not None:
                    trying.trying, trying.refused = frame[3], set(frame[4])
            return False
        _, _, number, refused, failure, pushed = frame
        with self._lock:
            batch = self._batches.pop(number, None)
            if batch is None:
                return False
            refusals = [Refusal(batch.places[index], heard(why)) for index, why in refused]  # type: ignore[arg-type]
            outcome: Any = heard(failure) if failure is not None else None
            if isinstance(outcome, ReconnectError):
                self._failure = self._failure or outcome
                _remember(self._taken, batch.taken(pushed, {index for index, _ in refused}))
            elif isinstance(outcome, RetryLaterError) or any(isinstance(r.error, RetryLaterError) for r in refusals):
                self._told_to_wait = True
            else:
                for id_ in batch.ids if self._suspects else ():
                    self._suspects.pop(id_, None)
        if outcome is not None:
            batch.confirmation.set_exception(outcome)
        else:
            batch.confirmation.set_result(tuple(sorted(batch.refusals + refusals, key=lambda refusal: refusal.index)))
        return True  # the link may wait for it

    def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None:
        with self._lock:
            if self._worker is not worker:
                return
            self._failure = self._failure or error
            first = next(iter(self._batches.values()), None)
            if first is not None and first.trying is not None:
                _remember(self._poison, [first.ids[first.trying]])
                _remember(self._taken, first.taken(first.trying, first.refused))
            elif first is not None:
                _remember(self._suspects, first.ids)
        self._fail_all(error)

    def _fail_all(self, error: ReconnectError) -> None:
        with self._lock:
            batches = list(self._batches.values())
            self._batches.clear()
        for batch in batches:
            batch.confirmation.set_exception(error)


def _frame(worker: Worker, end: int, number: int, batch: _Batch, outgoings: Sequence[Outgoing]) -> bytes:
    """What cannot travel to the worker, because a value is not what its type says, is refused."""
    parcel = worker.types_out.parcel
    try:
        parcels = [parcel(outgoings[place].payload) for place in batch.places]  # type: ignore[arg-type]
        return pack(("batch", end, number, parcels, batch.careful))
    except Exception:  # noqa: BLE001 - of one of them: which?
        places, batch.places, parcels = batch.places, [], []
        for place in places:
            try:
                made = parcel(outgoings[place].payload)  # type: ignore[arg-type]
                pack((made,))
            except Exception as error:  # noqa: BLE001 - whatever pickle and marshal say of it
                why = f"a value does not fit its type: {type(error).__name__}: {error}"
                batch.refusals.append(Refusal(place, DeadLetterError("COR-VALUE", why)))
            else:
                batch.places.append(place)
                parcels.append(made)
        return pack(("batch", end, number, parcels, batch.careful))


def _remember(ids: dict[str, None], more: Sequence[str]) -> None:
    ids.update(dict.fromkeys(more))
    while len(ids) > REMEMBERED:
        del ids[next(iter(ids))]


def _crashes_the_orb() -> DeadLetterError:
    return DeadLetterError("COR-POISON", "this event crashes the ORB library when it is sent")
