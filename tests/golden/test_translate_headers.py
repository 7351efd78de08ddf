"""JMS header fields and the event's quality of service (RULES.md 5.2 SE-GEN, SE-HDR, SE-VAR; 5.3 OC-VAR, OC-EVT, OC-SEQ, OC-ID)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mappings.errors import Expired
from mappings.idl_types import LONG, SHORT, STRING, ULONGLONG, IdlType
from mappings.known_types import TIME_T, UTC_T
from mappings.model import Headers, Message, MessageProperty, StructuredEvent
from mappings.translate import Options, Translator
from mappings.translate.batches import in_batch
from mappings.translate.priorities import PRIORITY_MAPS
from tests.unit.translate.build import NOW_MS, UTC_OF_NOW, changed, event, fields, named, rules, sent

SECOND = 10_000_000  # in 100 ns


def utc(ticks: int) -> dict[str, int]:
    return {"time": ticks, "inacclo": 0, "inacchi": 0, "tdf": 0}


def test_what_a_message_says_of_itself() -> None:
    """SE-GEN-1, SE-GEN-4, SE-HDR-1, SE-HDR-2, SE-HDR-3, SE-HDR-4, OC-ID-1."""
    translator = Translator(Options(destination="topic://nms.alarms"))
    first = translator.forward(event(), now_ms=NOW_MS, gid="7f1c")
    again = translator.forward(event(), now_ms=NOW_MS + 5, gid="7f1c")
    assert first.headers == Headers(
        "Structured Event",
        JMSMessageID="ID:7f1c",
        JMSTimestamp=NOW_MS,
        JMSDestination="topic://nms.alarms",
    )
    assert named(first)["$gid"] == named(again)["$gid"] == ("String", "7f1c"), "stable when sent again"
    assert translator.reverse(first, now_ms=NOW_MS) == event(), "$gid is no field"


def test_header_data_and_remainder_go_where_they_belong() -> None:
    """SE-GEN-2, SE-GEN-3, SE-GEN-5."""
    message = sent(event([("fd", LONG, 1)], [("Priority", SHORT, 1), ("ohf", LONG, 2)]))
    assert message.headers.JMSPriority == 5
    assert fields(message) == [("$ohf", "int", 2), ("$fd", "int", 1)]
    assert message.body.type == "Message"


@pytest.mark.parametrize(("value", "mode"), [(0, "NON_PERSISTENT"), (1, "PERSISTENT")])
def test_reliability(value: int, mode: str) -> None:
    """SE-VAR-1."""
    message = sent(event(header=[("EventReliability", SHORT, value)]))
    assert message.headers.JMSDeliveryMode == mode


@pytest.mark.parametrize(
    ("options", "mode"), [({}, "PERSISTENT"), ({"absent_reliability": "nonpersistent"}, "NON_PERSISTENT")]
)
def test_an_absent_reliability(options: dict[str, Any], mode: str) -> None:
    """SE-VAR-4, OC-VAR-5."""
    assert sent(event(), **options).headers.JMSDeliveryMode == mode


@pytest.mark.parametrize(("value", "jms"), [(-4, 0), (-1, 3), (0, 4), (5, 9)])
def test_small_priorities_need_no_property(value: int, jms: int) -> None:
    """SE-VAR-2, OC-VAR-1, OC-VAR-7."""
    message = sent(event(header=[("Priority", SHORT, value)]))
    assert (message.headers.JMSPriority, fields(message)) == (jms, [])


@pytest.mark.parametrize(
    ("mapping", "value", "jms"),
    [
        ("clamp", -5, 0), ("clamp", 6, 9), ("clamp", -32767, 0), ("clamp", 32767, 9),
        ("linear", 1, 5), ("linear", 6552, 5), ("linear", 6554, 6), ("linear", 32766, 9),
        ("linear", -1, 3), ("linear", -32766, 0), ("linear", -32768, 0),
        ("fujitsu", -4, 0), ("fujitsu", 4, 9), ("fujitsu", 32767, 9),
    ],
)  # fmt: skip
def test_other_priorities_go_beside_the_header_field(mapping: str, value: int, jms: int) -> None:
    """OC-VAR-1."""
    message = sent(event(header=[("Priority", SHORT, value)]), priority=mapping)
    assert message.headers.JMSPriority == jms
    assert fields(message) == [("$Priority", "short", value)]
    assert rules(event(header=[("Priority", SHORT, value)]), priority=mapping)["$Priority"] == "OC-VAR-1"


@pytest.mark.parametrize("mapping", ["clamp", "linear", "fujitsu"])
def test_every_priority_mapping_keeps_the_order_and_both_defaults(mapping: str) -> None:
    """OC-VAR-1."""
    to_jms, back = PRIORITY_MAPS[mapping]
    mapped = [to_jms(priority) for priority in range(-32768, 32768)]
    assert mapped == sorted(mapped)
    assert {0, 4, 9} <= set(mapped) <= set(range(10))
    assert (to_jms(0), back(4)) == (0 + 4, 0)
    assert [back(jms) for jms in range(10)] == sorted(back(jms) for jms in range(10))
    # What `back` gives comes out of the header field alone; Fujitsu's table joins three pairs.
    assert sum(to_jms(back(jms)) == jms for jms in range(10)) == (7 if mapping == "fujitsu" else 10)


def test_fujitsu_s_table() -> None:
    """OC-VAR-1, RULES.md 5.4."""
    assert [PRIORITY_MAPS["fujitsu"].back(jms) for jms in range(10)] == [-3, -3, -2, -1, 0, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(("timeout", "ttl"), [(10_000, 1), (10_001, 2), (9_999, 1), (2**64 - 1, 1844674407370956)])
@pytest.mark.parametrize("type_", [TIME_T, ULONGLONG])
def test_timeouts_round_up_and_come_back_exactly(timeout: int, ttl: int, type_: IdlType) -> None:
    """SE-VAR-3, OC-VAR-2."""
    message = sent(event(header=[("Timeout", type_, timeout)]))
    assert (message.headers.JMSTimeToLive, fields(message)) == (ttl, [])


def test_time_spent_in_the_gateway_is_taken_off() -> None:
    """OC-VAR-2: never sent with a time to live of 0, which would mean for ever."""
    translator = Translator()
    the_event = event(header=[("Timeout", TIME_T, 5 * SECOND)])
    for _ in range(2):  # by the walk, then by the plan
        message = translator.forward(the_event, now_ms=NOW_MS, elapsed_ms=1500)
        assert message.headers.JMSTimeToLive == 3500
        assert translator.reverse(message, now_ms=NOW_MS) == event(header=[("Timeout", TIME_T, 35_000_000)])
        assert not translator.explain(the_event, now_ms=NOW_MS, elapsed_ms=1500).lossless
        for elapsed_ms in (5000, 6000):
            with pytest.raises(Expired):
                translator.forward(the_event, now_ms=NOW_MS, elapsed_ms=elapsed_ms)


def test_what_is_left_of_a_received_message_s_time_is_its_timeout() -> None:
    """OC-VAR-2, RULES.md 5.5."""
    translator = Translator()
    message = translator.forward(event(header=[("Timeout", TIME_T, 5 * SECOND)]), now_ms=NOW_MS)
    arrived = replace(message, headers=replace(message.headers, JMSTimeToLive=0, JMSExpiration=NOW_MS + 5000))
    back = translator.reverse(arrived, now_ms=NOW_MS + 2000)
    assert back == event(header=[("Timeout", TIME_T, 3 * SECOND)])
    with pytest.raises(Expired):
        translator.reverse(arrived, now_ms=NOW_MS + 5000)


@pytest.mark.parametrize(
    ("stop", "timeout", "ttl"),
    [
        (UTC_OF_NOW + SECOND, 0, 1000),
        (UTC_OF_NOW + 1, 0, 1),
        (UTC_OF_NOW + SECOND, 5 * SECOND, 1000),
        (UTC_OF_NOW + 9 * SECOND, 5 * SECOND, 5000),
    ],
)
def test_a_stop_time_limits_the_time_to_live_and_the_smaller_wins(stop: int, timeout: int, ttl: int) -> None:
    """OC-VAR-3."""
    message = sent(event(header=[("StopTime", UTC_T, utc(stop)), ("Timeout", TIME_T, timeout)]))
    assert message.headers.JMSTimeToLive == ttl
    assert named(message)["$StopTime.time"] == ("long", stop), "a time stays a field"


def test_the_time_zone_of_a_stop_time_is_not_looked_at() -> None:
    """OC-VAR-3."""
    stop = utc(UTC_OF_NOW + SECOND) | {"tdf": 720}
    assert sent(event(header=[("StopTime", UTC_T, stop)])).headers.JMSTimeToLive == 1000


@pytest.mark.parametrize(("start", "delay"), [(UTC_OF_NOW + 2 * SECOND, 2000), (UTC_OF_NOW + 1, 1), (UTC_OF_NOW, 0)])
def test_a_start_time_to_come_is_a_delay_where_the_broker_has_one(start: int, delay: int) -> None:
    """OC-VAR-4."""
    the_event = event(header=[("StartTime", UTC_T, utc(start))])
    message = sent(the_event, scheduled_delay=True)
    assert named(message).get("AMQ_SCHEDULED_DELAY", ("long", 0)) == ("long", delay)
    assert "AMQ_SCHEDULED_DELAY" not in named(sent(the_event))
    assert named(sent(the_event))["$StartTime.time"] == ("long", start)


@pytest.mark.parametrize(
    ("name", "type_", "value", "property_"),
    [
        ("EventReliability", SHORT, 7, ("short", 7)),
        ("EventReliability", LONG, 1, ("int", 1)),
        ("Priority", LONG, 3, ("int", 3)),
        ("Priority", STRING, "high", ("String", "high")),
        ("Timeout", LONG, 50, ("int", 50)),
    ],
)
def test_a_malformed_hint_is_an_ordinary_field_and_is_counted(
    name: str, type_: IdlType, value: Any, property_: tuple[str, Any]
) -> None:
    """OC-VAR-6."""
    the_event = event(header=[(name, type_, value)])
    message = sent(the_event)
    assert named(message)[f"${name}"] == property_
    assert message.headers == Headers("Structured Event", JMSTimestamp=NOW_MS)
    translator = Translator()
    for _ in range(2):
        translator.forward(the_event, now_ms=NOW_MS)
    assert translator.counts["OC-VAR-6"] == 2


def test_a_plan_made_for_a_malformed_hint_leaves_a_good_one_alone() -> None:
    """OC-VAR-6."""
    translator = Translator()
    for value, mode in ((7, "PERSISTENT"), (0, "NON_PERSISTENT"), (1, "PERSISTENT"), (0, "NON_PERSISTENT")):
        message = translator.forward(event(header=[("EventReliability", SHORT, value)]), now_ms=NOW_MS)
        assert message.headers.JMSDeliveryMode == mode


def test_only_the_first_of_a_kind_is_used_up() -> None:
    """OC-NAME-3, OC-VAR-7."""
    message = sent(event([("Priority", SHORT, 3)], [("Priority", SHORT, 1), ("Priority", SHORT, 2)]))
    assert message.headers.JMSPriority == 5
    assert fields(message) == [("$Priority", "short", 2), ("$Priority.#2", "short", 3)]


def test_without_metadata_the_fields_that_became_headers_are_sent_too() -> None:
    """OC-VAR-7."""
    header = [("EventReliability", SHORT, 0), ("Priority", SHORT, 2), ("Timeout", TIME_T, 2**63)]
    message = sent(event(header=header), metadata=False)
    assert fields(message) == [
        ("$EventReliability", "short", 0),
        ("$Priority", "short", 2),
        ("$Timeout", "String", "9223372036854775808"),
    ]
    assert Translator().reverse(message, now_ms=NOW_MS) == event(header=header)


def test_odd_texts_in_the_fixed_header_pass_as_they_are() -> None:
    """OC-EVT-1: the empty string stays an empty string."""
    the_event = StructuredEvent("", "a.b $c", "Zürich\n日本")
    assert [p.value for p in sent(the_event).properties[:3]] == ["", "a.b $c", "Zürich\n日本"]


@pytest.mark.parametrize("character", ["x", "ü", "日"])
def test_a_very_long_text_in_the_fixed_header_is_cut_and_marked(character: str) -> None:
    """OC-EVT-1."""
    translator = Translator()
    the_event = StructuredEvent("d", "t", character * 70_000)
    explained = translator.explain(the_event, now_ms=NOW_MS)
    assert isinstance(explained.result, Message)
    text = named(explained.result)["$event_name"][1]
    assert len(text.encode()) <= 65_536
    assert text.endswith("…")
    assert the_event.event_name.startswith(text[:-1])
    assert [entry.rule for entry in explained.entries if not entry.lossless] == ["OC-EVT-1"]
    assert translator.counts["OC-EVT-1"] == 1
    back = translator.explain_reverse(explained.result, now_ms=NOW_MS)
    assert isinstance(back.result, StructuredEvent)
    assert back.result.event_name == text
    assert not back.lossless


def test_a_batch_is_one_message_per_event_in_order() -> None:
    """OC-SEQ-1."""
    translator = Translator()
    events = [event([("n", LONG, n)]) for n in range(3)]
    batch = in_batch([translator.forward(each, now_ms=NOW_MS) for each in events], "b-1")
    assert [message.properties[-3:] for message in batch] == [
        (
            MessageProperty("JMSXGroupID", "String", "b-1"),
            MessageProperty("JMSXGroupSeq", "int", number),
            MessageProperty("$batch", "int", 3),
        )
        for number in (1, 2, 3)
    ]
    assert [translator.reverse(message, now_ms=NOW_MS) for message in batch] == events
    assert in_batch([translator.forward(events[0], now_ms=NOW_MS)], "b", "mq")[0].properties[-1].name == "_sbatch"


def test_a_header_field_that_was_changed_on_the_way_is_honoured() -> None:
    """SE-VAR-1, SE-VAR-2."""
    translator = Translator()
    message = translator.forward(event(header=[("EventReliability", SHORT, 1), ("Priority", SHORT, 0)]), now_ms=NOW_MS)
    headers = replace(message.headers, JMSDeliveryMode="NON_PERSISTENT", JMSPriority=7)
    back = translator.reverse(replace(message, headers=headers), now_ms=NOW_MS)
    assert back == event(header=[("EventReliability", SHORT, 0), ("Priority", SHORT, 3)])
    assert changed(message) == message
