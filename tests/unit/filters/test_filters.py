"""What callers rely on besides the languages: sharing, laziness, clocks, places in texts."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from mappings.errors import FilterError
from mappings.filters import compile_etcl, compile_selector
from mappings.filters.etcl import UNIX_EPOCH, system_clock
from mappings.filters.event_types import EventTypes
from mappings.filters.pointer import point_at
from mappings.idl_types import LONG, STRING
from mappings.model import Any_, Message, Property, StructuredEvent
from tests.unit.filters.samples import structured, untyped


def test_equal_texts_give_the_same_filter() -> None:
    assert compile_etcl("$x == 1") is compile_etcl("$x == 1")
    assert compile_selector("x = 1") is compile_selector("x = 1")
    assert compile_etcl("$x == 1").text == "$x == 1"
    assert repr(compile_selector("x = 1")) == "Selector('x = 1')"


def test_what_is_remembered_is_bounded() -> None:
    for number in range(1100):
        compile_selector(f"x = {number}")
    assert compile_selector.cache_info().currsize <= 1024


def test_lark_is_imported_only_when_a_text_is_parsed() -> None:
    code = """
import sys, mappings.filters
assert "lark" not in sys.modules
mappings.filters.compile_etcl("TRUE")
assert "lark" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_curtime_is_the_callers_clock() -> None:
    before = compile_etcl("$curtime.time < 100", now=lambda: 99)
    after = compile_etcl("$curtime.time < 100", now=lambda: 100)
    assert before.matches(structured())
    assert not after.matches(structured())


def test_the_default_clock_counts_from_1582() -> None:
    year = 365 * 24 * 3600 * 10_000_000
    assert UNIX_EPOCH + 50 * year < system_clock() < UNIX_EPOCH + 200 * year
    event = StructuredEvent("", "", "", remainder_of_body=Any_(LONG, 1))
    assert compile_etcl("$curtime.time > 122192928000000000 and $ == 1").matches(event)


def test_threads_may_compile_and_evaluate_at_once() -> None:
    event = structured(fd=(Property("x", LONG, 7), Property("s", STRING, "text")))

    def work(number: int) -> bool:
        etcl = compile_etcl(f"$x == {number} or 's{number}' ~ $s")
        selector = compile_selector(f"x = {number} OR s LIKE '%s{number}%'")
        return etcl.matches(event) is selector.matches_values({"x": 7, "s": "text"}.get) is (number == 7)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_an_untyped_view_does_not_disturb_the_structured_one() -> None:
    filter_ = compile_etcl("$type_name == '%ANY'")
    assert not filter_.matches(structured(type_="Alarm"))
    assert filter_.matches(untyped(LONG, 1))
    assert not filter_.matches(structured(type_="Alarm"))


@pytest.mark.parametrize(
    ("text", "position", "shown"),
    [
        ("", 0, "\n^"),
        ("ab", 2, "ab\n  ^"),
        ("one\ntwo = 3\nfour", 8, "two = 3\n    ^"),
        ("a\tb\x1bc", 4, "a b c\n    ^"),
        ("x" * 30, 20, "…xxxxxxxxxx…\n      ^"),
        ("x" * 30, 2, "xxxxxxxxxx…\n  ^"),
        ("x" * 30, 30, "…xxxxxxxxxx\n           ^"),
    ],
)
def test_point_at(text: str, position: int, shown: str) -> None:
    assert point_at(text, position, width=10) == shown


def test_a_message_without_anything_has_no_properties() -> None:
    assert compile_selector("x IS NULL AND JMSType IS NULL AND JMSPriority = 4").matches(Message())


def test_event_types_show_what_they_were_made_of() -> None:
    assert repr(EventTypes([("a", "")])) == "EventTypes([('a', '')])"
    assert EventTypes([("a", "")]).types == (("a", ""),)


@pytest.mark.parametrize("compile_text", [compile_etcl, compile_selector])
def test_an_error_tells_code_place_and_what_to_do(compile_text: object) -> None:
    with pytest.raises(FilterError) as raised:
        compile_text("x LIKE 'a")  # type: ignore[operator]
    assert raised.value.to_json()["path"].startswith("character ")
    assert raised.value.to_json()["code"] == "FLT-SYNTAX"
