"""The stand-in queue manager, through the library ibmmq: what IBM documents of units of work, order, expiry and browsing."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.mq import mqi
from adapters.mq.shim import Library, load
from adapters.mq.standin import structures
from adapters.mq.standin.manager import StandInQueueManager
from adapters.mq.standin.publishing import matches
from adapters.mq.standin.store import Store
from tests.contract.wires.mq import endpoint_of

BOTH = mqi.MQOO_INPUT_SHARED | mqi.MQOO_OUTPUT | mqi.MQOO_BROWSE | mqi.MQOO_INQUIRE | mqi.MQOO_SAVE_ALL_CONTEXT


class Client:
    """One connection of the library's own."""

    def __init__(self, manager: StandInQueueManager, queue: str = "IN", options: int = BOTH) -> None:
        self.library: Library = load(endpoint_of(manager))
        self.connection = self.library.connect(endpoint_of(manager))
        self.queue = self.library.module.Queue(self.connection, queue, options)

    def put(self, data: bytes, options: int = mqi.MQPMO_NO_SYNCPOINT, **fields: Any) -> Any:
        md = self.library.MD(**fields)
        self.queue.put(data, md, self.library.PMO(Options=options))
        return md

    def get(
        self, options: int = mqi.MQGMO_NO_SYNCPOINT, *, length: int = 1000, wait: int = 0, **fields: Any
    ) -> tuple[bytes, Any]:
        md = self.library.MD(**fields)
        match = fields.get("match", 0) or (mqi.MQMO_MATCH_MSG_ID | mqi.MQMO_MATCH_CORREL_ID)
        gmo = self.library.GMO(Options=options | (mqi.MQGMO_WAIT if wait else 0), WaitInterval=wait, MatchOptions=match)
        return self.queue.get(length, md, gmo), md

    def all(self, options: int = mqi.MQGMO_NO_SYNCPOINT) -> list[bytes]:
        got = []
        while (reason := self.fails(lambda: got.append(self.get(options)[0]))) is None:
            pass
        assert reason == mqi.MQRC_NO_MSG_AVAILABLE
        return got

    def fails(self, work: Callable[[], object]) -> int | None:
        """The reason code, or None."""
        try:
            work()
        except self.library.Error as error:
            return int(error.reason)  # type: ignore[attr-defined]
        return None


def test_puts_are_seen_when_they_are_committed(manager: StandInQueueManager) -> None:
    one, other = Client(manager), Client(manager)
    one.put(b"a", mqi.MQPMO_SYNCPOINT)
    assert other.fails(other.get) == mqi.MQRC_NO_MSG_AVAILABLE
    assert other.queue.inquire(mqi.MQIA_CURRENT_Q_DEPTH) == 1
    one.connection.commit()
    assert other.get()[0] == b"a"
    one.put(b"b", mqi.MQPMO_SYNCPOINT)
    one.connection.backout()
    assert manager.queues["IN"].depth == 0


def test_gets_that_are_backed_out_come_again_in_their_place_and_are_counted(manager: StandInQueueManager) -> None:
    one, other = Client(manager), Client(manager)
    for data in (b"a", b"b", b"c"):
        one.put(data)
    assert one.get(mqi.MQGMO_SYNCPOINT)[0] == b"a"
    assert other.get(mqi.MQGMO_SYNCPOINT)[0] == b"b"
    one.connection.backout()
    data, md = other.get(mqi.MQGMO_SYNCPOINT)
    assert (data, md.BackoutCount) == (b"a", 1)
    other.connection.commit()
    assert one.all() == [b"c"]


def test_disconnecting_commits_and_a_broken_connection_backs_out(manager: StandInQueueManager) -> None:
    one = Client(manager)
    one.put(b"a")
    one.put(b"b")
    one.get(mqi.MQGMO_SYNCPOINT)
    one.connection.disconnect()
    two = Client(manager)
    two.get(mqi.MQGMO_SYNCPOINT)
    manager.break_connections()
    assert two.fails(two.connection.commit) == mqi.MQRC_CONNECTION_BROKEN
    data, md = Client(manager).get()
    assert (data, md.BackoutCount) == (b"b", 1)


def test_priorities_then_first_in_first_out(manager: StandInQueueManager) -> None:
    client = Client(manager)
    for data, priority in ((b"a", 1), (b"b", 9), (b"c", 1), (b"d", 9)):
        client.put(data, Priority=priority)
    assert client.all() == [b"b", b"d", b"a", b"c"]
    manager.define("IN", fifo=True)
    for data, priority in ((b"a", 1), (b"b", 9)):
        client.put(data, Priority=priority)
    assert client.all() == [b"a", b"b"]


def test_expiry_is_what_is_left(manager: StandInQueueManager) -> None:
    now = 1_000_000.0
    manager.clock = lambda: now
    client = Client(manager)
    client.put(b"a", Expiry=50)
    client.put(b"b", Expiry=200)
    now += 10.0
    data, md = client.get()
    assert (data, md.Expiry) == (b"b", 100)
    assert manager.queues["IN"].depth == 0


def test_browsing_takes_nothing_away(manager: StandInQueueManager) -> None:
    client = Client(manager)
    for data in (b"a", b"b", b"c"):
        client.put(data)
    assert client.get(mqi.MQGMO_BROWSE_FIRST)[0] == b"a"
    assert client.get(mqi.MQGMO_BROWSE_NEXT)[0] == b"b"
    assert client.get(mqi.MQGMO_MSG_UNDER_CURSOR)[0] == b"b"
    assert client.get(mqi.MQGMO_BROWSE_NEXT)[0] == b"c"
    assert client.all() == [b"a", b"c"]


def test_matching(manager: StandInQueueManager) -> None:
    client = Client(manager)
    ids = [client.put(b"%d" % n, CorrelId=b"c%d" % n + bytes(22)).MsgId for n in range(3)]
    assert client.get(CorrelId=b"c1" + bytes(22))[0] == b"1"
    assert client.get(MsgId=ids[2])[0] == b"2"
    assert client.fails(lambda: client.get(MsgId=b"none".ljust(24))) == mqi.MQRC_NO_MSG_AVAILABLE


def test_truncation(manager: StandInQueueManager) -> None:
    client = Client(manager)
    client.put(b"0123456789")
    assert client.fails(lambda: client.get(length=4)) == mqi.MQRC_TRUNCATED_MSG_FAILED
    assert manager.queues["IN"].depth == 1
    accept = mqi.MQGMO_ACCEPT_TRUNCATED_MSG
    assert client.fails(lambda: client.get(accept, length=4)) == mqi.MQRC_TRUNCATED_MSG_ACCEPTED
    assert manager.queues["IN"].depth == 0


def test_a_descriptor_of_version_1_gets_an_extension_before_the_body(manager: StandInQueueManager) -> None:
    client = Client(manager)
    client.put(b"x", GroupId=b"g".ljust(24, b"\0"), MsgSeqNumber=3, MsgFlags=8)
    md = client.library.module.MD(Version=1)
    data = client.queue.get(1000, md, client.library.GMO())
    assert (md.Format, data[:4], len(data)) == (b"MQHMDE  ", b"MDE ", 73)


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (lambda c: c.put(b"x", MsgType=1), mqi.MQRC_MISSING_REPLY_TO_Q),
        (lambda c: c.put(b"x", Persistence=7), mqi.MQRC_PERSISTENCE_ERROR),
        (lambda c: c.put(b"x", Priority=-2), mqi.MQRC_PRIORITY_ERROR),
        (lambda c: c.put(b"x", Priority=10), mqi.MQRC_PRIORITY_EXCEEDS_MAXIMUM),
        (lambda c: c.put(b"x" * 5_000_000), mqi.MQRC_MSG_TOO_BIG_FOR_Q),
        (lambda c: c.put(b"x", mqi.MQPMO_PASS_ALL_CONTEXT), mqi.MQRC_NOT_OPEN_FOR_PASS_ALL),
        (lambda c: c.put(b"x", mqi.MQPMO_SET_IDENTITY_CONTEXT), mqi.MQRC_NOT_OPEN_FOR_SET_IDENT),
        (lambda c: c.get(mqi.MQGMO_SYNCPOINT | mqi.MQGMO_NO_SYNCPOINT), mqi.MQRC_OPTIONS_ERROR),
        (lambda c: c.get(mqi.MQGMO_MSG_UNDER_CURSOR), mqi.MQRC_NO_MSG_UNDER_CURSOR),
        (lambda c: c.library.module.Queue(c.connection, "NO.SUCH", BOTH), mqi.MQRC_UNKNOWN_OBJECT_NAME),
        (lambda c: c.library.module.Queue(c.connection, "IN", mqi.MQOO_INPUT_EXCLUSIVE), mqi.MQRC_OBJECT_IN_USE),
    ],
)
def test_reasons(manager: StandInQueueManager, work: Callable[[Client], object], reason: int) -> None:
    client = Client(manager)
    assert client.fails(lambda: work(client)) == reason


def test_waiting_ends_when_a_message_comes_and_when_none_does(manager: StandInQueueManager) -> None:
    import threading

    one, other = Client(manager), Client(manager)
    assert one.fails(lambda: one.get(wait=20)) == mqi.MQRC_NO_MSG_AVAILABLE
    later = threading.Timer(0.1, other.put, [b"late"])
    later.start()
    assert one.get(wait=20_000)[0] == b"late"
    later.join()


def test_a_restart_keeps_what_is_persistent(manager: StandInQueueManager) -> None:
    client = Client(manager)
    client.put(b"kept", Persistence=1)
    client.put(b"gone", Persistence=0)
    client.put(b"never committed", mqi.MQPMO_SYNCPOINT, Persistence=1)
    manager.stop()
    assert client.fails(client.get) == mqi.MQRC_CONNECTION_BROKEN
    assert client.fails(lambda: Client(manager)) == mqi.MQRC_Q_MGR_NOT_AVAILABLE
    manager.start()
    assert Client(manager).all() == [b"kept"]


def test_a_store_keeps_messages_over_processes(tmp_path: Path) -> None:
    from adapters.mq.standin import door

    path = str(tmp_path / "messages.db")

    def fresh() -> StandInQueueManager:
        made = StandInQueueManager("STORED", store=Store(path))
        made.define("IN")
        door.register(made)
        return made

    client = Client(fresh())
    for data in (b"a", b"b", b"c"):
        client.put(data, mqi.MQPMO_SYNCPOINT, Persistence=1)
    client.put(b"not persistent", mqi.MQPMO_SYNCPOINT, Persistence=0)
    handle = client.library.module.MessageHandle(client.connection)
    handle.properties.set("kept", 7, property_type=64, value_length=4)
    options = client.library.PMO(Options=mqi.MQPMO_SYNCPOINT, OriginalMsgHandle=handle.msg_handle)
    client.queue.put(b"with a property", client.library.MD(Persistence=1), options)
    client.connection.commit()
    client.get(mqi.MQGMO_SYNCPOINT)
    client.connection.backout()
    client.put(b"not committed", mqi.MQPMO_SYNCPOINT, Persistence=1)
    client = Client(fresh())  # as after a crash: nothing was closed
    data, md = client.get(mqi.MQGMO_SYNCPOINT)
    assert (data, md.BackoutCount) == (b"a", 1)
    client.connection.commit()
    made = fresh()
    b, c, with_property = Client(made).all()
    assert (b, c) == (b"b", b"c")
    assert b"<usr><kept dt='i4'>7</kept></usr>" in with_property
    assert Client(fresh()).all() == []
    door.unregister(made)


def test_faults_on_demand(manager: StandInQueueManager) -> None:
    client = Client(manager)
    manager.fail_next("MQPUT", mqi.MQRC_Q_FULL)
    assert client.fails(lambda: client.put(b"a")) == mqi.MQRC_Q_FULL
    manager.fail_next("MQPUT", mqi.MQRC_CONNECTION_BROKEN, when="after")
    assert client.fails(lambda: client.put(b"b")) == mqi.MQRC_CONNECTION_BROKEN
    assert Client(manager).all() == [b"b"]


@pytest.mark.parametrize(
    ("pattern", "topic", "expected"),
    [
        ("a/b", "a/b", True),
        ("a/+", "a/b", True),
        ("a/+", "a/b/c", False),
        ("a/#", "a", True),
        ("a/#", "a/b/c", True),
        ("#", "a/b", True),
        ("#/c", "a/b/c", True),
        ("a/#/d", "a/b/c/d", True),
        ("a/#/d", "a/b/c", False),
        ("+/b", "a/c", False),
    ],
)
def test_topic_strings(pattern: str, topic: str, expected: bool) -> None:
    assert matches(pattern, topic) is expected


def test_it_says_what_it_is(caplog: pytest.LogCaptureFixture) -> None:
    StandInQueueManager("LOUD")
    assert "STAND-IN" in caplog.text


def test_numbers_are_those_of_the_library() -> None:
    """Every constant of ours that IBM's own tables have."""
    from adapters.mq.standin import door

    door.install()
    cmqc, cmqxc = importlib.import_module("ibmmq.CMQC"), importlib.import_module("ibmmq.CMQXC")
    ours = {name: value for name, value in vars(mqi).items() if name.startswith("MQ")}
    theirs = {name: getattr(cmqc, name, getattr(cmqxc, name, None)) for name in ours}
    assert ours == theirs


def test_reasons_have_their_own_names() -> None:
    from adapters.mq import faults
    from adapters.mq.standin import door

    door.install()
    cmqc = importlib.import_module("ibmmq.CMQC")
    assert {n: getattr(cmqc, f"MQRC_{name}", None) for n, name in faults._NAMES.items()} == {
        n: n for n in faults._NAMES
    }


FACTS = json.loads((Path(__file__).parent / "layout_facts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("structure", ["MD", "OD", "PMO", "GMO", "SD"])
def test_layouts_are_those_of_ibms_headers(structure: str) -> None:
    """Sizes and offsets that a C compiler found in IBM's own header files (client 9.4.1)."""
    layout: structures.Layout = getattr(structures, structure)
    facts = FACTS[f"MQ{structure}"]
    assert max(layout._lengths.values()) == facts["size"]
    offsets = {field: offset for field, offset in facts["offsets"].items() if field in layout.names}
    assert len(offsets) > 5
    assert {field: layout._places[field][0] for field in offsets} == offsets


@pytest.mark.parametrize(
    ("type_", "value", "size"),
    [(4, True, 4), (16, -1, 1), (32, -2, 2), (64, -3, 4), (128, 2**40, 8), (256, 0.5, 4), (512, 0.1, 8), (8, b"\0\xff", 2),
     (1024, "ü", -1), (2, None, 0)],
)  # fmt: skip
def test_properties_travel_in_a_handle(manager: StandInQueueManager, type_: int, value: object, size: int) -> None:
    client = Client(manager)
    mq = client.library.module
    given = mq.MessageHandle(client.connection)
    given.properties.set("p", value, property_type=type_, value_length=size)
    client.queue.put(b"x", client.library.MD(), client.library.PMO(OriginalMsgHandle=given.msg_handle))
    got = mq.MessageHandle(client.connection)
    options = mqi.MQGMO_PROPERTIES_IN_HANDLE
    assert (
        client.queue.get(100, client.library.MD(), client.library.GMO(Options=options, MsgHandle=got.msg_handle))
        == b"x"
    )
    assert got.properties.get("p", max_value_length=100) == value
    assert client.fails(lambda: got.properties.get("q")) == mqi.MQRC_PROPERTY_NOT_AVAILABLE
    got.properties.dlt("p")
    assert client.fails(lambda: got.properties.get("p")) == mqi.MQRC_PROPERTY_NOT_AVAILABLE


def test_properties_come_as_a_header_where_no_handle_is_given(manager: StandInQueueManager) -> None:
    from adapters.mq.codec import Decoder
    from adapters.mq.descriptor import Descriptor

    client = Client(manager)
    given = client.library.module.MessageHandle(client.connection)
    given.properties.set("count", 7, property_type=64, value_length=4)
    given.properties.set("name", "a & b")
    md = client.library.MD(Format=b"MQSTR   ")
    client.queue.put(b"x", md, client.library.PMO(OriginalMsgHandle=given.msg_handle))
    got = client.library.MD()
    data = client.queue.get(1000, got, client.library.GMO())
    descriptor = Descriptor(Format="MQHRF2", Encoding=got.Encoding, CodedCharSetId=got.CodedCharSetId)
    message = Decoder("queue://IN").decode(descriptor, data, 0)
    assert [(p.name, p.type, p.value) for p in message.properties] == [("count", "int", 7), ("name", "String", "a & b")]
    assert message.body.value == "x"
