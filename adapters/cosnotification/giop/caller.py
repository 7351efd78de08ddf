"""One operation of one object, called with arguments that are octets already: past the ORB library, and as it would do it.

What it raises is what the library raises, so that whoever calls need not know by which way a call went.
"""

from __future__ import annotations

import struct
import threading
import time
from typing import Any, Final, NoReturn

from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.connection import Connection, Gone, Late, NotTaken, Strange
from adapters.cosnotification.giop.messages import ReplyHead, RequestMaker
from adapters.cosnotification.giop.target import Target
from adapters.cosnotification.stubs import CORBA

_IDLE_SECS: Final = 0.5
"""After that a connection is looked at before it is used: the peer may have ended it."""

_SYSTEM: Final = {kind._NP_RepositoryId: kind for kind in CORBA.SystemException.__subclasses__()}
_COMPLETED: Final = (CORBA.COMPLETED_YES, CORBA.COMPLETED_NO, CORBA.COMPLETED_MAYBE)


class NotServed(Exception):
    """The peer has done nothing, and wants to be called in a way that only the library knows."""


class Caller:
    """Has one connection, from its first call on. One thread calls; any may close."""

    def __init__(
        self, target: Target, operation: str, timeout_ms: int, longest: int, exceptions: tuple[Any, ...] = ()
    ) -> None:
        """`exceptions`: those without members that the operation declares. `longest`: octets of a request or reply."""
        self._target = target
        self._timeout_secs = timeout_ms / 1000
        self.longest: Final = longest
        self._exceptions = {kind._NP_RepositoryId: kind for kind in exceptions}
        self._makers = {
            (little, first): RequestMaker(target.key, operation.encode(), little=little, code_sets=first)
            for little in (True, False)
            for first in (True, False)
        }
        self._connection: Connection | None = None
        self._used_at = 0.0
        self._closed = False
        self._calling = threading.Lock()

    def call(self, arguments: bytes, *, little: bool) -> None:
        """Returns when the object has done it. Raises CORBA.Exception, NotServed."""
        with self._calling:
            reply = self._ask(arguments, little)
            self._used_at = time.monotonic()
            if reply is not None:
                self._judge(reply)
        if self._closed:
            self.close()

    def close(self) -> None:
        """A call that is under way ends as it would."""
        self._closed = True
        if self._calling.acquire(blocking=False):
            self._drop()
            self._calling.release()

    def _ask(self, arguments: bytes, little: bool) -> bytes | None:
        now = time.monotonic()
        deadline = now + self._timeout_secs
        if self._connection is not None and now - self._used_at > _IDLE_SECS and self._connection.is_over():
            self._drop()
        try:
            if self._connection is not None:
                try:
                    return self._connection.ask(self._makers[little, False], arguments, self._timeout_secs, deadline)
                except NotTaken:  # it had been closed since: once more over a new one
                    self._drop()
            self._connection = self._connect(deadline)
            return self._connection.ask(self._makers[little, True], arguments, self._timeout_secs, deadline)
        except Late:
            self._fail(CORBA.TIMEOUT, CORBA.COMPLETED_MAYBE)
        except NotTaken:
            self._fail(CORBA.TRANSIENT, CORBA.COMPLETED_NO)
        except (Gone, Strange):
            self._fail(CORBA.COMM_FAILURE, CORBA.COMPLETED_MAYBE)

    def _connect(self, deadline: float) -> Connection:
        """To the first of the addresses that answers."""
        for address in self._target.addresses:
            try:
                return Connection(address, deadline, self.longest)
            except OSError:
                continue
        raise NotTaken

    def _fail(self, kind: Any, completed: Any) -> NoReturn:
        self._drop()
        raise kind(0, completed) from None

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _judge(self, reply: bytes) -> None:
        """Raises CORBA.Exception, NotServed."""
        head = messages.read_reply(reply)
        if head is None:
            self._fail(CORBA.COMM_FAILURE, CORBA.COMPLETED_MAYBE)
        if head.status == messages.NO_EXCEPTION:
            return
        try:
            raise self._exception(reply, head)
        except (struct.error, IndexError):
            self._fail(CORBA.MARSHAL, CORBA.COMPLETED_MAYBE)

    def _exception(self, reply: bytes, head: ReplyHead) -> Any:
        if head.status not in (messages.USER_EXCEPTION, messages.SYSTEM_EXCEPTION):
            return NotServed()  # it is elsewhere, or wants to be addressed otherwise
        id_, at = _text(reply, head.results_at)
        if head.status == messages.USER_EXCEPTION:
            declared = self._exceptions.get(id_)
            return CORBA.UNKNOWN(0, CORBA.COMPLETED_MAYBE) if declared is None else declared()
        minor, completed = struct.unpack_from("<LL" if messages.is_little(reply) else ">LL", reply, at)
        return _SYSTEM.get(id_, CORBA.UNKNOWN)(minor, _COMPLETED[completed])


def _text(message: bytes, at: int) -> tuple[str, int]:
    """A string, and where what follows it may stand. Raises struct.error."""
    (length,) = struct.unpack_from("<L" if messages.is_little(message) else ">L", message, at)
    end = at + 4 + length
    return message[at + 4 : end].rstrip(b"\0").decode("latin-1"), end + -end % 4
