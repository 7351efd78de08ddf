"""One connection to a queue manager with what it has open, for one thread.

Every call raises MqiFailure and nothing else of the library's. **Closing never commits**: MQDISC commits an open unit of work, so a
session backs out first, and where it cannot even do that it is left alone until the queue manager notices.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from adapters.mq import mqi
from adapters.mq.descriptor import NO_ID, Descriptor
from adapters.mq.faults import MqiFailure
from adapters.mq.settings import MqEndpoint
from adapters.mq.shim import Library

T = TypeVar("T")
FIRST_BUFFER: Final = 65_536
INPUT: Final = mqi.MQOO_INPUT_SHARED | mqi.MQOO_INQUIRE | mqi.MQOO_SAVE_ALL_CONTEXT | mqi.MQOO_FAIL_IF_QUIESCING
_GET: Final = mqi.MQGMO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING | mqi.MQGMO_PROPERTIES_FORCE_MQRFH2
_BACK_OUT_ATTEMPTS: Final = 3
_abandoned: Final[list[Any]] = []  # connections that must not be collected: that could disconnect, and so commit


class Got(NamedTuple):
    descriptor: Descriptor
    data: bytes
    md: Any  # the library's own, for whoever passes the message on as it is


class Session:
    def __init__(self, library: Library, endpoint: MqEndpoint) -> None:
        """Connects. Raises MqiFailure."""
        self.library = library
        self._manager: Any = self.call("MQCONNX", lambda: library.connect(endpoint))
        self._open: list[OpenObject] = []

    def call(self, verb: str, work: Callable[[], T]) -> T:
        try:
            return work()
        except self.library.Error as error:
            raise MqiFailure(verb, error.comp, error.reason) from None  # type: ignore[attr-defined]
        except self.library.InterfaceError:  # the library itself says that there is no connection
            raise MqiFailure(verb, mqi.MQCC_FAILED, mqi.MQRC_HCONN_ERROR) from None

    def commit(self) -> None:
        self.call("MQCMIT", self._manager.commit)

    def back_out(self) -> None:
        self.call("MQBACK", self._manager.backout)

    def open_queue(self, queue: str, queue_manager: str, options: int) -> OpenObject:
        od = self.library.OD(ObjectName=queue.encode(), ObjectQMgrName=queue_manager.encode())
        opened = self.call("MQOPEN", lambda: self.library.module.Queue(self._manager, od, options))
        return self._opened(OpenObject(self, opened, opened))

    def open_topic(self, topic: str, options: int) -> OpenObject:
        make = self.library.module.Topic
        opened = self.call("MQOPEN", lambda: make(self._manager, topic_string=topic.encode(), open_opts=options))
        return self._opened(OpenObject(self, opened, opened))

    def subscribe(self, topic: str, name: str | None) -> OpenObject:
        """A managed subscription; with a name it is durable, and goes on where it was."""
        options = mqi.MQSO_CREATE | mqi.MQSO_MANAGED | mqi.MQSO_FAIL_IF_QUIESCING
        if name is not None:
            options |= mqi.MQSO_RESUME | mqi.MQSO_DURABLE
        sd = self.library.SD(Options=options)
        sd.set_vs("ObjectString", topic.encode())
        if name is not None:
            sd.set_vs("SubName", name.encode())
        subscription = self.library.module.Subscription(self._manager)
        self.call("MQSUB", lambda: subscription.sub(sub_desc=sd))
        return self._opened(OpenObject(self, subscription, subscription.get_sub_queue()))

    def unsubscribe(self, topic: str, name: str) -> None:
        """For good: a durable subscription, and what waits in it."""
        opened = self.subscribe(topic, name)
        self._open.remove(opened)
        opened.remove_subscription()

    def dead_letter_queue(self) -> str:
        """Its name; empty where the queue manager has none."""
        return _text(self.call("MQINQ", lambda: self._manager.inquire(mqi.MQCA_DEAD_LETTER_Q_NAME)))

    def close(self) -> None:
        """Backs out, then disconnects. Raises nothing."""
        manager, self._manager = self._manager, None
        for _ in range(_BACK_OUT_ATTEMPTS):
            try:
                self.call("MQBACK", manager.backout)
                break
            except MqiFailure as failure:
                if failure.kind == "lost":
                    break  # the queue manager backs out by itself
        else:
            _abandoned.append((manager, self._open))
            return
        for opened in self._open:
            opened.close()
        with contextlib.suppress(self.library.Error, self.library.InterfaceError):
            manager.disconnect()

    def _opened(self, opened: OpenObject) -> OpenObject:
        self._open.append(opened)
        return opened

    def forget(self, opened: OpenObject) -> None:
        if opened in self._open:
            self._open.remove(opened)
        opened.close()


class OpenObject:
    """A queue, topic or subscription that a session has open."""

    def __init__(self, session: Session, owner: Any, queue: Any) -> None:
        self._session = session
        self._owner = owner
        self._queue = queue
        self._buffer = FIRST_BUFFER

    def get(self, wait_ms: int) -> Got | None:
        """The next message, under syncpoint; None where there is none. Whole, however long it is."""
        library = self._session.library
        wait = mqi.MQGMO_WAIT if wait_ms > 0 else 0
        md = library.MD()
        gmo = library.GMO(Options=_GET | wait, WaitInterval=wait_ms, MatchOptions=0)
        while True:
            try:
                data = self._get(md, gmo)
            except _TooLong as too_long:
                # The same message again, with room for it; a competitor may be faster.
                self._buffer = too_long.length
                gmo = library.GMO(Options=_GET, MatchOptions=mqi.MQMO_MATCH_MSG_ID | mqi.MQMO_MATCH_CORREL_ID)
                md = library.MD(MsgId=md.MsgId, CorrelId=md.CorrelId)
                continue
            except MqiFailure as failure:
                if failure.reason == mqi.MQRC_NO_MSG_AVAILABLE:
                    return None
                raise
            return Got(_descriptor(md), data, md)

    def _get(self, md: Any, gmo: Any) -> bytes:
        library = self._session.library
        try:
            data: bytes = self._queue.get(self._buffer, md, gmo)
            return data
        except library.Error as error:
            completion, reason = error.comp, error.reason  # type: ignore[attr-defined]
            if completion == mqi.MQCC_WARNING:
                if reason == mqi.MQRC_TRUNCATED_MSG_FAILED:
                    raise _TooLong(error.original_length) from None  # type: ignore[attr-defined]
                got: bytes = error.message  # type: ignore[attr-defined]
                return got  # 2110, 2119 and the like: the message is ours
            raise MqiFailure("MQGET", completion, reason) from None
        except library.InterfaceError:
            raise MqiFailure("MQGET", mqi.MQCC_FAILED, mqi.MQRC_HCONN_ERROR) from None

    def put(self, descriptor: Descriptor, data: bytes, options: int) -> None:
        """Under syncpoint. A warning is no failure: the message is put."""
        md = self._session.library.MD(
            Report=descriptor.Report,
            Feedback=descriptor.Feedback,
            MsgType=descriptor.MsgType,
            Expiry=descriptor.Expiry,
            Encoding=descriptor.Encoding,
            CodedCharSetId=descriptor.CodedCharSetId,
            Format=descriptor.Format.encode("ascii").ljust(8),
            Priority=descriptor.Priority,
            Persistence=descriptor.Persistence,
            MsgId=descriptor.MsgId,
            CorrelId=descriptor.CorrelId,
            ReplyToQ=descriptor.ReplyToQ.encode("ascii"),
            ReplyToQMgr=descriptor.ReplyToQMgr.encode("ascii"),
            UserIdentifier=descriptor.UserIdentifier.encode("ascii", "replace")[:12],
            GroupId=descriptor.GroupId,
            MsgSeqNumber=descriptor.MsgSeqNumber,
            MsgFlags=descriptor.MsgFlags,
        )
        if descriptor.MsgId == NO_ID:
            options |= mqi.MQPMO_NEW_MSG_ID
        self.put_as_it_is(md, data, options)

    def put_as_it_is(self, md: Any, data: bytes, options: int, context: OpenObject | None = None) -> None:
        """With the library's own descriptor; `context` is the queue whose last message gives it."""
        handle = 0 if context is None else context.handle
        pmo = self._session.library.PMO(
            Options=options | mqi.MQPMO_SYNCPOINT | mqi.MQPMO_FAIL_IF_QUIESCING, Context=handle
        )
        put = self._queue.put if hasattr(self._queue, "put") else self._queue.pub
        try:
            self._session.call("MQPUT", lambda: put(data, md, pmo))
        except MqiFailure as failure:
            if not failure.is_warning:
                raise

    @property
    def handle(self) -> int:
        found: int = self._queue.get_handle()
        return found

    def number(self, selector: int) -> int:
        found: int = self._session.call("MQINQ", lambda: self._queue.inquire(selector))
        return found

    def text(self, selector: int) -> str:
        return _text(self._session.call("MQINQ", lambda: self._queue.inquire(selector)))

    def remove_subscription(self) -> None:
        self._session.call("MQCLOSE", lambda: self._owner.close(mqi.MQCO_REMOVE_SUB, close_sub_queue=True))

    def close(self) -> None:
        """Raises nothing."""
        errors = (self._session.library.Error, self._session.library.InterfaceError)
        with contextlib.suppress(*errors):
            self._queue.close()
        if self._owner is not self._queue:
            with contextlib.suppress(*errors):
                self._owner.close()


class _TooLong(Exception):
    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length


def _text(field: bytes | str) -> str:
    text = field.decode("latin-1") if isinstance(field, bytes) else field
    return text.split("\0")[0].rstrip()


def _descriptor(md: Any) -> Descriptor:
    return Descriptor(
        md.Report, md.MsgType, md.Expiry, md.Feedback, md.Encoding, md.CodedCharSetId, _text(md.Format), md.Priority,
        md.Persistence, md.MsgId, md.CorrelId, md.BackoutCount, _text(md.ReplyToQ), _text(md.ReplyToQMgr),
        _text(md.UserIdentifier), _text(md.PutApplName), _text(md.PutDate), _text(md.PutTime), md.GroupId,
        md.MsgSeqNumber, md.MsgFlags,
    )  # fmt: skip
