"""RULES.md 3.6, row by row: worked examples of ETCL from the test suites of the peers. E is a run-time error, which is no match."""

from __future__ import annotations

import pytest

from mappings.errors import FilterError, FilterRuntimeError
from mappings.filters import compile_etcl
from mappings.idl_types import DOUBLE, FLOAT, LONG, SHORT, STRING, Sequence
from mappings.known_types import PROPERTY_SEQ, UTC_T
from mappings.model import Any_, Event, Property, UnionValue
from tests.unit.filters.samples import (
    DATA,
    IN,
    UNI1,
    UNI2,
    K,
    person,
    property_seq,
    single_property,
    structured,
    studies,
    untyped,
)

E = "E"
NOW = 0x01B21DD213814000 + 10_000_000

anything = structured("Telecom", "Alarm", "x")


def string(name: str, value: str) -> Property:
    return Property(name, STRING, value)


def short(name: str, value: int) -> Property:
    return Property(name, SHORT, value)


def double(name: str, value: float) -> Property:
    return Property(name, DOUBLE, value)


def alarm(name: str, *vh: Property, type_: str = "CommunicationsAlarm") -> Event:
    return structured("Telecom", type_, name, vh)


def names_in_any(type_name: str, event_name: str) -> Event:
    return untyped(PROPERTY_SEQ, property_seq(type_name=(STRING, type_name), event_name=(STRING, event_name)))


def stars(*names: str) -> Event:
    return structured("", "MOVIE", "", fd=(Property("starlist", Sequence(STRING), list(names)),))


def machine(memsize: float, cputime: float, filesize: int) -> Event:
    return structured(
        fd=(double("memsize", memsize), Property("cputime", FLOAT, cputime), Property("filesize", LONG, filesize))
    )


def union(type_: object, d: int, v: object) -> Event:
    return untyped(type_, UnionValue(d, v))  # type: ignore[arg-type]


def uni1_in_struct(d: int, v: int) -> Event:
    return studies(1, 2, 3, 4, UnionValue(d, v))


NOT_LOST = "$type_name == 'CommunicationsAlarm' and not ($event_name == 'lost_packet')"
LOST_AND_URGENT = "$type_name == 'CommunicationsAlarm' and $event_name == 'lost_packet' and $priority < 2"
LOST_AND_URGENT_SPELT_OUT = (
    "$.header.fixed_header.event_type.type_name == 'CommunicationsAlarm' and "
    "$.header.fixed_header.event_name == 'lost_packet' and $.header.variable_header(priority) < 2"
)
MARX = (
    "$type_name == 'MOVIE' and (('groucho' in $starlist) + ('chico' in $starlist) + ('harpo' in $starlist) + "
    "('zeppo' in $starlist) + ('gummo' in $starlist)) > 2"
)
URGENT_ROWS = [
    (alarm("lost_packet", short("priority", 1)), True),
    (alarm("lost_packet", short("priority", 2)), False),
    (alarm("lost_packets", short("priority", 1)), False),
    (alarm("lost_packet", short("priority", 1), type_="CommunicationsOK"), False),
]
GRADES = "$gpa < 80 or $tests(midterm) > $tests(final) or $monthly_attendance[3] < 10"
COST = "$memsize / 5.5 + $cputime * 1275.0 + $filesize * 1.25 > 500000.0"

ROWS: list[tuple[int, str, Event, bool | str]] = [
    (1, "2==2 and 3<4", anything, True),
    (2, "", anything, True),
    (3, "$city == 'Berlin'", structured(vh=(string("city", "Berlin"),)), True),
    (4, "$city == 'Berlin'", structured(vh=(string("city", "Dallas"),)), False),
    (5, "$zip == 44", structured(vh=(short("zip", 44),)), True),
    (6, "$zip == 44", structured(rem=single_property("zip", SHORT, 44)), True),
    (7, "'oo'~'foobar'", anything, True),
    (8, "'o1'~'foobar'", anything, False),
    (9, "$str~'foobar'", structured(vh=(string("str", "oo"),)), True),
    (9, "$str~'foobar'", structured(vh=(string("str", "ok"),)), False),
    (10, r"$\zip == 44444", structured(vh=(short("zip", 44),)), False),
    (11, r"$.\in == HOUSE or $.\in == CAR", untyped(IN, "HOUSE"), True),
    (11, r"$.\in == HOUSE or $.\in == CAR", untyped(IN, "GARAGE"), False),
    (12, "$type_name == 'CommunicationsAlarm'", alarm("x"), True),
    (12, "$type_name == 'CommunicationsAlarm'", alarm("x", type_="CommunicationsOK"), False),
    (13, NOT_LOST, alarm("EventName"), True),
    (13, NOT_LOST, alarm("lost_packet"), False),
    (14, NOT_LOST, names_in_any("CommunicationsAlarm", "EventName"), True),
    (14, NOT_LOST, names_in_any("CommunicationsAlarm", "lost_packet"), False),
    *(
        (15, "$type_name == 'CommunicationsAlarm' and $priority >= 1 and $priority <= 5", event, result)
        for event, result in ((alarm("x", short("priority", 2)), True), (alarm("x", short("priority", 20)), False))
    ),
    (16, MARX, stars("groucho", "harpo", "sam", "gummo"), True),
    (16, MARX, stars("frodo", "bilbo", "sam", "gummo"), False),
    (18, COST, machine(5.5, 0.00078431137, 500_000), True),
    (18, COST, machine(5.5, 0.00078431137, 500), False),
    (
        20,
        "exist $threshold._type_id and $threshold._type_id == 'data'",
        structured(fd=(Property("threshold", DATA, {"score": 1, "name": "x"}),)),
        True,
    ),
    *((22, LOST_AND_URGENT, event, result) for event, result in URGENT_ROWS),
    (23, GRADES, studies(90, 70, 60, 10), True),
    (23, GRADES, studies(90, 70, 80, 9), True),
    (23, GRADES, studies(70, 70, 80, 10), True),
    (23, GRADES, studies(80, 70, 80, 10), False),
    (25, "$.0.0.0.1 == 'CommunicationsAlarm'", alarm("x"), True),
    (26, "$ == 2", untyped(SHORT, 2), True),
    (26, "$ == 2", untyped(SHORT, 3), False),
    (27, "$ == 2", structured(rem=Any_(SHORT, 2)), True),
    (28, "$._repos_id == 'IDL:omg.org/CosNotification/StructuredEvent:1.0'", anything, True),
    (29, "exist $.header.variable_header(required_rights)", alarm("x", short("required_rights", 1)), True),
    (29, "exist $.header.variable_header(required_rights)", alarm("x", short("other", 1)), False),
    *((30, LOST_AND_URGENT_SPELT_OUT, event, result) for event, result in URGENT_ROWS),
    (32, "exist $.uni1._d and $.uni1._d == 1 and $.uni1.(1) == 10", uni1_in_struct(1, 10), True),
    (33, "default $.uni1._d and $.uni1.() == 10", uni1_in_struct(100, 10), True),
    (33, "default $.uni1._d and $.uni1.() == 10", uni1_in_struct(1, 10), False),
    (35, "default $._d and $.defvalue == 2", union(UNI1, 100, 2), True),
    (35, "default $._d and $.defvalue == 2", union(UNI1, 2, 2), False),
    (35, "default $._d and $.defvalue == 2", union(UNI2, 100, 2), False),
    *(
        (40, expression, union(K, d, v), result)
        for expression in ("$.M < 54", "$.(5) < 54")
        for d, v, result in ((5, 54, False), (5, 50, True), (-1, 50, E))
    ),
    *(
        (42, expression, union(K, 2, text), result)
        for expression in ("'putty' ~ $.(2)", "'putty' ~ $.K")
        for text, result in (("isputtyok", True), ("notputtok", False))
    ),
    (44, "exist $.K", union(K, 0, "text"), True),
    (44, "exist $.K", union(K, 2, "text"), True),
    (44, "exist $.K", union(K, 5, 1), False),
    (46, "exist $.(0)", union(K, 2, "text"), True),  # the rule of JacORB: exist agrees with access
    (47, "1+2*3 == 7", anything, True),
    (47, "(1+2)*3 == 9", anything, True),
    (48, "10e+2 == 1000", anything, True),
    (48, "10e-3 == .01", anything, True),
    (49, "2/3 > 0", anything, False),
    (49, "(1.0 * 2/3) > 0", anything, True),
    (50, "TRUE > FALSE", anything, True),
    (50, "'bbb' > 'aaa'", anything, True),
    (50, "'abc' <= 'abc'", anything, True),
    (51, "TRUE or (1/0)", anything, True),
    (51, "FALSE and (1/0)", anything, False),
    (51, "1/0", anything, E),
    (53, "$.person_profession == STUDENT", person, True),
    (54, "$._type_id == 'Person'", person, True),
    (54, "$.nv._length == 2", person, True),
    (54, "$.4._length == 2", person, True),
    (55, "$.first_name._length == 2", person, E),
    (57, "$.3.0 == 'Takustr.'", person, True),
    (57, "$.home_address.street == 'Takustr.'", person, True),
    (59, "'321' ~ $.phone_numbers[0]", person, True),
    (59, "$.nv(stuff) > 'aaa'", person, True),
    (60, "$.first_name + 1 == 10", person, E),
    (60, "$.age == '29'", person, E),
    (
        64,
        "$long == 10 and $long == $.header.variable_header(long)",
        structured(vh=(Property("long", LONG, 10),)),
        True,
    ),
    (65, "$string == $.filterable_data(string)", structured(fd=(string("string", "text"),)), True),
    (66, "$first_name == $.first_name", person, True),
    (68, "'Alias1' in $.aliases", person, True),
    (68, "10 in $.numbers", person, True),
    (68, "not (25 in $.numbers)", person, True),
    (70, "$ == '10'", untyped(LONG, 10), E),
    (71, "$curtime._repos_id == 'IDL:omg.org/TimeBase/UtcT:1.0'", anything, True),
    (
        71,
        "$.time <= $curtime.time",
        untyped(UTC_T, {"time": NOW, "inacclo": 0, "inacchi": 0, "tdf": 0}),
        True,
    ),
    (73, "$.filterable_data(PROPERTY) == 1", anything, E),
    (75, "$stock_price == 200.00", structured(fd=(double("stock_price", 200.0),)), True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "event", "expected"),
    [pytest.param(*row[1:], id=f"row-{row[0]}: {row[1]} -> {row[3]}") for row in ROWS],
)
def test_row(expression: str, event: Event, expected: bool | str) -> None:
    filter_ = compile_etcl(expression, now=lambda: NOW)
    match, error = filter_.evaluate(event)
    assert filter_.matches(event) is match
    if expected == E:
        assert match is False
        assert isinstance(error, FilterRuntimeError)
    else:
        assert error is None
        assert match is expected


@pytest.mark.parametrize(("expression", "position"), [("$..", 2), ("ab +-/ abc", 5)])
def test_row_76_is_an_invalid_constraint(expression: str, position: int) -> None:
    with pytest.raises(FilterError) as raised:
        compile_etcl(expression)
    assert raised.value.code == "FLT-SYNTAX"
    assert raised.value.position == position
