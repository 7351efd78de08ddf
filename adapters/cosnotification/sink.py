"""Sink of the CosNotification wire: a supplier at a channel of the peer, in the ORB's process.

Batches go to the worker without waiting; it pushes them in order and reports. Two things are remembered over a broken connection:
which events of a batch the peer had taken already, and which event killed the worker.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Final

from adapters.base import Confirmation, DeadLetterError, Outgoing, ReconnectError, Refusal, RetryLaterError, Sink
from adapters.cosnotification.left_behind import Traces
from adapters.cosnotification.orb import Orb, Worker, await_, close_end
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, capabilities, peer_key
from adapters.cosnotification.source import CONNECT_CALLS
from adapters.cosnotification.worker.frames import pack
from adapters.cosnotification.worker.told import heard
from mappings.model import StructuredEvent

REMEMBERED: Final = 10_000  # ids


class _Batch:
    """A batch at the worker."""

    def __init__(self, ids: list[str], places: list[int], refusals: list[Refusal]) -> None:
        self.ids = ids  # of what was sent to the worker
        self.places = places  # of these in the link's batch
        self.refusals = refusals  # known before it was sent
        self.confirmation: Confirmation = Future()
        self.trying: int | None = None  # what the worker was at, in careful mode


class CosNotificationSink(Sink):
    """The ORB must run before `connect` and until after `close`."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        self.capabilities = capabilities(channel)
        self._orb = orb
        self._endpoint = endpoint
        self._channel = channel
        self._timeout_secs = (endpoint.call_timeout_ms or orb.settings.call_timeout_ms) / 1000
        self._lock = threading.Lock()
        self._number = 0  # of this end at the worker; 0: closed
        self._worker: Worker | None = None
        self._failure: ReconnectError | None = None
        self._batches: dict[int, _Batch] = {}  # at the worker, in order
        self._next = 0
        self._told_to_wait = False
        self._taken: dict[str, None] = {}  # ids that the peer took before a batch broke off
        self._suspects: dict[str, None] = {}  # ids in the batch that the worker died over
        self._poison: dict[str, None] = {}  # ids that killed it
        self._traces = Traces(orb.left_behind, peer_key(endpoint, channel))

    # For the link

    def connect(self) -> None:
        with self._lock:
            self._failure = None
            self._told_to_wait = False
            self._number, self._worker = number, worker = self._orb.attach(self)
        arguments = (self._endpoint.model_dump_json(), self._channel.model_dump_json(), self._traces.of_others())
        try:
            await_(worker.call("sender", number, *arguments), self._timeout_secs * CONNECT_CALLS)
        except BaseException:
            self.close()
            raise
        self._traces.connected()

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        with self._lock:
            if self._worker is None:
                raise ReconnectError("COR-CLOSED", "the sink is not connected")
            if self._failure is not None:
                raise self._failure
            if self._told_to_wait:
                if self._batches:
                    raise RetryLaterError("COR-BUSY", "the peer has reached a limit of its own")
                self._told_to_wait = False
                self._worker.post("resume", self._number)
            return self._send(self._worker, batch)

    def _send(self, worker: Worker, outgoings: Sequence[Outgoing]) -> Confirmation:
        refusals: list[Refusal] = []
        places: list[int] = []
        parcels: list[Any] = []
        careful = False
        for place, outgoing in enumerate(outgoings):
            if self._taken and outgoing.id in self._taken:
                del self._taken[outgoing.id]  # the batch comes again, this one needs not
            elif outgoing.id in self._poison:
                refusals.append(Refusal(place, _crashes_the_orb()))
            elif not isinstance(outgoing.payload, StructuredEvent):
                error = DeadLetterError("COR-VALUE", "a message cannot be pushed to a channel: it takes events")
                refusals.append(Refusal(place, error))
            else:
                careful = careful or outgoing.id in self._suspects
                places.append(place)
                parcels.append(worker.types_out.parcel(outgoing.payload))
        number = self._next
        self._next += 1
        try:
            frame = pack(("batch", self._number, number, parcels, careful))
        except ValueError:
            refusals += _sift(places, parcels)
            frame = pack(("batch", self._number, number, parcels, careful))
        sent = _Batch([outgoings[place].id for place in places], places, refusals)
        self._batches[number] = sent
        worker.post_packed(frame)
        return sent.confirmation

    def close(self) -> None:
        with self._lock:
            number, self._number = self._number, 0
            worker, self._worker = self._worker, None
        if number and worker is not None:
            self._traces.gone(removed=close_end(self._orb, worker, number))
        self._fail_all(ReconnectError("COR-CLOSED", "closed before the peer confirmed"))

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
        if frame[0] == "trying":
            with self._lock:
                if frame[2] in self._batches:
                    self._batches[frame[2]].trying = frame[3]
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
                refused_at = {index for index, _ in refused}
                _remember(self._taken, [id_ for n, id_ in enumerate(batch.ids[:pushed]) if n not in refused_at])
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
                _remember(self._taken, first.ids[: first.trying])
            elif first is not None:
                _remember(self._suspects, first.ids)
        self._fail_all(error)

    def _fail_all(self, error: ReconnectError) -> None:
        with self._lock:
            batches = list(self._batches.values())
            self._batches.clear()
        for batch in batches:
            batch.confirmation.set_exception(error)


def _sift(places: list[int], parcels: list[Any]) -> list[Refusal]:
    """Take out what cannot travel to the worker: a value that is not what its type says."""
    refusals = []
    for index in reversed(range(len(parcels))):
        try:
            pack((parcels[index],))
        except ValueError:
            error = DeadLetterError("COR-VALUE", "a value does not fit its type")
            refusals.append(Refusal(places[index], error))
            del places[index], parcels[index]
    return refusals


def _remember(ids: dict[str, None], more: Sequence[str]) -> None:
    ids.update(dict.fromkeys(more))
    while len(ids) > REMEMBERED:
        del ids[next(iter(ids))]


def _crashes_the_orb() -> DeadLetterError:
    return DeadLetterError("COR-POISON", "this event crashes the ORB library when it is sent")
