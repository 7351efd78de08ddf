"""A lane of a source: a thread with a connection of its own, on which one unit of work at a time is filled and settled.

    empty ── demand ──▶ fetching ──▶ out, with the link ── all acknowledged ──▶ MQCMIT ──▶ empty
                                                        └─ one released ──────▶ MQBACK ──▶ empty

A unit of work cannot be settled in part. So a unit with a released delivery is backed out as a whole, and what of it had been
acknowledged is remembered: when it comes again it is dropped. The same memory serves after a commit whose outcome is unknown.
"""

from __future__ import annotations

import threading
import time
import zlib
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, NamedTuple

from adapters.base import DeadLetterError, Delivery, ReconnectError
from adapters.mq import mqi
from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import MQPER_NOT_PERSISTENT
from adapters.mq.faults import MqiFailure, lost
from adapters.mq.poison import PoisonPolicy, dead_letter_of
from adapters.mq.session import INPUT, Got, OpenObject, Session
from adapters.mq.shim import Library

if TYPE_CHECKING:
    from adapters.mq.source import MqSource

WAIT_MS: Final = 500
PROBE_SECS: Final = 2.0
MOST_BYTES: Final = 16 * 1024 * 1024  # of one unit of work, which is all in memory


class Key(NamedTuple):
    """What tells a message apart from others over redelivery: senders may set MsgId as they like."""

    msg_id: bytes
    correlation_id: bytes
    put_at: str
    length: int
    checksum: int


class Token(NamedTuple):
    connection: int  # of which of our connections
    lane: Lane
    unit: int
    number: int  # within the unit


class Lane:
    """What the link's thread touches (`open`, `settled`, `released`, `closing`) is guarded by the source's `changed`."""

    def __init__(self, source: MqSource, library: Library, connection: int) -> None:
        self._source = source
        self._library = library
        self._connection = connection
        self.connected: Future[None] = Future()
        self.unit = 0
        self.open: dict[int, Key] = {}  # with the link, by number
        self.settled: list[Key] = []  # acknowledged, or dropped as known
        self.released = False
        self.is_out = False
        self.closing = False
        self.thread = threading.Thread(target=self._run, name=f"mq-source-{source.name}", daemon=True)

    # With `changed` held

    @property
    def _is_due(self) -> bool:
        return self.is_out and not self.open

    def _has_work(self) -> bool:
        return self.closing or self._is_due or (not self.is_out and self._source.may_fetch())

    # The lane's own thread

    def _run(self) -> None:
        session = None
        try:
            session = Session(self._library, self._source.endpoint)
            queue = self._open_input(session)
            poison = PoisonPolicy(session, self._source.endpoint, self._source.channel, queue)
            self.connected.set_result(None)
            self._serve(session, queue, poison)
        except MqiFailure as failure:
            self._fail(lost(failure, self._source.name))
        except Exception as bug:  # noqa: BLE001 - whatever it is, the link must hear of it
            self._fail(ReconnectError("MQ-BUG", f"unexpected {type(bug).__name__}: {bug}", hint="please report this"))
        finally:
            if session is not None:
                session.close()

    def _fail(self, error: ReconnectError) -> None:
        if not self.connected.done():
            self.connected.set_exception(error)
        self._source.lose(error, self)

    def _open_input(self, session: Session) -> OpenObject:
        channel = self._source.channel
        if channel.topic is not None:
            return session.subscribe(channel.topic, channel.subscription)
        assert channel.queue is not None
        return session.open_queue(channel.queue, "", INPUT)

    def _serve(self, session: Session, queue: OpenObject, poison: PoisonPolicy) -> None:
        source = self._source
        while True:
            with source.changed:
                due = source.changed.wait_for(self._has_work, PROBE_SECS)
                settle = self._is_due
                if not settle and self.closing:
                    return
                limit = source.start_fetching() if due and not settle else 0
            if settle:
                self._settle(session)
            elif limit:
                self._fetch(session, queue, poison, limit)
            else:
                _probe(queue)

    def _settle(self, session: Session) -> None:
        with self._source.changed:
            settled, released = self.settled, self.released
            self.settled, self.released = [], False
            self._source.remember(settled)
        if released:
            session.back_out()
        else:
            session.commit()
        with self._source.changed:
            if not released:
                self._source.forget(settled)
            self.is_out = False
            self._source.changed.notify_all()

    def _fetch(self, session: Session, queue: OpenObject, poison: PoisonPolicy, limit: int) -> None:
        deliveries: list[Delivery] = []
        keys: dict[int, Key] = {}
        settled: list[Key] = []
        size = 0
        try:
            while len(deliveries) < limit and size < MOST_BYTES:
                got = queue.get(0 if deliveries or settled else WAIT_MS)
                if got is None:
                    break
                key = _key(got)
                if poison.applies_to(got):
                    poison.put_aside(got)
                    settled.append(key)
                elif got.descriptor.BackoutCount and self._source.takes_as_known(key):
                    settled.append(key)
                else:
                    deliveries.append(self._delivery(got, len(keys)))
                    keys[len(keys)] = key
                    size += len(got.data)
                if got.descriptor.BackoutCount:
                    break  # whatever hurt it before shall not hurt others
        finally:
            with self._source.changed:
                if deliveries or settled:
                    self.unit += 1
                    self.is_out = True
                    self.open = keys
                    self.settled = settled
                self._source.fetched(deliveries)

    def _delivery(self, got: Got, number: int) -> Delivery:
        descriptor, source = got.descriptor, self._source
        now = time.time()
        message, error = None, None
        if len(got.data) > source.channel.max_message_bytes:
            error = DeadLetterError(
                "MQ-TOO-LONG", f"a message of {len(got.data)} bytes", path=source.name, hint="see `max_message_bytes`"
            )
        else:
            try:
                message = source.decoder.decode(descriptor, got.data, int(now * 1000))
            except CodecError as problem:
                error = DeadLetterError("MQ-DECODE", f"a message cannot be read: {problem}", path=source.name)
        return Delivery(
            payload=message,
            id="ID:" + descriptor.MsgId.hex(),
            received_at=now,
            persistent=descriptor.Persistence != MQPER_NOT_PERSISTENT,
            redelivered=descriptor.BackoutCount > 0,
            original=dead_letter_of(got, source.channel.queue or "", source.endpoint, mqi.MQRC_NONE) + got.data,
            error=error,
            token=Token(self._connection, self, self.unit + 1, number),
        )


def _probe(queue: OpenObject) -> None:
    """A connection that nobody uses must still tell of its loss; that the question itself is not answered does not matter."""
    try:
        queue.number(mqi.MQIA_CURRENT_Q_DEPTH)
    except MqiFailure as failure:
        if failure.kind == "lost":
            raise


def _key(got: Got) -> Key:
    md = got.descriptor
    return Key(md.MsgId, md.CorrelId, md.PutDate + md.PutTime, len(got.data), zlib.crc32(got.data))
