"""The end of a link's work on an event: it is counted, remembered, told to the source, or kept as a dead letter."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from adapters.base import Delivery, Outgoing, ReconnectError, RetryLaterError, Source
from gateway.links.accounts import Accounts, Balance
from gateway.links.back_off import Pauses
from gateway.links.connection import Connection
from gateway.links.dead_letter_ratio import DeadLetterRatio
from gateway.links.dead_letters import DeadLetters
from gateway.links.duplicates import Duplicates
from gateway.links.flight import Endings
from gateway.links.observer import LinkObserver
from gateway.links.pace import Pace
from gateway.links.recorder import Recorder
from gateway.links.settling_source import SettlingSource
from gateway.links.tap import LinkTap
from mappings.errors import IsthmusError


class Settlement:
    """Belongs to the link's thread; `balance` is for anybody."""

    def __init__(
        self,
        link: str,
        source: Source,
        source_end: Connection,
        pace: Pace,
        accounts: Accounts,
        dead_letters: DeadLetters,
        duplicates: Duplicates | None,
        observer: LinkObserver,
        recorder: Recorder,
        tap: LinkTap,
        stopping: threading.Event,
        source_lost: Callable[[ReconnectError], None],
    ) -> None:
        """`stopping` ends the wait for a disk that takes no dead letters; `source_lost` hears of a source that cannot be told."""
        self._link = link
        self._source = source
        self._settling = source if isinstance(source, SettlingSource) else None
        self._source_end = source_end
        self._pace = pace
        self._accounts = accounts
        self._dead_letters = dead_letters
        self._duplicates = duplicates
        self._duplicates_trouble = False
        self._observer = observer
        self._recorder = recorder
        self._tap = tap
        self._stopping = stopping
        self._source_lost = source_lost
        self._ratio = None if pace.stop_at_ratio is None else DeadLetterRatio(pace.stop_at_ratio, pace.stop_after)
        self.left: list[Delivery] = []
        """Could neither pass nor be dead-lettered when the link had to stop."""

    def balance(self) -> Balance:
        return self._settling.balance() if self._settling is not None else self._accounts.balance()

    @property
    def keeps_accounts(self) -> bool:
        """Whether the source does, which may also want room (`overdue`)."""
        return self._settling is not None

    def overdue(self, deliveries: Sequence[Delivery]) -> int:
        """How many of these, from the first on, the source must have dead-lettered to make room."""
        return self._settling.overdue(deliveries) if self._settling is not None else 0

    def conclude(self, endings: Endings) -> None:
        """Count these, and tell the source, which may forget them. Raises StopError where too many were dead letters."""
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
                self._tell(endings)
            except ReconnectError as error:  # they may come again: at least once
                self._source_lost(error)
        if self._ratio is not None:
            self._ratio.count(len(settled.get("delivered", ())), len(settled.get("dead_lettered", ())))

    def _tell(self, endings: Endings) -> None:
        """Raises ReconnectError."""
        if self._settling is not None:
            for outcome, deliveries in endings.by_outcome.items():
                self._settling.settle(deliveries, outcome)
        else:
            self._source.acknowledge([delivery for each in endings.by_outcome.values() for delivery in each])

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
                self._observer.side_changed(self._link, "duplicates", "down" if trouble else "ready", trouble, 0)

    def dead_letter(
        self, delivery: Delivery, outgoing: Outgoing | None, error: IsthmusError, endings: Endings, attempts: int = 0
    ) -> None:
        """Keep it, or hold everything until it can be kept. A stop in between leaves it with the source."""
        pauses = Pauses(self._pace.retry)
        while True:
            try:
                self._dead_letters.put(self._link, delivery, error, attempts)
            except OSError as trouble:
                held = RetryLaterError(
                    "LNK-DEAD-LETTER-STORE", f"a dead letter cannot be kept: {trouble}", hint="make room"
                )
                if pauses.attempts == 0:
                    self._observer.side_changed(self._link, "dead-letters", "down", held, 0)
                if self._stopping.wait(pauses.next_secs()):
                    self.left.append(delivery)
                    return
            else:
                break
        if pauses.attempts:
            self._observer.side_changed(self._link, "dead-letters", "ready", None, pauses.attempts)
        endings.add("dead_lettered", delivery)
        self._recorder.dead_lettered(delivery, error, outgoing)
        self._observer.dead_lettered(self._link, delivery, error)
