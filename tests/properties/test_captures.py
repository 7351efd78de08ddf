"""What is captured can be read again, whatever it holds; and says the same as the public forms."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mappings.captures.errors import CaptureError
from mappings.captures.payloads import PayloadWriter, read_payload
from mappings.captures.sealing import SALT_BYTES, Opener, sealer
from mappings.captures.specification import End, Specification, specification_from_text
from mappings.errors import MappingError
from mappings.forms.events import event_to_json
from mappings.forms.messages import message_to_json
from mappings.idl_types import DOUBLE, STRING
from mappings.model import Message, MessageProperty, Property, StructuredEvent
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
