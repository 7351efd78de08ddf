"""Sink of the JMS wire: batches that wait go in one transaction, in order; each is confirmed when the provider has committed.

The link hands over a batch and goes on; the worker takes all that it finds waiting into its next transaction, so that many small
batches cost one commit. A thread of the sink hears the worker's answers.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Final

from adapters.base import (
    AdapterError,
    Confirmation,
    DeadLetterError,
    Outgoing,
    ReconnectError,
    Refusal,
    RetryLaterError,
    Sink,
)
from adapters.jms.connection import Connection
from adapters.jms.frames import Frame, FrameError, encode
from adapters.jms.plain import to_plain
from adapters.jms.provider_errors import Report, classify
from adapters.jms.settings import JmsChannel, JmsEndpoint, capabilities
from mappings.model import Message

MOST_BYTES_UNDER_WAY: Final = 16 << 20
STRIKES: Final = 2  # a message that the provider refuses so often, while the connection is sound, is a dead letter
READ_SECS: Final = 1.0
JOIN_SECS: Final = 3.0


class _Pending:
    __slots__ = ("condemned", "confirmation", "ids", "indices", "number", "refusals", "size")

    def __init__(self, number: int) -> None:
        self.number = number
        self.confirmation: Confirmation = Future()
        self.refusals: list[Refusal] = []
        self.indices: list[int] = []  # of those that went to the worker, in the batch of the link
        self.ids: list[str] = []
        self.condemned: list[str] = []  # ids of those refused by their strikes, which are forgotten with this batch
        self.size = 0


class JmsSink(Sink):
    """`_changed` guards what the link's thread and the sink's own both touch."""

    def __init__(self, endpoint: JmsEndpoint, channel: JmsChannel) -> None:
        self.capabilities = capabilities(channel)
        self._endpoint = endpoint
        self._channel = channel
        self._connection: Connection | None = None
        self._thread: threading.Thread | None = None
        self._wake_pipe: tuple[int, int] | None = None
        self._changed = threading.Condition()
        self._completing = threading.RLock()  # confirmations complete in order; taken before _changed
        self._pending: deque[_Pending] = deque()
        self._bytes_under_way = 0
        self._lost: ReconnectError | None = None
        self._epoch = 0  # the worker drops what was sent before it said "retry"
        self._next = 0
        self._strikes: dict[str, int] = {}
        self._held: deque[list[str]] = deque()  # ids of batches that must be sent again before any other, in order
        self._refused: str | None = None
        self._failing = False  # "retry" came, and not every confirmation that it concerns has been told yet

    def connect(self) -> None:
        connection = Connection(self._endpoint, self._channel, "sink")
        connection.open()
        self._connection = connection
        self._lost = None
        self._epoch = 0
        self._held.clear()
        self._wake_pipe = os.pipe()
        arguments = (connection, self._wake_pipe[0])
        self._thread = threading.Thread(target=self._listen, args=arguments, name="jms-sink", daemon=True)
        self._thread.start()

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        if self._connection is None:
            raise ReconnectError("JMS-CLOSED", "the sink is not connected")
        self._next += 1
        pending = _Pending(self._next)
        items = self._items(batch, pending)
        with self._changed:
            self._wait_for_room(self._connection)
            self._keep_order(batch)
            epoch = self._epoch
            data = self._encoded(epoch, items, pending)
            pending.size = len(data)
            self._bytes_under_way += pending.size
            self._pending.append(pending)
        if not pending.indices:
            self._complete()
            return pending.confirmation
        try:
            self._connection.worker.send_encoded(data)
        except ReconnectError as error:
            with self._changed:
                if pending in self._pending:
                    self._pending.remove(pending)
            self._lose(error)
            raise
        return pending.confirmation

    def check(self) -> None:
        if self._lost is not None:
            raise self._lost

    def close(self) -> None:
        connection, self._connection = self._connection, None
        thread, self._thread = self._thread, None
        if thread is not None and self._wake_pipe is not None:
            os.write(self._wake_pipe[1], b"!")
            thread.join(JOIN_SECS)
            if thread.is_alive() and connection is not None:
                connection.worker.kill()  # it stopped in the middle of a frame
                thread.join()
            for descriptor in self._wake_pipe:
                os.close(descriptor)
            self._wake_pipe = None
        if connection is not None:
            connection.close()
        self._fail(ReconnectError("JMS-CLOSED", "closed before the provider confirmed", path=self._channel.destination))

    # The link's thread

    def _items(self, batch: Sequence[Outgoing], pending: _Pending) -> list[tuple[Any, ...]]:
        items = []
        for index, outgoing in enumerate(batch):
            if not isinstance(outgoing.payload, Message):
                kind = type(outgoing.payload).__name__
                pending.refusals.append(Refusal(index, _unsendable(f"a {kind} must be translated first")))
            elif self._strikes and self._strikes.get(outgoing.id, 0) >= STRIKES:
                pending.refusals.append(Refusal(index, _unsendable("the provider refused it again and again")))
                pending.condemned.append(outgoing.id)
            else:
                destination = outgoing.destination or self._channel.destination
                items.append((destination, to_plain(outgoing.payload), outgoing.id))
                pending.indices.append(index)
                pending.ids.append(outgoing.id)
        return items

    def _encoded(self, epoch: int, items: list[tuple[Any, ...]], pending: _Pending) -> bytes:
        try:
            return encode(("send", epoch, pending.number, items))
        except FrameError:
            sound = []
            for place, item in enumerate(items):
                try:
                    encode(("item", item))
                except FrameError as error:
                    pending.refusals.append(Refusal(pending.indices[place], _unsendable(str(error))))
                else:
                    sound.append(place)
            pending.indices = [pending.indices[place] for place in sound]
            pending.ids = [pending.ids[place] for place in sound]
            return encode(("send", epoch, pending.number, [items[place] for place in sound]))

    def _wait_for_room(self, connection: Connection) -> None:
        """With `_changed` held. Raises ReconnectError."""
        self._changed.wait_for(
            lambda: self._lost is not None or self._bytes_under_way < MOST_BYTES_UNDER_WAY,
            connection.answer_timeout_secs,
        )
        if self._lost is not None:
            raise self._lost
        if self._bytes_under_way >= MOST_BYTES_UNDER_WAY:
            raise connection.worker.hung()

    def _keep_order(self, batch: Sequence[Outgoing]) -> None:
        """With `_changed` held. After a "retry" whoever sends may not know of it yet: its next batch must not overtake those that
        failed. Raises RetryLaterError."""
        if not self._held:
            return
        first = batch[0].id if batch else ""
        place = next((place for place, ids in enumerate(self._held) if first in ids), None)
        if place != 0:
            if self._pending or self._failing or self._refused != first:
                self._refused = first
                raise RetryLaterError(
                    "JMS-FULL", "what came before this must be sent first", path=self._channel.destination
                )
            # Nothing is on its way, and this one comes a second time: those before it are not sent any more.
            for _ in range(len(self._held) if place is None else place):
                self._held.popleft()
        if place is not None:
            self._held.popleft()
        self._refused = None

    # The sink's thread

    def _listen(self, connection: Connection, wake: int) -> None:
        heard_at = time.monotonic()
        try:
            while True:
                frame = connection.worker.read(READ_SECS, wake)
                now = time.monotonic()
                if frame is not None:
                    heard_at = now
                    self._take(connection, frame)
                elif self._connection is None:
                    return
                elif now - heard_at > connection.answer_timeout_secs:
                    raise connection.worker.hung()
        except ReconnectError as error:
            self._lose(error)
        except Exception as bug:  # noqa: BLE001 - whoever waits for this thread must be told
            self._lose(ReconnectError("JMS-BUG", f"unexpected {type(bug).__name__}: {bug}", hint="please report this"))

    def _take(self, connection: Connection, frame: Frame) -> None:
        match frame[0]:
            case "confirmed":
                self._confirmed(frame[1], frame[2])
            case "retry":
                with self._changed:
                    self._epoch = frame[2]
                    failed = [pending.ids for pending in self._pending]
                    self._held.extendleft(reversed(failed))
                self._fail(connection.error(frame))
            case "failed":
                blamed = frame[2]
                if blamed is not None:
                    self._blame(*blamed)
                raise connection.lost(frame)

    def _confirmed(self, number: int, faults: list[tuple[int, tuple[Any, ...]]]) -> None:
        with self._completing:
            with self._changed:
                done = self._pending[0]
                assert done.number == number, "the worker confirms in order"
            for place, report in faults:
                error = classify(Report(*report), self._channel.destination)
                assert isinstance(error, DeadLetterError)
                done.refusals.append(Refusal(done.indices[place], error))
            done.indices = []
            self._complete()

    def _blame(self, number: int, place: int) -> None:
        with self._changed:
            for pending in self._pending:
                if pending.number == number:
                    id_ = pending.ids[place]
                    self._strikes[id_] = self._strikes.get(id_, 0) + 1

    # Both

    def _complete(self) -> None:
        """Settle every batch at the head of which nothing is open any more, in order."""
        with self._completing:
            while True:
                with self._changed:
                    if not self._pending or self._pending[0].indices:
                        return
                    done = self._pending.popleft()
                    self._bytes_under_way -= done.size
                    for id_ in (*done.ids, *done.condemned) if self._strikes else ():
                        self._strikes.pop(id_, None)
                    self._changed.notify_all()
                done.confirmation.set_result(tuple(sorted(done.refusals, key=lambda refusal: refusal.index)))

    def _lose(self, error: ReconnectError) -> None:
        with self._changed:
            self._lost = self._lost or error
            self._changed.notify_all()
        self._fail(error)

    def _fail(self, error: AdapterError) -> None:
        with self._completing:
            with self._changed:
                failed, self._pending = list(self._pending), deque()
                self._bytes_under_way = 0
                self._failing = True
                self._changed.notify_all()
            for pending in failed:
                pending.confirmation.set_exception(error)
            with self._changed:
                self._failing = False
                self._refused = None  # whoever was refused so far may have come before it could know what to send first
                self._changed.notify_all()


def _unsendable(reason: str) -> DeadLetterError:
    return DeadLetterError("JMS-ENCODE", f"the message cannot be sent: {reason}", hint="mend the rule or the source")
