"""A link: takes deliveries from a source, translates them, sends them to a sink, and settles each when the far side confirmed.

One thread owns everything in here: the source, the sink, the flights. Others may only ask (`status`) and tell it to stop.

    receive ─▶ step (admit, translate, route) ─▶ flight ─▶ sink.send ─▶ confirmation ─▶ source.acknowledge
                    │ filtered, looped, expired, duplicate: at once    │
                    └ cannot pass: dead letter, then acknowledged ◀────┘ refused

- **Order** is kept: flights are sent, and sent again after a lost connection, in the order of their deliveries.
- **Back-pressure**: at most `window` events are in flight. When the sink is down or slow nothing more is taken from the source.
- **Nothing is lost**: a source is acknowledged after the sink has confirmed, or after the dead letter is on disk.
- **Not too early**: what may not be delivered yet (`start_time.py`) waits in the link; what comes behind it passes.
- **Once**: what is known to have arrived (`duplicates.py`) is not sent again. What somebody else is sending just now waits for how
  that ends.
- **Accounts**: `received = delivered + filtered + looped + expired + duplicate + dead-lettered + pending` at every moment. A source
  that keeps them itself (`settling_source.py`) is told every outcome, and its sum holds over restarts too.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adapters.base import (
    Confirmation,
    DeadLetterError,
    Delivery,
    Outgoing,
    ReconnectError,
    Refusal,
    RetryLaterError,
    Sink,
    Source,
    StopError,
)
from adapters.settings_base import BackOff
from gateway.capture.observer import CaptureStatus
from gateway.inlet.status import InletStatus
from gateway.links.accounts import Accounts, Balance
from gateway.links.back_off import Pauses
from gateway.links.breaker import Breaker
from gateway.links.connection import Connection
from gateway.links.dead_letter_ratio import DeadLetterRatio
from gateway.links.dead_letters import DeadLetters
from gateway.links.duplicates import Duplicates
from gateway.links.flight import Endings, Flight
from gateway.links.observer import LinkObserver, State
from gateway.links.reasons import breaker_open, journal_full, too_old
from gateway.links.recorder import Recorder, SilentRecorder
from gateway.links.settling_source import SettlingSource
from gateway.links.start_time import WaitingRoom, starts_at
from gateway.links.step import FILTERED, NotYet, PatientStep
from gateway.links.tap import LinkTap
from mappings.errors import Expired, IsthmusError, Looped, MappingError

STALE_SECS = 0.5  # what was translated longer ago than this, and not sent, is translated again before it is
EXPIRY_SECS = 5.0  # how often what waits while nothing can be sent is looked through for what has expired
IDLE_SECS = 0.5  # how long one wait lasts when nothing happens; stop() and confirmations end it early


@dataclass(frozen=True, slots=True)
class Pace:
    """How much a link takes on at once, and how patient it is."""

    window: int = 1000  # events in flight at the most
    batch: int = 100  # events in one send at the most
    drain_secs: float = 10.0  # how long a stopping link waits for confirmations
    source_back_off: BackOff = field(default_factory=BackOff)
    sink_back_off: BackOff = field(default_factory=BackOff)
    retry: BackOff = field(default_factory=BackOff)  # pauses after "retry later", and while dead letters cannot be kept
    breaker: int = 10  # failures in a row after which the sink is left alone for a while; 0: never
    dead_letter_expired: bool = False  # keep what has expired, with the reason
    stop_at_ratio: float | None = None  # of dead letters among the last `stop_after` events
    stop_after: int = 100
    max_age_secs: float | None = None  # an event that waits longer than this to be sent is dead-lettered; None: never


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """What an operator sees of a link."""

    id: str
    state: State
    source: State
    source_error: IsthmusError | None
    sink: State
    sink_error: IsthmusError | None
    error: IsthmusError | None  # why it stopped
    balance: Balance
    oldest_pending_secs: float | None
    held: int = 0  # of those pending: their StartTime has not come
    inlet: InletStatus | None = None  # where it takes from a journal: who fills that
    capture: CaptureStatus | None = None  # where its traffic is captured
    missing: int | None = None  # where its source numbers its events: how many did not come
    source_changes: Mapping[State, int] = field(default_factory=dict)  # how often this end came into each state
    sink_changes: Mapping[State, int] = field(default_factory=dict)


class Handover(NamedTuple):
    """What a link that ends leaves to the one that goes on with its source."""

    source: Source  # connected
    unsettled: tuple[Delivery, ...]


class Link:
    def __init__(
        self,
        id_: str,
        source: Source,
        sink: Sink,
        step: PatientStep,
        dead_letters: DeadLetters,
        observer: LinkObserver,
        pace: Pace | None = None,
        accounts: Accounts | None = None,
        unsettled: Sequence[Delivery] | None = None,
        recorder: Recorder | None = None,
        *,
        duplicates: Duplicates | None = None,
        tap: LinkTap | None = None,
    ) -> None:
        """`accounts` and `unsettled` come from the link before it, where this one goes on with its counts, or with its source too:
        the source is then connected, and the deliveries are those that it has handed out and nobody has settled. Without
        `duplicates` none are looked for."""
        self.id = id_
        self._pace = pace or Pace()
        self._source = source
        self._sink = sink
        self._step = step
        self._dead_letters = dead_letters
        self._observer = observer
        self._recorder = recorder or SilentRecorder()
        self._source_end = Connection(id_, "source", source, self._pace.source_back_off, observer)
        self._sink_end = Connection(id_, "sink", sink, self._pace.sink_back_off, observer)
        self._accounts = accounts or Accounts()
        self._duplicates = duplicates
        self._tap = tap or LinkTap(id_)
        self._duplicates_trouble = False
        self._settling = source if isinstance(source, SettlingSource) else None
        self._flights: deque[Flight] = deque()
        self._in_flight = 0
        self._twins: list[Delivery] = []  # somebody else is sending the same event: wait for how that ends
        self._held = WaitingRoom()
        self._batch_limit = min(self._pace.batch, sink.capabilities.max_batch)
        self._retry = Pauses(self._pace.retry)
        self._retry_at = 0.0
        self._breaker = Breaker(self._pace.breaker, self._pace.retry.longest_ms / 1000)
        ratio = self._pace.stop_at_ratio
        self._ratio = DeadLetterRatio(ratio, self._pace.stop_after) if ratio is not None else None
        self._expiry_looked_at = 0.0
        self._inherited = unsettled
        self._keep_source = False
        self._handover: Handover | None = None
        self._left: list[Delivery] = []  # could neither pass nor be dead-lettered when the link had to stop
        self._stopping = threading.Event()
        self._news = threading.Event()  # a confirmation is done, or somebody wants us to stop
        self._receiving = False  # True while receive() may be blocked, and a wake() is worth its cost
        self._state: State = "down"
        self._error: IsthmusError | None = None
        self._thread = threading.Thread(target=self._run, name=f"link-{id_}", daemon=True)

    # For others

    def start(self) -> None:
        self._thread.start()

    def stop(self, *, keep_source: bool = False) -> None:
        """Take nothing more, wait for what is in flight up to `drain_secs`, disconnect. Returns at once; see `join`.

        With `keep_source` the source stays connected where it can, for a link that goes on with it: what waits there would be lost
        at a peer that forgets whoever disconnects. See `handover`.
        """
        self._keep_source = keep_source
        self._stopping.set()
        self._news.set()
        self._source.wake()

    def join(self, timeout_secs: float | None = None) -> bool:
        """True when the link has ended."""
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    @property
    def handover(self) -> Handover | None:
        """What the next link goes on with, once this one has ended; None where the source was not to be kept, or could not be."""
        return self._handover

    def balance(self) -> Balance:
        return self._settling.balance() if self._settling is not None else self._accounts.balance()

    def status(self) -> LinkStatus:
        return LinkStatus(
            id=self.id,
            state=self._state,
            source=self._source_end.state,
            source_error=self._source_end.error,
            sink=self._sink_end.state,
            sink_error=self._sink_end.error,
            error=self._error,
            balance=self.balance(),
            oldest_pending_secs=self._oldest_pending_secs(),
            held=len(self._held),
            source_changes=dict(self._source_end.changes),
            sink_changes=dict(self._sink_end.changes),
        )

    # The link's own thread

    def _run(self) -> None:
        try:
            if self._inherited is not None:
                self._source_end.adopt()
                for start in range(0, len(self._inherited), self._batch_limit):
                    self._accept(self._inherited[start : start + self._batch_limit])
            while not self._stopping.is_set():
                self._turn()
            self._drain()
        except StopError as error:
            self._error = error
        except Exception as bug:  # noqa: BLE001 - a fault of ours must stop this link alone, and be seen
            self._error = StopError("LNK-BUG", f"unexpected {type(bug).__name__}: {bug}", hint="please report this")
        finally:
            if self._duplicates is not None:
                self._duplicates.leave()
            in_flight = [delivery for flight in self._flights for delivery in flight.deliveries]
            unsettled = (*self._left, *in_flight, *self._twins, *self._held.deliveries)
            self._recorder.left(unsettled)
            if self._keep_source and self._error is None and self._source_end.ready:
                self._handover = Handover(self._source, unsettled)
            else:
                self._source_end.close()  # what is unsettled is released: the peer keeps it
            self._sink_end.close()
            self._enter("stopped", self._error)

    def _turn(self) -> None:
        """One round: settle, connect, send, receive; waits at the most IDLE_SECS."""
        self._settle_confirmed()
        self._check_sink()
        self._source_end.attempt()
        self._sink_end.attempt()
        self._reflect()
        self._give_up()
        self._look_for_expired()
        self._look_at_twins()
        self._look_at_held()
        everything_sent = self._send_waiting()
        room = self._pace.window - self._in_flight - len(self._twins) - len(self._held)
        if room > 0 and everything_sent and self._may_receive:
            self._receive(min(room, self._batch_limit))
        else:
            self._wait()

    def _drain(self) -> None:
        self._enter("draining")
        self._source_end.drain()
        self._sink_end.drain()
        deadline = time.monotonic() + self._pace.drain_secs
        while (self._flights or self._twins) and time.monotonic() < deadline:
            self._settle_confirmed()
            self._sink_end.attempt()
            self._look_at_twins()
            self._send_waiting()
            if self._flights or self._twins:
                self._wait()

    def _receive(self, limit: int) -> None:
        self._receiving = True
        # From here on a confirmation wakes us; one that came before is seen by this test.
        news = self._flights and self._flights[0].is_done
        try:
            patience_secs = IDLE_SECS if self._sink_end.ready else min(IDLE_SECS, self._sink_end.pause_secs)
            patience_secs = self._held.wait_secs(patience_secs)
            deliveries = [] if news else self._source.receive(limit, patience_secs)
        except ReconnectError as error:
            self._source_end.lost(error)
            self._reflect()
            return
        finally:
            self._receiving = False
        if deliveries:
            self._accept(deliveries)
            self._settle_confirmed()  # what was refused meanwhile goes first
            self._send_waiting()

    def _accept(self, deliveries: Sequence[Delivery]) -> None:
        self._accounts.received(len(deliveries))
        self._recorder.received(deliveries)
        if self._tap.listeners:
            self._tap.received(deliveries)
        self._take_off(deliveries)

    def _take_off(self, deliveries: Sequence[Delivery]) -> None:
        flight = self._prepare(deliveries)
        if self._tap.listeners:
            self._tap.translated(flight.deliveries, flight.batch)
        if flight.batch:
            self._flights.append(flight)
            self._in_flight += len(flight.batch)

    def _prepare(self, deliveries: Sequence[Delivery]) -> Flight:
        """What of these goes on, translated; the rest is settled here."""
        flight = Flight([], [])
        endings = Endings()
        overdue = self._settling.overdue(deliveries) if self._settling is not None else 0
        for index, delivery in enumerate(deliveries):
            try:
                if delivery.error is not None:
                    raise delivery.error
                if index < overdue:
                    raise journal_full()
                outgoing = self._step(delivery)
            except Expired as expired:
                if self._pace.dead_letter_expired:
                    self._dead_letter(delivery, None, expired, endings)
                else:
                    endings.add("expired", delivery)
            except Looped:
                endings.add("looped", delivery)
            except (MappingError, DeadLetterError) as error:
                self._dead_letter(delivery, None, error, endings)
            except Exception as bug:  # noqa: BLE001 - one event must not stop the others, nor vanish
                fault = MappingError(
                    "LNK-TRANSLATION", f"unexpected {type(bug).__name__}: {bug}", hint="please report this"
                )
                self._dead_letter(delivery, None, fault, endings)
            else:
                if isinstance(outgoing, NotYet):
                    self._held.add(delivery, outgoing.until)
                elif not isinstance(outgoing, Outgoing):
                    assert outgoing is FILTERED
                    endings.add("filtered", delivery)
                elif self._is_ours_to_send(delivery, outgoing, endings):
                    flight.deliveries.append(delivery)
                    flight.batch.append(outgoing)
        self._conclude(endings)
        return flight

    def _is_ours_to_send(self, delivery: Delivery, outgoing: Outgoing, endings: Endings) -> bool:
        answer = "new" if self._duplicates is None else self._duplicates.admit(delivery, outgoing)
        if answer == "known":
            endings.add("duplicate", delivery)
        elif answer == "claimed":
            self._twins.append(delivery)
        return answer == "new"

    def _look_at_twins(self) -> None:
        """Whether it is known by now how the others have ended."""
        if self._twins and self._duplicates is not None and (released := self._duplicates.released(self._twins)):
            gone = set(released)
            self._twins = [delivery for delivery in self._twins if delivery not in gone]
            self._take_off(released)

    def _look_at_held(self) -> None:
        """What is due, and what the journal must not keep any longer."""
        if len(self._held):
            overdue = self._settling.overdue(self._held.deliveries) if self._settling is not None else 0
            if overdue:
                self._take_off(self._held.take(overdue))
            if due := self._held.take_due():
                self._take_off(due)

    def _renew(self, flight: Flight) -> None:
        """Translate again what has waited: its time to live has become shorter, or is over (OC-VAR-2)."""
        renewed = self._prepare(flight.deliveries)
        self._in_flight += len(renewed.batch) - len(flight.batch)
        flight.deliveries, flight.batch, flight.made_at = renewed.deliveries, renewed.batch, renewed.made_at

    def _send_waiting(self) -> bool:
        """Send every flight that waits, in order; True when none waits any more."""
        self._reopen_refused()
        if not self._may_send:
            return all(flight.confirmation is not None for flight in self._flights)
        for flight in tuple(self._flights):
            if flight.confirmation is not None:
                if self._breaker.state == "half_open":
                    return False  # until it is known how that went
                continue
            if time.monotonic() - flight.made_at > STALE_SECS:
                self._renew(flight)
                if not flight.batch:
                    self._flights.remove(flight)
                    continue
            try:
                flight.confirmation = self._sink.send(flight.batch)
            except ReconnectError as error:
                self._sink_lost(error)
                return False
            except RetryLaterError as error:
                self._retry_later(error)
                return False
            flight.attempts += 1
            flight.confirmation.add_done_callback(self._on_confirmed)
        return True

    @property
    def _may_send(self) -> bool:
        return self._sink_end.ready and time.monotonic() >= self._retry_at and self._breaker.lets_pass

    def _look_for_expired(self) -> None:
        """What waits and cannot be sent just now may expire meanwhile: it is counted when it does, not when the sink is back."""
        now = time.monotonic()
        if self._may_send or now - self._expiry_looked_at < EXPIRY_SECS:
            return
        self._expiry_looked_at = now
        for flight in tuple(self._flights):
            if flight.confirmation is None and now - flight.made_at > EXPIRY_SECS:
                self._renew(flight)
                if not flight.batch:
                    self._flights.remove(flight)

    def _reopen_refused(self) -> None:
        """Every flight that the far side wants later waits again, wherever it stands: what comes after it must not overtake it.

        From the last to the first: confirmations complete in the order of the sends, also while we look, so that none is found to
        wait whose forerunner was not.
        """
        for flight in reversed(self._flights):
            if flight.is_to_be_retried:
                flight.confirmation = None

    def _give_up(self) -> None:
        """Dead-letter what may wait for the sink no longer; what is on its way is left alone."""
        if self._pace.max_age_secs is None and self._settling is None:
            return
        while self._flights and self._flights[0].confirmation is None:
            flight = self._flights[0]
            given_up = self._to_give_up(flight.deliveries)
            if not given_up:
                return
            endings = Endings()
            for (delivery, error), outgoing in zip(given_up, flight.batch, strict=False):
                self._dead_letter(delivery, outgoing, error, endings, flight.attempts)
            del flight.deliveries[: len(given_up)], flight.batch[: len(given_up)]
            self._in_flight -= len(given_up)
            self._conclude(endings)
            if flight.batch:
                return
            self._flights.popleft()

    def _to_give_up(self, deliveries: Sequence[Delivery]) -> list[tuple[Delivery, DeadLetterError]]:
        """The first of these, as many as are too old or in the way of others, each with the reason."""
        overdue = self._settling.overdue(deliveries) if self._settling is not None else 0
        max_age_secs = self._pace.max_age_secs
        oldest = 0.0 if max_age_secs is None else time.time() - max_age_secs
        given_up: list[tuple[Delivery, DeadLetterError]] = []
        for index, delivery in enumerate(deliveries):
            if index < overdue:
                given_up.append((delivery, journal_full()))
            elif max_age_secs is not None and max(delivery.received_at, starts_at(delivery)) < oldest:
                given_up.append((delivery, too_old(max_age_secs)))
            else:
                break
        return given_up

    def _on_confirmed(self, _: Confirmation) -> None:
        """On whatever thread completes the confirmation."""
        self._news.set()
        if self._receiving:
            self._source.wake()

    def _settle_confirmed(self) -> None:
        while self._flights and self._flights[0].is_done:
            flight = self._flights[0]
            assert flight.confirmation is not None
            error = flight.confirmation.exception()
            if error is None:
                self._retry.reset()
                self._flights.popleft()
                self._in_flight -= len(flight.batch)
                self._settle(flight, flight.confirmation.result())
            elif isinstance(error, RetryLaterError):
                self._reopen_refused()
                self._retry_later(error)
            elif isinstance(error, ReconnectError):
                self._sink_lost(error)
            else:
                raise error

    def _settle(self, flight: Flight, refusals: tuple[Refusal, ...]) -> None:
        """The far side has spoken on every event of this flight."""
        refused = {refusal.index: refusal.error for refusal in refusals}
        endings = Endings()
        again = Flight([], [], attempts=flight.attempts)
        for index, (delivery, outgoing) in enumerate(zip(flight.deliveries, flight.batch, strict=True)):
            error = refused.get(index)
            if error is None:
                endings.delivered(delivery, outgoing)
            elif isinstance(error, RetryLaterError):
                again.deliveries.append(delivery)
                again.batch.append(outgoing)
                self._retry_later(error)
        for index, error in refused.items():
            if isinstance(error, DeadLetterError):
                self._dead_letter(flight.deliveries[index], flight.batch[index], error, endings, flight.attempts)
        if endings.sent and self._breaker.succeeded():
            self._observer.side_changed(self.id, "sink", "ready", None, 0)
        if again.batch:
            self._flights.appendleft(again)
            self._in_flight += len(again.batch)
        self._conclude(endings)

    def _conclude(self, endings: Endings) -> None:
        """Count these, and tell the source, which may forget them."""
        settled = endings.by_outcome
        if not settled:
            return
        self._remember(endings)
        for outcome, deliveries in settled.items():
            self._accounts.settled(outcome, len(deliveries))
            if outcome != "dead_lettered":  # recorded one by one, with the reason
                self._recorder.settled(outcome, deliveries, endings.sent if outcome == "delivered" else ())
        if self._tap.listeners:
            self._tap.sent(settled.get("delivered", ()), endings.sent)
        if self._source_end.ready:
            try:
                if self._settling is not None:
                    for outcome, deliveries in settled.items():
                        self._settling.settle(deliveries, outcome)
                else:
                    self._source.acknowledge([delivery for deliveries in settled.values() for delivery in deliveries])
            except ReconnectError as error:
                self._source_end.lost(error)  # they may come again: at least once
                self._reflect()
        if self._ratio is not None:
            self._ratio.count(len(settled.get("delivered", ())), len(settled.get("dead_lettered", ())))

    def _remember(self, endings: Endings) -> None:
        """What has arrived is known before the source hears of it: whatever it delivers again is a duplicate."""
        if self._duplicates is None:
            return
        trouble: RetryLaterError | None = None
        for outcome, deliveries in endings.by_outcome.items():
            if outcome != "delivered":
                self._duplicates.failed(deliveries)
                continue
            try:
                self._duplicates.arrived(deliveries)
            except OSError as error:
                trouble = RetryLaterError(
                    "LNK-DUPLICATES-STORE", f"ids of events cannot be kept: {error}", hint="make room on the disk"
                )
            if (trouble is not None) != self._duplicates_trouble:
                self._duplicates_trouble = trouble is not None
                self._observer.side_changed(self.id, "duplicates", "down" if trouble else "ready", trouble, 0)

    def _dead_letter(
        self, delivery: Delivery, outgoing: Outgoing | None, error: IsthmusError, endings: Endings, attempts: int = 0
    ) -> None:
        """Keep it, or hold everything until it can be kept. A stop in between leaves it with the source."""
        pauses = Pauses(self._pace.retry)
        while True:
            try:
                self._dead_letters.put(self.id, delivery, error, attempts)
            except OSError as trouble:
                held = RetryLaterError(
                    "LNK-DEAD-LETTER-STORE", f"a dead letter cannot be kept: {trouble}", hint="make room"
                )
                if pauses.attempts == 0:
                    self._observer.side_changed(self.id, "dead-letters", "down", held, 0)
                if self._stopping.wait(pauses.next_secs()):
                    self._left.append(delivery)
                    return
            else:
                break
        if pauses.attempts:
            self._observer.side_changed(self.id, "dead-letters", "ready", None, pauses.attempts)
        endings.add("dead_lettered", delivery)
        self._recorder.dead_lettered(delivery, error, outgoing)
        self._observer.dead_lettered(self.id, delivery, error)

    def _check_sink(self) -> None:
        """A link without traffic must tell of a dead sink too."""
        if self._sink_end.ready:
            try:
                self._sink.check()
            except ReconnectError as error:
                self._sink_lost(error)

    def _sink_lost(self, error: ReconnectError) -> None:
        self._sink_end.lost(error)
        self._reflect()
        if self._flights:
            self._fail()
        for flight in self._flights:
            flight.confirmation = None  # its fate is unknown: it goes again

    def _retry_later(self, error: RetryLaterError) -> None:
        if self._retry.attempts == 0:
            self._observer.side_changed(self.id, "sink", "ready", error, 0)
        self._retry_at = time.monotonic() + self._retry.next_secs()
        self._fail()

    def _fail(self) -> None:
        """The sink has failed us in the middle of sending."""
        if self._breaker.failed():
            self._observer.side_changed(
                self.id, "sink", self._sink_end.state, breaker_open(self._pace.breaker, self._breaker.pause_secs), 0
            )

    def _wait(self) -> None:
        """Until something is due, or there is news."""
        due = [self._held.wait_secs(IDLE_SECS)]
        due += [end.pause_secs for end in (self._source_end, self._sink_end) if not end.ready]
        if self._retry_at > (now := time.monotonic()):
            due.append(self._retry_at - now)
        if self._breaker.state == "open":
            due.append(self._breaker.pause_secs)
        self._news.wait(max(0.001, min(due)))
        self._news.clear()

    @property
    def _may_receive(self) -> bool:
        """From a wire only what the sink can take; from a journal the oldest batch also while the sink is away."""
        return self._both_ready or (self._settling is not None and self._source_end.ready and not self._flights)

    @property
    def _both_ready(self) -> bool:
        return self._source_end.ready and self._sink_end.ready

    def _reflect(self) -> None:
        """A running link is ready while both its ends are, and down otherwise."""
        state: State = "ready" if self._both_ready else "down"
        if state != self._state and not self._stopping.is_set():
            self._enter(state)

    def _enter(self, state: State, error: IsthmusError | None = None) -> None:
        self._state = state
        self._observer.link_changed(self.id, state, error)

    def _oldest_pending_secs(self) -> float | None:
        try:
            oldest = self._flights[0].deliveries[0] if self._flights else (*self._twins, *self._held.deliveries)[0]
            return time.time() - oldest.received_at
        except (IndexError, RuntimeError):  # another thread asks: they may be gone by now
            return None
