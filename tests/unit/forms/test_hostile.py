"""Forms that are meant to cost time, memory or the stack: a clear error where a limit is hit, and no limit where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.forms.events import event_from_json, event_to_json
from mappings.forms.messages import message_from_json, message_to_json
from mappings.forms.types import type_from_json, type_to_json
from mappings.forms.values import value_from_json, value_to_json
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    DOUBLE,
    LONG,
    LONGLONG,
    OCTET,
    STRING,
    Alias,
    IdlType,
    Member,
    Recursive,
    Sequence,
    Struct,
    Value,
)
from mappings.limits import MAX_DEPTH
from mappings.model import Any_, Body, Message, Property, StructuredEvent

NODE = Struct("IDL:N:1.0", "N", (Member("kids", Sequence(Recursive("IDL:N:1.0"))),))
LIST = Value("IDL:L:1.0", "L", None, (Member("next", Recursive("IDL:L:1.0")),))

DEEP = 1000


def code_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(MappingError) as caught:
        call(*arguments)
    return caught.value.code


def nested(inner: Any, wrap: Any, levels: int = DEEP) -> Any:
    for _ in range(levels):
        inner = wrap(inner)
    return inner


DEEP_TYPE_FORMS = [
    nested("long", lambda form: {"kind": "sequence", "element": form, "bound": 0}),
    nested("long", lambda form: {"kind": "alias", "id": "IDL:A:1.0", "name": "A", "type": form}),
    nested(
        "long",
        lambda form: {"kind": "struct", "id": "IDL:S:1.0", "name": "S", "members": [{"name": "a", "type": form}]},
    ),
    nested("long", lambda form: {"kind": "array", "element": form, "length": 1}),
]
DEEP_JSON = nested(1, lambda form: [form])
DEEP_TYPES: list[IdlType] = [nested(LONG, Sequence), nested(LONG, lambda type_: Alias("IDL:A:1.0", "A", type_))]


@pytest.mark.parametrize("form", DEEP_TYPE_FORMS, ids=["sequence", "alias", "struct", "array"])
def test_deep_type_form(form: Any) -> None:
    assert code_of(type_from_json, form) == "MAP-DEPTH"
    assert code_of(event_from_json, {"any": {"type": form, "value": []}}) == "MAP-DEPTH"


@pytest.mark.parametrize("type_", DEEP_TYPES, ids=["sequence", "alias"])
def test_deep_type(type_: IdlType) -> None:
    for call in (lambda: type_to_json(type_), lambda: check_value(type_, []), lambda: value_to_json(type_, [])):
        assert code_of(call) == "MAP-DEPTH"
    assert code_of(value_from_json, type_, []) == "MAP-DEPTH"
    assert code_of(event_to_json, StructuredEvent("", "", "", (), (Property("a", type_, []),))) == "MAP-DEPTH"


def test_deep_values() -> None:
    any_form = nested({"type": "long", "value": 1}, lambda form: {"type": "any", "value": form})
    assert code_of(value_from_json, ANY, any_form) == "MAP-DEPTH"
    assert code_of(value_from_json, NODE, nested({"kids": []}, lambda form: {"kids": [form]})) == "MAP-DEPTH"
    assert code_of(value_from_json, LIST, nested(None, lambda form: {"next": form})) == "MAP-DEPTH"
    any_ = nested(Any_(LONG, 1), lambda inner: Any_(ANY, inner))
    assert code_of(check_value, ANY, any_) == code_of(value_to_json, ANY, any_) == "MAP-DEPTH"
    assert code_of(value_to_json, LIST, nested(None, lambda inner: {"next": inner})) == "MAP-DEPTH"


@pytest.mark.parametrize(
    "form",
    [
        DEEP_JSON,
        {"kind": DEEP_JSON},
        {"kind": "value", "id": "", "name": "", "members": [], "modifier": DEEP_JSON},
        {"kind": "value", "id": "", "name": "", "members": [{"name": "a", "type": "long", "visibility": DEEP_JSON}]},
        {"kind": "enum", "id": "", "name": "", "members": DEEP_JSON},
        {"kind": "sequence", "element": "long", "bound": DEEP_JSON},
        {"kind": "union", "id": "", "name": "", "discriminator": "long", "members": [{"label": DEEP_JSON, "name": "", "type": ""}]},
        {
            "kind": "union", "id": "", "name": "", "discriminator": {"kind": "enum", "id": "", "name": "", "members": ["a"]},
            "members": [{"label": DEEP_JSON, "name": "", "type": ""}],
        },
    ],
)  # fmt: skip
def test_deep_json_where_something_flat_belongs(form: Any) -> None:
    """Not even the error message walks into it."""
    for call in (type_from_json, event_from_json, message_from_json):
        code_of(call, form)
    for type_ in (LONG, STRING, ANY, NODE, Sequence(LONG), Sequence(OCTET)):
        code_of(value_from_json, type_, form)
    code_of(message_from_json, {"headers": {"JMSDeliveryMode": form}})
    code_of(message_from_json, {"properties": [{"name": "a", "type": form, "value": form}]})
    code_of(message_from_json, {"body": {"type": form, "value": form}})


def test_as_deep_as_allowed_and_no_deeper() -> None:
    levels = MAX_DEPTH - 1
    any_form = nested({"type": "long", "value": 1}, lambda form: {"type": "any", "value": form}, levels)
    any_ = value_from_json(ANY, any_form)
    assert value_to_json(ANY, any_) == any_form
    assert any_ == value_from_json(ANY, any_form)
    assert code_of(value_from_json, ANY, {"type": "any", "value": any_form}) == "MAP-DEPTH"
    form = nested("long", lambda inner: {"kind": "sequence", "element": inner, "bound": 0}, MAX_DEPTH)
    type_ = type_from_json(form)
    assert type_to_json(type_) == form
    assert type_ == type_from_json(json.loads(json.dumps(form)))
    assert hash(type_) == hash(type_from_json(json.loads(json.dumps(form))))
    assert code_of(type_from_json, {"kind": "sequence", "element": form}) == "MAP-DEPTH"


def test_an_anys_type_counts_from_the_depth_of_the_any() -> None:
    """Also where the same type has been read before at a place where it was not too deep."""
    form = nested("long", lambda inner: {"kind": "sequence", "element": inner, "bound": 0}, MAX_DEPTH - 10)
    value_from_json(ANY, {"type": form, "value": []})
    deep = nested({"type": form, "value": []}, lambda inner: {"type": "any", "value": inner}, 20)
    assert code_of(value_from_json, ANY, deep) == "MAP-DEPTH"


@pytest.mark.parametrize(
    ("element", "item"),
    [(LONG, 7), (LONGLONG, 2**53), (BOOLEAN, True), (DOUBLE, 0.5), (STRING, "x")],
    ids=str,
)
def test_a_million_elements(element: IdlType, item: Any) -> None:
    value = [item] * 10**6
    form = value_to_json(Sequence(element), value)
    assert value_from_json(Sequence(element), form) == value
    bad = [*form, {}]
    with pytest.raises(MappingError) as caught:
        value_from_json(Sequence(element), bad)
    assert caught.value.path == "value[1000000]"


def test_ten_million_characters() -> None:
    for text in ("x" * 10_000_000, "é" * 5_000_000):
        assert value_from_json(STRING, text) == text
        message = Message(body=Body("TextMessage", text))
        assert message_from_json(message_to_json(message)) == message
        with pytest.raises(MappingError) as caught:
            value_from_json(LONG, text)
        assert len(str(caught.value)) < 200


def test_ten_thousand_fields_of_one_name() -> None:
    fields = [{"name": "x", "type": "long", "value": number} for number in range(10_000)]
    event = event_from_json({"domain_name": "", "type_name": "", "event_name": "", "filterable_data": fields})
    assert isinstance(event, StructuredEvent)
    assert [value for _, _, value in event.filterable_data] == list(range(10_000))


def test_more_types_than_the_caches_keep() -> None:
    for number in range(2500):
        type_ = Struct(f"IDL:S{number}:1.0", "S", (Member("a", LONG),))
        assert type_from_json(type_to_json(type_)) == type_
        assert value_from_json(type_, value_to_json(type_, {"a": number})) == {"a": number}


def test_nothing_heavy_is_imported() -> None:
    """`isthmus translate` starts fast."""
    script = (
        "import sys, mappings.forms.events, mappings.forms.messages, mappings.event_forms, mappings.cdr;"
        "print(sorted(set(sys.modules) & {'pydantic', 'lark', 'yaml', 'typer', 'rich', 'omniORB', 'asyncio', 'hypothesis'}))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
