"""The middle of a link's work on events: their flights wait for the sink, are sent in order, and come to their ends.

A flight that failed, or whose fate is unknown, waits again in its place: what comes after it never overtakes it. While the sink is
away, or leaves us waiting, flights get older: they are translated again before they are sent, and some may wait no longer.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from adapters.base import Confirmation, DeadLetterError, Delivery, ReconnectError, Refusal, RetryLaterError, Sink
from gateway.links.admission import Admission
from gateway.links.back_off import Pauses
from gateway.links.breaker import Breaker
from gateway.links.connection import Connection
from gateway.links.flight import Endings, Flight
from gateway.links.observer import LinkObserver
from gateway.links.pace import Pace
from gateway.links.reasons import breaker_open, journal_full, too_old
from gateway.links.settlement import Settlement
from gateway.links.start_time import starts_at

STALE_SECS: Final = 0.5  # what was translated longer ago than this, and not sent, is translated again before it is
EXPIRY_SECS: Final = 5.0  # how often what waits while nothing can be sent is looked through for what has expired


class Departures:
    """Belongs to the link's thread; `first` is for anybody."""

    def __init__(
        self,
        link: str,
        sink: Sink,
        sink_end: Connection,
        pace: Pace,
        admission: Admission,
        settlement: Settlement,
        observer: LinkObserver,
        on_confirmed: Callable[[Confirmation], None],
        on_change: Callable[[], None],
    ) -> None:
        """`on_confirmed` is called on whatever thread completes a confirmation, `on_change` when the sink is lost."""
        self._link = link
        self._sink = sink
        self._sink_end = sink_end
        self._pace = pace
        self._admission = admission
        self._settlement = settlement
        self._observer = observer
        self._on_confirmed = on_confirmed
        self._on_change = on_change
        self._flights: deque[Flight] = deque()
        self._retry = Pauses(pace.retry)
        self._retry_at = 0.0
        self._breaker = Breaker(pace.breaker, pace.retry.longest_ms / 1000)
        self._expiry_looked_at = 0.0
        self.events = 0
        """In all flights together."""

    # What is there

    def __len__(self) -> int:
        return len(self._flights)

    def add(self, flight: Flight) -> None:
        if flight.batch:
            self._flights.append(flight)
            self.events += len(flight.batch)

    @property
    def deliveries(self) -> list[Delivery]:
        return [delivery for flight in self._flights for delivery in flight.deliveries]

    @property
    def first(self) -> Delivery:
        """The oldest. Raises IndexError where there is none."""
        return self._flights[0].deliveries[0]

    @property
    def has_news(self) -> bool:
        """Whether `settle_confirmed` would do something."""
        return bool(self._flights) and self._flights[0].is_done

    @property
    def pauses(self) -> Sequence[float]:
        """How long until something may be sent again, for each reason that there is to wait."""
        pauses = []
        if (pause := self._retry_at - time.monotonic()) > 0:
            pauses.append(pause)
        if self._breaker.state == "open":
            pauses.append(self._breaker.pause_secs)
        return pauses

    # Sending

    def send_waiting(self) -> bool:
        """Send every flight that waits, in order; True when none waits any more."""
        self._reopen_refused()
        if not self._may_send:
            return all(flight.confirmation is not None for flight in self._flights)
        for flight in tuple(self._flights):
            if flight.confirmation is not None:
                if self._breaker.state == "half_open":
                    return False  # until it is known how that went
                continue
            if time.monotonic() - flight.made_at > STALE_SECS and not self._renew(flight):
                continue
            try:
                flight.confirmation = self._sink.send(flight.batch)
            except ReconnectError as error:
                self._lost(error)
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

    def _renew(self, flight: Flight) -> bool:
        """Translate again what has waited: its time to live has become shorter, or is over (OC-VAR-2). False: nothing is left."""
        renewed = self._admission.prepare(flight.deliveries)
        self.events += len(renewed.batch) - len(flight.batch)
        flight.deliveries, flight.batch, flight.made_at = renewed.deliveries, renewed.batch, renewed.made_at
        if not flight.batch:
            self._flights.remove(flight)
        return bool(flight.batch)

    def _reopen_refused(self) -> None:
        """Every flight that the far side wants later waits again, wherever it stands: what comes after it must not overtake it.

        From the last to the first: confirmations complete in the order of the sends, also while we look, so that none is found to
        wait whose forerunner was not.
        """
        for flight in reversed(self._flights):
            if flight.is_to_be_retried:
                flight.confirmation = None

    # Confirmations

    def settle_confirmed(self) -> None:
        while self._flights and self._flights[0].is_done:
            flight = self._flights[0]
            assert flight.confirmation is not None
            error = flight.confirmation.exception()
            if error is None:
                self._retry.reset()
                self._flights.popleft()
                self.events -= len(flight.batch)
                self._settle(flight, flight.confirmation.result())
            elif isinstance(error, RetryLaterError):
                self._reopen_refused()
                self._retry_later(error)
            elif isinstance(error, ReconnectError):
                self._lost(error)
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
                delivery, outgoing = flight.deliveries[index], flight.batch[index]
                self._settlement.dead_letter(delivery, outgoing, error, endings, flight.attempts)
        if endings.sent and self._breaker.succeeded():
            self._observer.side_changed(self._link, "sink", "ready", None, 0)
        if again.batch:
            self._flights.appendleft(again)
            self.events += len(again.batch)
        self._settlement.conclude(endings)

    # Waiting too long

    def look_for_expired(self) -> None:
        """What waits and cannot be sent just now may expire meanwhile: it is counted when it does, not when the sink is back."""
        now = time.monotonic()
        if self._may_send or now - self._expiry_looked_at < EXPIRY_SECS:
            return
        self._expiry_looked_at = now
        for flight in tuple(self._flights):
            if flight.confirmation is None and now - flight.made_at > EXPIRY_SECS:
                self._renew(flight)

    def give_up(self) -> None:
        """Dead-letter what may wait for the sink no longer; what is on its way is left alone."""
        if self._pace.max_age_secs is None and not self._settlement.keeps_accounts:
            return
        while self._flights and self._flights[0].confirmation is None:
            flight = self._flights[0]
            given_up = self._to_give_up(flight.deliveries)
            if not given_up:
                return
            endings = Endings()
            for (delivery, error), outgoing in zip(given_up, flight.batch, strict=False):
                self._settlement.dead_letter(delivery, outgoing, error, endings, flight.attempts)
            del flight.deliveries[: len(given_up)], flight.batch[: len(given_up)]
            self.events -= len(given_up)
            self._settlement.conclude(endings)
            if flight.batch:
                return
            self._flights.popleft()

    def _to_give_up(self, deliveries: Sequence[Delivery]) -> list[tuple[Delivery, DeadLetterError]]:
        """The first of these, as many as are too old or in the way of others, each with the reason."""
        overdue = self._settlement.overdue(deliveries)
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

    # When the sink fails

    def check_sink(self) -> None:
        """A link without traffic must tell of a dead sink too."""
        if self._sink_end.ready:
            try:
                self._sink.check()
            except ReconnectError as error:
                self._lost(error)

    def _lost(self, error: ReconnectError) -> None:
        self._sink_end.lost(error)
        self._on_change()
        if self._flights:
            self._fail()
        for flight in self._flights:
            flight.confirmation = None  # its fate is unknown: it goes again

    def _retry_later(self, error: RetryLaterError) -> None:
        if self._retry.attempts == 0:
            self._observer.side_changed(self._link, "sink", "ready", error, 0)
        self._retry_at = time.monotonic() + self._retry.next_secs()
        self._fail()

    def _fail(self) -> None:
        """The sink has failed us in the middle of sending."""
        if self._breaker.failed():
            self._observer.side_changed(
                self._link, "sink", self._sink_end.state, breaker_open(self._pace.breaker, self._breaker.pause_secs), 0
            )
