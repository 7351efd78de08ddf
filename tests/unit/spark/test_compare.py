"""The shadow run: exactly what was planted, and what consumers notice of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.cli.spark_inputs import consumers, specifications
from mappings.captures.errors import CaptureError
from tests.parts.captures import configuration, write_configuration
from tests.unit.spark.conftest import LINK
from tests.unit.spark.in_process import compared

RULES = LINK["rules"]


def forms(tmp_path: Path, name: str, link: dict[str, Any]) -> dict[str, Any]:
    return specifications(write_configuration(tmp_path, configuration(tmp_path, link={**LINK, **link}), f"{name}.yaml"))


def compared_with(
    traffic: Path, tmp_path: Path, link: dict[str, Any], selectors: tuple[dict[str, str], ...] = ()
) -> dict[str, Any]:
    return compared(traffic, forms(tmp_path, "old", {}), forms(tmp_path, "new", link), selectors)


def found(result: dict[str, Any]) -> dict[tuple[str, str, str, str], int]:
    return {(one["type"], one["rule"], one["field"], one["change"]): one["count"] for one in result["differences"]}


def for_both(rule: str, field: str, change: str) -> dict[tuple[str, str, str, str], int]:
    """Of 900 events a third are clears, and half of these have severity 0."""
    return {("Telecom::Alarm", rule, field, change): 600, ("Telecom::Clear", rule, field, change): 150}


def test_the_same_mapping_changes_nothing(traffic: Path, tmp_path: Path) -> None:
    result = compared_with(traffic, tmp_path, {})
    assert (result["verdict"], result["changed"], result["compared"]) == ("no-change", 0, 901)
    assert result["differences"] == []


@pytest.mark.parametrize(
    ("link", "difference", "verdict"),
    [
        ({"rules": [*RULES, {"rename": "$Element", "to": "ne"}]},
         ("LINK-RENAME", "properties.$Element → ne", "renamed"), "breaking"),
        ({"rules": [*RULES, {"drop": "$Ratio"}]}, ("LINK-DROP", "properties.$Ratio", "removed"), "breaking"),
        ({"rules": [*RULES, {"constant": "site", "value": "zrh"}]}, ("LINK-CONSTANT", "properties.site", "added"), "compatible"),
        ({"rules": [*RULES, {"constant": "$Severity", "type": "String", "value": "high"}]},
         ("LINK-CONSTANT", "properties.$Severity", "retyped"), "breaking"),
        ({"rules": [*RULES, {"body": "bytes"}]}, ("LINK-BODY", "body", "body-kind"), "breaking"),
        ({"rules": [*RULES, {"route": "queue://all", "when": "$Number >= 0"}]},
         ("LINK-ROUTE", "headers.JMSDestination", "route"), "breaking"),
        ({"mapping": {"metadata": False}}, ("OC-META-1", "properties.$se", "metadata"), "compatible"),
    ],
)  # fmt: skip
def test_each_planted_change_and_nothing_else(
    traffic: Path, tmp_path: Path, link: dict[str, Any], difference: tuple[str, str, str], verdict: str
) -> None:
    result = compared_with(traffic, tmp_path, link)
    planted = for_both(*difference)
    if difference[0] == "LINK-BODY":  # the kind of body is told in a property too
        planted |= for_both("", "properties.$body", "added")
    # By whose doing a body or a route is, the explanation need not say.
    told = {
        (*key[:2], *key[2:]) if key[2].startswith("properties.") else (key[0], difference[0], *key[2:]): n
        for key, n in found(result).items()
    }
    assert told == planted
    assert result["verdict"] == verdict
    assert result["changed"] == 750


def test_events_that_newly_pass_or_newly_do_not(traffic: Path, tmp_path: Path) -> None:
    result = compared_with(traffic, tmp_path, {"filter": "$Severity > 1"})
    assert found(result) == {("Telecom::Alarm", "", "(result)", "newly-filtered"): 150}
    result = compared_with(traffic, tmp_path, {"filter": "$Severity >= 0"})
    assert found(result) == {("Telecom::Clear", "", "(result)", "newly-admitted"): 150}
    failing = {"rules": [*RULES, {"rename": "$Number", "to": "n"}], "mapping": {"limits": {"properties": 1}}}
    assert compared_with(traffic, tmp_path, failing)["verdict"] == "breaking"


def test_consumers_whose_selection_changes_are_named(traffic: Path, tmp_path: Path) -> None:
    selectors = (
        {"name": "untouched", "link": "alarms", "selector": "$Severity > 3"},
        {"name": "loses", "link": "alarms", "selector": "$Element = 'ManagedElement=Zürich-3'"},
        {"name": "gains", "selector": "ne LIKE '%Zürich-3'"},
        {"name": "elsewhere", "link": "other", "selector": "ne LIKE '%'"},
    )
    result = compared_with(traffic, tmp_path, {"rules": [*RULES, {"rename": "$Element", "to": "ne"}]}, selectors)
    sevens = sum(1 for n in range(900) if n % 7 == 3 and n % 6)
    assert {(one["name"], one["change"], one["count"]) for one in result["selectors"]} == {
        ("loses", "match → no match", sevens),
        ("gains", "no match → match", sevens),
    }


def test_a_link_that_is_gone_is_breaking_where_it_has_traffic(traffic: Path, tmp_path: Path) -> None:
    result = compared(traffic, forms(tmp_path, "old", {}), {})
    assert (result["verdict"], result["links_removed"]) == ("breaking", ["alarms"])


@pytest.mark.parametrize(
    "text",
    [
        "a: b",
        "[1]",
        "[{name: x}]",
        "[{name: x, selector: 'a =', link: l}]",
        "[{name: x, etcl: 'a ==='}]",
        "[{name: 3, selector: 'a = 1'}]",
        "{",
    ],
)
def test_a_list_of_consumers_that_is_wrong_is_refused_at_its_place(text: str, tmp_path: Path) -> None:
    path = tmp_path / "consumers.yaml"
    path.write_text(text)
    with pytest.raises(CaptureError, match=r"CAP-SELECTORS.*consumers\.yaml"):
        consumers(path)
