"""`isthmus filter`: JSON Lines in, answers out in order, statuses, and errors that point at the place."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import run

ALARM = {
    "domain_name": "Telecom",
    "type_name": "Alarm",
    "event_name": "los",
    "filterable_data": [{"name": "Severity", "type": "long", "value": 3}],
}
CALL = {"domain_name": "Telecom", "type_name": "Call", "event_name": ""}
MESSAGE = {
    "headers": {"JMSPriority": 6},
    "properties": [{"name": "$Severity", "type": "int", "value": 3}],
}


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def with_input(data: bytes, *arguments: str) -> tuple[int, list[Any], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = run(["filter", *arguments])
        captured = capsys.readouterr()
        return status, [json.loads(line) for line in captured.out.splitlines()], captured.err

    return with_input


def lines(*forms: Any) -> bytes:
    return b"".join(json.dumps(form).encode() + b"\n" for form in forms)


def test_events_in_answers_out_in_order(feed: Any) -> None:
    status, answers, errors = feed(lines(ALARM, CALL, ALARM), "--etcl", "$type_name == 'Alarm' and $Severity > 2")
    assert (status, errors) == (0, "")
    assert answers == [{"match": True}, {"match": False}, {"match": True}]


def test_an_event_without_a_result_is_no_match_and_says_why(feed: Any) -> None:
    status, answers, _ = feed(lines(CALL, ALARM), "--etcl", "$Severity > 2")
    assert status == 0
    assert answers[0]["match"] is False
    assert answers[0]["error"] == {
        "code": "FLT-MISSING",
        "message": "the event has no field Severity, nor is there one inside its remainder_of_body",
        "path": "$Severity",
        "hint": "guard it with: exist $Severity and …",
    }
    assert answers[1] == {"match": True}


def test_untyped_and_typed_events(feed: Any) -> None:
    untyped = {"any": {"type": "long", "value": 3}}
    typed = {"typed": {"interface": "IDL:Cafe/Coffee:1.0", "operation": "drinking_coffee", "parameters": []}}
    status, answers, _ = feed(
        lines(untyped, typed), "--etcl", "$type_name == '%ANY' or $operation == '::Cafe::Coffee::drinking_coffee'"
    )
    assert status == 0
    assert answers == [{"match": True}, {"match": True}]


def test_messages_and_a_selector(feed: Any) -> None:
    status, answers, _ = feed(lines(MESSAGE, {}), "--selector", "$Severity > 2 AND JMSPriority = 6")
    assert status == 0
    assert answers == [{"match": True}, {"match": False}]


def test_a_line_that_cannot_be_read_has_its_answer_too_and_the_status_says_so(feed: Any) -> None:
    data = lines(ALARM) + b"no json\n\n\xff\n" + lines({"domain_name": 5}) + b"[" * 100_000 + b"\n" + lines(ALARM)
    status, answers, _ = feed(data, "--etcl", "")
    assert status == 1
    assert [answer["match"] for answer in answers] == [True, False, False, False, False, True]
    assert [answer["error"]["code"] for answer in answers[1:5]] == [
        "MAP-JSON",
        "MAP-JSON",
        "MAP-EVENT-FORM",
        "MAP-JSON",
    ]
    assert answers[1]["error"]["path"] == "line 2, character 1"
    assert answers[2]["error"]["path"] == "line 4, byte 1"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--etcl", "$a == 1 and $b = 3"), "  $a == 1 and $b = 3\n                 ^\n"),
        (("--selector", "a = 1 AND\nb.c = 2"), "  b.c = 2\n   ^\n"),
        (("--etcl", "$a ="), "  $a =\n     ^\n"),
        (("--etcl", "$" + "x" * 300 + " = 1"), "…" + "x" * 96 + " = 1\n" + " " * 100 + "^\n"),
    ],
)
def test_an_expression_that_does_not_parse_is_pointed_at(feed: Any, arguments: tuple[str, str], shown: str) -> None:
    status, answers, errors = feed(lines(ALARM), *arguments)
    assert (status, answers) == (2, [])
    assert errors.startswith("isthmus filter: FLT-SYNTAX: ")
    assert errors.endswith(shown)


def test_with_explain_each_line_says_why(feed: Any) -> None:
    data = lines(ALARM, {"domain_name": 5})
    status, answers, _ = feed(data, "--etcl", "$Severity > 5 and $type_name == 'Alarm'", "--explain")
    assert status == 1
    assert answers[0] == {
        "match": False,
        "explanation": [
            {"part": "$Severity > 5", "result": False, "values": {"$Severity": 3}},
            {"part": "$type_name == 'Alarm'", "result": True, "values": {"$type_name": "Alarm"}},
        ],
    }
    assert "explanation" not in answers[1]
    status, answers, _ = feed(lines(MESSAGE), "--selector", "JMSPriority > 5", "--explain")
    assert (status, answers) == (
        0,
        [{"match": True, "explanation": [{"part": "JMSPriority > 5", "result": True, "values": {"JMSPriority": 6}}]}],
    )


def test_the_filter_of_a_link_of_a_configuration(feed: Any, tmp_path: Path) -> None:
    config = tmp_path / "gw.yaml"
    config.write_text(
        "name: x\nendpoints: {m: {type: memory}}\n"
        "channels: {a: {endpoint: m, name: a}, b: {endpoint: m, name: b, form: message}, c: {endpoint: m, name: c}}\n"
        "links:\n  l: {from: a, to: b, filter: '$Severity > 2'}\n  back: {from: b, to: c, selector: 'JMSPriority = 1'}\n"
    )
    status, answers, _ = feed(lines(ALARM, CALL), "--config", str(config), "--link", "l")
    assert (status, [answer["match"] for answer in answers]) == (0, [True, False])
    status, answers, _ = feed(lines(MESSAGE), "--config", str(config), "--link", "back")
    assert (status, answers) == (0, [{"match": False}])
    status, answers, errors = feed(lines(ALARM), "--config", str(config), "--link", "none")
    assert (status, answers) == (2, [])
    assert "there are: l, back" in errors
    status, _, errors = feed(lines(ALARM), "--config", str(config))
    assert status == 2
    assert "go together" in errors


@pytest.mark.parametrize("arguments", [(), ("--etcl", "", "--selector", "")])
def test_one_expression_is_needed_and_only_one(feed: Any, arguments: tuple[str, ...]) -> None:
    status, answers, errors = feed(lines(ALARM), *arguments)
    assert (status, answers) == (2, [])
    assert "--etcl EXPR or --selector EXPR" in errors


def test_as_a_process_it_answers_line_by_line() -> None:
    command = [sys.executable, "-c", "from gateway.cli import main; main()", "filter", "--selector", "$Severity > 2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(MESSAGE))
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"match": True}  # before the input ends
        process.stdin.close()
        assert process.wait(timeout=60) == 0
