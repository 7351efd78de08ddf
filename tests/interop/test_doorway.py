"""The doorway: what a handler takes is answered there, everything else is what the ORB library makes of it."""

from __future__ import annotations

import gc
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.doorway import Doorway
from adapters.cosnotification.giop.messages import RequestMaker, read_reply
from adapters.cosnotification.giop.visitor import Visitor
from mappings.cdr.events import event_octets
from mappings.model import StructuredEvent
from tests.parts.doorway import OK, PATIENCE_SECS, PUSH, Peer, Place, place

LONGEST = 1 << 20
EVENT = StructuredEvent("Telecom", "Alarm", "los")


@pytest.fixture(scope="module")
def shared() -> Iterator[Place]:
    with place(max_message_bytes=LONGEST) as made:
        yield made


@pytest.fixture
def here(shared: Place) -> Place:
    shared.takes, shared.late, shared.hold_secs = True, False, PATIENCE_SECS
    shared.held.clear()
    shared.taken.clear()
    shared.consumer.names.clear()
    shared.consumer.hosts.clear()
    return shared


def test_pushes_are_the_handlers(here: Place) -> None:
    with Peer(here) as peer:
        assert peer.ask(here.push("first", first=True, id_=2)) == (2, OK)
        for id_ in range(4, 10, 2):
            assert peer.ask(here.push(f"n{id_}", id_=id_)) == (id_, OK)
        assert peer.ask(here.push("again", first=True, id_=12)) == (12, OK), "some say the code sets every time"
    assert here.taken == [("first", True), ("n4", True), ("n6", True), ("n8", True), ("again", True)]
    assert here.consumer.names == []


@pytest.mark.parametrize("taken_before", [True, False])
def test_the_library_hears_of_the_code_sets(here: Place, taken_before: bool) -> None:
    name = "library's €uro"
    with Peer(here) as peer:
        if taken_before:
            peer.ask(here.push("first", first=True))
        assert peer.ask(here.push(name, first=not taken_before)) == (7, OK)
        assert peer.ask(here.push(name, id_=8)) == (8, OK)
    assert here.consumer.names == [name, name]


def test_either_byte_order(here: Place) -> None:
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True, little=False))
        assert peer.ask(here.push("big", little=False, id_=0x01020304)) == (0x01020304, OK)
        assert peer.ask(here.push("little", id_=0x01020304)) == (0x01020304, OK)
    assert here.taken == [("first", False), ("big", False), ("little", True)]


@pytest.mark.parametrize("name", ["library's", "broken"])
def test_what_the_handler_does_not_take_is_the_librarys(here: Place, name: str) -> None:
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        assert peer.ask(here.push(name)) == (7, OK)
        assert peer.ask(here.push("taken")) == (7, OK)
    assert here.consumer.names == [name]
    assert [name for name, _ in here.taken] == ["first", "taken"]


def test_other_operations_and_objects_are_the_librarys(here: Place) -> None:
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        disconnect = RequestMaker(here.profile.key, b"disconnect_structured_push_consumer", little=True)
        assert peer.ask(disconnect.request(9, b"")) == (9, OK)
        nobody = RequestMaker(b"\xffisthmus\0nobody", PUSH, little=True)
        assert peer.ask(nobody.request(11, event_octets(EVENT, True))) == (11, messages.SYSTEM_EXCEPTION)
    assert here.consumer.names == ["disconnect"]


@pytest.mark.parametrize("code_sets", [(0x00010001, 0x00010109), (0x05010001, 0x00010100)])
def test_other_code_sets_are_for_the_library_to_convert(here: Place, code_sets: tuple[int, int]) -> None:
    latin = here.push("first", first=True).replace(
        struct.pack("<LL", messages.UTF_8, messages.UTF_16), struct.pack("<LL", *code_sets)
    )
    with Peer(here) as peer:
        peer.ask(latin)
        for word in (here.push("second"), here.push("third", first=True), here.push("fourth")):
            peer.ask(word)
    assert here.taken == []


def test_nobody_says_a_code_set(here: Place) -> None:
    """Then there is none in which strings were promised to be."""
    with Peer(here) as peer:
        assert peer.ask(here.push("first")) == (7, OK)
        assert peer.ask(here.push("second")) == (7, OK)
    assert here.consumer.names == ["first", "second"]


def test_no_answer_where_none_is_wanted(here: Place) -> None:
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        oneway = bytearray(here.push("oneway"))
        oneway[16] = 0
        peer.socket.sendall(oneway)
        assert peer.ask(here.push("asked", id_=99)) == (99, OK)
        until = time.monotonic() + PATIENCE_SECS
        while here.consumer.names != ["oneway"]:
            assert time.monotonic() < until
            time.sleep(0.01)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_an_answer_that_comes_later(here: Place) -> None:
    """In any order, from any thread, and nobody has to wait for it."""
    with Peer(here) as peer:
        peer.socket.sendall(here.push("held 1", first=True, id_=1) + here.push("held 2", id_=2))
        assert peer.ask(here.push("at once", id_=3)) == (3, OK)
        here.held["held 2"].settle(True)
        assert peer.reply() == (2, OK)
        here.held["held 1"].settle(True)
        here.held["held 1"].settle(False)
        assert peer.reply() == (1, OK)
        assert peer.ask(here.push("at once", id_=4)) == (4, OK)


def test_a_refusal_that_comes_later(here: Place) -> None:
    with Peer(here) as peer:
        peer.socket.sendall(here.push("held", first=True))
        until(lambda: here.held)
        here.held["held"].settle(False)
        message = peer.message()
        head = read_reply(message)
        assert head is not None
        assert head[:2] == (7, messages.SYSTEM_EXCEPTION)
        _, exception, minor, completed = struct.unpack_from("<L32sLL", message, head.results_at)
        assert (exception, minor, completed) == (b"IDL:omg.org/CORBA/TRANSIENT:1.0\0", 0, 1)


@pytest.mark.parametrize("late", [True, False])
def test_time_is_over(here: Place, late: bool) -> None:
    here.hold_secs, here.late = 0.05, late
    with Peer(here) as peer:
        for id_ in range(3):
            peer.socket.sendall(here.push("held", first=True, id_=id_))
        assert {peer.reply() for _ in range(3)} == {
            (id_, OK if late else messages.SYSTEM_EXCEPTION) for id_ in range(3)
        }


def test_nobody_is_there_to_hear_the_answer(here: Place) -> None:
    with Peer(here) as peer, Peer(here) as other:
        peer.socket.sendall(here.push("held", first=True))
        until(lambda: here.held)
        peer.socket.close()
        other.ask(here.push("first", first=True))
        here.held["held"].settle(True)
        assert other.ask(here.push("second")) == (7, OK)


def fragments(request: bytes, size: int) -> list[bytes]:
    """A message in parts, each but the last a multiple of 8 octets long."""
    first = bytearray(request[: 16 + size])
    order = "<" if first[6] & 1 else ">"
    rest = [request[at : at + size] for at in range(16 + size, len(request), size)]
    first[6] |= 2
    struct.pack_into(order + "L", first, 8, len(first) - 12)
    parts = [bytes(first)]
    for number, part in enumerate(rest, 1):
        flags = (first[6] & 1) | (2 if number < len(rest) else 0)
        head = b"GIOP\1\2" + bytes((flags, messages.FRAGMENT)) + struct.pack(order + "L", len(part) + 4)
        parts.append(head + request[12:16] + part)
    return parts


@pytest.mark.parametrize("name", ["taken", "library's"])
@pytest.mark.parametrize("little", [True, False])
def test_requests_in_fragments(here: Place, name: str, little: bool) -> None:
    request = here.push(name, little=little)
    head = messages.read_request(request)
    assert head is not None
    size = head.arguments_at - 16
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True, little=little))
        first, *rest = fragments(request, size)
        peer.socket.sendall(first)
        assert peer.ask(here.push("between", little=little, id_=8)) == (8, OK)
        assert peer.ask(b"".join(rest)) == (7, OK)
    got = [name for name, _ in here.taken] + here.consumer.names
    assert sorted(got) == sorted(["between", "first", name])
    assert (name in here.consumer.names) == (name == "library's")


def test_fragments_beyond_the_limit_are_the_librarys_to_refuse(here: Place) -> None:
    request = here.push("x" * (2 * LONGEST))
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        with pytest.raises((AssertionError, OSError)):
            assert peer.ask(b"".join(fragments(request, 8192)))[1] == OK
    assert [name for name, _ in here.taken] == ["first"]
    with Peer(here) as peer:
        assert peer.ask(here.push("another's", first=True)) == (7, OK)


def test_fragments_of_many_requests_are_no_more_than_one_may_be(here: Place) -> None:
    """They are all kept until they are whole, so all of them together have the limit of one."""
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        request = here.push("x" * (LONGEST // 4))
        for id_ in range(100, 110):
            whole = request[:12] + struct.pack("<L", id_) + request[16:]
            *parts, _ = fragments(whole, 8192)
            peer.socket.sendall(b"".join(parts))
        assert peer.ask(here.push("after", id_=9)) == (9, OK)
        (visitor,) = {visitor for visitor, _ in doorway_of(here)._visitors.values() if visitor._parts}
        assert visitor._parts_size <= LONGEST
        assert sum(len(part) for parts in visitor._parts.values() for part in parts) == visitor._parts_size


def doorway_of(here: Place) -> Doorway:
    core = here.orb._core
    assert core is not None
    assert core.doorway is not None
    return core.doorway


def test_a_fault_of_ours_ends_one_visit_alone(
    here: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Peer(here) as other, Peer(here) as unlucky:
        assert other.ask(here.push("first", first=True)) == (7, OK)
        with monkeypatch.context() as patch:
            patch.setattr(Visitor, "_take", lambda *_: 1 / 0)
            with pytest.raises(ConnectionError):
                unlucky.ask(here.push("first", first=True))
        assert other.ask(here.push("second")) == (7, OK)
    assert "ZeroDivisionError" in capfd.readouterr().err


@given(
    steps=st.lists(st.sampled_from(["taken", "library's", "fragments", "nobody"]), min_size=1, max_size=12),
    places=st.lists(st.integers(0, 100_000), max_size=12),
)
@settings(deadline=None, max_examples=40)
def test_every_request_gets_its_answer_however_it_is_cut(shared: Place, steps: list[str], places: list[int]) -> None:
    nobody = RequestMaker(b"nobody", PUSH, little=True)
    stream = bytearray()
    expected = {}
    for id_, step in enumerate(steps):
        expected[id_] = messages.SYSTEM_EXCEPTION if step == "nobody" else OK
        match step:
            case "fragments":
                stream += b"".join(fragments(shared.push("taken", id_=id_), 80))
            case "nobody":
                stream += nobody.request(id_, event_octets(EVENT, True))
            case _:
                stream += shared.push(step, id_=id_)
    with Peer(shared) as peer:
        peer.ask(shared.push("first", first=True))
        for start, end in pairwise([0, *sorted(place % len(stream) for place in places), len(stream)]):
            peer.socket.sendall(stream[start:end])
        assert dict(peer.reply() for _ in steps) == expected


def end_of(peer: Peer) -> None:
    """Nothing but the end comes."""
    while messages.kind(peer.message()) in (messages.CLOSE_CONNECTION, messages.MESSAGE_ERROR):
        pass
    pytest.fail("it was answered")


def test_what_is_no_giop_is_answered_as_the_library_does(here: Place) -> None:
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        peer.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(ConnectionError):
            end_of(peer)
    with Peer(here) as peer:
        assert peer.ask(here.push("another's", first=True)) == (7, OK)


def test_a_message_that_is_too_long_is_refused_and_nothing_else(here: Place) -> None:
    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        peer.socket.sendall(here.push("before") + here.push("x" * (2 * LONGEST), id_=9))
        assert peer.reply() == (7, OK)
        with pytest.raises((AssertionError, OSError)):
            assert peer.reply()[1] == OK
    assert [name for name, _ in here.taken] == ["first", "before"]


def flood(peer: Peer, request: bytes) -> None:
    """Without reading an answer."""
    peer.socket.settimeout(0.5)
    for _ in range(10_000):
        peer.socket.sendall(request * 1000)


@pytest.mark.parametrize("name", ["taken", "library's"])
def test_from_a_peer_that_does_not_read_nothing_more_is_taken_and_others_are_served(here: Place, name: str) -> None:
    with Peer(here) as deaf, Peer(here) as other:
        deaf.ask(here.push("first", first=True))
        other.ask(here.push("first", first=True))
        with pytest.raises(TimeoutError):
            flood(deaf, here.push(name))
        assert other.ask(here.push("other")) == (7, OK)
    served = -1
    while served != len(here.consumer.names):  # the library goes on with what it has
        served = len(here.consumer.names)
        time.sleep(0.2)


def test_connections_leave_nothing_behind(here: Place) -> None:
    def descriptors() -> int:
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    with Peer(here) as peer:
        peer.ask(here.push("first", first=True))
    before = descriptors()
    for _ in range(20):
        with Peer(here) as peer:
            peer.ask(here.push("first", first=True))
        with Peer(here) as peer:
            peer.socket.sendall(here.push("n")[:50])
    until = time.monotonic() + PATIENCE_SECS
    while descriptors() > before and time.monotonic() < until:
        time.sleep(0.05)
    assert descriptors() <= before


def test_the_library_knows_who_is_calling(here: Place) -> None:
    with Peer(here, "127.0.0.5") as peer:
        peer.ask(here.push("library's own", first=True))
    assert dict(zip(here.consumer.names, here.consumer.hosts, strict=True))["library's own"] == "127.0.0.5"


def listening_ports() -> set[int]:
    """Of this process, IPv4."""
    sockets = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists them
            sockets.add(str(descriptor.readlink()))
    rows = map(str.split, Path("/proc/self/net/tcp").read_text().splitlines()[1:])
    return {int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}


def test_nobody_comes_in_behind_the_doorway(here: Place) -> None:
    """The library listens too, where no rule of the configuration says who may call: only the doorway may."""
    (behind,) = listening_ports() - {here.profile.addresses[0].port}
    with Peer(here) as peer:
        peer.socket.close()
        peer.socket = socket.create_connection(("127.0.0.1", behind), PATIENCE_SECS)
        with pytest.raises(ConnectionError):
            peer.ask(here.push("stranger", first=True))
    assert here.consumer.names == []


def test_the_librarys_own_clients_notice_nothing(here: Place) -> None:
    """In this process: collocated. `tests/contract` has them in others."""
    here.reference.push_structured_event(event_to_orb(EVENT))
    assert here.consumer.names == ["los"]
