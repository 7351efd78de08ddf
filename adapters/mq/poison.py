"""Messages that have been backed out too often: aside with them, in the same unit of work, before they stop everything.

The queue manager counts (BackoutCount) and names a threshold and a queue (BOTHRESH, BOQNAME); to act on it is the application's
task.

    backout queue         as it was, with its own context
    discarded             where that fails and the sender asked for it (MQRO_DISCARD_MSG)
    dead-letter queue     behind an MQDLH that says why and whence

With the last two goes the exception report, where the sender asked for one: the backout queue is still in its application's hands.
"""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from typing import Any, Final

from adapters.mq import mqi
from adapters.mq.chain import DEAD_LETTER, dead_letter_header
from adapters.mq.code_pages import NATIVE_ENCODING, UTF_8
from adapters.mq.faults import MqiFailure, NoPlace
from adapters.mq.reports import exception_report
from adapters.mq.session import Got, OpenObject, Session
from adapters.mq.settings import MqChannel, MqEndpoint

_OPEN: Final = mqi.MQOO_OUTPUT | mqi.MQOO_PASS_ALL_CONTEXT | mqi.MQOO_FAIL_IF_QUIESCING
_log: Final = logging.getLogger("isthmus.mq")


class PoisonPolicy:
    """Of one queue that is read, asked for once per connection."""

    def __init__(self, session: Session, endpoint: MqEndpoint, channel: MqChannel, queue: OpenObject) -> None:
        """Raises MqiFailure."""
        self._session = session
        self._endpoint = endpoint
        self._source = queue
        self._name = channel.queue or ""
        threshold, backout_queue = channel.backout_threshold, channel.backout_queue
        if channel.queue is not None:
            try:
                if threshold is None:
                    threshold = queue.number(mqi.MQIA_BACKOUT_THRESHOLD)
                if backout_queue is None:
                    backout_queue = queue.text(mqi.MQCA_BACKOUT_REQ_Q_NAME)
            except MqiFailure as failure:
                if failure.reason != mqi.MQRC_SELECTOR_NOT_FOR_TYPE:
                    raise
                _log.warning(
                    "queue %s is an alias: give its channel `backout_threshold` and `backout_queue`", self._name
                )
        self._threshold = threshold or 0
        self._backout_queue = backout_queue or ""

    def applies_to(self, got: Got) -> bool:
        return 0 < self._threshold <= got.descriptor.BackoutCount

    def put_aside(self, got: Got) -> None:
        """Within the unit of work in which it was got. Raises NoPlace where nobody takes it: back out, and tell."""
        reason = mqi.MQRC_BACKOUT_THRESHOLD_REACHED
        if self._backout_queue:
            try:
                self._put(self._backout_queue, got.md, got.data)
            except MqiFailure as failure:
                if _ends_the_unit(failure):
                    raise
                reason = failure.reason
            else:
                self._tell(got, self._backout_queue)
                return
        if got.descriptor.Report & mqi.MQRO_DISCARD_MSG:
            self._report(got, reason)
            self._tell(got, "nowhere: its sender wants it discarded")
            return
        try:
            self._to_dead_letter_queue(got, reason)
            self._report(got, reason)
        except MqiFailure as failure:
            if _ends_the_unit(failure):
                raise
            raise NoPlace(failure.verb, failure.completion, failure.reason) from None

    def _to_dead_letter_queue(self, got: Got, reason: int) -> None:
        dead_letter_queue = self._session.dead_letter_queue()
        if not dead_letter_queue:
            raise MqiFailure("MQINQ", mqi.MQCC_FAILED, reason)
        header = dead_letter_of(got, self._name, self._endpoint, reason)
        got.md.Format, got.md.Encoding, got.md.CodedCharSetId = f"{DEAD_LETTER:8}".encode(), NATIVE_ENCODING, UTF_8
        self._put(dead_letter_queue, got.md, header + got.data)
        self._tell(got, dead_letter_queue)

    def _report(self, got: Got, reason: int) -> None:
        """To the reply queue; that nobody takes it there keeps nothing else back. Raises MqiFailure where the unit has ended."""
        made = exception_report(got.descriptor, got.data, reason)
        if made is None:
            return
        where = got.descriptor.ReplyToQ
        try:
            opened = self._session.open_queue(
                where, got.descriptor.ReplyToQMgr, mqi.MQOO_OUTPUT | mqi.MQOO_FAIL_IF_QUIESCING
            )
            try:
                opened.put(*made, 0)
            finally:
                self._session.forget(opened)
        except MqiFailure as failure:
            if _ends_the_unit(failure):
                raise
            _log.warning("the exception report that message %s asks for cannot be put to queue %s: %s",
                got.descriptor.MsgId.hex(), where, failure.text,
            )  # fmt: skip

    def _put(self, queue: str, md: Any, data: bytes) -> None:
        opened = self._session.open_queue(queue, "", _OPEN)
        try:
            opened.put_as_it_is(md, data, mqi.MQPMO_PASS_ALL_CONTEXT, self._source)
        finally:
            self._session.forget(opened)

    def _tell(self, got: Got, where: str) -> None:
        _log.warning(
            "message %s of queue %s was backed out %d times, and goes to %s",
            got.descriptor.MsgId.hex(), self._name, got.descriptor.BackoutCount, where,
        )  # fmt: skip


def _ends_the_unit(failure: MqiFailure) -> bool:
    """Then the message is back on its queue, and must not be put elsewhere as well."""
    return failure.kind == "lost" or failure.reason == mqi.MQRC_BACKED_OUT


def dead_letter_of(got: Got, queue: str, endpoint: MqEndpoint, reason: int) -> bytes:
    """The MQDLH for a message from this queue."""
    descriptor = got.descriptor
    like = descriptor.Encoding, descriptor.CodedCharSetId, descriptor.Format
    return _header(reason, queue, endpoint.queue_manager, endpoint.application_name, *like, int(time.time() * 100))


@lru_cache(maxsize=64)  # every message that is got has one, for its dead letter: most are alike, and come together
def _header(
    reason: int,
    queue: str,
    queue_manager: str,
    application: str,
    encoding: int,
    ccsid: int,
    format_: str,
    hundredths: int,
) -> bytes:
    return dead_letter_header(
        reason=reason,
        queue=queue,
        queue_manager=queue_manager,
        encoding=encoding,
        ccsid=ccsid,
        format_=format_,
        application=application,
        now=time.strftime("%Y%m%d%H%M%S", time.gmtime(hundredths // 100)) + f"{hundredths % 100:02}",
    )
