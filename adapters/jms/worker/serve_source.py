"""Serves a source: receives up to a window of messages, and commits when the parent has acknowledged every one of them."""

from __future__ import annotations

from typing import Any, Final

from adapters.jms.plain import HEADERS
from adapters.jms.provider_errors import concerns_one_message
from adapters.jms.worker.conversion import Converter
from adapters.jms.worker.inbox import ALIVE_SECS, Inbox
from adapters.jms.worker.java_errors import describe
from adapters.jms.worker.provider import Provider

MOST_AT_ONCE: Final = 100  # messages in one frame
MOST_CHARACTERS: Final = 1 << 20  # of bodies in one frame, about
SHORTEST_MS: Final = 2  # how long one receive waits; doubled while nothing happens
LONGEST_MS: Final = 100
MESSAGE_ID: Final = HEADERS.index("JMSMessageID")
REDELIVERED: Final = HEADERS.index("JMSRedelivered")


def serve_source(provider: Provider, parameters: dict[str, Any], inbox: Inbox) -> bool:
    """True when the parent has said close. After any exception the connection is of no use."""
    if parameters["unsubscribe"]:
        return _unsubscribe(provider, parameters, inbox)
    return _Source(provider, parameters, inbox).serve()


def _unsubscribe(provider: Provider, parameters: dict[str, Any], inbox: Inbox) -> bool:
    session = provider.connect()
    provider.phase = "subscribe"
    session.unsubscribe(parameters["subscription"])
    session.commit()
    inbox.tell(("opened",))
    while (frame := inbox.get(ALIVE_SECS)) is None or frame[0] != "close":
        inbox.alive()
    return True


class _Source:
    def __init__(self, provider: Provider, parameters: dict[str, Any], inbox: Inbox) -> None:
        self._provider = provider
        self._inbox = inbox
        self._window: int = parameters["receive_batch"]
        self._session = provider.connect()
        provider.phase = "subscribe"
        self._consumer = self._subscribe(parameters)
        self._converter = Converter(provider, self._session)
        self._next = 0
        self._taken = 0  # since the last commit
        self._unsettled: set[int] = set()
        self._released = False
        self._wait_ms = SHORTEST_MS
        provider.phase = "receive"
        inbox.tell(("opened",))

    def _subscribe(self, parameters: dict[str, Any]) -> Any:
        destination = self._provider.destination(self._session, parameters["destination"])
        selector = parameters["selector"]
        if parameters["subscription"] is not None:
            durable = self._session.createDurableSubscriber
            if selector is None:  # null would do, but a provider's class may have an overload that makes it ambiguous
                return durable(destination, parameters["subscription"])
            return durable(destination, parameters["subscription"], selector, False)
        if selector is None:
            return self._session.createConsumer(destination)
        return self._session.createConsumer(destination, selector)

    def serve(self) -> bool:
        while True:
            more = self._hear()
            if self._taken and not self._unsettled:
                self._settle()
            if not more:
                return True
            if self._taken < self._window:
                self._receive()
            self._inbox.alive()

    def _hear(self) -> bool:
        """What the parent says; False when it is close. Waits for it when there is nothing else to do."""
        frame = self._inbox.get(0 if self._taken < self._window else ALIVE_SECS)
        while frame is not None:
            match frame[0]:
                case "ack":
                    self._unsettled.difference_update(frame[1])
                case "release":
                    self._unsettled.difference_update(frame[1])
                    self._released = True
                case "lost" if frame[1] is self._provider:
                    self._provider.phase = "lost"
                    assert self._provider.lost is not None
                    raise ConnectionError(self._provider.lost[2])
                case "close":
                    return False
            self._wait_ms = SHORTEST_MS
            frame = self._inbox.get(0)
        return True

    def _settle(self) -> None:
        if self._released:
            self._session.rollback()
            self._inbox.tell(("rolled back", self._next))
        else:
            self._session.commit()
            self._inbox.tell(("committed", self._next))
        self._taken = 0
        self._released = False

    def _receive(self) -> None:
        message = self._consumer.receive(self._wait_ms)
        if message is None:
            self._wait_ms = min(self._wait_ms * 2, LONGEST_MS)
            return
        self._wait_ms = SHORTEST_MS
        items = []
        size = 0
        while message is not None:
            item = self._item(message)
            items.append(item)
            size += _size(item)
            if len(items) >= MOST_AT_ONCE or size > MOST_CHARACTERS or self._taken >= self._window:
                break
            message = self._consumer.receive(1)
        self._inbox.tell(("messages", items))

    def _item(self, message: Any) -> tuple[Any, ...]:
        """Number, id, whether delivered again, the message or None, and then why it cannot be read."""
        self._next += 1
        self._taken += 1
        self._unsettled.add(self._next)
        try:
            plain = self._converter.from_jms(message)
            return self._next, plain[0][MESSAGE_ID], plain[0][REDELIVERED], plain, None
        except Exception as trouble:
            report = describe(trouble, "receive", self._provider.hidden)
            if not concerns_one_message("receive", report[1]) and not self._provider.is_sound():
                raise
            # A provider has its own words for a body that it cannot read.
            classes = (*report[1], "python.Unreadable")
            id_, redelivered = message.getJMSMessageID(), bool(message.getJMSRedelivered())
            return self._next, id_, redelivered, None, (report[0], classes, report[2])


def _size(item: tuple[Any, ...]) -> int:
    body = None if item[3] is None else item[3][3]
    return len(body) if isinstance(body, str | bytes) else 0
