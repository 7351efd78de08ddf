"""The source: units of work, what comes again and what does not, poison, and what a reason code does."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

import pytest

from adapters.base import Outgoing, ReconnectError
from adapters.mq import chain, lane, mqi
from adapters.mq.source import MqSource
from adapters.mq.standin.manager import DEAD_LETTER_QUEUE, StandInQueueManager
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.mq import channel_of, endpoint_of
from tests.unit.mq.conftest import PATIENCE_SECS, MakeSink, MakeSource, bodies, receive, text, texts

Put = Callable[..., None]


def test_commit_when_all_of_a_unit_is_acknowledged(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    put("a", "b", "c")
    source = make_source()
    got = receive(source, 3)
    source.acknowledge(got[:2])
    assert len(manager.queues["IN"].messages) == 3
    source.acknowledge(got[2:])
    source.close()
    assert bodies(manager, "IN") == []


def test_a_part_acknowledged_does_not_come_again_when_the_rest_does(make_source: MakeSource, put: Put) -> None:
    """A unit of work cannot be committed in part: what was acknowledged is dropped when it comes again."""
    put("a", "b", "c", "d")
    source = make_source()
    first = receive(source, 4)
    source.acknowledge([first[0], first[2]])
    source.release([first[1], first[3]])
    again = receive(source, 2)
    assert texts(again) == ["b", "d"]
    assert all(delivery.redelivered for delivery in again)
    source.acknowledge(again)
    assert source.receive(10, 0.3) == []


def test_a_part_acknowledged_before_closing_does_not_come_again(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    put("a", "b")
    source = make_source()
    first = receive(source, 2)
    source.acknowledge(first[:1])
    source.close()
    assert len(manager.queues["IN"].messages) == 2  # as far as the queue manager knows
    source.connect()
    again = receive(source, 1)
    assert texts(again) == ["b"]
    source.acknowledge(again)
    source.close()
    assert bodies(manager, "IN") == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_with_an_unknown_outcome_delivers_nothing_twice(
    manager: StandInQueueManager, make_source: MakeSource, put: Put, when: str
) -> None:
    put("a", "b")
    source = make_source(max_batch=1, units=1)
    first = receive(source, 1)
    manager.fail_next("MQCMIT", mqi.MQRC_CONNECTION_BROKEN, when=when)  # type: ignore[arg-type]
    source.acknowledge(first)
    with pytest.raises(ReconnectError) as lost:
        source.receive(1, PATIENCE_SECS)
    assert lost.value.code == "MQ-LOST"
    source.close()
    source.connect()
    rest = receive(source, 1)
    assert texts(rest) == ["b"]
    source.acknowledge(rest)
    source.close()
    assert bodies(manager, "IN") == []


def test_equal_messages_are_all_delivered(make_source: MakeSource, make_sink: MakeSink) -> None:
    """Even where the sender gives them the same MsgId."""
    assert make_sink("IN").send([Outgoing(text("same"), "one id")] * 3).result(PATIENCE_SECS) == ()
    source = make_source()
    first = receive(source, 3)
    source.acknowledge(first[:1])
    source.release(first[1:])
    assert texts(receive(source, 2)) == ["same", "same"]


def test_several_units_are_under_way_and_keep_the_order(make_source: MakeSource, put: Put) -> None:
    put(*"abcdef")
    source = make_source(units=3)
    units = [source.receive(2, PATIENCE_SECS) for _ in range(3)]
    assert [texts(unit) for unit in units] == [["a", "b"], ["c", "d"], ["e", "f"]]
    assert source.receive(2, 0.1) == []  # all three connections wait for us
    for unit in reversed(units):
        source.acknowledge(unit)


def test_nothing_is_got_that_was_not_asked_for(manager: StandInQueueManager, make_source: MakeSource, put: Put) -> None:
    source = make_source()
    assert source.receive(5, 0.05) == []
    put(*"abcdefgh")
    got = receive(source, 2)
    assert len([m for m in manager.queues["IN"].messages if m.got_by is not None]) <= len(got) + 5
    source.close()
    assert sum(m.backout_count > 0 for m in manager.queues["IN"].messages) <= 7


def test_what_has_been_backed_out_travels_alone(make_source: MakeSource, put: Put) -> None:
    put(*"abc")
    source = make_source(units=1)
    source.release(receive(source, 3))
    for expected in "abc":
        alone = source.receive(3, PATIENCE_SECS)
        assert texts(alone) == [expected]
        source.acknowledge(alone)


def test_priorities_expiry_and_identity_reach_the_delivery(make_source: MakeSource, put: Put, library: str) -> None:
    put(text("low", Headers(JMSPriority=1)), text("high", Headers(JMSPriority=9, JMSTimeToLive=60_000)))
    source = make_source(provider_properties=True)
    first, second = receive(source, 2)
    assert isinstance(first.payload, Message)
    assert texts([first, second]) == ["high", "low"]
    assert first.payload.headers.JMSExpiration is not None
    assert first.id == first.payload.headers.JMSMessageID
    application = "isthmus" if library == "ibmmq" else "standin"  # pymqi cannot tell its name
    assert MessageProperty("JMSXAppID", "String", application) in first.payload.properties
    assert second.persistent


def test_a_message_that_cannot_be_read_is_a_delivery_with_its_bytes(
    manager: StandInQueueManager, make_source: MakeSource, make_sink: MakeSink, put: Put
) -> None:
    put("good")
    manager.queues["IN"].messages[0].data = b"RFH broken"
    source = make_source()
    [bad] = receive(source, 1)
    assert bad.payload is None
    assert bad.error is not None
    assert bad.error.code == "MQ-DECODE"
    assert bad.original is not None
    assert bad.original.endswith(b"RFH broken")
    assert bad.original[:4] == b"DLH "  # so that its Format, code page and Encoding are not lost
    source.acknowledge([bad])
    source.close()
    assert bodies(manager, "IN") == []


def test_a_message_that_is_too_long_is_a_dead_letter(make_source: MakeSource, put: Put) -> None:
    put("x" * 200_000, "short")
    source = make_source(max_message_bytes=100_000)
    long, short = receive(source, 2)
    assert long.error is not None
    assert long.error.code == "MQ-TOO-LONG"
    assert long.original is not None
    assert long.original.endswith(b"x" * 200_000)
    assert texts([short]) == ["short"]


def test_long_messages_pass(make_source: MakeSource, put: Put) -> None:
    put("x" * 300_000, "y" * 70_000, "z")
    got = receive(make_source(), 3)
    assert [len(content) for content in texts(got)] == [300_000, 70_000, 1]


# Poison


def poison(manager: StandInQueueManager, source: MqSource, times: int) -> None:
    for _ in range(times):
        source.release(receive(source, 1))


def test_poison_goes_to_the_backout_queue_with_its_context(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    manager.define("IN", backout_threshold=2, backout_queue="BACKOUT")
    put("poison", "good")
    before = dict(manager.queues["IN"].messages[0].md)
    source = make_source(units=1)
    poison(manager, source, 2)
    good = receive(source, 1)
    assert texts(good) == ["good"]
    source.acknowledge(good)
    source.close()
    [moved] = manager.queues["BACKOUT"].messages
    assert moved.data.endswith(b"poison")
    same = ("MsgId", "CorrelId", "PutDate", "PutTime", "PutApplName", "UserIdentifier", "Format", "Persistence")
    assert {field: moved.md[field] for field in same} == {field: before[field] for field in same}
    assert bodies(manager, "IN") == []


def test_settings_of_the_channel_come_before_those_of_the_queue(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    manager.define("IN", backout_threshold=5, backout_queue="OUT")
    put("poison")
    source = make_source(backout_threshold=1, backout_queue="BACKOUT")
    poison(manager, source, 1)
    assert source.receive(1, 0.5) == []
    source.close()
    assert len(bodies(manager, "BACKOUT")) == 1


def test_a_threshold_of_zero_means_never(manager: StandInQueueManager, make_source: MakeSource, put: Put) -> None:
    manager.define("IN", backout_threshold=1, backout_queue="BACKOUT")
    put("poison")
    source = make_source(backout_threshold=0)
    poison(manager, source, 4)
    assert bodies(manager, "BACKOUT") == []


@pytest.mark.parametrize("backout_queue", ["", "NOT.THERE"])
def test_without_a_backout_queue_it_goes_to_the_dead_letter_queue(
    manager: StandInQueueManager, make_source: MakeSource, put: Put, backout_queue: str
) -> None:
    manager.define("IN", backout_threshold=1, backout_queue=backout_queue)
    put("poison")
    source = make_source()
    poison(manager, source, 1)
    assert source.receive(1, 0.5) == []
    source.close()
    [dead] = manager.queues[DEAD_LETTER_QUEUE].messages
    assert dead.md["Format"] == b"MQDEAD  "
    contents = chain.unwrap(dead.data, "MQDEAD", dead.md["Encoding"], dead.md["CodedCharSetId"])
    assert contents.dead_letter == chain.DeadLetterHeader(2085 if backout_queue else 2362, "IN", manager.name)
    assert (contents.body, contents.format) == (b"poison", "MQSTR")
    assert struct.unpack_from("<i", dead.data, 8)[0] == contents.dead_letter.reason


def test_a_sender_may_ask_that_its_message_be_discarded(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    manager.define("IN", backout_threshold=1)
    put("poison")
    manager.queues["IN"].messages[0].md["Report"] = mqi.MQRO_DISCARD_MSG
    source = make_source()
    poison(manager, source, 1)
    assert source.receive(1, 0.5) == []
    source.close()
    assert bodies(manager, "IN") == bodies(manager, DEAD_LETTER_QUEUE) == []


@pytest.mark.parametrize("discard", [0, mqi.MQRO_DISCARD_MSG])
def test_an_exception_report_tells_the_sender(
    manager: StandInQueueManager, make_source: MakeSource, put: Put, discard: int
) -> None:
    """In the same unit of work: CorrelId says which message it was."""
    manager.define("IN", backout_threshold=1)
    put(text("poison", Headers(JMSReplyTo="queue://OUT")))
    message = manager.queues["IN"].messages[0]
    message.md["Report"] = mqi.MQRO_EXCEPTION_WITH_FULL_DATA | discard
    source = make_source()
    poison(manager, source, 1)
    assert source.receive(1, 0.5) == []
    source.close()
    [report] = manager.queues["OUT"].messages
    assert (report.md["MsgType"], report.md["Feedback"]) == (4, mqi.MQRC_BACKOUT_THRESHOLD_REACHED)
    assert report.md["CorrelId"] == message.md["MsgId"] != report.md["MsgId"]
    assert report.data == message.data
    assert len(bodies(manager, DEAD_LETTER_QUEUE)) == (0 if discard else 1)


def test_a_report_that_nobody_takes_keeps_the_message_from_nothing(
    manager: StandInQueueManager, make_source: MakeSource, put: Put, caplog: pytest.LogCaptureFixture
) -> None:
    manager.define("IN", backout_threshold=1)
    put(text("poison", Headers(JMSReplyTo="queue://NO.SUCH")))
    manager.queues["IN"].messages[0].md["Report"] = mqi.MQRO_EXCEPTION
    source = make_source()
    poison(manager, source, 1)
    assert source.receive(1, 0.5) == []
    source.close()
    assert len(bodies(manager, DEAD_LETTER_QUEUE)) == 1
    assert "NO.SUCH" in caplog.text


def test_a_backout_queue_needs_no_report(manager: StandInQueueManager, make_source: MakeSource, put: Put) -> None:
    manager.define("IN", backout_threshold=1, backout_queue="BACKOUT")
    put(text("poison", Headers(JMSReplyTo="queue://OUT")))
    manager.queues["IN"].messages[0].md["Report"] = mqi.MQRO_EXCEPTION
    source = make_source()
    poison(manager, source, 1)
    assert source.receive(1, 0.5) == []
    source.close()
    assert (len(bodies(manager, "BACKOUT")), bodies(manager, "OUT")) == (1, [])


def test_poison_that_nobody_takes_stays_and_is_told(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    manager.define("IN", backout_threshold=1, backout_queue="BACKOUT")
    manager.define("BACKOUT", put_inhibited=True)
    manager.define(DEAD_LETTER_QUEUE, max_depth=0)
    put("poison")
    source = make_source()
    poison(manager, source, 1)
    with pytest.raises(ReconnectError) as told:
        source.receive(1, PATIENCE_SECS)
    assert told.value.code == "MQ-POISON"
    source.close()
    assert len(bodies(manager, "IN")) == 1


def test_poison_is_not_put_aside_twice_when_its_unit_is_backed_out(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    """With the put to the backout queue the get is undone as well: the dead-letter queue must not get it in another unit."""
    manager.define("IN", backout_threshold=1, backout_queue="BACKOUT")
    put("poison")
    source = make_source()
    poison(manager, source, 1)
    manager.fail_next("MQPUT", mqi.MQRC_BACKED_OUT)
    with pytest.raises(ReconnectError):
        source.receive(1, PATIENCE_SECS)
    source.close()
    assert bodies(manager, DEAD_LETTER_QUEUE) == []
    source.connect()
    assert source.receive(1, 0.5) == []
    source.close()
    assert (len(bodies(manager, "BACKOUT")), bodies(manager, "IN")) == (1, [])


# Faults


@pytest.mark.parametrize(
    ("verb", "reason", "code"),
    [
        ("MQCONNX", mqi.MQRC_HOST_NOT_AVAILABLE, "MQ-UNREACHABLE"),
        ("MQCONNX", mqi.MQRC_NOT_AUTHORIZED, "MQ-LOGIN"),
        ("MQCONNX", mqi.MQRC_UNKNOWN_CHANNEL_NAME, "MQ-OBJECT"),
        ("MQCONNX", 2393, "MQ-TLS"),
        ("MQCONNX", 9999, "MQ-REASON"),
        ("MQOPEN", mqi.MQRC_NOT_AUTHORIZED, "MQ-ACCESS"),
        ("MQOPEN", mqi.MQRC_OBJECT_IN_USE, "MQ-BUSY"),
        ("MQINQ", mqi.MQRC_CONNECTION_BROKEN, "MQ-LOST"),
    ],
)
def test_connecting_tells_what_is_wrong_and_leaves_nothing_open(
    manager: StandInQueueManager, verb: str, reason: int, code: str
) -> None:
    manager.fail_next(verb, reason)
    source = MqSource(endpoint_of(manager), channel_of("IN"))
    with pytest.raises(ReconnectError) as told:
        source.connect()
    assert told.value.code == code
    assert str(reason) in told.value.message
    assert manager.queues["IN"].opened == []
    manager.forget_faults()
    source.connect()
    source.close()


def test_an_alias_does_not_tell_its_threshold(manager: StandInQueueManager, make_source: MakeSource, put: Put) -> None:
    manager.define("IN", backout_threshold=1, backout_queue="BACKOUT")
    put("a")
    manager.fail_next("MQINQ", mqi.MQRC_SELECTOR_NOT_FOR_TYPE, completion=mqi.MQCC_WARNING)
    source = make_source(units=1)
    poison(manager, source, 2)
    source.acknowledge(receive(source, 1))


def test_a_probe_that_is_not_answered_is_no_loss(
    manager: StandInQueueManager, make_source: MakeSource, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "PROBE_SECS", 0.05)
    source = make_source(units=1)
    manager.fail_next("MQINQ", mqi.MQRC_NOT_OPEN_FOR_INQUIRE, count=3)
    deadline = time.monotonic() + PATIENCE_SECS
    while sum(verb == "MQINQ" for verb, _, _ in list(manager.calls)) < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    put("a")
    source.acknowledge(receive(source, 1))


def test_a_queue_that_is_not_there(make_source: MakeSource) -> None:
    with pytest.raises(ReconnectError, match="MQRC_UNKNOWN_OBJECT_NAME"):
        make_source("NO.SUCH.QUEUE")


def test_a_queue_that_may_not_be_read_now(manager: StandInQueueManager, make_source: MakeSource) -> None:
    source = make_source()
    manager.define("IN", get_inhibited=True)
    with pytest.raises(ReconnectError, match="MQRC_GET_INHIBITED"):
        source.receive(1, PATIENCE_SECS)


def test_a_queue_manager_that_quiesces(manager: StandInQueueManager, make_source: MakeSource) -> None:
    source = make_source()
    manager.quiesce()
    with pytest.raises(ReconnectError, match="MQRC_Q_MGR_QUIESCING"):
        source.receive(1, PATIENCE_SECS)


def test_a_lost_connection_is_noticed_though_every_unit_is_out(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    put("a")
    source = make_source(units=1)
    receive(source, 1)
    manager.break_connections()
    with pytest.raises(ReconnectError):
        source.receive(1, PATIENCE_SECS)


def test_closing_never_commits(manager: StandInQueueManager, make_source: MakeSource, put: Put) -> None:
    put("a", "b")
    source = make_source()
    receive(source, 2)
    source.close()
    assert [m.backout_count for m in manager.queues["IN"].messages] == [1, 1]
    verbs = [verb for verb, _, _ in manager.calls]
    assert verbs.index("MQBACK") < len(verbs) - 1 - verbs[::-1].index("MQDISC")


def test_a_back_out_that_fails_leaves_the_connection_rather_than_commit(
    manager: StandInQueueManager, make_source: MakeSource, put: Put
) -> None:
    put("a")
    source = make_source(units=1)
    receive(source, 1)
    manager.fail_next("MQBACK", 2195 + 5000, count=3)
    calls = len(manager.calls)
    source.close()
    assert "MQDISC" not in [verb for verb, _, _ in list(manager.calls)[calls:]]
    assert len(manager.queues["IN"].messages) == 1


# Topics


def test_a_topic(manager: StandInQueueManager, make_source: MakeSource, make_sink: MakeSink) -> None:
    source = make_source(None, topic="alarms/#")
    sink = make_sink(None, topic="alarms/north")
    assert sink.send([Outgoing(text("hello"), "1")]).result(PATIENCE_SECS) == ()
    [got] = receive(source, 1)
    assert isinstance(got.payload, Message)
    assert got.payload.body == Body("TextMessage", "hello")
    assert got.payload.headers.JMSDestination == "topic://alarms/north"
    source.acknowledge([got])
    source.close()
    assert manager.subscriptions == {}


def test_a_durable_subscription_is_given_up(
    manager: StandInQueueManager, make_source: MakeSource, make_sink: MakeSink
) -> None:
    source, other = (make_source(None, topic="alarms/+", subscription=name) for name in ("isthmus", "other"))
    source.close()
    other.close()
    sink = make_sink(None, topic="alarms/north")
    assert sink.send([Outgoing(text("meanwhile"), "1")]).result(PATIENCE_SECS) == ()
    source.unsubscribe()
    assert list(manager.subscriptions) == ["other"]
    other.connect()
    assert texts(receive(other, 1)) == ["meanwhile"]


def test_a_durable_subscription_keeps_what_comes_while_we_are_away(
    make_source: MakeSource, make_sink: MakeSink
) -> None:
    source = make_source(None, topic="alarms/+", subscription="isthmus")
    source.close()
    sink = make_sink(None, topic="alarms/north")
    assert sink.send([Outgoing(text("meanwhile"), "1")]).result(PATIENCE_SECS) == ()
    source.connect()
    assert texts(receive(source, 1)) == ["meanwhile"]
