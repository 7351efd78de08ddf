"""Source of the JMS wire: a transacted session, whose commit settles all that was received since the one before.

JMS has no acknowledgement of a single message that every provider knows. So a worker receives up to `receive_batch` messages, and
commits when the link has acknowledged every one of them. Should it end before that, all of them come again; those that the link had
acknowledged are known here by their JMSMessageID, and go no further.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from adapters.base import DeadLetterError, Delivery, ReconnectError, Source
from adapters.jms.connection import Connection
from adapters.jms.frames import Frame
from adapters.jms.plain import HEADERS, from_plain
from adapters.jms.provider_errors import Report, classify
from adapters.jms.settings import JmsChannel, JmsEndpoint, capabilities
from mappings.model import PERSISTENT

DESTINATION: Final = HEADERS.index("JMSDestination")
MOST_REMEMBERED: Final = 4  # times `receive_batch`: acknowledged messages whose commit we have not heard of


class Token(NamedTuple):
    connection: int  # of which of our connections
    number: int  # of the message, as the worker counts


class JmsSource(Source):
    """Reads from the worker on the link's own thread; only `wake` comes from others."""

    def __init__(self, endpoint: JmsEndpoint, channel: JmsChannel) -> None:
        self.capabilities = capabilities(channel)
        self._endpoint = endpoint
        self._channel = channel
        self._connection: Connection | None = None
        self._lost: ReconnectError | None = None
        self._number = 0  # of the connection
        self._arrived: deque[tuple[Any, ...]] = deque()
        self._unsettled: dict[int, str] = {}  # number -> id, of what the link holds
        self._acknowledged: dict[str, int] = {}  # id -> number, while its commit is open; 0: of an earlier connection
        self._heard_at = 0.0
        self._waking = threading.Lock()
        self._woken = False
        self._wake_pipe: tuple[int, int] | None = None

    def connect(self) -> None:
        self._number += 1
        self._lost = None
        self._arrived.clear()
        self._unsettled.clear()
        self._acknowledged = dict.fromkeys(self._acknowledged, 0)
        connection = Connection(self._endpoint, self._channel, "source")
        connection.open()
        self._connection = connection
        self._heard_at = time.monotonic()
        with self._waking:
            self._wake_pipe = os.pipe()
            if self._woken:
                os.write(self._wake_pipe[1], b"!")

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        connection = self._require()
        deadline = time.monotonic() + timeout_secs
        with self._waking:
            if self._woken:
                deadline = 0.0
        while not self._arrived and self._read(connection, deadline - time.monotonic()):
            pass
        with self._waking:
            if self._woken and self._wake_pipe is not None:
                os.read(self._wake_pipe[0], 1)
            self._woken = False
        taken = [self._arrived.popleft() for _ in range(min(limit, len(self._arrived)))]
        now = time.time()
        return [self._deliver(item, now) for item in taken]

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        numbers = self._settle(deliveries)
        if not numbers:
            return
        for number, id_ in numbers.items():
            self._acknowledged.pop(id_, None)
            self._acknowledged[id_] = number
        while len(self._acknowledged) > MOST_REMEMBERED * self._channel.receive_batch:
            del self._acknowledged[next(iter(self._acknowledged))]
        self._tell(("ack", tuple(numbers)))

    def release(self, deliveries: Sequence[Delivery]) -> None:
        numbers = self._settle(deliveries)
        if numbers:
            self._tell(("release", tuple(numbers)))

    def wake(self) -> None:
        with self._waking:
            if not self._woken:
                self._woken = True
                if self._wake_pipe is not None:
                    os.write(self._wake_pipe[1], b"!")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        with self._waking:
            for descriptor in self._wake_pipe or ():
                os.close(descriptor)
            self._wake_pipe = None

    def unsubscribe(self) -> None:
        if self._channel.subscription is None:
            super().unsubscribe()
            return
        connection = Connection(self._endpoint, self._channel, "source")
        connection.open(unsubscribing=True)
        connection.close()

    def _require(self) -> Connection:
        if self._connection is None:
            raise ReconnectError("JMS-CLOSED", "the source is not connected")
        if self._lost is not None:
            raise self._lost
        return self._connection

    def _settle(self, deliveries: Sequence[Delivery]) -> dict[int, str]:
        """Of those that the link still holds of this connection: number and id."""
        numbers = [d.token.number for d in deliveries if d.token.connection == self._number]
        return {number: self._unsettled.pop(number) for number in numbers if number in self._unsettled}

    def _tell(self, frame: Frame) -> None:
        connection = self._require()
        try:
            connection.worker.send(frame)
        except ReconnectError as error:
            self._lost = error
            raise

    def _read(self, connection: Connection, timeout_secs: float) -> bool:
        """Take one frame from the worker; False when there is none in time, or we were woken. Raises ReconnectError."""
        assert self._wake_pipe is not None
        try:
            frame = connection.worker.read(max(0.0, timeout_secs), self._wake_pipe[0])
            now = time.monotonic()
            if frame is None:
                if now - self._heard_at > connection.answer_timeout_secs:
                    raise connection.worker.hung()
                return False
            self._heard_at = now
            self._take(connection, frame)
        except ReconnectError as error:
            self._lost = error
            raise
        return True

    def _take(self, connection: Connection, frame: Frame) -> None:
        match frame[0]:
            case "messages":
                over = {item[0] for item in frame[1] if self._was_acknowledged(item)}
                if not connection.topics.exact:
                    over |= {item[0] for item in frame[1] if not connection.topics.wants(_destination(item))}
                if over:
                    self._tell(("ack", tuple(over)))
                self._arrived.extend(frame[1] if not over else [item for item in frame[1] if item[0] not in over])
            case "committed":
                self._acknowledged = {
                    id_: number for id_, number in self._acknowledged.items() if not 0 < number <= frame[1]
                }
            case "rolled back":
                self._acknowledged = dict.fromkeys(self._acknowledged, 0)
            case "failed":
                raise connection.lost(frame)

    def _was_acknowledged(self, item: tuple[Any, ...]) -> bool:
        """Only what is marked as delivered again counts: a broker may give copies of one message the same id."""
        number, id_, redelivered = item[:3]
        if not redelivered or id_ not in self._acknowledged:
            return False
        self._acknowledged[id_] = number
        return True

    def _deliver(self, item: tuple[Any, ...], now: float) -> Delivery:
        number, id_, redelivered, plain, report = item
        id_ = id_ or f"{self._channel.destination}#{self._number}-{number}-{now}"
        self._unsettled[number] = id_
        error = None
        if plain is None:
            fault = classify(Report(*report), self._channel.destination)
            error = DeadLetterError(fault.code, fault.message, path=fault.path, hint=fault.hint)
        message = None if plain is None else from_plain(plain)
        return Delivery(
            payload=message,
            id=id_,
            received_at=now,
            persistent=message is None or message.headers.JMSDeliveryMode == PERSISTENT,
            redelivered=redelivered,
            error=error,
            token=Token(self._number, number),
        )


def _destination(item: tuple[Any, ...]) -> str | None:
    """Of a message as the worker tells it; None where it could not be read."""
    shown: str | None = None if item[3] is None else item[3][0][DESTINATION]
    return shown
