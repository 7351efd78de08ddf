"""Validation: what a gateway did agrees with what its mapping does; what was changed since is found, and nothing else."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.capture.inspection import rows, sealed_files
from mappings.model import Body as MessageBody
from mappings.model import Message, MessageProperty
from spark.job import Selection
from tests.parts.captures import alarm, capture, configuration
from tests.unit.spark.in_process import validated


def test_what_a_gateway_did_agrees_with_its_mapping(traffic: Path) -> None:
    result = validated(traffic)
    assert result["agrees"]
    assert result["differences"] == []
    counts = {(row["status"], row["verdict"]): row["count"] for row in result["by_link"]}
    assert counts == {("delivered", "agrees"): 750, ("filtered", "agrees"): 150, ("expired", "agrees"): 1}


def changed_mapping(traffic: Path, tmp_path: Path, change: Any) -> Path:
    copy = tmp_path / "copy"
    shutil.copytree(traffic, copy)
    (saved,) = (copy / "_mappings").glob("*.json")
    form = json.loads(saved.read_text())
    change(form["translation"])
    saved.write_text(json.dumps(form))
    return copy


@pytest.mark.parametrize(
    ("change", "differences"),
    [
        (
            lambda form: form["rules"].append({"rename": "$Element", "to": "element"}),
            {("LINK-RENAME", "properties.$Element → element", "renamed"): 750},
        ),
        (lambda form: form["rules"].clear(), {("", "properties.priority", "removed"): 750}),
        (
            lambda form: form.update(etcl="$Severity > 1"),
            {("", "(result)", "value"): 150},
        ),
        (
            lambda form: form["options"].update(destination="topic://elsewhere"),
            {("", "headers.JMSDestination", "route"): 750},
        ),
    ],
)
def test_a_mapping_that_was_changed_since_differs_there_and_nowhere_else(
    traffic: Path, tmp_path: Path, change: Any, differences: dict[tuple[str, str, str], int]
) -> None:
    result = validated(changed_mapping(traffic, tmp_path, change))
    assert not result["agrees"]
    found = {(one["rule"], one["field"], one["change"]): one["count"] for one in result["differences"]}
    assert found == differences
    assert all(1 <= len(one["samples"]) <= 5 for one in result["differences"])


def test_without_its_mapping_nothing_can_be_said(traffic: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(traffic, copy, ignore=shutil.ignore_patterns("_mappings"))
    result = validated(copy)
    assert not result["agrees"]
    assert result["verdicts"]["unreadable"] == 901
    assert [one["code"] for one in result["findings"]] == ["CAP-NO-MAPPING"]


def test_messages_on_their_way_to_events_and_to_messages_agree_too(tmp_path: Path) -> None:
    channels = {
        "in": {"endpoint": "memory", "name": "in", "form": "message"},
        "events": {"endpoint": "memory", "name": "events"},
        "copies": {"endpoint": "memory", "name": "copies", "form": "message", "profile": "strict"},
    }
    links = {
        "back": {"from": "in", "to": "events"},
        "copy": {"from": "in", "to": "copies", "selector": "n >= 10"},
    }
    config = configuration(tmp_path, channels=channels, links=links)
    config["journal"] = {}
    messages = [
        Message(properties=(MessageProperty("n", "int", n), MessageProperty("x", "float", n / 3)), body=body)
        for n in range(30)
        for body in (MessageBody("TextMessage", "Zürich"), MessageBody("BytesMessage", b"\0\xff"), MessageBody())
    ]
    result = validated(capture(tmp_path, config, messages, queue="in"))
    assert result["agrees"], result
    counts = {(row["link"], row["status"]): row["count"] for row in result["by_link"]}
    assert counts == {("back", "delivered"): 90, ("copy", "delivered"): 60, ("copy", "filtered"): 30}


def test_dead_letters_of_the_mapping_are_asked_again(tmp_path: Path) -> None:
    link = {"mapping": {"limits": {"property_bytes": 10}}, "rules": [{"copy_header": "JMSType", "to": "kind"}]}
    events = [alarm(n) for n in range(20)]
    result = validated(capture(tmp_path, configuration(tmp_path, link=link), events))
    assert result["agrees"], result["differences"]
    assert result["verdicts"]["agrees"] == 20


def test_encrypted_captures_need_their_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTURE_KEY", "cd" * 32)
    config = configuration(tmp_path, capture={"secret_key": "${env:CAPTURE_KEY}"})
    folder = capture(tmp_path, config, [alarm(n) for n in range(10)])
    assert validated(folder, keys=(b"\xcd" * 32,))["agrees"]
    result = validated(folder)
    assert [(row["code"], row["count"]) for row in result["unreadable_rows"]] == [("CAP-KEY", 10)]


def test_a_selection_leaves_the_rest_out(traffic: Path) -> None:
    assert validated(traffic, selection=Selection(types=("Clear",)))["events"] == 300
    assert validated(traffic, selection=Selection(links=("other",)))["events"] == 0
    times = [row["settled_at"] for path in sealed_files(traffic) for row in rows(path)]
    half = sorted(times)[len(times) // 2]
    micros = round(half.timestamp() * 1e6)
    before, after = (
        validated(traffic, selection=s)["events"] for s in (Selection(until=micros), Selection(since=micros))
    )
    assert before + after == 901
    assert before == sum(time < half for time in times)


def test_the_order_of_properties_is_no_difference_and_a_number_in_another_spelling_neither() -> None:
    from spark.validate import payload_differences

    one = Message(properties=(MessageProperty("a", "int", 1), MessageProperty("b", "double", 2.0)))
    other = replace(one, properties=one.properties[::-1])
    assert payload_differences(one, other) == []
