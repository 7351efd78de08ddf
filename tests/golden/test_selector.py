"""RULES.md 8.1 to 8.3, row by row: JMS selectors. T matches; F and U (UNKNOWN) do not, and differ under NOT."""

from __future__ import annotations

import pytest

from mappings.errors import FilterError
from mappings.filters import compile_selector
from mappings.model import Headers, Message, MessageProperty

T, F, U = True, False, None

message = Message(
    Headers(JMSType="selector-test", JMSPriority=6, JMSMessageID="ID:1", JMSTimestamp=1000, JMSCorrelationID=None),
    (
        MessageProperty("name", "String", "James"),
        MessageProperty("location", "String", "London"),
        MessageProperty("byteProp", "byte", 123),
        MessageProperty("shortProp", "short", 123),
        MessageProperty("intProp", "int", 123),
        MessageProperty("longProp", "long", 123),
        MessageProperty("floatProp", "float", 123.0),
        MessageProperty("doubleProp", "double", 123.0),
        MessageProperty("rank", "int", 123),
        MessageProperty("version", "int", 2),
        MessageProperty("quote", "String", "'In God We Trust'"),
        MessageProperty("foo", "String", "_foo"),
        MessageProperty("trueProp", "boolean", True),
        MessageProperty("falseProp", "boolean", False),
        MessageProperty("NumberOfOrders", "String", "2"),
        MessageProperty("nothing", "String", None),
        MessageProperty("Managed.Object", "String", "ne1"),
        MessageProperty("größe", "int", 5),
        MessageProperty("$Fd1$_Severity", "int", 3),
        MessageProperty("half", "String", "2.5"),
        MessageProperty("yes", "String", "TRUE"),
        MessageProperty("lines", "String", "a\nb"),
    ),
)

ROWS: list[tuple[str, bool | None]] = [
    ("name = 'James' and rank < 200", T),
    ("name = 'James' and rank > 200", F),
    ("unknown = 'Foo' and anotherUnknown < 200", U),
    ("name = 'Foo' or rank < 200", T),
    ("rank + 2 = 125", T),
    ("(rank + 2) = 125", T),
    ("rank - version = 121", T),
    ("rank * 2 = 246", T),
    ("rank / version = 61.5", T),
    ("rank between 100 and 150", T),
    ("rank between 10 and 120", F),
    ("name in ('Bob','James','Gromit')", T),
    ("name not in ('Gromit','Bob','Cheddar')", T),
    ("dummy is null", T),
    ("name is not null", T),
    ("quote LIKE '''In G_d We Trust'''", T),
    ("foo LIKE '%oo'", T),
    ("foo LIKE '!_%' ESCAPE '!'", T),
    ("quote LIKE '!_%' ESCAPE '!'", F),
    ("Command NOT IN ('A','B')", U),
    ("not(unknownProp)", U),
    ("unknownProp = 0", U),
    ("not(unknownProp = 0)", U),
    ("trueProp AND unknownProp", U),
    ("falseProp OR unknownProp", U),
    ("trueProp OR unknownProp", T),
    ("falseProp AND unknownProp", F),
    ("1.0E1 < 1.1E1", T),
    (".1 < .5", T),
    ("4E10 < 5E10", T),
    ("byteProp = 123", T),
    ("floatProp = 123", T),
    ("JMSType = 'selector-test'", T),
    ("NumberOfOrders > 1", F),
]


@pytest.mark.parametrize(("selector", "expected"), ROWS, ids=[f"{row[0]} -> {row[1]}" for row in ROWS])
def test_8_3_row(selector: str, expected: bool | None) -> None:
    compiled = compile_selector(selector)
    assert compiled.evaluate(message) is expected
    assert compiled.matches(message) is (expected is T)


@pytest.mark.parametrize(("selector", "position"), [("3+5", 1), ("True AND 3+5", 10), ("=TEST 'test'", 0)])
def test_8_3_row_invalid(selector: str, position: int) -> None:
    with pytest.raises(FilterError) as raised:
        compile_selector(selector)
    assert raised.value.position == position


@pytest.mark.parametrize(("phone", "expected"), [("123", T), ("12993", T), ("1234", F)])
def test_8_3_row_phone_like(phone: str, expected: bool) -> None:
    assert compile_selector("phone LIKE '12%3'").evaluate_values({"phone": phone}.get) is expected


TRUTHS = {"TRUE": T, "FALSE": F, "(unknown = 1)": U}
AND = {(T, T): T, (T, F): F, (T, U): U, (F, T): F, (F, F): F, (F, U): F, (U, T): U, (U, F): F, (U, U): U}
OR = {(T, T): T, (T, F): T, (T, U): T, (F, T): T, (F, F): F, (F, U): U, (U, T): T, (U, F): U, (U, U): U}
NOT = {T: F, F: T, U: U}


@pytest.mark.parametrize("left", TRUTHS)
@pytest.mark.parametrize("right", TRUTHS)
def test_8_2_truth_tables(left: str, right: str) -> None:
    operands = TRUTHS[left], TRUTHS[right]
    assert compile_selector(f"{left} AND {right}").evaluate(message) is AND[operands]
    assert compile_selector(f"{left} OR {right}").evaluate(message) is OR[operands]
    assert compile_selector(f"NOT {left}").evaluate(message) is NOT[operands[0]]


GRAMMAR: list[tuple[str, bool | None]] = [
    ("", T),
    ("  \t\n\f ", T),
    ("name = 'James' AnD NOT rank > 200", T),  # keywords in any case; NOT below comparison
    ("NOT name = 'James' AND FALSE", F),  # NOT before AND before OR
    ("TRUE OR TRUE AND FALSE", T),
    ("(TRUE OR TRUE) AND FALSE", F),
    ("trueProp = NOT falseProp", T),
    ("trueProp <> falseProp = TRUE", T),  # left to right
    ("rank < 200 = TRUE", T),  # < before =
    ("rank IS NOT NULL = TRUE", T),
    ("1 + 2 * 3 = 7", T),
    ("-rank = -123 AND + rank = 123 AND - -1 = 1", T),
    ("10 - 3 - 2 = 5 AND 8 / 4 / 2 = 1", T),
    ("rank = 0x7b AND rank = 0X7B AND rank = 0173 AND rank = 123L AND rank = 123l", T),
    ("rank = 123. AND rank > .5 AND 57.9E2 = 5790 AND 7E3 = 7000 AND rank < 7e+3", T),
    ("-9223372036854775808 < 9223372036854775807", T),
    ("Name = 'James'", U),  # identifiers are case sensitive
    ("$Fd1$_Severity > 2", T),
    ("größe = 5", T),
    ("\"Managed.Object\" = 'ne1'", T),
    ("name = 'it''s'", F),
    ("ANDROID IS NULL AND NOTE IS NULL AND inn IS NULL AND isnull IS NULL", T),
    ("JMSPriority = 6 AND JMSDeliveryMode = 'PERSISTENT' AND JMSMessageID = 'ID:1' AND JMSTimestamp > 999", T),
    ("JMSCorrelationID IS NULL", T),
    ("JMSXGroupID IS NULL AND JMS_vendor IS NULL", T),
    ("rank NOT BETWEEN version AND version + 200", F),
    ("unknown BETWEEN 1 AND 2", U),
    ("rank BETWEEN unknown AND 2", F),  # below the upper end it cannot be
    ("rank BETWEEN 1 AND unknown", U),
    ("unknown LIKE 'a'", U),
    ("name NOT LIKE 'J%'", F),
    ("rank LIKE '1%'", F),
    ("rank IN ('123')", F),
    ("lines LIKE 'a%b' AND lines LIKE 'a_b'", T),
    ("name LIKE 'J_m%' AND name LIKE '%' AND name NOT LIKE ''", T),
    ("nothing IS NULL", T),
    ("name = 5", F),  # unlike types
    ("name <> 5", F),
    ("trueProp = 1", F),
    ("trueProp <> 1", F),
    ("NOT (name = 5)", T),
    ("trueProp = TRUE AND falseProp <> TRUE", T),
    ("location < name", F),  # strings know only = and <>
    ("rank AND TRUE", F),  # no boolean
    ("rank + name = 1", U),
    ("rank / 0 = 1", U),
    ("-name = 1", U),
    ("unknown + 1 = 1", U),
]


@pytest.mark.parametrize(("selector", "expected"), GRAMMAR, ids=[f"{row[0]} -> {row[1]}" for row in GRAMMAR])
def test_8_1_grammar_and_8_2_values(selector: str, expected: bool | None) -> None:
    assert compile_selector(selector).evaluate(message) is expected


@pytest.mark.parametrize(
    ("selector", "code", "position", "hint"),
    [
        ("a.b = 1", "FLT-SYNTAX", 1, "double quotes"),
        ("a = NULL", "FLT-SYNTAX", 4, "IS NULL"),
        ("NULL IS NULL", "FLT-SYNTAX", 0, ""),
        ("and = 1", "FLT-SYNTAX", 0, ""),
        ("a == 1", "FLT-SYNTAX", 3, "one ="),
        ("a != 1", "FLT-SYNTAX", 2, "<>"),
        ("a = 1 ANDb = 2", "FLT-SYNTAX", 6, ""),
        ("a IN ()", "FLT-SYNTAX", 6, ""),
        ("a IN (1)", "FLT-SYNTAX", 6, ""),
        ("a LIKE b", "FLT-SYNTAX", 7, ""),
        ("a LIKE 'x' ESCAPE 'yy'", "FLT-SYNTAX", 18, ""),
        ("a LIKE 'x!' ESCAPE '!'", "FLT-SYNTAX", 2, ""),
        ("a = 'b", "FLT-SYNTAX", 4, "''"),
        ("a =", "FLT-SYNTAX", 3, ""),
        ("a = 12abc", "FLT-SYNTAX", 4, ""),
        ("a = 09", "FLT-SYNTAX", 4, ""),
        ("'a'", "FLT-TYPE", 0, ""),
        ("a < 'b'", "FLT-TYPE", 4, ""),
        ("a < TRUE", "FLT-TYPE", 4, ""),
        ("a BETWEEN 'a' AND 'b'", "FLT-TYPE", 10, ""),
        ("a + 'b' = 1", "FLT-TYPE", 4, ""),
        ("-'b' = 1", "FLT-TYPE", 1, ""),
        ("5 LIKE 'a'", "FLT-TYPE", 0, ""),
        ("5 IN ('a')", "FLT-TYPE", 0, ""),
        ("NOT 5", "FLT-TYPE", 4, ""),
        ("JMSPriority AND TRUE", "FLT-TYPE", 0, ""),
        ("a = 9223372036854775808", "FLT-LIMIT", 4, "approximate"),
        ("a = 0xFFFFFFFFFFFFFFFFF", "FLT-LIMIT", 4, ""),
        ("a = 1E999", "FLT-LIMIT", 4, ""),
        ("JMSExpiration > 0", "FLT-NAME", 0, "JMSPriority"),
        ("JMSDestination = 'x'", "FLT-NAME", 0, ""),
        ("hyphenated_props:a-b = 1", "FLT-SYNTAX", 16, "convert_string_expressions:"),
    ],
)
def test_8_1_invalid_selectors_say_where_and_what_to_write(selector: str, code: str, position: int, hint: str) -> None:
    with pytest.raises(FilterError) as raised:
        compile_selector(selector)
    assert (raised.value.code, raised.value.position) == (code, position)
    assert hint in raised.value.hint


CONVERTED: list[tuple[str, bool | None]] = [
    ("NumberOfOrders > 1", T),
    ("1 < NumberOfOrders", T),
    ("NumberOfOrders = 2.0", T),
    ("NumberOfOrders <> 3", T),
    ("NumberOfOrders BETWEEN 1 AND 3", T),
    ("NumberOfOrders + 1 = 3", T),
    ("half > 2", F),  # it takes the literal's type, and "2.5" is no long
    ("half > 2.0", T),
    ("half * 2 = 5", T),
    ("yes = TRUE AND name = FALSE", T),
    ("name > 1", F),
    ("name + 1 = 2", U),
    ("name = 'James'", T),
    ("unknown > 1", U),
]


@pytest.mark.parametrize(("selector", "expected"), CONVERTED, ids=[f"{row[0]} -> {row[1]}" for row in CONVERTED])
def test_convert_string_expressions(selector: str, expected: bool | None) -> None:
    assert compile_selector(f"convert_string_expressions:{selector}").evaluate(message) is expected


def test_positions_count_from_the_beginning_of_the_prefix() -> None:
    with pytest.raises(FilterError) as raised:
        compile_selector(" convert_string_expressions:a = = 1")
    assert raised.value.position == 32
