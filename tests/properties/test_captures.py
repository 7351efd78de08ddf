"""What is captured can be read again, whatever it holds; and says the same as the public forms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mappings.captures.errors import CaptureError
from mappings.captures.payloads import PayloadReader, PayloadWriter, read_payload
from mappings.captures.sealing import SALT_BYTES, Opener, sealer
from mappings.captures.specification import End, Specification, specification_from_text
from mappings.errors import MappingError
from mappings.forms.events import event_to_json
from mappings.forms.messages import message_to_json
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    LONG,
    OCTET,
    SHORT,
    STRING,
    ULONGLONG,
    Alias,
    Member,
    Sequence,
    String,
    Struct,
)
from mappings.known_types import UTC_T
from mappings.model import Any_, Message, MessageProperty, Property, StructuredEvent
from mappings.passage import Translation
from mappings.translate import Limits, Options
from mappings.translate.rules import ChooseBody, Constant, CopyHeader, Drop, Rename, Route
from tests.properties.strategies import messages, structured_events

WRITER = PayloadWriter()


@given(structured_events)
def test_events(event: StructuredEvent) -> None:
    cell = WRITER.write(event)
    assert _same(json.loads(cell), event_to_json(event))
    assert repr(read_payload("event", cell)) == repr(event)


VALUES = (None, True, 0, -1, 300, 2**40, 2**70, 1.5, "", "NaN", "12", "a\0b", "Zürich", [], [1], {}, {"base64": "AA=="})
STRUCT = Struct("IDL:S:1.0", "S", (Member("n", LONG), Member("s", STRING), Member("t", UTC_T)))
SOME_STRUCT = {"n": -3, "s": "Zug", "t": {"time": 2**50, "inacclo": 0, "inacchi": 1, "tdf": 60}}
EVERYDAY = StructuredEvent(
    "Telecom",
    "Alarm",
    "1",
    (Property("Priority", SHORT, 3),),
    (
        Property("text", STRING, "loss"),
        Property("short text", String(5), "loss"),
        Property("on", BOOLEAN, True),
        Property("octet", OCTET, 255),
        Property("big", ULONGLONG, 2**63),
        Property("ratio", DOUBLE, math.inf),
        Property("single", FLOAT, 0.1),
        Property("struct", STRUCT, SOME_STRUCT),
        Property("structs", Alias("IDL:Q:1.0", "Q", Sequence(STRUCT)), [SOME_STRUCT, SOME_STRUCT]),
        Property("large number", UTC_T, {"time": 2**60, "inacclo": 0, "inacchi": 1, "tdf": 60}),
        Property("few", Sequence(STRUCT, 2), [SOME_STRUCT]),
        Property("numbers", Sequence(LONG), [1, 2]),
        Property("octets", Sequence(OCTET), b"xyz"),
        Property("any", ANY, Any_(LONG, 7)),
    ),
    Any_(STRING, "text"),
)


def test_events_of_a_shape_that_came_before_whatever_takes_the_place_of_a_part() -> None:
    """Straight code and the general reader say the same, also on what is no such event at all."""
    reader = PayloadReader()
    cell = WRITER.write(EVERYDAY)
    for place, (whole, at) in enumerate(_places(json.loads(cell))):
        assert reader.read("event", cell) == read_payload("event", cell)
        for value in (*VALUES, _more(whole[at])):
            form = json.loads(cell)
            inside, key = list(_places(form))[place]
            inside[key] = value
            other = json.dumps(form).encode()
            assert _read_by(reader.read, other) == _read_by(read_payload, other)


@given(structured_events, st.data())
def test_all_events_of_a_shape_that_came_before(event: StructuredEvent, data: st.DataObject) -> None:
    reader = PayloadReader()
    cell = WRITER.write(event)
    for _ in range(3):
        assert repr(reader.read("event", cell)) == repr(event)
    form = json.loads(cell)
    inside, key = data.draw(st.sampled_from(list(_places(form))))
    inside[key] = data.draw(st.sampled_from(VALUES))
    other = json.dumps(form).encode()
    assert _read_by(reader.read, other) == _read_by(read_payload, other)


def _places(form: Any) -> Iterator[tuple[Any, Any]]:
    """Everything inside, as where it is and under which key."""
    for key, value in form.items() if isinstance(form, dict) else enumerate(form):
        yield form, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _more(form: Any) -> Any:
    return {**form, "more": 1} if isinstance(form, dict) else form * 3 if isinstance(form, list) else form


def _read_by(read: Callable[[str, bytes], Any], cell: bytes) -> str:
    try:
        return repr(read("event", cell))
    except MappingError as error:
        return str(error)


@given(messages)
def test_messages(message: Message) -> None:
    cell = WRITER.write(message)
    assert _same(json.loads(cell), message_to_json(message))
    assert repr(read_payload("message", cell)) == repr(message)


def _same(one: Any, other: Any) -> bool:
    """Numbers may be spelt in more than one way; what they are may not differ."""
    return repr(one) == repr(json.loads(json.dumps(other)))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, 1e-05])
def test_no_number_is_lost_on_the_way(number: float) -> None:
    event = StructuredEvent("d", "t", "e", (), (Property("x", DOUBLE, number),))
    assert repr(read_payload("event", WRITER.write(event))) == repr(event)
    message = Message(properties=(MessageProperty("x", "double", number),))
    assert repr(read_payload("message", WRITER.write(message))) == repr(message)


@pytest.mark.parametrize("value", ["\ud800", b"octets", 2**70, object(), {1: 2}])
def test_what_no_form_can_hold_is_kept_as_text(value: Any) -> None:
    cell = WRITER.write(StructuredEvent("d", "t", "e", (), (Property("x", STRING, value),)))
    with pytest.raises(MappingError):
        read_payload("event", cell)
    assert json.loads(cell)


@given(st.binary(max_size=300))
def test_garbage_is_a_mapping_error(cell: bytes) -> None:
    for form in ("event", "message"):
        with pytest.raises(MappingError):
            read_payload(form, cell)


@settings(max_examples=30)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_of_another_shape_is_a_mapping_error(form: Any) -> None:
    for kind in ("event", "message"):
        if kind == "message" and isinstance(form, dict) and not form:
            continue  # a message without anything is a message
        with pytest.raises(MappingError):
            read_payload(kind, json.dumps(form).encode())


@given(st.binary(), st.text(max_size=20), st.integers(0, 200), st.integers(1, 255))
def test_sealed_cells_open_with_their_key_in_their_place_and_not_when_changed(
    plain: bytes, bound: str, at: int, flip: int
) -> None:
    key = bytes(range(32))
    seal = sealer(key, bytes(SALT_BYTES))
    cell, second = seal(plain, bound), seal(plain, bound)
    assert cell != second
    opener = Opener([b"\1" * 32, key])
    assert opener.open(cell, bound) == opener.open(second, bound) == plain
    position = at % len(cell)
    changed = cell[:position] + bytes([cell[position] ^ flip]) + cell[position + 1 :]
    for wrong, place in ((changed, bound), (cell, bound + "x"), (cell[:-1], bound)):
        with pytest.raises(CaptureError):
            opener.open(wrong, place)
    with pytest.raises(CaptureError, match="CAP-KEY"):
        Opener([]).open(cell, bound)


RULES = (
    Rename("$a", "b"),
    Drop("$c"),
    Constant(MessageProperty("d", "int", 3)),
    CopyHeader("JMSPriority", "p"),
    Route("queue://q", "x = 1"),
    ChooseBody("map"),
)


@given(
    st.lists(st.sampled_from(RULES)),
    st.sampled_from(["event", "message"]),
    st.booleans(),
    st.text(),
    st.lists(st.tuples(st.text(), st.text())),
)
def test_a_mapping_is_the_same_after_it_was_saved(
    rules: list[Any], form: Any, metadata: bool, etcl: str, types: list[tuple[str, str]]
) -> None:
    options = Options(rules=tuple(rules), metadata=metadata, limits=Limits(3, 4, 5), destination="topic://t")
    translation = Translation(form, "message", options, etcl, event_types=tuple(types))
    whole = Specification("g", "l", End("a", "x"), End("b", "y"), translation, "1.0")
    again = specification_from_text(json.dumps(whole.to_json()))
    assert again == whole
    assert again.version == whole.version


@given(st.binary(max_size=50) | st.text(max_size=50))
def test_a_saved_mapping_that_is_damaged_is_a_capture_error(text: Any) -> None:
    with pytest.raises(CaptureError, match="CAP-MAPPING"):
        specification_from_text(text)
