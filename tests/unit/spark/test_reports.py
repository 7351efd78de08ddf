"""Pages for people: plots of what is in the result, nothing from outside, and nothing that traffic could smuggle in."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as some

from spark.reports import compare_page, validate_page, write_reports
from spark.reports.svg import HEIGHT, WIDTH, bars, lines
from tests.unit.spark.conftest import LINK
from tests.unit.spark.in_process import validated
from tests.unit.spark.test_compare import compared_with
from tests.unit.spark.test_validate import changed_mapping

ALONE = {"meta"}
HOSTILE = "<script>alert('x')</script>&\"'"
finite = some.floats(0, 1e15, allow_nan=False)


class Page(HTMLParser):
    """Its elements, and the texts of its plots; every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.plotted: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}, "nothing is loaded from anywhere"
        if tag not in ALONE:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["text"]:
            self.plotted.append(data)


def test_differences_are_plotted_by_rule_and_by_field(traffic: Path, tmp_path: Path) -> None:
    def change(form: dict[str, Any]) -> None:
        form["rules"].append({"rename": "$Element", "to": "element"})

    page = Page(validate_page.page(validated(changed_mapping(traffic, tmp_path, change))))
    assert page.elements.count("svg") == 2
    assert page.plotted == ["events", "LINK-RENAME", "750", "events", "properties.$Element → element", "750"]


def test_changes_are_plotted_by_kind_and_by_rule(traffic: Path, tmp_path: Path) -> None:
    rules = [*LINK["rules"], {"drop": "$Ratio"}, {"constant": "site", "value": "zrh"}]
    page = Page(compare_page.page(compared_with(traffic, tmp_path, {"rules": rules})))
    assert page.plotted == [
        "events",
        "added",
        "750",
        "removed",
        "750",
        "events",
        "LINK-CONSTANT",
        "750",
        "LINK-DROP",
        "750",
    ]


def test_what_comes_from_traffic_is_text_and_nothing_else(tmp_path: Path) -> None:
    difference = {"rule": HOSTILE, "field": HOSTILE, "change": HOSTILE, "count": 1, "samples": [{"was": HOSTILE}]}
    result = {
        "job": "validate", "agrees": False, "events": 1,
        "verdicts": {"agrees": 0, "differs": 1, "not-checked": 0, "unreadable": 0},
        "by_link": [{"link": HOSTILE, "gateway": HOSTILE, "status": "delivered", "verdict": "differs", "count": 1}],
        "differences": [{**difference, "gateway": HOSTILE, "link": HOSTILE}],
        "unreadable_rows": [], "findings": [{"code": HOSTILE, "path": HOSTILE, "message": HOSTILE, "hint": "", "count": 1}],
    }  # fmt: skip
    write_reports(result, tmp_path)
    page = Page((tmp_path / "report.html").read_text())
    assert "script" not in page.elements
    assert page.plotted.count(HOSTILE) == 2


@given(some.lists(some.tuples(some.text(), finite), max_size=40))
def test_every_bar_is_in_the_picture_and_as_long_as_it_should_be(rows: list[tuple[str, float]]) -> None:
    drawn = bars(rows, "events")
    if not rows:
        assert drawn == ""
        return
    boxes = [
        tuple(map(float, found))
        for found in re.findall(r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', drawn)
    ]
    (height,) = map(float, re.findall(r'<svg viewBox="0 0 \d+ (\d+)"', drawn))
    assert len(boxes) == len(rows)
    assert all(x + width <= WIDTH and y + tall <= height for x, y, width, tall in boxes)
    top = max(value for _, value in rows)
    longest = max(width for _, _, width, _ in boxes)
    for (_, value), (_, _, width, _) in zip(rows, boxes, strict=True):
        assert abs(width - max(1.0, longest * value / top if top else 1.0)) <= 0.11


@given(some.dictionaries(some.text(max_size=5), some.lists(some.tuples(finite, finite), max_size=20), max_size=9))
def test_every_point_is_in_the_picture(series: dict[str, list[tuple[float, float]]]) -> None:
    drawn = lines(series, "ms", [])
    shown = sum(len(points) for points in list(series.values())[:6])
    assert (drawn == "") == (shown == 0)
    if drawn:
        points = [tuple(map(float, found)) for found in re.findall(r'<circle cx="(\S+)" cy="(\S+)"', drawn)]
        assert len(points) == shown
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)


def test_a_plot_is_well_formed() -> None:
    ElementTree.fromstring(bars([("a<b", 3), ("c", 0)], "x & y"))
    ElementTree.fromstring(lines({"a<b": [(1, 2), (3, 4)]}, "x & y", [(1, "<")]))
