"""Filters over IIOP: what they are made of, AND and OR (RULES.md 1.11), mapping filters (1.7), callbacks (1.9)."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.cosnotification.stubs import CORBA, CosNotification
from mappings.idl_types import BOOLEAN, LONG
from tests.interop.notification_service.clients import (
    AND_OP,
    CLIENTS,
    OR_OP,
    Channel,
    constraint,
    drain,
    event,
    number_of,
    property_,
    until,
)

# ruff: isort: split
import CosNotifyFilter
import CosNotifyFilter__POA

TRUE, FALSE = "TRUE", "FALSE"


def passed(channel: Channel, proxy: Any, *events: Any) -> list[int]:
    """What a structured puller gets of the events."""
    supplier = channel.supplier()
    for each in events:
        supplier.push_structured_event(each)
    numbers: list[int] = []
    while True:
        found, has_event = proxy.try_pull_structured_event()
        if not has_event:
            return numbers
        numbers.append(found.filterable_data[0].value.value())


@pytest.mark.parametrize("side", ["consumer", "supplier"])
@pytest.mark.parametrize(
    ("operator", "proxy_filter", "admin_filter", "delivered"),
    [
        (OR_OP, TRUE, FALSE, True),
        (OR_OP, FALSE, TRUE, True),
        (AND_OP, TRUE, FALSE, False),
        (AND_OP, FALSE, TRUE, False),
        (AND_OP, TRUE, TRUE, True),
        (OR_OP, FALSE, FALSE, False),
        (AND_OP, None, None, True),
        (OR_OP, None, None, True),
        # who adds a filter on one side means it
        (OR_OP, FALSE, None, False),
        (OR_OP, None, FALSE, False),
        (AND_OP, FALSE, None, False),
        (AND_OP, None, TRUE, True),
    ],
)
def test_and_or_vectors(
    channel: Channel, side: str, operator: Any, proxy_filter: str | None, admin_filter: str | None, delivered: bool
) -> None:
    new = channel.reference.new_for_consumers if side == "consumer" else channel.reference.new_for_suppliers
    admin, _ = new(operator)
    puller = channel.puller(admin=admin if side == "consumer" else None)
    supplier = channel.supplier(admin=admin if side == "supplier" else None)
    filtered = puller if side == "consumer" else supplier
    if proxy_filter is not None:
        filtered.add_filter(channel.filter(proxy_filter))
    if admin_filter is not None:
        admin.add_filter(channel.filter(admin_filter))
    supplier.push_structured_event(event(1))
    assert puller.try_pull_structured_event()[1] is delivered


@pytest.mark.parametrize("form", ["any", "structured", "sequence"])
def test_every_form_of_event_is_filtered_at_the_supplier_and_at_the_consumer(channel: Channel, form: str) -> None:
    expression = "$ > 3" if form == "any" else "$n > 3"
    before, after = channel.supplier(form), channel.puller(form)
    everything = channel.puller(form)
    after.add_filter(channel.filter(expression))

    def send(*numbers: int) -> None:
        if form == "sequence":
            before.push_structured_events([event(number) for number in numbers])
        else:
            for number in numbers:
                push = before.push if form == "any" else before.push_structured_event
                push(CORBA.Any(CORBA.TC_long, number) if form == "any" else event(number))

    def count(proxy: Any) -> int:
        total = 0
        while True:
            if form == "sequence":
                batch, has_event = proxy.try_pull_structured_events(100)
                total += len(batch)
            else:
                has_event = (proxy.try_pull if form == "any" else proxy.try_pull_structured_event)()[1]
                total += has_event
            if not has_event:
                return total

    send(1, 2, 3, 4, 5)
    assert (count(after), count(everything)) == (2, 5)
    before.add_filter(channel.filter(expression))
    send(1, 2, 3, 4, 5)
    assert (count(after), count(everything)) == (2, 2)


def test_filters_of_one_object_are_alternatives_and_so_are_constraints(channel: Channel) -> None:
    proxy = channel.puller()
    first = proxy.add_filter(channel.filter("$n == 1", ("$n > 4", [("d", "t")]), ("", [("other", "*")])))
    second = proxy.add_filter(channel.filter("$n == 2"))
    events = [event(n) for n in range(1, 7)] + [event(7, "other", "x")]
    assert passed(channel, proxy, *events) == [1, 2, 5, 6, 7]
    assert set(proxy.get_all_filters()) == {first, second}
    proxy.remove_filter(first)
    assert passed(channel, proxy, *events) == [2]
    proxy.remove_all_filters()
    assert proxy.get_all_filters() == []
    assert passed(channel, proxy, *events) == [1, 2, 3, 4, 5, 6, 7]


def test_a_filter_without_constraints_passes_everything(channel: Channel) -> None:
    proxy = channel.puller()
    filter_ = channel.filter()
    proxy.add_filter(filter_)
    assert passed(channel, proxy, event(1)) == [1]
    assert filter_.match_structured(event(1))


def test_constraints_are_changed_while_the_filter_is_in_use(channel: Channel) -> None:
    proxy = channel.puller()
    filter_ = channel.filter("$n == 1", "$n == 2")
    proxy.add_filter(filter_)
    one, two = filter_.get_all_constraints()
    one.constraint_expression.constraint_expr = "$n == 3"
    filter_.modify_constraints([two.constraint_id], [one])
    assert passed(channel, proxy, event(1), event(2), event(3)) == [3]
    (info,) = filter_.get_constraints([one.constraint_id])
    assert info.constraint_expression.constraint_expr == "$n == 3"
    filter_.remove_all_constraints()
    assert filter_.get_all_constraints() == []


def test_constraints_are_added_or_changed_all_or_none(channel: Channel) -> None:
    filter_ = channel.filter("$n == 1")
    with pytest.raises(CosNotifyFilter.InvalidConstraint) as caught:
        filter_.add_constraints([constraint("$n == 2"), constraint("$n ==")])
    assert caught.value.constr.constraint_expr == "$n =="
    (info,) = filter_.get_all_constraints()
    info.constraint_expression.constraint_expr = "(("
    with pytest.raises(CosNotifyFilter.InvalidConstraint):
        filter_.modify_constraints([], [info])
    with pytest.raises(CosNotifyFilter.ConstraintNotFound) as missing:
        filter_.modify_constraints([info.constraint_id, 4711], [])
    assert missing.value.id == 4711
    with pytest.raises(CosNotifyFilter.ConstraintNotFound):
        filter_.get_constraints([info.constraint_id + 1])
    (unchanged,) = filter_.get_all_constraints()
    assert unchanged.constraint_expression.constraint_expr == "$n == 1"


def test_matching_by_hand(channel: Channel) -> None:
    filter_ = channel.filter("$n == 1", "$ == 1", "$operation == '::M::I::op' and $p > 3")
    assert filter_._get_constraint_grammar() == "EXTENDED_TCL"
    assert filter_.match_structured(event(1))
    assert not filter_.match_structured(event(2))
    assert filter_.match(CORBA.Any(CORBA.TC_long, 1))
    assert not filter_.match(CORBA.Any(CORBA.TC_long, 2))
    operation = property_("operation", CORBA.TC_string, "::M::I::op")
    assert filter_.match_typed([operation, property_("p", CORBA.TC_long, 4)])
    assert not filter_.match_typed([operation, property_("p", CORBA.TC_long, 3)])
    with pytest.raises(CosNotifyFilter.UnsupportedFilterableData):
        filter_.match_typed([property_("p", CORBA.TC_long, 4)])


def nested(depth: int) -> Any:
    value = CORBA.Any(CORBA.TC_long, 1)
    for _ in range(depth):
        value = CORBA.Any(CORBA.TC_any, value)
    return value


def test_an_event_that_cannot_be_read_does_not_pass_and_is_no_trouble(channel: Channel) -> None:
    deep = event(5)
    deep.filterable_data.append(CosNotification.Property("deep", nested(1500)))
    filter_ = channel.filter("$n > 0")
    for call, value in ((filter_.match, nested(1500)), (filter_.match_structured, deep)):
        with pytest.raises(CosNotifyFilter.UnsupportedFilterableData):
            call(value)
    proxy = channel.puller()
    proxy.add_filter(filter_)
    assert passed(channel, proxy, event(1), deep, event(2)) == [1, 2]


def test_a_destroyed_filter_is_removed_from_where_it_was(channel: Channel) -> None:
    proxy = channel.puller()
    filter_ = channel.filter(FALSE)
    proxy.add_filter(filter_)
    channel.consumers.add_filter(filter_)
    assert passed(channel, proxy, event(1)) == []
    filter_.destroy()
    assert proxy.get_all_filters() == channel.consumers.get_all_filters() == []
    assert passed(channel, proxy, event(1)) == [1]
    until(filter_._non_existent)


def test_what_is_not_there(channel: Channel) -> None:
    factory = channel.reference._get_default_filter_factory()
    with pytest.raises(CosNotifyFilter.InvalidGrammar):
        factory.create_filter("SQL")
    with pytest.raises(CosNotifyFilter.InvalidGrammar):
        factory.create_mapping_filter("SQL", CORBA.Any(CORBA.TC_short, 0))
    proxy = channel.puller()
    for call in (proxy.get_filter, proxy.remove_filter):
        with pytest.raises(CosNotifyFilter.FilterNotFound):
            call(1)
    with pytest.raises(CORBA.BAD_PARAM):
        proxy.add_filter(None)
    id_ = proxy.add_filter(channel.filter(TRUE))
    assert proxy.get_filter(id_).get_all_constraints()[0].constraint_expression.constraint_expr == TRUE


class ForeignFilter(CosNotifyFilter__POA.Filter):  # type: ignore[misc]
    """A client's own: passes even numbers, and fails with 10."""

    def match_structured(self, filterable_data: Any) -> bool:
        number = number_of(filterable_data)
        if number == 10:
            raise CORBA.INTERNAL(0, CORBA.COMPLETED_NO)
        return number % 2 == 0

    def match(self, filterable_data: Any) -> bool:
        return bool(filterable_data.value() % 2 == 0)


def test_a_filter_of_the_clients_own(channel: Channel) -> None:
    consumer, proxy = channel.consumer()
    proxy.add_filter(channel.activate(ForeignFilter()))
    untyped, untyped_proxy = channel.consumer("any")
    untyped_proxy.add_filter(channel.activate(ForeignFilter()))
    supplier = channel.supplier()
    for number in range(6):
        supplier.push_structured_event(event(number))
    channel.supplier("any").push(CORBA.Any(CORBA.TC_long, 8))
    until(lambda: len(consumer.got) == 4)
    assert [number_of(each) for each in consumer.got[:3]] == [0, 2, 4]
    assert consumer.got[3].remainder_of_body.value() == 8
    until(lambda: len(untyped.got) == 4)
    assert untyped.got[3].value() == 8
    for number in (10, 11, 12):
        supplier.push_structured_event(event(number))
    until(lambda: len(consumer.got) == 5)
    assert number_of(consumer.got[4]) == 12
    proxy.remove_all_filters()
    supplier.push_structured_event(event(13))
    until(lambda: len(consumer.got) == 6)


def test_a_foreign_mapping_filter(channel: Channel) -> None:
    consumer, proxy = channel.consumer()
    proxy._set_priority_filter(channel.activate(ForeignMapping()))
    proxy.suspend_connection()
    supplier = channel.supplier()
    for number in (0, 1, 2, 3, 0):
        supplier.push_structured_event(event(number))
    until(lambda: ForeignMapping.asked == 5)  # so that all before the last one wait in the queue
    proxy.resume_connection()
    until(lambda: len(consumer.got) == 5)
    assert consumer.numbers == [2, 3, 0, 1, 0], "those above 1 are urgent; a filter that fails says nothing"


class ForeignMapping(CosNotifyFilter__POA.MappingFilter):  # type: ignore[misc]
    asked = 0

    def match_structured(self, filterable_data: Any) -> tuple[bool, Any]:
        ForeignMapping.asked += 1
        if number_of(filterable_data) == 1:
            raise CORBA.INTERNAL(0, CORBA.COMPLETED_NO)
        return number_of(filterable_data) > 1, CORBA.Any(CORBA.TC_short, 9)


@pytest.fixture
def mapping(channel: Channel) -> Any:
    def make(default: Any, *pairs: tuple[str, Any]) -> Any:
        factory = channel.reference._get_default_filter_factory()
        made = factory.create_mapping_filter("EXTENDED_TCL", default)
        made.add_mapping_constraints(
            [CosNotifyFilter.MappingConstraintPair(constraint(text), value) for text, value in pairs]
        )
        return made

    return make


def short(value: int) -> Any:
    return CORBA.Any(CORBA.TC_short, value)


def test_a_mapping_filter_by_itself(mapping: Any) -> None:
    filter_ = mapping(short(0), ("$n > 5", short(2)), ("$n > 3", short(1)))
    assert filter_._get_constraint_grammar() == "EXTENDED_TCL"
    assert filter_._get_default_value().value() == 0
    assert filter_._get_value_type().equal(CORBA.TC_short)
    for number, matched, value in ((6, True, 2), (4, True, 1), (1, False, 0)):
        found, result = filter_.match_structured(event(number))
        assert (bool(found), result.value()) == (matched, value)
    assert filter_.match(CORBA.Any(CORBA.TC_long, 1))[0] == 0
    operation = property_("operation", CORBA.TC_string, "op")
    assert filter_.match_typed([operation, property_("n", CORBA.TC_long, 9)])[1].value() == 2
    first, second = filter_.get_all_mapping_constraints()
    assert filter_.get_mapping_constraints([second.constraint_id])[0].value.value() == 1
    first.value = short(7)
    filter_.modify_mapping_constraints([second.constraint_id], [first])
    assert filter_.match_structured(event(6))[1].value() == 7
    filter_.remove_all_mapping_constraints()
    assert filter_.get_all_mapping_constraints() == []
    filter_.destroy()
    until(filter_._non_existent)


def test_what_a_mapping_filter_refuses(mapping: Any) -> None:
    filter_ = mapping(short(0), ("$n > 5", short(2)))
    pair = CosNotifyFilter.MappingConstraintPair
    long_value = CORBA.Any(CORBA.TC_long, 1)
    with pytest.raises(CosNotifyFilter.InvalidValue) as caught:
        filter_.add_mapping_constraints([pair(constraint("$n > 1"), long_value)])
    assert caught.value.constr.constraint_expr == "$n > 1"
    with pytest.raises(CosNotifyFilter.InvalidConstraint):
        filter_.add_mapping_constraints([pair(constraint("(("), short(1))])
    (info,) = filter_.get_all_mapping_constraints()
    with pytest.raises(CosNotifyFilter.ConstraintNotFound):
        filter_.get_mapping_constraints([4711])
    with pytest.raises(CosNotifyFilter.ConstraintNotFound):
        filter_.modify_mapping_constraints([4711], [])
    info.value = long_value
    with pytest.raises(CosNotifyFilter.InvalidValue):
        filter_.modify_mapping_constraints([], [info])
    info.value = short(1)
    info.constraint_expression.constraint_expr = "(("
    with pytest.raises(CosNotifyFilter.InvalidConstraint):
        filter_.modify_mapping_constraints([], [info])
    for call, value in (
        (filter_.match, nested(1500)),
        (filter_.match_typed, [property_("p", CORBA.TC_long, 4)]),
    ):
        with pytest.raises(CosNotifyFilter.UnsupportedFilterableData):
            call(value)


def test_a_mapped_priority_for_one_consumer_alone(channel: Channel, mapping: Any) -> None:
    mapped, plain = channel.puller(), channel.puller()
    mapped._set_priority_filter(mapping(short(0), ("$hot == TRUE", short(5))))
    channel.consumers._set_priority_filter(mapping(short(0), ("$n >= 3", short(2))))
    supplier = channel.supplier()
    for number in (1, 2, 3, 4):
        supplier.push_structured_event(event(number, hot=(BOOLEAN, number in (2, 4))))
    assert drain(mapped, 4) == [2, 4, 3, 1], "its own filter, then the admin's, then the event's priority"
    assert drain(plain, 4) == [3, 4, 1, 2]
    assert mapped._get_priority_filter() is not None
    mapped._set_priority_filter(None)
    assert mapped._get_priority_filter() is None


def test_a_mapped_lifetime(channel: Channel, mapping: Any) -> None:
    tick = CORBA.Any(CORBA.TC_ulonglong, 1)  # 100 ns
    proxy, plain = channel.puller(), channel.puller()
    assert proxy._get_lifetime_filter() is None
    proxy._set_lifetime_filter(mapping(CORBA.Any(CORBA.TC_ulonglong, 0), ("$n == 2", tick)))
    supplier = channel.supplier()
    for number in (1, 2, 3):
        supplier.push_structured_event(event(number, x=(LONG, 0)))
    assert drain(proxy, 2) == [1, 3]
    assert drain(plain, 3) == [1, 2, 3]


def test_callbacks_hear_of_event_types(channel: Channel) -> None:
    filter_ = channel.filter(("", [("d", "a")]))
    listener = CLIENTS["push", "supplier"]["structured"]()
    id_ = filter_.attach_callback(channel.activate(listener))
    assert filter_.get_callbacks() == [id_]
    filter_.add_constraints([constraint(("$n > 1", [("d", "b")]))])
    until(lambda: listener.changes == [({("d", "b")}, set())])
    filter_.add_constraints([constraint(("$n > 2", [("d", "b")]))])  # no new type
    filter_.remove_all_constraints()
    until(lambda: len(listener.changes) == 2)
    assert listener.changes[1] == ({("", "%ALL")}, {("d", "a"), ("d", "b")})
    filter_.detach_callback(id_)
    with pytest.raises(CosNotifyFilter.CallbackNotFound):
        filter_.detach_callback(id_)
    with pytest.raises(CORBA.BAD_PARAM):
        filter_.attach_callback(None)
