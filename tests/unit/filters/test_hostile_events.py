"""Events that are large, deep or repetitive: filters stay bounded, and say so where a bound is hit."""

from __future__ import annotations

from mappings.filters import compile_etcl, compile_selector
from mappings.idl_types import ANY, LONG, STRING, Alias, IdlType, Member, Recursive, Sequence, Struct
from mappings.known_types import PROPERTY_SEQ
from mappings.model import Any_, Message, MessageProperty, Property
from tests.unit.filters.samples import structured, untyped

MILLION = 1_000_000


def test_long_sequences() -> None:
    numbers = structured(fd=(Property("n", Sequence(LONG), list(range(MILLION))),))
    assert compile_etcl(f"{MILLION - 1} in $n and $n._length == {MILLION} and $n[999999] == 999999").matches(numbers)
    pairs = [{"name": f"p{number}", "value": Any_(LONG, number)} for number in range(100_000)]
    assert compile_etcl("$.remainder_of_body(p99999) == 99999").matches(structured(rem=Any_(PROPERTY_SEQ, pairs)))


def test_long_texts() -> None:
    text = "x" * 10 * MILLION
    assert compile_etcl("'xy' ~ $s").matches(structured(fd=(Property("s", STRING, text + "y"),)))
    message = Message(properties=(MessageProperty("s", "String", text),))
    assert compile_selector("s LIKE '%x%x%x' AND s NOT LIKE '%y%'").matches(message)


def test_layers_of_any_end_somewhere() -> None:
    deep = Any_(LONG, 7)
    for _ in range(1000):
        deep = Any_(ANY, deep)
    match, error = compile_etcl("$ == 7").evaluate(untyped(ANY, deep))
    assert not match
    assert error is not None
    assert error.code == "FLT-MISSING"


def test_layers_of_typedefs_end_somewhere() -> None:
    type_: IdlType = LONG
    for number in range(1000):
        type_ = Alias(f"IDL:T{number}:1.0", f"T{number}", type_)
    assert compile_etcl("$ == 7").matches(untyped(type_, 7))  # a number is a number under any name
    match, error = compile_etcl("$.m == 7").evaluate(untyped(type_, 7))
    assert not match
    assert error is not None


def test_a_type_that_stands_for_itself_leads_nowhere() -> None:
    loop = Alias("IDL:Loop:1.0", "Loop", Recursive("IDL:Loop:1.0"))
    assert not compile_etcl("exist $x.m").matches(structured(fd=(Property("x", loop, "text"),)))


def test_a_deep_value_is_walked_without_recursion() -> None:
    tree = Struct("IDL:Tree:1.0", "Tree", (Member("next", Sequence(Recursive("IDL:Tree:1.0"))),))
    value: dict[str, object] = {"next": []}
    for _ in range(1000):
        value = {"next": [value]}
    assert compile_etcl("$" + ".next[0]" * 1000 + ".next._length == 0").matches(untyped(tree, value))
    assert not compile_etcl("exist $" + ".next[0]" * 1001).matches(untyped(tree, value))


def test_a_name_that_repeats_by_the_thousand() -> None:
    fields = tuple(Property("x", LONG, number) for number in range(10_000))
    assert compile_etcl("$x == 0 and not exist $y").matches(structured(fd=fields))
    properties = tuple(MessageProperty("x", "int", number) for number in range(10_000))
    assert compile_selector("x = 0 AND y IS NULL").matches(Message(properties=properties))
