"""Calls past the ORB library end as calls through it: well, or with the exception that the library would raise."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.caller import Caller, NotServed
from adapters.cosnotification.giop.target import target_of
from adapters.cosnotification.ior import Address
from adapters.cosnotification.stubs import CORBA, CosEventComm
from tests.interop.notification_service.clients import until
from tests.parts.scripted_peer import (
    COMPLETED_MAYBE,
    COMPLETED_NO,
    COMPLETED_YES,
    Answer,
    Asked,
    ScriptedPeer,
    exception,
    in_fragments,
    message,
    reply,
    system_exception,
)

CLOSE = messages.CLOSE
COMPLETED = {
    COMPLETED_YES: CORBA.COMPLETED_YES,
    COMPLETED_NO: CORBA.COMPLETED_NO,
    COMPLETED_MAYBE: CORBA.COMPLETED_MAYBE,
}
TIMEOUT_MS = 20_000
LONGEST = 100_000


def well(asked: Asked) -> bytes:
    return asked.reply()


class Served:
    """A peer, and a caller of it."""

    def __init__(self, answer: Answer, timeout_ms: int = TIMEOUT_MS, host: str = "127.0.0.1") -> None:
        self.peer = ScriptedPeer(answer, host=host)
        target = target_of(self.peer.ior())
        assert target is not None
        self.caller = Caller(target, "push", timeout_ms, LONGEST, (CosEventComm.Disconnected,))

    def __enter__(self) -> Served:
        self.peer.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.caller.close()
        self.peer.__exit__()

    def push(self, arguments: bytes = b"octets", *, little: bool = True) -> None:
        self.caller.call(arguments, little=little)

    def fails(self, kind: Any, completed: Any) -> Any:
        with pytest.raises(kind) as caught:
            self.push()
        assert caught.value.completed == completed
        return caught.value

    @property
    def arguments(self) -> list[bytes]:
        return [asked.arguments for asked in self.peer.asked]

    @property
    def lines(self) -> list[int]:
        """The connection of each request."""
        return [asked.connection for asked in self.peer.asked]


def serving(*answers: Answer | bytes | None, host: str = "127.0.0.1", timeout_ms: int = TIMEOUT_MS) -> Served:
    """One answer after the other; then all is well."""
    waiting = list(answers)

    def answer(asked: Asked) -> bytes | None:
        if not waiting:
            return well(asked)
        found = waiting.pop(0)
        return found(asked) if callable(found) else found

    return Served(answer, timeout_ms, host)


@pytest.mark.parametrize("little", [True, False])
def test_octets_arrive_as_they_are(little: bool) -> None:
    with serving() as served:
        for arguments in (b"12345678", b"", b"x" * 50_000):
            served.push(arguments, little=little)
        assert served.arguments == [b"12345678", b"", b"x" * 50_000]
        assert {asked.little for asked in served.peer.asked} == {little}
        assert [asked.code_sets for asked in served.peer.asked] == [(messages.UTF_8, messages.UTF_16), None, None]
        assert {asked.operation for asked in served.peer.asked} == {"push"}
        assert served.peer.connections == 1


def test_over_ipv6() -> None:
    with serving(host="::1") as served:
        served.push()
        assert served.arguments == [b"octets"]


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("contexts", [True, False])
def test_replies_in_either_byte_order_with_service_contexts(little: bool, contexts: bool) -> None:
    with serving(lambda asked: asked.reply(little=little, contexts=contexts)) as served:
        served.push()
        served.push()
        assert served.lines == [1, 1]


@pytest.mark.parametrize("little", [True, False])
@pytest.mark.parametrize("completed", COMPLETED)
@pytest.mark.parametrize("name", ["MARSHAL", "TRANSIENT", "OBJECT_NOT_EXIST", "NO_PERMISSION", "IMP_LIMIT"])
def test_system_exceptions(name: str, completed: int, little: bool) -> None:
    body = system_exception(name, 0x41540017, completed, little=little)
    with serving(lambda asked: asked.reply(2, body, little=little, contexts=True)) as served:
        error = served.fails(getattr(CORBA, name), COMPLETED[completed])
        assert error.minor == 0x41540017
        served.push()
        assert served.lines == [1, 1], "the connection is as good as before"


def test_a_system_exception_that_nobody_knows() -> None:
    body = exception("IDL:acme.com/STRANGE:1.0")
    body += bytes(-len(body) % 4) + struct.pack("<LL", 7, COMPLETED_YES)
    with serving(lambda asked: asked.reply(2, body)) as served:
        served.fails(CORBA.UNKNOWN, CORBA.COMPLETED_YES)


def test_user_exceptions() -> None:
    declared = exception(CosEventComm.Disconnected._NP_RepositoryId)
    with serving(
        lambda asked: asked.reply(1, declared), lambda asked: asked.reply(1, exception("IDL:Acme/Full:1.0"))
    ) as served:
        with pytest.raises(CosEventComm.Disconnected):
            served.push()
        served.fails(CORBA.UNKNOWN, CORBA.COMPLETED_MAYBE)
        served.push()


@pytest.mark.parametrize("body", [b"", b"\xff\xff\xff\xff", system_exception("MARSHAL", 0, 7), exception("x")])
def test_an_exception_that_cannot_be_read(body: bytes) -> None:
    with serving(lambda asked: asked.reply(2, body)) as served:
        served.fails(CORBA.MARSHAL, CORBA.COMPLETED_MAYBE)
        served.push()


@pytest.mark.parametrize("status", [3, 4, 5])
def test_whoever_is_elsewhere_is_the_librarys_to_call(status: int) -> None:
    """LOCATION_FORWARD, LOCATION_FORWARD_PERM, NEEDS_ADDRESSING_MODE."""
    with serving(lambda asked: asked.reply(status, b"\0\0\0\0")) as served, pytest.raises(NotServed):
        served.push()


@pytest.mark.parametrize("size", [8, 16, 24])
@pytest.mark.parametrize("little", [True, False])
def test_replies_in_fragments(size: int, little: bool) -> None:
    body = system_exception("IMP_LIMIT", 99, COMPLETED_NO, little=little)
    with serving(lambda asked: in_fragments(asked.reply(2, body, little=little, contexts=True), size)) as served:
        assert served.fails(CORBA.IMP_LIMIT, CORBA.COMPLETED_NO).minor == 99
        served.push()
        assert served.lines == [1, 1]


def test_replies_that_come_octet_by_octet() -> None:
    def dribble(asked: Asked) -> None:
        for octet in in_fragments(asked.reply(2, system_exception("IMP_LIMIT", 5, COMPLETED_NO)), 16):
            asked.line.sendall(bytes((octet,)))

    with serving(dribble) as served:
        assert served.fails(CORBA.IMP_LIMIT, CORBA.COMPLETED_NO).minor == 5
        served.push()


def test_a_connection_that_is_closed_politely_is_made_anew_and_the_request_sent_again() -> None:
    def close(asked: Asked) -> None:
        asked.line.sendall(CLOSE)
        asked.line.shutdown(socket.SHUT_RDWR)

    with serving(well, close) as served:
        served.push(b"1")
        served.push(b"2")
        served.push(b"3")
        assert served.arguments == [b"1", b"2", b"2", b"3"]
        assert served.lines == [1, 1, 2, 2]
        assert served.peer.asked[2].code_sets is not None


def test_a_peer_that_closes_every_connection_is_not_called_for_ever() -> None:
    with serving(CLOSE) as served:
        served.fails(CORBA.TRANSIENT, CORBA.COMPLETED_NO)
        assert len(served.peer.asked) == 1, "on a new connection, once is enough"
        served.push()


@pytest.mark.parametrize("last_words", [b"", CLOSE])
def test_a_connection_that_was_closed_meanwhile_costs_nothing(
    last_words: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.cosnotification.giop.caller._IDLE_SECS", 0.0)
    with serving() as served:
        served.push()
        served.peer.say(last_words)
        served.peer.hang_up()
        time.sleep(0.05)
        served.push()
        assert served.lines == [1, 2]


def test_close_behind_a_reply_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.cosnotification.giop.caller._IDLE_SECS", 0.0)
    with serving(lambda asked: asked.reply() + CLOSE) as served:
        served.push()
        served.push()
        assert served.lines == [1, 2]


def test_who_dies_with_a_request_may_have_done_it() -> None:
    def die(asked: Asked) -> None:
        asked.line.shutdown(socket.SHUT_RDWR)

    with serving(well, die) as served:
        served.push()
        served.fails(CORBA.COMM_FAILURE, CORBA.COMPLETED_MAYBE)
        served.push()
        assert served.lines == [1, 1, 2]


def test_who_dies_in_the_middle_of_a_reply_has_done_it() -> None:
    def die(asked: Asked) -> None:
        asked.line.sendall(asked.reply()[:-3])
        asked.line.shutdown(socket.SHUT_RDWR)

    with serving(die) as served:
        served.fails(CORBA.COMM_FAILURE, CORBA.COMPLETED_MAYBE)


def test_close_in_the_middle_of_a_reply_is_no_leave_to_send_again() -> None:
    def answer(asked: Asked) -> bytes:
        return message(messages.REPLY, reply(asked.id, 0, b"")[12:], more=True) + CLOSE

    with serving(answer) as served:
        served.fails(CORBA.COMM_FAILURE, CORBA.COMPLETED_MAYBE)
        assert len(served.peer.asked) == 1


def test_nobody_there() -> None:
    with serving() as served:
        pass
    served.fails(CORBA.TRANSIENT, CORBA.COMPLETED_NO)


def test_a_peer_that_comes_back() -> None:
    with serving() as served:
        served.push()
        served.peer.hang_up()
        with pytest.raises((CORBA.COMM_FAILURE, CORBA.TRANSIENT)):
            served.push()
        served.push()
        assert served.lines[-1] == 2


def test_a_peer_that_does_not_answer() -> None:
    with serving(None, timeout_ms=100) as served:
        served.fails(CORBA.TIMEOUT, CORBA.COMPLETED_MAYBE)
        served.push()
        assert served.lines == [1, 2], "the late answer must not be taken for another"


def test_a_peer_that_answers_in_part_only() -> None:
    with serving(lambda asked: asked.reply()[:20], timeout_ms=100) as served:
        served.fails(CORBA.TIMEOUT, CORBA.COMPLETED_MAYBE)


def test_a_peer_that_does_not_read() -> None:
    let_go = threading.Event()

    def stuck(asked: Asked) -> bytes:
        let_go.wait()
        return asked.reply()

    with serving(None, stuck, timeout_ms=200) as served:
        served.fails(CORBA.TIMEOUT, CORBA.COMPLETED_MAYBE)
        with pytest.raises(CORBA.TIMEOUT):
            served.caller.call(bytes(50_000_000), little=True)
        let_go.set()


NONSENSE: dict[str, Callable[[Asked], bytes]] = {
    "no GIOP": lambda _: b"HTTP/1.0 400 Bad Request\r\n\r\n",
    "a reply to nobody": lambda asked: reply(asked.id + 1, 0, b""),
    "GIOP 1.1": lambda asked: b"GIOP\1\1" + asked.reply()[6:],
    "a request": lambda _: messages.RequestMaker(b"k", b"o", little=True).request(1, b""),
    "a fragment of nothing": lambda asked: message(messages.FRAGMENT, struct.pack("<L", asked.id)),
    "an error": lambda _: message(messages.MESSAGE_ERROR),
    "an empty reply": lambda _: message(messages.REPLY),
    "too much": lambda asked: reply(asked.id, 0, bytes(LONGEST)),
    "too much in pieces": lambda asked: in_fragments(reply(asked.id, 0, bytes(2 * LONGEST)), 10_000),
    "a reply twice": lambda asked: message(messages.REPLY, asked.reply()[12:], more=True) + asked.reply(),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_ends_the_connection(what: str) -> None:
    with serving(NONSENSE[what]) as served:
        served.fails(CORBA.COMM_FAILURE, CORBA.COMPLETED_MAYBE)
        served.push()
        assert served.lines == [1, 2]


def test_the_first_of_the_addresses_that_answers() -> None:
    with serving() as served:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        target = target_of(served.peer.ior())
        assert target is not None
        addresses = (Address("127.0.0.1", port), *target.addresses)
        caller = Caller(target._replace(addresses=addresses), "push", TIMEOUT_MS, LONGEST)
        caller.call(b"1", little=True)
        caller.close()
        assert served.arguments == [b"1"]


def test_a_call_that_is_under_way_ends_before_its_connection() -> None:
    asked_for, let_go = threading.Event(), threading.Event()

    def slow(asked: Asked) -> bytes:
        asked_for.set()
        let_go.wait()
        return asked.reply()

    with serving(slow) as served:
        outcome: list[str] = []
        thread = threading.Thread(target=lambda: (served.push(), outcome.append("well")))
        thread.start()
        asked_for.wait()
        served.caller.close()
        let_go.set()
        thread.join()
        assert outcome == ["well"]
        until(lambda: is_closed(served.peer.asked[0].line))


def is_closed(line: socket.socket) -> bool:
    try:
        line.sendall(b"?")
    except OSError:
        return True
    return False
