"""The tables of RULES.md 3.1 to 3.5: dialects, lookup, component operators, promotion, errors; one test a row."""

from __future__ import annotations

from decimal import Decimal

import pytest

from mappings.errors import FilterError
from mappings.filters import compile_etcl
from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    LONG,
    OCTET,
    SHORT,
    STRING,
    ULONGLONG,
    Enum,
    Fixed,
    Sequence,
    Union,
    UnionMember,
    ValueBox,
)
from mappings.known_types import PROPERTY_SEQ, TIME_T
from mappings.model import NO_ARM, Any_, Event, Property, TypedEvent, UnionValue
from tests.unit.filters.samples import (
    PERSON_VALUE,
    TEST_UNION,
    UNI1,
    UNI2,
    K,
    person,
    property_seq,
    struct,
    structured,
    untyped,
)

E = "E"

event = structured(
    "Telecom",
    "Alarm",
    "a1",
    vh=(Property("both", LONG, 1), Property("zip", SHORT, 44), Property("twice", LONG, 1), Property("twice", LONG, 2)),
    fd=(
        Property("both", LONG, 2),
        Property("sev", SHORT, 3),
        Property("on", BOOLEAN, True),
        Property("letter", CHAR, "H"),
        Property("octet", OCTET, 200),
        Property("price", Fixed(4, 2), Decimal("12.50")),
        Property("text", STRING, "abc"),
        Property("one", STRING, "H"),
        Property("state", Enum("IDL:State:1.0", "State", ("UP", "DOWN")), "UP"),
        Property("old_state", Enum("IDL:State:1.0", "State", ("UP", "DOWN")), "DOWN"),
        Property("big", ULONGLONG, 2**64 - 1),
        Property("wrapped", ANY, Any_(ANY, Any_(LONG, 7))),
        Property("none", Sequence(LONG), []),
        Property("octets", Sequence(OCTET), b"\x01\xff"),
        Property("mixed", Sequence(ANY), [Any_(LONG, 1), Any_(STRING, "x")]),
        Property("flags", Sequence(BOOLEAN), [True]),
        Property("nil", ValueBox("IDL:Box:1.0", "Box", LONG), None),
        Property("boxed", ValueBox("IDL:Box:1.0", "Box", LONG), 5),
        Property("pairs", PROPERTY_SEQ, property_seq(a=(LONG, 1))),
    ),
    rem=Any_(struct("Body", deep=LONG, both=LONG), {"deep": 9, "both": 3}),
)


def outcome(expression: str, of: Event = event) -> bool | str:
    match, error = compile_etcl(expression).evaluate(of)
    if error is not None:
        assert match is False
        return E
    return match


def rows(*table: tuple[str, bool | str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("expression", "expected"), table, ids=[f"{row[0]} -> {row[1]}" for row in table])


@rows(
    ("10e2 == 1000", True),  # the sign of an exponent may be missing
    ("10e+2 == 1000", True),
    ("1.e2 == 100", True),
    ("7 % 4 == 3", True),  # omniNotify's remainder
    ("-7 % 4 == -3", True),
    ("7.5 % 4 == 3.5", True),
    ("$_under == 1", E),  # omniNotify's leading underscore parses
    (r"$\and == 1", E),
    ("2==2\tand\r\n3<4", True),
    ("exist zip and exist nothing", False),  # `exist x` is `exist $x`
    ("-1 * (3) == -3", True),
    ("'it\\'s' == 'it\\'s'", True),
    ("'a\\\\b' != 'ab'", True),
    ("'^*+[]' ~ 'a^*+[]'", True),  # no character is special inside a string
)
def test_3_1_grammar_and_dialects(expression: str, expected: bool | str) -> None:
    assert outcome(expression) == expected


@pytest.mark.parametrize(
    ("expression", "position", "hint"),
    [
        ("$a < $b < $c", 8, "do not chain"),
        ("2 ^ 3 == 8", 2, "no such operator"),
        ("-(3) == 3", 1, ""),  # a sign belongs to a number
        ("TRUE AND FALSE", 5, "and"),
        ("true", 0, "TRUE"),
        ("Number == 100", 0, "$Number"),  # TAO's bare names
        ("'a' in Names", 7, "$Names"),
        ("$a:b == 1", 2, ""),  # JacORB's names
        ("$a == \"b\"", 6, "single quotes"),
        ("$a = 1", 3, "=="),
        ("$a <> 1", 4, "!="),
        ("$x == 'abc", 6, "single quotes"),
        ("$x == ", 6, ""),
        ("99999999999999999999 > 1", 0, "double"),
        ("1e999 > 1", 0, ""),
        ("$x[99999999999] == 1", 3, ""),
        ("a == b", 0, "enum label"),
    ],
)  # fmt: skip
def test_3_1_what_is_refused_says_where_and_what_to_write(expression: str, position: int, hint: str) -> None:
    with pytest.raises(FilterError) as raised:
        compile_etcl(expression)
    assert raised.value.position == position
    assert hint in str(raised.value)


@rows(
    ("$domain_name == 'Telecom' and $type_name == 'Alarm' and $event_name == 'a1'", True),
    ("$.header.fixed_header.event_type.domain_name == 'Telecom'", True),
    ("$zip == 44", True),
    ("$sev == 3", True),
    ("$both == 1", True),  # variable_header wins
    ("$.filterable_data(both) == 2", True),
    ("$.both == 3", True),  # inside remainder_of_body
    ("$deep == 9", True),  # otherwise $.name
    ("$twice == 1", True),  # the first wins
    ("$filterable_data._length > 3", True),
    ("exist $curtime.tdf and $curtime.inacclo == 0", True),
    ("$.0.0.0.0 == 'Telecom' and $.0.0.1 == 'a1'", True),
    ("$.1[1].name == 'sev' and $.1[1].value == 3", True),
    ("$.2.deep == 9", True),
    ("$.remainder_of_body.deep == 9", True),
    ("$.header.variable_header[1].1 == 44", True),
    ("$.3 == 1", E),
    ("$ == 2", E),  # the remainder is no simple value, so $ is the struct
    ("$.deep == 9", True),
    ("$._type_id == 'StructuredEvent'", True),
    ("exist $", True),
    ("$wrapped == 7", True),  # layers of any are passed over
    ("$boxed == 5", True),
    ("$nil == 5", E),
)
def test_3_2_lookup(expression: str, expected: bool | str) -> None:
    assert outcome(expression) == expected


@rows(
    ("$ == 5", True),
    ("$type_name == '%ANY' and $domain_name == '' and $event_name == ''", True),
    ("exist $x", False),
)
def test_3_2_an_untyped_event_has_the_names_of_its_structured_form(expression: str, expected: bool | str) -> None:
    assert outcome(expression, untyped(ANY, Any_(LONG, 5))) == expected


@rows(
    ("$operation == '::Cafe::Coffee::drinking_coffee' and $minutes > 3", True),
    ("$type_name == '%TYPED'", True),
    ("$.filterable_data(name) == 'jim'", True),
    ("$minutes > 5", False),
)
def test_2_typed_events_are_filtered_in_their_structured_form(expression: str, expected: bool) -> None:
    coffee = TypedEvent(
        "IDL:Cafe/Coffee:1.0", "drinking_coffee", (Property("name", STRING, "jim"), Property("minutes", LONG, 5))
    )
    assert outcome(expression, coffee) == expected


@pytest.mark.parametrize(
    ("expression", "of", "expected"),
    [
        ("$.first_name == 'Firstname'", person, True),
        ("exist $.nothing", person, False),
        ("$.nothing == 1", person, E),
        ("$.M == 3", untyped(K, UnionValue(5, 3)), True),
        ("$.M == 3", untyped(K, UnionValue(3, {"A": 1, "B": "b", "C": 2})), E),
        ("$.L.B == 'b'", untyped(K, UnionValue(3, {"A": 1, "B": "b", "C": 2})), True),
        ("$.1 == 'text'", untyped(K, UnionValue(2, "text")), True),  # the second declared arm
        ("$.2 == 'text'", untyped(K, UnionValue(2, "text")), E),
        ("$.99 == 1", untyped(K, UnionValue(2, "text")), E),
        ("$.2 == 29", person, True),
        ("$.9 == 1", person, E),
        ("$.numbers[4] == 50", person, True),
        ("$.numbers[5] == 50", person, E),
        ("$.age[0] == 1", person, E),
        ("$.nv(priority) == 'Very High'", person, True),
        ("$.nv(nothing) == 'x'", person, E),
        ("$.numbers(x) == 1", person, E),
        ("$.(5) == 3", untyped(K, UnionValue(5, 3)), True),
        ("$.(+5) == 3", untyped(K, UnionValue(5, 3)), True),
        ("$.(-1) == 3", untyped(K, UnionValue(-1, 3)), True),
        ("$.('M') == 3", untyped(K, UnionValue(5, 3)), True),  # an arm by its name
        ("$.(0) == 'text'", untyped(K, UnionValue(2, "text")), True),  # labels that share an arm
        ("$.(5) == 3", untyped(K, UnionValue(-1, 3)), E),
        ("$.(999) == 3", untyped(K, UnionValue(100, 3)), True),  # stands for the default arm
        ("$.(999) == 3", untyped(K, UnionValue(5, 3)), E),
        ("$.() == 3", untyped(K, UnionValue(100, 3)), True),
        ("$.() == 3", untyped(K, UnionValue(5, 3)), E),
        ("$.() == 3", untyped(UNI2, UnionValue(100, NO_ARM)), E),
        ("exist $.lo", untyped(UNI2, UnionValue(100, NO_ARM)), False),
        ("$._d == 5", untyped(K, UnionValue(5, 3)), True),
        ("$.age._d == 5", person, E),
        ("$.numbers._length == 5", person, True),
        ("$.first_name._length == 9", person, E),
        ("$.home_address._type_id == 'Address'", person, True),
        ("$.home_address._repos_id == 'IDL:Address:1.0'", person, True),
        ("$.age._type_id == 'short'", person, E),
        ("$._type_id == 'TimeT'", untyped(TIME_T, 5), True),  # a typedef has a name
        ("exist $.nv(stuff) and exist $.numbers._length", person, True),
        ("exist $.first_name._length", person, False),
        ("default $._d", untyped(UNI1, UnionValue(100, 2)), True),
        ("default $", untyped(UNI1, UnionValue(100, 2)), True),
        ("default $", untyped(UNI1, UnionValue(1, 2)), False),
        ("default $.age", person, E),
        ("default $._type_id", untyped(UNI1, UnionValue(100, 2)), E),
        ("$.person_.age == 29", untyped(TEST_UNION, UnionValue(4, PERSON_VALUE)), True),
        ("$.().age == 29 and $.default_person.age == 29", untyped(TEST_UNION, UnionValue(9, PERSON_VALUE)), True),
        ("$.(5)[0].name == 'n'", untyped(TEST_UNION, UnionValue(5, [{"name": "n", "value": "v"}])), True),
        ("$.(5)(n) == 'v'", untyped(TEST_UNION, UnionValue(5, [{"name": "n", "value": "v"}])), True),
    ],
)  # fmt: skip
def test_3_3_component_operators(expression: str, of: Event, expected: bool | str) -> None:
    assert outcome(expression, of) == expected


COLOUR = Enum("IDL:Colour:1.0", "Colour", ("RED", "GREEN"))
BY_COLOUR = Union("IDL:U:1.0", "U", COLOUR, (UnionMember("RED", "r", LONG), UnionMember(None, "other", LONG)))
BY_TRUTH = Union("IDL:V:1.0", "V", BOOLEAN, (UnionMember(True, "t", LONG), UnionMember(False, "f", LONG)))
BY_LETTER = Union("IDL:W:1.0", "W", CHAR, (UnionMember("a", "x", LONG), UnionMember("x", "y", LONG)))


@pytest.mark.parametrize(
    ("expression", "of", "expected"),
    [
        ("$.(RED) == 1 and $._d == RED", untyped(BY_COLOUR, UnionValue("RED", 1)), True),
        ("$.('RED') == 1", untyped(BY_COLOUR, UnionValue("RED", 1)), True),
        ("$.(RED) == 1", untyped(BY_COLOUR, UnionValue("GREEN", 1)), E),
        ("$.(GREEN) == 1", untyped(BY_COLOUR, UnionValue("GREEN", 1)), True),
        ("$.(TRUE) == 1 and $._d", untyped(BY_TRUTH, UnionValue(True, 1)), True),
        ("$.(FALSE) == 1", untyped(BY_TRUTH, UnionValue(True, 1)), E),
        ("$.(1) == 1", untyped(BY_TRUTH, UnionValue(True, 1)), E),  # 1 is no label of a boolean
        ("$.('x') == 1", untyped(BY_LETTER, UnionValue("x", 1)), True),  # a label goes before an arm's name
        ("$.('x') == 1", untyped(BY_LETTER, UnionValue("a", 1)), E),
        ("$.('a') == 1 and $._d == 'a'", untyped(BY_LETTER, UnionValue("a", 1)), True),
    ],
)
def test_3_3_labels_of_every_kind_of_discriminator(expression: str, of: Event, expected: bool | str) -> None:
    assert outcome(expression, of) == expected


@rows(
    ("-7 / 2 == -3", True),  # truncates towards zero
    ("7 / -2 == -3 and -7 / -2 == 3", True),
    ("7 / 2.0 == 3.5", True),
    ("$sev / 2 == 1", True),
    ("18446744073709551615 + 1 > $big", True),  # nothing wraps around
    ("$big + $big > $big", True),
    ("$octet == 200", True),
    ("$price == 12.5 and $price > 12", True),  # fixed counts as a double
    ("TRUE + TRUE == 2", True),
    ("$on + 1 == 2", True),
    ("$on == 1 and $on >= 1", True),
    ("$on == TRUE", True),
    ("'H' + 1 > 32", True),
    ("'H' + 1 == 73", True),
    ("$letter + 1 == 73", True),
    ("$letter == 'H' and $letter == 72 and 72 == $letter", True),
    ("$letter < 'I' and 'HA' > $letter", True),
    ("$one + 1 == 73", E),  # only literals and characters count as numbers, not strings of one character
    ("$one == 72", E),
    ("$sev == '3'", E),
    ("$on == 'H'", E),
    ("$letter == TRUE", E),
    ("'Z' < 'a'", True),  # by code point
    ("FALSE < TRUE", True),
    ("$state == UP and $state != DOWN and UP == $state", True),
    ("$state == LEFT", False),
    ("$state != $old_state", True),
    ("$state == 'UP'", E),
    ("$text == abc", E),
    ("$state < $old_state", E),
    ("$sev == UP", E),
    ("$pairs == 1", E),
    ("'b' ~ $text", True),
    ("'H' ~ $letter", True),
    ("$sev ~ 'a'", E),
    ("$state ~ 'UP'", E),
    ("'a' ~ $pairs", E),
    ("1 in $none", False),
    ("'x' in $none", False),
    ("255 in $octets and 255.0 in $octets and not (2 in $octets)", True),
    ("1 in $mixed and 'x' in $mixed and not (2 in $mixed)", True),
    ("TRUE in $flags", True),
    ("1 in $flags", E),
    ("'x' in $octets", E),
    ("1 in $sev", E),
    ("$pairs in $none", E),
    ("1 in $.nothing", E),
    ("TRUE or (1/0)", True),
    ("FALSE and (1/0)", False),
    ("(1/0) or TRUE", E),
    ("FALSE or 1", E),
    ("$sev / 0 == 1", E),
    ("$sev / 0.0 == 1", E),
    ("$sev % 0 == 1", E),
    ("1 * (TRUE and TRUE) == 1", True),
    ("not TRUE", False),
    ("not $on", False),
    ("not $sev", E),
    ("not $sev == 3", E),  # not binds tighter than ==
    ("$on", True),
    ("5", E),
)
def test_3_4_promotion(expression: str, expected: bool | str) -> None:
    assert outcome(expression) == expected


def test_3_4_doubles_follow_the_kind_of_the_event_not_of_the_literal() -> None:
    of = structured(fd=(Property("d", DOUBLE, 3.0), Property("l", LONG, 3)))
    assert outcome("$d / 2 == 1.5 and $l / 2 == 1", of) is True


@pytest.mark.parametrize(
    ("expression", "position"),
    [("5 + 'al'", 4), ("5 ~ 'a'", 0), ("TRUE + 'a'", 5), ("'a' and 'b'", 0), ("'a'", 0), ("not 'a'", 4), ("'a' or TRUE", 0),
     ("5 == 'abc'", 2), ("TRUE == 'a'", 5), ("$x < UP", 3), ("UP == 5", 0), ("1 + UP == 2", 4), ("UP and TRUE", 0),
     ("TRUE and (5 + 'al' > 3)", 14), ("'x' ~ TRUE", 6), ("('al' * 2) in $x", 1), ("not (1 == ('a' ~ 5))", 17)],
)  # fmt: skip
def test_3_4_static_checks_refuse(expression: str, position: int) -> None:
    with pytest.raises(FilterError) as raised:
        compile_etcl(expression)
    assert raised.value.code == "FLT-TYPE"
    assert raised.value.position == position


@pytest.mark.parametrize("expression", ["5 + 'a'", "1 * (TRUE and TRUE)", "TRUE or (1/0)", "$x + 'a' > 1"])
def test_3_4_static_checks_accept(expression: str) -> None:
    compile_etcl(expression)


@rows(
    ("$.missing == 1", E),
    ("not ($.missing == 1)", E),  # no third truth value
    ("$.missing == 1 or TRUE", E),
    ("TRUE or $.missing == 1", True),
    ("FALSE and $.missing == 1", False),
    ("exist $.missing and $.missing == 1", False),
    ("not exist $.missing", True),
    ("", True),
    (" \t\n ", True),
)
def test_3_5_error_semantics(expression: str, expected: bool | str) -> None:
    assert outcome(expression) == expected


@pytest.mark.parametrize(
    ("expression", "code", "path", "position"),
    [
        ("1 == 1 and $.missing == 1", "FLT-MISSING", "$.missing", 11),
        (r"$\in(x)[3] == 1", "FLT-MISSING", r"$\in(x)[3]", 0),
        ("$text == 5", "FLT-MISMATCH", "character 7", 6),
        ("1 / (2 - 2) == 1", "FLT-DIVISION", "character 3", 2),
        (" * ".join(["18446744073709551615"] * 20) + " > 1", "FLT-RANGE", "character 344", 343),
    ],
)
def test_3_5_an_error_says_what_and_where(expression: str, code: str, path: str, position: int) -> None:
    match, error = compile_etcl(expression).evaluate(event)
    assert match is False
    assert error is not None
    assert (error.code, error.path, error.position) == (code, path, position)
