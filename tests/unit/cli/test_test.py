"""`isthmus test`: the tests inside a configuration, what their failures look like, and the exit statuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import run

HEAD = """\
name: gw
domain: {cycles: allow}
endpoints:
  ems: {type: memory}
  broker: {type: stomp, hosts: ["mq1:61613"], login: gw, password: "${env:NOT_SET_ANYWHERE}"}
channels:
  events: {endpoint: ems, name: alarms}
  jms: {endpoint: broker, destination: "topic://nms.alarms"}
links:
  there:
    from: events
    to: jms
    filter: $type_name == 'Alarm' and $Severity > 2
    rules: [{rename: $Element, to: element}]
  back: {from: jms, to: events, selector: "colour = 'red' OR colour IS NULL"}
tests:
"""
EVENT = """{domain_name: Telecom, type_name: Alarm, event_name: a1, filterable_data: [
      {name: Severity, type: long, value: %s}, {name: Element, type: string, value: ne1},
      {name: big, type: ulonglong, value: 18446744073709551615}]}"""


@pytest.fixture
def tested(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def with_tests(text: str, *arguments: str, head: str = HEAD) -> tuple[int, list[str], str]:
        path = tmp_path / "isthmus.yaml"
        path.write_text(head + text)
        status = run(["test", str(path), *arguments])
        captured = capsys.readouterr()
        return status, captured.out.replace(str(path), "isthmus.yaml").splitlines(), captured.err

    return with_tests


def one(expect: str, given: str = f"{{event: {EVENT % 3}}}", link: str = "there") -> str:
    return f"  - name: it\n    link: {link}\n    given: {given}\n    expect: {expect}\n"


@pytest.mark.parametrize(
    "expect",
    [
        "{properties: {$Severity: 3}}",
        "{properties: {$Severity: {type: int, value: 3}, element: ne1, $Element: null}}",
        "{properties: {$big: {type: String, value: '18446744073709551615'}}}",
        "{headers: {JMSPriority: 4, JMSDestination: 'topic://nms.alarms', JMSCorrelationID: null}}",
        "{body: {type: Message}, filtered: false, expired: false}",
    ],
)
def test_what_is_as_expected_passes(tested: Any, expect: str) -> None:
    assert tested(one(expect)) == (0, ["ok    it"], "1 test: all passed\n")


def test_endings(tested: Any) -> None:
    utc = "{kind: named, id: 'IDL:omg.org/TimeBase/UtcT:1.0'}"
    past = f"{{name: StopTime, type: {utc}, value: {{time: 1, inacclo: 0, inacchi: 0, tdf: 0}}}}"
    expired = (EVENT % 3).replace("filterable_data", f"variable_header: [{past}], filterable_data")
    wrong = (EVENT % 3).replace("type: long, value: 3", "type: long, value: many")
    status, output, _ = tested(
        one("{filtered: true}", f"{{event: {EVENT % 1}}}")
        + one("{expired: true}", f"{{event: {expired}}}")
        + one("{error: MAP-VALUE-TYPE}", f"{{event: {wrong}}}")
    )
    assert (status, output) == (0, ["ok    it"] * 3)


def test_messages_that_become_events(tested: Any) -> None:
    given = "{message: {properties: [{name: x, type: int, value: 4}], body: {type: TextMessage, value: hi}}}"
    expect = """
      domain_name: JMS
      type_name: TextMessage
      variable_header: {Priority: {type: short, value: 0}}
      filterable_data: {x: {type: long, value: 4}, y: null}
      remainder_of_body: {type: string, value: hi}
"""
    filtered = given.replace("name: x, type: int, value: 4", "name: colour, type: String, value: blue")
    status, output, _ = tested(one(expect, given, "back") + one("{filtered: true}", filtered, "back"))
    assert (status, output) == (0, ["ok    it"] * 2)


def test_what_is_given_may_stand_in_a_file_beside_the_configuration(tested: Any, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    form = {"domain_name": "d", "type_name": "Alarm", "event_name": "", "filterable_data": []}
    form["filterable_data"] = [{"name": "Severity", "type": "long", "value": 5}]
    (tmp_path / "events" / "los.json").write_text(json.dumps(form, indent=2))
    assert tested(one("{properties: {$Severity: 5}}", "{file: events/los.json}"))[0] == 0
    (tmp_path / "events" / "los.json").write_text("{")
    status, output, _ = tested(one("{properties: {$Severity: 5}}", "{file: events/los.json}"))
    assert status == 1
    assert "MAP-JSON: events/los.json cannot be read" in "\n".join(output)


def test_failures_show_what_came_instead_and_the_line_that_expected_it(tested: Any) -> None:
    expect = """
      headers: {JMSPriority: 5}
      properties:
        $Severity: {type: long, value: 3}
        $Severty: 3
        $type_name: null
        $domain_type: Telco
      body: {type: TextMessage}
"""
    status, output, errors = tested(one("{properties: {$Severity: 3}}") + one(expect))
    assert (status, errors) == (1, "2 tests: 1 failed\n")
    assert output == [
        "ok    it",
        "FAIL  it (link there, isthmus.yaml:23)",
        "      isthmus.yaml:29:17: headers.JMSPriority",
        "        expected  5",
        "        got       4",
        "      isthmus.yaml:31:21: properties.$Severity.type",
        '        expected  "long"',
        '        got       "int" (value 3)',
        "      isthmus.yaml:32:9: properties.$Severty",
        "        expected  3",
        "        got       nothing of that name",
        "        (there are: $Severity, $event_name)",
        "      isthmus.yaml:33:9: properties.$type_name",
        "        expected  nothing of that name",
        '        got       "Alarm", "String"',
        "      isthmus.yaml:34:9: properties.$domain_type",
        '        expected  "Telco"',
        '        got       "Telecom" (type "String")',
        "      isthmus.yaml:35:14: body.type",
        '        expected  "TextMessage"',
        '        got       "Message" (value null)',
    ]


@pytest.mark.parametrize(
    ("expect", "severity", "expected", "got"),
    [
        ("{filtered: true}", 3, "filtered", "a message, which is sent"),
        ("{filtered: false}", 1, "not filtered", "filtered"),
        ("{properties: {$Severity: 1}}", 1, "something that is sent", "filtered"),
        ("{error: MAP-SIZE}", 3, "MAP-SIZE", "a message, which is sent"),
        ("{filtered: false}", "many", "something that is sent", "error MAP-VALUE-TYPE"),
    ],
)
def test_endings_that_were_not_expected(tested: Any, expect: str, severity: Any, expected: str, got: str) -> None:
    status, output, _ = tested(one(expect, f"{{event: {EVENT % severity}}}"))
    assert status == 1
    assert output[2] == f"        expected  {expected}"
    assert output[3].startswith(f"        got       {got}")


def test_for_scripts(tested: Any) -> None:
    status, output, errors = tested(one("{properties: {$Severity: 4}}"), "--json")
    assert (status, errors) == (1, "")
    assert [json.loads(line) for line in output] == [
        {
            "test": "it",
            "link": "there",
            "passed": False,
            "differences": [
                {
                    "place": "isthmus.yaml:22:27",
                    "what": "properties.$Severity",
                    "expected": "4",
                    "got": '3 (type "int")',
                }
            ],
        }
    ]


def test_a_configuration_with_errors_or_without_tests(tested: Any) -> None:
    status, output, errors = tested(one("{properties: {$Severity: 4}}", link="nowhere"))
    assert (status, output) == (78, [])
    assert "isthmus.yaml:18:" in errors
    assert tested("", head=HEAD.replace("tests:\n", ""))[0] == 0
