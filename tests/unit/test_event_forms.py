"""RULES.md section 2: every cell of the table, and its quirks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from mappings.checking import check_value
from mappings.event_forms import from_structured, scoped_operation, to_any, to_structured, to_typed, unwrap
from mappings.idl_types import ANY, LONG, SHORT, STRING, WSTRING, Alias, Array
from mappings.known_types import OPTIONAL_HEADER_FIELDS, PROPERTY_SEQ, STRUCTURED_EVENT
from mappings.model import NULL_ANY, Any_, Event, Property, StructuredEvent, TypedEvent, UntypedEvent
from tests.properties.strategies import events

ALARM = StructuredEvent(
    "Telecom", "Alarm", "LOS-17",
    (Property("Priority", SHORT, 2),), (Property("Severity", LONG, 3),), Any_(STRING, "loss of signal"),
)  # fmt: skip
COFFEE = TypedEvent(
    "IDL:Cafe/Coffee:1.0", "drinking_coffee", (Property("name", STRING, "Ada"), Property("cups", LONG, 2))
)
SPELT = (
    {"name": "operation", "value": Any_(STRING, "::Cafe::Coffee::drinking_coffee")},
    {"name": "name", "value": Any_(STRING, "Ada")},
    {"name": "cups", "value": Any_(LONG, 2)},
)


def layers(any_: Any_, count: int) -> Any_:
    for _ in range(count):
        any_ = Any_(ANY, any_)
    return any_


class TestAnySupplier:
    def test_structured_consumer(self) -> None:
        assert to_structured(UntypedEvent(Any_(LONG, 3))) == StructuredEvent("", "%ANY", "", (), (), Any_(LONG, 3))

    def test_any_consumer(self) -> None:
        assert to_any(UntypedEvent(Any_(LONG, 3))) == Any_(LONG, 3)

    @pytest.mark.parametrize(
        "type_", [PROPERTY_SEQ, PROPERTY_SEQ.type, OPTIONAL_HEADER_FIELDS], ids=["named", "plain", "alias"]
    )
    def test_typed_consumer_sees_a_property_sequence_that_spells_an_operation(self, type_: Alias) -> None:
        assert to_typed(UntypedEvent(Any_(type_, list(SPELT)))) == COFFEE

    @pytest.mark.parametrize(
        "any_",
        [
            Any_(LONG, 3),
            Any_(PROPERTY_SEQ, []),
            Any_(PROPERTY_SEQ, list(SPELT[1:])),
            Any_(PROPERTY_SEQ, [{"name": "operation", "value": Any_(LONG, 1)}]),
            Any_(PROPERTY_SEQ, [{"name": "operation", "value": Any_(STRING, "")}]),
            Any_(Array(LONG, 1), [1]),
        ],
    )
    def test_typed_consumer_sees_nothing_else(self, any_: Any_) -> None:
        assert to_typed(UntypedEvent(any_)) is None


class TestStructuredSupplier:
    def test_structured_consumer(self) -> None:
        assert to_structured(ALARM) is ALARM

    def test_any_consumer(self) -> None:
        any_ = to_any(ALARM)
        assert any_.type == STRUCTURED_EVENT
        check_value(any_.type, any_.value)
        assert any_.value == {
            "header": {
                "fixed_header": {
                    "event_type": {"domain_name": "Telecom", "type_name": "Alarm"},
                    "event_name": "LOS-17",
                },
                "variable_header": [{"name": "Priority", "value": Any_(SHORT, 2)}],
            },
            "filterable_data": [{"name": "Severity", "value": Any_(LONG, 3)}],
            "remainder_of_body": Any_(STRING, "loss of signal"),
        }

    def test_any_consumer_gets_the_any_of_an_any_event(self) -> None:
        event = StructuredEvent("", "%ANY", "", (), (), layers(Any_(LONG, 3), 1))
        assert to_any(event) == Any_(LONG, 3)

    def test_typed_consumer_goes_by_the_first_field_whatever_the_type_name(self) -> None:
        fields = (Property("operation", STRING, "Cafe::Coffee::drinking_coffee"), *COFFEE.parameters)
        assert to_typed(StructuredEvent("Telecom", "Alarm", "", (), fields)) == COFFEE
        assert to_typed(ALARM) is None
        assert to_typed(StructuredEvent("Telecom", "Alarm", "", (), fields[::-1])) is None

    def test_typed_consumer_of_an_any_event(self) -> None:
        assert to_typed(StructuredEvent("", "%ANY", "", (), (), Any_(PROPERTY_SEQ, list(SPELT)))) == COFFEE


class TestTypedSupplier:
    def test_structured_consumer(self) -> None:
        assert to_structured(COFFEE) == StructuredEvent(
            "", "%TYPED", "", (),
            (Property("operation", STRING, "::Cafe::Coffee::drinking_coffee"), *COFFEE.parameters), NULL_ANY,
        )  # fmt: skip

    def test_any_consumer(self) -> None:
        any_ = to_any(COFFEE)
        assert any_ == Any_(PROPERTY_SEQ, list(SPELT))
        check_value(any_.type, any_.value)

    def test_typed_consumer(self) -> None:
        assert to_typed(COFFEE) is COFFEE


class TestWayBack:
    def test_each_form(self) -> None:
        assert from_structured(ALARM) is ALARM
        assert from_structured(to_structured(UntypedEvent(Any_(LONG, 3)))) == UntypedEvent(Any_(LONG, 3))
        assert from_structured(to_structured(COFFEE)) == COFFEE

    @pytest.mark.parametrize("type_", [WSTRING, Alias("IDL:M/Name:1.0", "Name", STRING)])
    def test_an_operation_may_be_spelt_in_any_text(self, type_: Alias) -> None:
        event = StructuredEvent("", "%TYPED", "", (), (Property("operation", type_, "Cafe::Coffee::drinking_coffee"),))
        assert from_structured(event) == TypedEvent("IDL:Cafe/Coffee:1.0", "drinking_coffee")

    def test_an_operation_without_a_scope(self) -> None:
        event = StructuredEvent("", "%TYPED", "", (), (Property("operation", STRING, "ping"),))
        assert from_structured(event) == TypedEvent("", "ping")

    def test_a_typed_event_that_spells_no_operation_stays_structured(self) -> None:
        event = StructuredEvent("", "%TYPED", "", (), (Property("Severity", LONG, 3),))
        assert from_structured(event) is event


@given(events)
@settings(deadline=None)
def test_every_event_comes_back(event: Event) -> None:
    back = from_structured(to_structured(event))
    assert back == (UntypedEvent(unwrap(event.any)) if isinstance(event, UntypedEvent) else event)


class TestAnyLayers:
    """TAO inserts the any into remainder_of_body, so that an any holds an any."""

    @pytest.mark.parametrize("count", [0, 1, 8])
    def test_up_to_eight_are_taken_off(self, count: int) -> None:
        wrapped = layers(Any_(STRING, "x"), count)
        assert unwrap(wrapped) == Any_(STRING, "x")
        assert to_structured(UntypedEvent(wrapped)).remainder_of_body == Any_(STRING, "x")
        assert from_structured(StructuredEvent("", "%ANY", "", (), (), wrapped)) == UntypedEvent(Any_(STRING, "x"))

    def test_and_no_more(self) -> None:
        assert unwrap(layers(Any_(STRING, "x"), 10)) == layers(Any_(STRING, "x"), 2)

    def test_a_structured_any_event_is_unwrapped_and_keeps_its_fields(self) -> None:
        event = StructuredEvent(
            "d", "%ANY", "e", ALARM.variable_header, ALARM.filterable_data, layers(Any_(LONG, 1), 2)
        )
        assert to_structured(event) == StructuredEvent(
            "d", "%ANY", "e", ALARM.variable_header, ALARM.filterable_data, Any_(LONG, 1)
        )

    def test_other_events_keep_theirs(self) -> None:
        event = StructuredEvent("d", "t", "e", remainder_of_body=layers(Any_(LONG, 1), 2))
        assert to_structured(event) is event


@pytest.mark.parametrize(
    ("interface", "operation", "scoped"),
    [
        ("IDL:Cafe/Coffee:1.0", "drink", "::Cafe::Coffee::drink"),
        ("IDL:omg.org/CosX/I:1.0", "op", "::CosX::I::op"),
        ("IDL:mtnm.tmforum.org/emsMgr/a/I:2.3", "op", "::emsMgr::a::I::op"),
        ("IDL:I:1.0", "op", "::I::op"),
        ("RMI:com.example.Alarms:0000000000000000", "op", "::com::example::Alarms::op"),
        ("", "op", "::op"),
        ("IDL:M/I:1.0", "::Other::J::op", "::Other::J::op"),
        ("IDL:M/I:1.0", "J::op", "::J::op"),
    ],
)
def test_scoped_operation(interface: str, operation: str, scoped: str) -> None:
    assert scoped_operation(interface, operation) == scoped
