"""RULES.md 8.4, row by row: ETCL and selectors as each other, with what stays for the gateway."""

from __future__ import annotations

import pytest

from mappings.errors import FilterError
from mappings.filters.push_down import PushDown, etcl_to_selector, event_types_to_selector, selector_to_etcl

# The table: what each expression is for fields that are as they seem.
TO_SELECTOR = [
    ("$domain_name == 'd'", "$domain_type = 'd'", ""),
    ("$type_name == 't' and $event_name != 'e'", "$type_name = 't' AND $event_name <> 'e'", ""),
    ("$.header.fixed_header.event_type.type_name == 't'", "$type_name = 't'", ""),
    ("$x == 1", "$x = 1", ""),
    ("$.filterable_data(x) == 1", "$x = 1", ""),
    ("$.header.variable_header(x) == 1", "$x = 1", ""),
    ("$x.m == 1", "$x$_m = 1", ""),
    ("$x[0].m == 1", "$x$_1$_m = 1", ""),
    ("$x._length == 1", "$x$__length = 1", ""),
    ("$x._d == 1", "$x$__d = 1", ""),
    (
        "$a < 1 and $b <= 2 and $c > 3 and $d >= 4 and $e != 5",
        "$a < 1 AND $b <= 2 AND $c > 3 AND $d >= 4 AND $e <> 5",
        "",
    ),
    ("$x == 'it\\'s'", "$x = 'it''s'", ""),
    ("$x == TRUE", "$x = TRUE", ""),
    ("$x != RED", "$x <> 'RED'", ""),
    ("$x < 'a'", "", "$x < 'a'"),
    ("$a == 1 or not ($b == 2)", "$a = 1 OR NOT ($b = 2)", ""),
    ("exist $x", "$x IS NOT NULL", ""),
    ("not exist $x", "$x IS NULL", ""),
    ("'sub' ~ $x", "$x LIKE '%sub%'", ""),
    ("'5%_!' ~ $x", "$x LIKE '%5!%!_!!%' ESCAPE '!'", ""),
    ("$y ~ $x", "", "$y ~ $x"),
    ("'a' in $seq", "", "'a' in $seq"),
    ("$a + 1 - $b * 2 == 3", "$a + 1 - $b * 2 = 3", ""),
    ("$a / 2 == 1", "", "$a / 2 == 1"),
    ("$a / 2.0 == 1", "$a / 2.0 = 1", ""),
    ("$curtime.time > 1", "", "$curtime.time > 1"),
    ("default $x", "", "default $x"),
    ("$x._type_id == 'a'", "", "$x._type_id == 'a'"),
    ("$x._repos_id == 'a'", "", "$x._repos_id == 'a'"),
    ("$x.() == 1", "", "$x.() == 1"),
    ("$x.0 == 1", "", "$x.0 == 1"),
    ("$Priority > 2", "JMSPriority > 6", ""),
    ("$Priority == -3", "JMSPriority = 1", ""),
    ("$Priority >= 5", "JMSPriority >= 9", ""),
    ("$Priority > 5", "", "$Priority > 5"),  # 9 is 5 and all above
    ("$Priority == 6", "", "$Priority == 6"),
    ("$Timeout > 0", "", "$Timeout > 0"),  # not a property
    ("$body == 1", "", "$body == 1"),  # the bridge's own name
    ("$a == 1 and 'a' in $seq and $b == 2", "$a = 1 AND $b = 2", "'a' in $seq"),
    ("($a == 1 or 'a' in $seq) and $b == 2", "$b = 2", "$a == 1 or 'a' in $seq"),
    ("", "", ""),
]


@pytest.mark.parametrize(("etcl", "selector", "residual"), TO_SELECTOR, ids=[row[0] for row in TO_SELECTOR])
def test_8_4_etcl_to_selector(etcl: str, selector: str, residual: str) -> None:
    assert etcl_to_selector(etcl, simple_fields=True) == PushDown(selector, residual)


TO_ETCL = [
    ("$domain_type = 'd' AND $type_name <> 't'", "$domain_name == 'd' and $type_name != 't'", ""),
    ("$x BETWEEN 1 AND 5", "$x >= 1 and $x <= 5", ""),
    ("$x IN ('a','b')", "$x == 'a' or $x == 'b'", ""),
    ("$x NOT IN ('a','b')", "not ($x == 'a' or $x == 'b')", ""),
    ("$x LIKE '%s%'", "'s' ~ $x", ""),
    ("$x LIKE 'p%'", "", "$x LIKE 'p%'"),
    ("$x LIKE '%a_b%'", "", "$x LIKE '%a_b%'"),
    ("$x LIKE 'a!%' ESCAPE '!'", "$x == 'a%'", ""),
    ("$x IS NULL", "not exist $x", ""),
    ("$x IS NOT NULL", "exist $x", ""),
    ("JMSType = 'Structured Event'", "TRUE", ""),
    ("JMSType = 'other'", "FALSE", ""),
    ("JMSPriority > 4", "", "JMSPriority > 4"),
    ("foreign = 1 AND $x = 1", "$x == 1", "foreign = 1"),
    ("$Managed$u000020Object = 'ne1'", "", "$Managed$u000020Object = 'ne1'"),  # no name of ETCL
    ("$type = 1", r"$\type == 1", ""),  # TAO and JacORB reserve the word
    ("$x$_m = 1 AND $x$_2 = 1 AND $x$__length = 3", "$x.m == 1 and $x[1] == 1 and $x._length == 3", ""),
    ("$a = 1 OR $b = 2", "exist $a and $a == 1 or exist $b and $b == 2", ""),  # an error in ETCL is no UNKNOWN
    ("NOT ($a = 1 OR $b = 2)", "not ($a == 1) and not ($b == 2)", ""),
    ("$a / 2 = 1", "", "$a / 2 = 1"),
    ("-$a + 1.5 / $b = 1", "-1 * $a + 1.5 / $b == 1", ""),
    ("$flag AND NOT $other", "$flag and not $other", ""),
    ("convert_string_expressions:$x > 1", "exist $x", "convert_string_expressions:$x > 1"),
    ("", "", ""),
]


@pytest.mark.parametrize(("selector", "etcl", "residual"), TO_ETCL, ids=[row[0] for row in TO_ETCL])
def test_8_4_selector_to_etcl(selector: str, etcl: str, residual: str) -> None:
    assert selector_to_etcl(selector, simple_fields=True) == PushDown(etcl, residual)


# Without the promise that fields are simple: what must be so, and all that is not certain stays in the residual.
SAFE_SELECTOR = [
    ("$type_name == 't' or $domain_name != 'd'", "$type_name = 't' OR $domain_type <> 'd'", ""),
    ("$x > 2", "$x IS NULL OR NOT ($x <= 2)", "$x > 2"),
    ("not ($x > 2)", "$x IS NULL OR NOT ($x > 2)", "not ($x > 2)"),
    ("2 < $x", "$x IS NULL OR NOT ($x <= 2)", "2 < $x"),
    ("$x == 'a'", "$x IS NULL OR $x = 'a'", "$x == 'a'"),
    ("$x.m != RED", "$x IS NOT NULL OR $x$_m IS NULL OR $x$_m <> 'RED'", "$x.m != RED"),
    ("$.header.variable_header(x) == 'a'", "$x IS NULL OR $x = 'a'", "$.header.variable_header(x) == 'a'"),
    (
        "$.filterable_data(x) == 'a'",
        "$x$_$u0000232 IS NOT NULL OR $x IS NULL OR $x = 'a'",
        "$.filterable_data(x) == 'a'",
    ),
    ("not exist $x", "$x IS NULL", "not exist $x"),
    ("exist $x", "", "exist $x"),  # a struct has no property of its own name
    ("$x[0] == 1", "", "$x[0] == 1"),  # a typedef's name may stand before the ordinal
    ("'a' ~ $x", "", "'a' ~ $x"),  # a text of 64 KiB is not sent as it is
    ("$a + $b > 1", "", "$a + $b > 1"),
    ("$a == $b", "", "$a == $b"),
    ("$Priority > 2", "", "$Priority > 2"),
    (
        "$.header.variable_header(Priority) > 2",
        "JMSPriority > 6 OR NOT ($Priority <= 2)",
        "$.header.variable_header(Priority) > 2",
    ),
    ("$type_name == Alarm", "$type_name = 'Alarm'", "$type_name == Alarm"),
    ("$x == '" + "a" * 1001 + "'", "", "$x == '" + "a" * 1001 + "'"),
    ("$x == 9223372036854775808", "", "$x == 9223372036854775808"),
]


@pytest.mark.parametrize(("etcl", "selector", "residual"), SAFE_SELECTOR, ids=[row[0][:60] for row in SAFE_SELECTOR])
def test_8_4_etcl_to_selector_without_a_promise(etcl: str, selector: str, residual: str) -> None:
    assert etcl_to_selector(etcl) == PushDown(selector, residual)


SAFE_ETCL = [
    ("$type_name = 't' AND $x > 2", "$type_name == 't' and exist $x", "$x > 2"),
    ("'d' <> $domain_type", "$domain_name != 'd'", ""),
    ("$type_name IN ('a', 'b')", "$type_name == 'a' or $type_name == 'b'", ""),
    ("$a = 1 OR NOT ($b = 2)", "exist $a or exist $b", "$a = 1 OR NOT ($b = 2)"),
    ("$a$_m LIKE 'p%' AND $a$_n = 1", "exist $a", "$a$_m LIKE 'p%' AND $a$_n = 1"),
    ("$x IS NULL", "", "$x IS NULL"),
    ("$x IS NOT NULL", "exist $x", "$x IS NOT NULL"),
    ("$x BETWEEN $low AND 5", "exist $x", "$x BETWEEN $low AND 5"),
    ("$a + $b > 1", "exist $a and exist $b", "$a + $b > 1"),
    ("$body = 'octets'", "", "$body = 'octets'"),
    ("foreign = 1", "", "foreign = 1"),
    ("$a = 1 OR foreign = 1", "", "$a = 1 OR foreign = 1"),
]


@pytest.mark.parametrize(("selector", "etcl", "residual"), SAFE_ETCL, ids=[row[0] for row in SAFE_ETCL])
def test_8_4_selector_to_etcl_without_a_promise(selector: str, etcl: str, residual: str) -> None:
    assert selector_to_etcl(selector) == PushDown(etcl, residual)


@pytest.mark.parametrize(
    ("types", "selector"),
    [
        ([], ""),
        ([("", "%ALL")], ""),
        ([("Telecom", "Alarm"), ("*", "*")], ""),
        ([("Telecom", "Alarm")], "$domain_type = 'Telecom' AND $type_name = 'Alarm'"),
        ([("Telecom", "%ALL")], "$domain_type = 'Telecom'"),
        ([("", "%ANY")], "$type_name = '%ANY'"),
        ([("Tele*", "")], "$domain_type LIKE 'Tele%'"),
        ([("", "a_b%*")], "$type_name LIKE 'a!_b!%%' ESCAPE '!'"),
        ([("a", "b"), ("c", "")], "($domain_type = 'a' AND $type_name = 'b') OR ($domain_type = 'c')"),
    ],
)
def test_8_4_event_types_of_a_constraint(types: list[tuple[str, str]], selector: str) -> None:
    assert event_types_to_selector(types) == selector


def test_what_does_not_parse_is_not_translated() -> None:
    with pytest.raises(FilterError):
        etcl_to_selector("$x =")
    with pytest.raises(FilterError):
        selector_to_etcl("x ==")


def test_what_would_become_too_long_stays_whole() -> None:
    text = " or ".join(f"$x{number} == 'v'" for number in range(5_000))
    assert etcl_to_selector(text) == PushDown("", text)
