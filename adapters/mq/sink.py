"""Sink of the MQ wire: a batch is a unit of work; it is settled when MQCMIT has come back.

One thread of its own has the connection and its handles. What it is handed it puts in order; a message that the queue manager
refuses for good is left out of the unit, anything else that fails backs out the whole of it.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Final, NamedTuple

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
from adapters.mq import mqi
from adapters.mq.chain import DEAD_LETTER, dead_letter_header
from adapters.mq.code_pages import NATIVE_ENCODING, UTF_8
from adapters.mq.codec import Encoder, kept_id, message_id
from adapters.mq.codec_error import CodecError
from adapters.mq.descriptor import NO_ID, Descriptor
from adapters.mq.destinations import queue_name, topic_string
from adapters.mq.faults import MqiFailure, later, lost, refused
from adapters.mq.session import OpenObject, Session
from adapters.mq.settings import MqChannel, MqEndpoint, capabilities
from adapters.mq.shim import Library, load
from mappings.model import Message

PROBE_SECS: Final = 2.0
MQFB_APPL_FIRST: Final = 65_536  # where reasons of applications begin
CLOSE_SECS: Final = 5.0
MOST_TARGETS: Final = 32  # queues that are open at once, where events are routed by content
_OPEN: Final = {"default": 0, "none": 0, "identity": mqi.MQOO_SET_IDENTITY_CONTEXT}
_PUT: Final = {"default": 0, "none": mqi.MQPMO_NO_CONTEXT, "identity": mqi.MQPMO_SET_IDENTITY_CONTEXT}


class _Job(NamedTuple):
    batch: Sequence[Outgoing]
    confirmation: Confirmation


class MqSink(Sink):
    def __init__(self, endpoint: MqEndpoint, channel: MqChannel) -> None:
        self.capabilities = capabilities(channel)
        self._endpoint = endpoint
        self._channel = channel
        self._worker: _Worker | None = None

    def connect(self) -> None:
        worker = _Worker(load(self._endpoint), self._endpoint, self._channel)
        worker.thread.start()
        try:
            worker.connected.result(self._endpoint.connect_timeout_ms / 1000)
        except TimeoutError:
            worker.end_soon()
            raise ReconnectError("MQ-TIMEOUT", "no connection in time", path=self._endpoint.connection_name) from None
        self._worker = worker

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        if self._worker is None:
            raise ReconnectError("MQ-CLOSED", "the sink is not connected", path=self._channel.destination)
        return self._worker.hand_over(batch)

    def check(self) -> None:
        if self._worker is not None:
            self._worker.check()

    def close(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


class _Worker:
    """The thread of one connection. `_lock` guards `_lost` and what goes into `_jobs`."""

    def __init__(self, library: Library, endpoint: MqEndpoint, channel: MqChannel) -> None:
        self._library = library
        self._endpoint = endpoint
        self._channel = channel
        self._encoder = Encoder(channel.target_client)
        self._targets: OrderedDict[str, OpenObject] = OrderedDict()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._lost: ReconnectError | None = None
        self._closing = False
        self._current: Confirmation | None = None
        self.connected: Future[None] = Future()
        self.thread = threading.Thread(target=self._run, name=f"mq-sink-{channel.destination}", daemon=True)

    # The link's thread

    def hand_over(self, batch: Sequence[Outgoing]) -> Confirmation:
        confirmation: Confirmation = Future()
        with self._lock:
            if self._lost is not None:
                raise self._lost
            self._jobs.put(_Job(batch, confirmation))
        return confirmation

    def check(self) -> None:
        if self._lost is not None:
            raise self._lost

    def end_soon(self) -> None:
        self._closing = True
        self._jobs.put(None)

    def close(self) -> None:
        error = ReconnectError("MQ-CLOSED", "closed before the queue manager confirmed", path=self._channel.destination)
        self.end_soon()
        self.thread.join(CLOSE_SECS)
        self._fail_jobs(error)
        if self._current is not None:  # the queue manager does not answer
            _settle(self._current, error)

    # The worker's own thread

    def _run(self) -> None:
        session = None
        path = self._channel.destination
        try:
            session = Session(self._library, self._endpoint)
            self._target(session, path)
            self.connected.set_result(None)
            self._serve(session)
        except MqiFailure as failure:
            self._fail(lost(failure, path))
        except Exception as bug:  # noqa: BLE001 - whatever it is, the link must hear of it
            self._fail(ReconnectError("MQ-BUG", f"unexpected {type(bug).__name__}: {bug}", hint="please report this"))
        finally:
            if session is not None:
                session.close()

    def _fail(self, error: ReconnectError) -> None:
        if not self.connected.done():
            self.connected.set_exception(error)
        self._fail_jobs(error)

    def _fail_jobs(self, error: ReconnectError) -> None:
        """No job comes after this; those that are there fail, in order."""
        with self._lock:
            if self._lost is None:
                self._lost = error
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return
            if job is not None:
                _settle(job.confirmation, self._lost)

    def _serve(self, session: Session) -> None:
        while not self._closing:
            try:
                job = self._jobs.get(timeout=PROBE_SECS)
            except queue.Empty:
                session.commit()  # an empty unit: a connection that nobody uses must still tell of its loss
                continue
            if job is None:
                return
            self._current = job.confirmation
            try:
                _settle(job.confirmation, self._unit_of_work(session, job.batch))
            except AdapterError as error:
                _settle(job.confirmation, error)
            except MqiFailure as failure:
                _settle(job.confirmation, lost(failure, self._channel.destination))
                raise
            self._current = None

    def _unit_of_work(self, session: Session, batch: Sequence[Outgoing]) -> tuple[Refusal, ...]:
        """Raises RetryLaterError when it is backed out as a whole, MqiFailure when the connection is of no use any more."""
        refusals: list[Refusal] = []
        now_ms = int(time.time() * 1000)
        try:
            for index, outgoing in enumerate(batch):
                error = self._put(session, outgoing, now_ms)
                if error is not None:
                    refusals.append(Refusal(index, error))
            session.commit()
        except MqiFailure as failure:
            if failure.kind != "later":
                raise
            if failure.reason != mqi.MQRC_BACKED_OUT or failure.verb != "MQCMIT":
                session.back_out()
            raise later(failure, self._channel.destination) from None
        return tuple(refusals)

    def _dead(self, descriptor: Descriptor, data: bytes, destination: str, now_ms: int) -> tuple[Descriptor, bytes]:
        """Behind an MQDLH, whose reason is the first of those that applications may give: the properties say more."""
        header = dead_letter_header(
            reason=MQFB_APPL_FIRST,
            queue=destination.partition("://")[2].rpartition("/")[2],
            queue_manager=self._endpoint.queue_manager,
            encoding=descriptor.Encoding,
            ccsid=descriptor.CodedCharSetId,
            format_=descriptor.Format,
            application=self._endpoint.application_name,
            now=time.strftime("%Y%m%d%H%M%S", time.gmtime(now_ms / 1000)) + f"{now_ms % 1000 // 10:02}",
        )
        return descriptor._replace(Format=DEAD_LETTER, Encoding=NATIVE_ENCODING, CodedCharSetId=UTF_8), header + data

    def _put(self, session: Session, outgoing: Outgoing, now_ms: int) -> DeadLetterError | RetryLaterError | None:
        """What is wrong with this one alone; whatever is wrong with more than it is raised."""
        destination = outgoing.destination or self._channel.destination
        message = outgoing.payload
        if not isinstance(message, Message):
            kind = type(message).__name__
            return DeadLetterError(
                "MQ-ENCODE", f"a {kind} is no message: it must be translated first", path=destination
            )
        try:
            descriptor, data = self._encoder.encode(message, destination, now_ms, self._id(outgoing, message))
        except CodecError as problem:
            return DeadLetterError("MQ-ENCODE", f"cannot be sent to MQ: {problem}", path=destination)
        if self._channel.context == "identity":
            users = [p.value for p in message.properties if p.name == "JMSXUserID" and isinstance(p.value, str)]
            descriptor = descriptor._replace(UserIdentifier=users[0] if users else "")
        if self._channel.dead_letter_header:
            descriptor, data = self._dead(descriptor, data, destination, now_ms)
        try:
            target = self._target(session, destination)
            target.put(descriptor, data, _PUT[self._channel.context])
        except MqiFailure as failure:
            if failure.kind == "message":
                return refused(failure, destination)
            if failure.kind == "refused" and destination != self._channel.destination:
                return later(failure, destination)  # a route that leads nowhere does not stop the others
            raise
        return None

    def _id(self, outgoing: Outgoing, message: Message) -> bytes:
        if self._channel.message_ids == "queue_manager":
            return NO_ID
        kept = kept_id(message.headers.JMSMessageID) if self._channel.message_ids == "kept" else None
        return kept or message_id(outgoing.id)

    def _target(self, session: Session, destination: str) -> OpenObject:
        found = self._targets.get(destination)
        if found is not None:
            self._targets.move_to_end(destination)
            return found
        options = mqi.MQOO_OUTPUT | mqi.MQOO_FAIL_IF_QUIESCING | _OPEN[self._channel.context]
        topic = topic_string(destination)
        name = queue_name(destination)
        if topic is not None:
            opened = session.open_topic(topic, options)
        elif name is not None:
            opened = session.open_queue(name.queue, name.queue_manager, options)
        else:
            raise MqiFailure("MQOPEN", mqi.MQCC_FAILED, mqi.MQRC_UNKNOWN_OBJECT_NAME)
        self._targets[destination] = opened
        if len(self._targets) > MOST_TARGETS:
            session.forget(self._targets.popitem(last=False)[1])
        return opened


def _settle(confirmation: Confirmation, outcome: tuple[Refusal, ...] | AdapterError) -> None:
    """Once: `close` may have been faster."""
    with contextlib.suppress(InvalidStateError):
        if isinstance(outcome, AdapterError):
            confirmation.set_exception(outcome)
        else:
            confirmation.set_result(outcome)
