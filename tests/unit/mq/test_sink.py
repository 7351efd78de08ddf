"""The sink: batches are units of work, warnings are no failures, and what each reason code does."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from adapters.base import DeadLetterError, Outgoing, ReconnectError, Refusal, RetryLaterError
from adapters.mq import mqi
from adapters.mq.codec import message_id
from adapters.mq.sink import MqSink
from adapters.mq.standin.manager import StandInQueueManager
from mappings.model import Body, Headers, Message, MessageProperty, StructuredEvent
from tests.contract.wires.mq import channel_of, endpoint_of
from tests.unit.mq.conftest import PATIENCE_SECS, MakeSink, MakeSource, bodies, text


def send(sink: MqSink, *contents: str | Message, destination: str | None = None) -> tuple[Refusal, ...]:
    batch = [Outgoing(text(c) if isinstance(c, str) else c, f"id-{n}", destination) for n, c in enumerate(contents)]
    return sink.send(batch).result(PATIENCE_SECS)


def test_a_batch_is_one_unit_of_work(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    assert send(make_sink(), "a", "b", "c") == ()
    assert [verb for verb, _, _ in manager.calls if verb in ("MQPUT", "MQCMIT")] == ["MQPUT"] * 3 + ["MQCMIT"]
    assert [m.md["MsgId"] for m in manager.queues["OUT"].messages] == [message_id(f"id-{n}") for n in range(3)]


def test_the_queue_manager_may_make_the_ids(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    send(make_sink(message_ids="queue_manager"), "a", "b")
    ids = [m.md["MsgId"] for m in manager.queues["OUT"].messages]
    assert len(set(ids)) == 2
    assert all(id_.startswith(b"AMQ ") for id_ in ids)


def test_headers_are_in_the_descriptor(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    headers = Headers(
        JMSDeliveryMode="NON_PERSISTENT", JMSPriority=7, JMSTimeToLive=60_000, JMSReplyTo="queue://REPLIES",
        JMSCorrelationID="order 7",
    )  # fmt: skip
    send(make_sink(), text("a", headers))
    [message] = manager.queues["OUT"].messages
    md = message.md
    assert (md["Persistence"], md["Priority"], md["Expiry"], md["MsgType"]) == (0, 7, 600, 1)
    assert (md["ReplyToQ"].rstrip(), md["ReplyToQMgr"].rstrip()) == (b"REPLIES", manager.name.encode())
    assert md["CorrelId"] == b"order 7".ljust(24, b"\0")


def test_a_reply_finds_its_request_through_a_link_from_mq_to_mq(
    manager: StandInQueueManager, make_source: MakeSource, make_sink: MakeSink
) -> None:
    """A responder puts the MsgId that it sees into CorrelId: it must be the one that the requester knows."""
    options = (MessageProperty("JMS_IBM_Report_Pass_Msg_ID", "int", mqi.MQRO_PASS_MSG_ID),)
    assert (
        send(make_sink("IN"), Message(Headers(JMSReplyTo="queue://REPLIES"), options, Body("TextMessage", "?"))) == ()
    )
    request = manager.queues["IN"].messages[0].md
    source = make_source("IN")
    [delivery] = source.receive(1, PATIENCE_SECS)
    relay = make_sink("OUT", message_ids="kept")
    assert delivery.payload is not None
    assert relay.send([Outgoing(delivery.payload, delivery.id)]).result(PATIENCE_SECS) == ()
    source.acknowledge([delivery])
    [relayed] = manager.queues["OUT"].messages
    same = ("MsgId", "MsgType", "Report", "ReplyToQ", "ReplyToQMgr", "Persistence", "Priority")
    assert {field: relayed.md[field] for field in same} == {field: request[field] for field in same}


def test_an_id_that_mq_does_not_know_is_derived(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    assert send(make_sink(message_ids="kept"), text("a", Headers(JMSMessageID="ID:artemis-7"))) == ()
    assert manager.queues["OUT"].messages[0].md["MsgId"] == message_id("id-0")


def test_a_report_without_a_reply_queue_is_the_senders_mistake(make_sink: MakeSink) -> None:
    wish = (MessageProperty("JMS_IBM_Report_COA", "int", 0x100),)
    [refusal] = send(make_sink(), Message(properties=wish), "fine")
    assert (refusal.index, refusal.error.code) == (0, "MQ-REFUSED")
    assert "MISSING_REPLY_TO_Q" in refusal.error.message


def test_groups_are_passed_through(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    properties = (MessageProperty("JMSXGroupID", "String", "g"), MessageProperty("JMSXGroupSeq", "int", 2))
    send(make_sink(), Message(properties=properties))
    md = manager.queues["OUT"].messages[0].md
    assert (md["GroupId"], md["MsgSeqNumber"], md["MsgFlags"]) == (b"g".ljust(24, b"\0"), 2, 8)


@pytest.mark.parametrize(("context", "user"), [("default", b"standin"), ("none", b""), ("identity", b"ann")], ids=str)
def test_context(manager: StandInQueueManager, make_sink: MakeSink, context: str, user: bytes) -> None:
    send(make_sink(context=context), Message(properties=(MessageProperty("JMSXUserID", "String", "ann"),)))
    assert manager.queues["OUT"].messages[0].md["UserIdentifier"].rstrip() == user


def test_a_warning_is_no_failure(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    manager.fail_next("MQPUT", 2104, completion=mqi.MQCC_WARNING, when="after")
    assert send(make_sink(), "a", "b") == ()
    assert len(bodies(manager, "OUT")) == 2


@pytest.mark.parametrize(
    ("trouble", "code"),
    [({"max_depth": 2}, "MQ-FULL"), ({"put_inhibited": True}, "MQ-BUSY")],
    ids=["full", "inhibited"],
)
def test_a_queue_that_takes_no_more_leaves_the_whole_batch_for_later(
    manager: StandInQueueManager, make_sink: MakeSink, trouble: dict[str, Any], code: str
) -> None:
    sink = make_sink()
    manager.define("OUT", **trouble)
    with pytest.raises(RetryLaterError) as told:
        send(sink, "a", "b", "c")
    assert told.value.code == code
    assert bodies(manager, "OUT") == []
    manager.define("OUT", max_depth=100, put_inhibited=False)
    assert send(sink, "a", "b", "c") == ()
    assert len(bodies(manager, "OUT")) == 3


def test_one_message_that_is_too_long_does_not_stop_the_others(
    manager: StandInQueueManager, make_sink: MakeSink
) -> None:
    sink = make_sink()
    manager.define("OUT", max_length=1000)
    [refusal] = send(sink, "a", "x" * 2000, "b")
    assert (refusal.index, refusal.error.code) == (1, "MQ-REFUSED")
    assert isinstance(refusal.error, DeadLetterError)
    assert [data[-1:] for data in bodies(manager, "OUT")] == [b"a", b"b"]


def test_what_cannot_be_encoded_is_refused(make_sink: MakeSink) -> None:
    sink = make_sink()
    refusals = sink.send(
        [
            Outgoing(StructuredEvent("a", "b", "c"), "1"),
            Outgoing(text("fine"), "2"),
            Outgoing(Message(body=Body("Fax", 1)), "3"),
        ]
    ).result(PATIENCE_SECS)
    assert [(r.index, r.error.code) for r in refusals] == [(0, "MQ-ENCODE"), (2, "MQ-ENCODE")]


def test_a_commit_that_backs_out_leaves_the_batch_for_later(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    sink = make_sink()
    manager.fail_next("MQCMIT", mqi.MQRC_BACKED_OUT, completion=mqi.MQCC_WARNING)
    with pytest.raises(RetryLaterError):
        send(sink, "a")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("verb", ["MQPUT", "MQCMIT"])
def test_a_lost_connection_means_that_the_fate_is_unknown(
    manager: StandInQueueManager, make_sink: MakeSink, verb: str, when: Any
) -> None:
    sink = make_sink()
    manager.fail_next(verb, mqi.MQRC_CONNECTION_BROKEN, when=when)
    confirmations = [sink.send([Outgoing(text(c), c)]) for c in "ab"]
    for confirmation in confirmations:
        with pytest.raises(ReconnectError, match="MQ-LOST"):
            confirmation.result(PATIENCE_SECS)
    with pytest.raises(ReconnectError):
        sink.check()
    with pytest.raises(ReconnectError):
        sink.send([Outgoing(text("c"), "c")])
    committed = verb == "MQCMIT" and when == "after"
    assert len(bodies(manager, "OUT")) == (1 if committed else 0)
    sink.close()
    sink.connect()
    assert send(sink, "again") == ()


def test_routes_by_content(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    sink = make_sink()
    assert send(sink, "a", destination="queue://IN") == ()
    assert len(bodies(manager, "IN")) == 1
    [refusal] = send(sink, "a", destination="queue://NOWHERE")
    assert isinstance(refusal.error, RetryLaterError)
    assert refusal.error.code == "MQ-OBJECT"
    assert send(sink, "still works") == ()


def test_many_routes_do_not_keep_many_queues_open(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    sink = make_sink()
    for n in range(40):
        manager.define(f"Q{n}")
        assert send(sink, "a", destination=f"queue://Q{n}") == ()
    assert sum(len(queue.opened) for queue in manager.queues.values()) <= 32


def test_a_sink_without_traffic_tells_of_a_dead_queue_manager(
    manager: StandInQueueManager, make_sink: MakeSink
) -> None:
    sink = make_sink()
    sink.check()
    manager.stop()
    gone = threading.Event()
    for _ in range(100):
        try:
            sink.check()
        except ReconnectError:
            gone.set()
            break
        threading.Event().wait(0.1)
    assert gone.is_set()


def test_closing_never_commits(manager: StandInQueueManager, make_sink: MakeSink) -> None:
    """A batch that was put but not committed when the sink has to go is not there afterwards."""
    sink = make_sink()
    manager.fail_next("MQCMIT", 9999)
    with pytest.raises(ReconnectError):
        send(sink, "a", "b")
    sink.close()
    assert bodies(manager, "OUT") == []


def test_a_login_that_is_refused(manager: StandInQueueManager) -> None:
    manager._users = {"ann": "gehéim"}
    for settings in ({}, {"user": "ann", "password": "wrong"}):
        with pytest.raises(ReconnectError) as told:
            MqSink(endpoint_of(manager, **settings), channel_of("OUT")).connect()
        assert told.value.code == "MQ-LOGIN"
        assert "wrong" not in str(told.value)
    sink = MqSink(endpoint_of(manager, user="ann", password="gehéim"), channel_of("OUT"))
    sink.connect()
    sink.close()
