"""A link: takes deliveries from a source, translates them, sends them to a sink, and settles each when the far side confirmed.

One thread owns everything in here: the source, the sink, the flights. Others may only ask (`status`) and tell it to stop.

    receive ─▶ step (admit, translate, route) ─▶ flight ─▶ sink.send ─▶ confirmation ─▶ source.acknowledge
                    │ filtered, looped, expired, duplicate: at once    │
                    └ cannot pass: dead letter, then acknowledged ◀────┘ refused

Three parts have the work, and this one has the rounds, the connections and the waits:

    admission.py    may it pass, what does it become, must it wait
    departures.py   flights: sent in order, confirmed, sent again
    settlement.py   counted, remembered, told to the source, or kept as a dead letter

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adapters.base import Confirmation, Delivery, ReconnectError, Sink, Source, StopError
from gateway.capture.observer import CaptureStatus
from gateway.inlet.status import InletStatus
from gateway.links.accounts import Accounts, Balance
from gateway.links.admission import Admission
from gateway.links.connection import Connection
from gateway.links.dead_letters import DeadLetters
from gateway.links.departures import Departures
from gateway.links.duplicates import Duplicates
from gateway.links.observer import LinkObserver, State
from gateway.links.pace import Pace
from gateway.links.recorder import Recorder, SilentRecorder
from gateway.links.settlement import Settlement
from gateway.links.step import PatientStep
from gateway.links.tap import LinkTap
from mappings.errors import IsthmusError

IDLE_SECS = 0.5  # how long one wait lasts when nothing happens; stop() and confirmations end it early


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
        self._pace = pace = pace or Pace()
        self._source = source
        self._observer = observer
        self._recorder = recorder = recorder or SilentRecorder()
        self._accounts = accounts = accounts or Accounts()
        self._duplicates = duplicates
        self._tap = tap = tap or LinkTap(id_)
        self._stopping = threading.Event()
        self._news = threading.Event()  # a confirmation is done, or somebody wants us to stop
        self._source_end = source_end = Connection(id_, "source", source, pace.source_back_off, observer)
        self._sink_end = sink_end = Connection(id_, "sink", sink, pace.sink_back_off, observer)
        self._settlement = settlement = Settlement(
            id_,
            source,
            source_end,
            pace,
            accounts,
            dead_letters,
            duplicates,
            observer,
            recorder,
            tap,
            self._stopping,
            self._source_is_lost,
        )
        self._admission = admission = Admission(
            step, duplicates, settlement, dead_letter_expired=pace.dead_letter_expired
        )
        self._departures = Departures(
            id_, sink, sink_end, pace, admission, settlement, observer, self._on_confirmed, self._reflect
        )
        self._batch_limit = min(pace.batch, sink.capabilities.max_batch)
        self._inherited = unsettled
        self._keep_source = False
        self._handover: Handover | None = None
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
        return self._settlement.balance()

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
            held=self._admission.held,
            source_changes=dict(self._source_end.changes),
            sink_changes=dict(self._sink_end.changes),
        )

    # The link's own thread

    def _run(self) -> None:
        try:
            if self._inherited is not None:
                self._source_end.adopt()
            if self._inherited:
                self._accept(self._inherited)
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
            unsettled = (*self._settlement.left, *self._departures.deliveries, *self._admission.waiting)
            self._recorder.left(unsettled)
            if self._keep_source and self._error is None and self._source_end.ready:
                self._handover = Handover(self._source, unsettled)
            else:
                self._source_end.close()  # what is unsettled is released: the peer keeps it
            self._sink_end.close()
            self._enter("stopped", self._error)

    def _turn(self) -> None:
        """One round: settle, connect, send, receive; waits at the most IDLE_SECS."""
        admission, departures = self._admission, self._departures
        departures.settle_confirmed()
        departures.check_sink()
        self._source_end.attempt()
        self._sink_end.attempt()
        self._reflect()
        departures.give_up()
        departures.look_for_expired()
        if len(admission):
            self._take_off(admission.released_twins())
            self._take_off(admission.due())
        everything_sent = departures.send_waiting()
        room = self._pace.window - departures.events - len(admission)
        if room > 0 and everything_sent and self._may_receive:
            self._receive(min(room, self._batch_limit))
        else:
            self._wait()

    def _drain(self) -> None:
        self._enter("draining")
        self._source_end.drain()
        self._sink_end.drain()
        admission, departures = self._admission, self._departures
        deadline = time.monotonic() + self._pace.drain_secs
        while (departures or admission.twins) and time.monotonic() < deadline:
            departures.settle_confirmed()
            self._sink_end.attempt()
            self._take_off(admission.released_twins())
            departures.send_waiting()
            if departures or admission.twins:
                self._wait()

    def _receive(self, limit: int) -> None:
        self._receiving = True
        # From here on a confirmation wakes us; one that came before is seen by this test.
        news = self._departures.has_news
        try:
            patience_secs = IDLE_SECS if self._sink_end.ready else min(IDLE_SECS, self._sink_end.pause_secs)
            patience_secs = self._admission.wait_secs(patience_secs)
            deliveries = [] if news else self._source.receive(limit, patience_secs)
        except ReconnectError as error:
            self._source_is_lost(error)
            return
        finally:
            self._receiving = False
        if deliveries:
            self._accept(deliveries)
            self._departures.settle_confirmed()  # what was refused meanwhile goes first
            self._departures.send_waiting()

    def _accept(self, deliveries: Sequence[Delivery]) -> None:
        self._accounts.received(len(deliveries))
        self._recorder.received(deliveries)
        if self._tap.listeners:
            self._tap.received(deliveries)
        self._take_off(deliveries)

    def _take_off(self, deliveries: Sequence[Delivery]) -> None:
        """In as many flights as the sink wants them."""
        for start in range(0, len(deliveries), self._batch_limit):
            flight = self._admission.prepare(deliveries[start : start + self._batch_limit])
            if self._tap.listeners:
                self._tap.translated(flight.deliveries, flight.batch)
            self._departures.add(flight)

    def _on_confirmed(self, _: Confirmation) -> None:
        """On whatever thread completes the confirmation."""
        self._news.set()
        if self._receiving:
            self._source.wake()

    def _source_is_lost(self, error: ReconnectError) -> None:
        self._source_end.lost(error)
        self._reflect()

    def _wait(self) -> None:
        """Until something is due, or there is news."""
        due = [self._admission.wait_secs(IDLE_SECS), *self._departures.pauses]
        due += [end.pause_secs for end in (self._source_end, self._sink_end) if not end.ready]
        self._news.wait(max(0.001, min(due)))
        self._news.clear()

    @property
    def _may_receive(self) -> bool:
        """From a wire only what the sink can take; from a journal the oldest batch also while the sink is away."""
        waits_in_journal = self._settlement.keeps_accounts and self._source_end.ready and not self._departures
        return self._both_ready or waits_in_journal

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
            oldest = self._departures.first if self._departures else self._admission.waiting[0]
            return time.time() - oldest.received_at
        except (IndexError, RuntimeError):  # another thread asks: they may be gone by now
            return None
