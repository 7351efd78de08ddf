"""The JSON forms there and back, through real JSON text; and forms that nobody meant to be any."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.forms.events import event_from_json, event_to_json
from mappings.forms.messages import message_from_json, message_to_json
from mappings.forms.types import type_from_json, type_to_json
from mappings.forms.values import value_from_json, value_to_json
from mappings.idl_types import ANY, DOUBLE, FLOAT, IdlType
from mappings.model import Any_, Event, Message, StructuredEvent, UntypedEvent
from tests.properties.strategies import anys, events, idl_types, messages


def through_text(form: Any) -> Any:
    return json.loads(json.dumps(form, allow_nan=False))


@given(idl_types)
def test_type(type_: IdlType) -> None:
    assert type_from_json(through_text(type_to_json(type_))) == type_


@given(anys)
@settings(deadline=None)
def test_value(any_: Any_) -> None:
    check_value(any_.type, any_.value)
    form = through_text(value_to_json(any_.type, any_.value))
    assert value_from_json(any_.type, form) == any_.value
    assert value_from_json(ANY, through_text(value_to_json(ANY, any_))) == any_


@given(events)
@settings(deadline=None)
def test_event(event: Event) -> None:
    assert event_from_json(through_text(event_to_json(event))) == event


@given(messages)
@settings(deadline=None)
def test_message(message: Message) -> None:
    assert message_from_json(through_text(message_to_json(message))) == message


@given(st.floats(width=32, allow_nan=False))
def test_a_float_is_written_short_and_read_exactly(number: float) -> None:
    form = value_to_json(FLOAT, number)
    assert value_from_json(FLOAT, through_text(form)) == number
    if isinstance(form, float):
        assert len(repr(form)) <= len(repr(number))


@given(st.floats(allow_nan=False))
def test_a_double_is_read_exactly(number: float) -> None:
    assert value_from_json(DOUBLE, through_text(value_to_json(DOUBLE, number))) == number


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["long", "any", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["kind", "type", "value", "any", "typed", "id", "name", "members", "element", "d", "v", "base64"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


def read(reader: Any, *arguments: Any) -> Any:
    """What is read; None where it is refused as it should be."""
    try:
        return reader(*arguments)
    except MappingError:
        return None


@given(json_values)
def test_arbitrary_json(form: Any) -> None:
    for reader in (type_from_json, event_from_json, message_from_json):
        read(reader, form)
    any_ = read(value_from_json, ANY, form)
    if any_ is not None:
        check_value(ANY, any_)


@given(data=st.data(), event=events)
@settings(deadline=None)
def test_a_form_with_a_fault(data: st.DataObject, event: Event) -> None:
    """One part is exchanged for something else: it is refused at a path, or still an event whose values fit."""
    form = through_text(event_to_json(event))
    _exchange(data, form)
    try:
        changed = event_from_json(form)
    except MappingError as error:
        refusal = error
    else:
        for any_ in _anys_of(changed):
            check_value(any_.type, any_.value)
        return
    assert refusal.path
    assert not refusal.path.startswith(".")


def _exchange(data: st.DataObject, form: Any) -> None:
    """Goes down at random and replaces, removes or adds something."""
    while True:
        places = list(form) if isinstance(form, dict) else list(range(len(form)))
        if not places:
            return
        place = data.draw(st.sampled_from(places))
        inner = form[place]
        if isinstance(inner, dict | list) and inner and data.draw(st.integers(0, 3)):
            form = inner
            continue
        match data.draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                form[place] = data.draw(json_values)
            case "remove":
                del form[place]
            case _ if isinstance(form, dict):
                form["extra"] = 1
            case _:
                form.append(data.draw(json_values))
        return


def _anys_of(event: Event) -> list[Any_]:
    match event:
        case UntypedEvent():
            return [event.any]
        case StructuredEvent():
            properties = (*event.variable_header, *event.filterable_data)
            return [event.remainder_of_body, *(Any_(type_, value) for _, type_, value in properties)]
        case _:
            return [Any_(type_, value) for _, type_, value in event.parameters]


@given(any_=anys, wrong=json_values)
@settings(deadline=None)
def test_a_value_that_is_read_fits(any_: Any_, wrong: Any) -> None:
    """Whatever a type's reader lets through, its check lets through as well."""
    refused = False
    try:
        value = value_from_json(any_.type, wrong)
    except MappingError:
        refused = True
    if not refused:
        check_value(any_.type, value)
