"""Serves a sink: all batches that wait go into one transaction, and are confirmed when it is committed.

Where the provider drops duplicates (Artemis), every message carries its event id. A transaction that holds an id which the provider
has seen is refused as a whole; then its messages go one by one, outside of transactions, and the duplicates are dropped.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from typing import Any, Final

from adapters.jms.frames import Frame
from adapters.jms.provider_errors import Phase, code_of, concerns_one_message
from adapters.jms.worker.conversion import Converter
from adapters.jms.worker.inbox import ALIVE_SECS, Inbox
from adapters.jms.worker.java_errors import describe
from adapters.jms.worker.provider import Provider

MOST_MESSAGES: Final = 1000  # in one transaction, unless a single batch has more
ANSWER_ATTEMPTS: Final = 10
ANSWER_PAUSE_SECS: Final = 0.1
RETRY: Final = frozenset({"JMS-FULL", "JMS-ROLLED-BACK"})
DUPLICATE: Final = "ActiveMQDuplicateIdException"


class _Failed(Exception):
    """One step of a transaction failed; `blamed` is the message that was being sent."""

    def __init__(self, trouble: BaseException, blamed: tuple[int, int] | None) -> None:
        super().__init__()
        self.trouble = trouble
        self.blamed = blamed


def serve_sink(provider: Provider, inbox: Inbox) -> bool:
    """Whether the parent has said close; else it was told of a failure. After any exception the connection is of no use."""
    return _Sink(provider, inbox).serve()


class _Sink:
    def __init__(self, provider: Provider, inbox: Inbox) -> None:
        self._provider = provider
        self._inbox = inbox
        self._session = provider.connect()
        self._producer = self._session.createProducer(provider.null("Destination"))
        self._converter = Converter(provider, self._session)
        self._one_by_one: Any = None  # a producer of a session without transactions, where one was needed
        self._not_there = provider.interface("InvalidDestinationException")
        self._waiting: deque[Frame] = deque()
        self._epoch = 0
        inbox.tell(("opened",))

    def serve(self) -> bool:
        while not self._closing():
            batches = self._next_batches()
            if batches and not self._transaction(batches):
                return False
        return True

    def _closing(self) -> bool:
        """Gather what waits, and wait for something; a close overtakes batches, which then are not sent."""
        frame = self._inbox.get(0 if self._waiting else ALIVE_SECS)
        while frame is not None:
            if frame[0] == "close":
                return True
            if frame[0] == "lost" and frame[1] is self._provider:
                self._provider.phase = "lost"
                raise _lost(self._provider)
            if frame[0] == "send" and frame[1] == self._epoch:
                self._waiting.append(frame)
            frame = self._inbox.get(0)
        self._inbox.alive()
        return False

    def _next_batches(self) -> list[Frame]:
        batches: list[Frame] = []
        messages = 0
        while self._waiting and (not batches or messages + len(self._waiting[0][3]) <= MOST_MESSAGES):
            frame = self._waiting.popleft()
            if frame[1] == self._epoch:
                batches.append(frame)
                messages += len(frame[3])
        return batches

    def _transaction(self, batches: list[Frame]) -> bool:
        """False when the connection is of no use any more, which the parent knows then."""
        try:
            faults = [(number, self._send(self._producer, number, items)) for _, _, number, items in batches]
            self._provider.phase = "commit"
            try:
                self._session.commit()
            except Exception as trouble:  # noqa: BLE001 - told to the parent
                raise _Failed(trouble, None) from None
        except _Failed as failed:
            return self._again_one_by_one(batches) if _is_duplicate(failed.trouble) else self._failed(failed)
        for number, refused in faults:
            self._inbox.tell(("confirmed", number, refused))
        return True

    def _again_one_by_one(self, batches: list[Frame]) -> bool:
        """As `_transaction`, of batches whose transaction was refused for a duplicate."""
        try:
            with contextlib.suppress(Exception):  # it may be rolled back already
                self._session.rollback()
            if self._one_by_one is None:
                session = self._provider.connection.createSession(False, 1)
                self._one_by_one = session.createProducer(self._provider.null("Destination"))
            for _, _, number, items in batches:
                self._inbox.tell(("confirmed", number, self._send(self._one_by_one, number, items)))
        except _Failed as failed:
            return self._failed(failed)
        return True

    def _send(
        self, producer: Any, number: int, items: list[tuple[str, tuple[Any, ...], str]]
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """Messages that cannot be sent are left out, and told."""
        self._provider.phase = "send"
        refused = []
        for place, (destination, plain, id_) in enumerate(items):
            try:
                message, mode, priority, time_to_live = self._converter.to_jms(plain)
                if self._provider.duplicate_property is not None:
                    message.setStringProperty(self._provider.duplicate_property, id_)
                target = self._provider.destination(self._session, destination)
                if destination.startswith("temp-"):
                    self._answer(producer, target, message, mode, priority, time_to_live)
                else:
                    producer.send(target, message, mode, priority, time_to_live)
            except Exception as trouble:  # noqa: BLE001 - told to the parent
                phase: Phase = "answer" if destination.startswith("temp-") else "send"
                report = describe(trouble, phase, self._provider.hidden)
                if not concerns_one_message(phase, report[1]):
                    raise _Failed(trouble, (number, place)) from None
                refused.append((place, report))
            self._inbox.alive()
        return refused

    def _answer(self, producer: Any, target: Any, message: Any, mode: int, priority: int, time_to_live: int) -> None:
        """To a temporary destination. ActiveMQ's client hears of those only some time after it has connected, and calls the others
        deleted."""
        for attempt in range(ANSWER_ATTEMPTS):
            try:
                producer.send(target, message, mode, priority, time_to_live)
                return
            except self._not_there:
                if attempt == ANSWER_ATTEMPTS - 1:
                    raise
                time.sleep(ANSWER_PAUSE_SECS)

    def _failed(self, failed: _Failed) -> bool:
        phase = self._provider.phase
        report = describe(failed.trouble, phase, self._provider.hidden)
        if code_of(phase, report[1]) in RETRY and self._provider.lost is None:
            with contextlib.suppress(Exception):
                self._session.rollback()
                self._epoch += 1
                self._waiting.clear()
                self._inbox.tell(("retry", report, self._epoch))
                return True
        # Only a failure of no known kind is laid to the message: rights or a destination that are missing can be mended.
        unknown = failed.blamed is not None and code_of(phase, report[1]) == "JMS-PROVIDER"
        blamed = failed.blamed if unknown and self._provider.is_sound() else None
        self._inbox.tell(("failed", self._provider.lost or report, blamed))
        return False


def _is_duplicate(trouble: BaseException) -> bool:
    return any(name.endswith(DUPLICATE) for name in describe(trouble, "commit")[1])


def _lost(provider: Provider) -> Exception:
    assert provider.lost is not None
    return ConnectionError(provider.lost[2])
