"""`isthmus translate`: one line out for each line in, in order, whatever the lines hold (FORMS.md section 5)."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import json_lines, run

ALARM = {
    "domain_name": "Telecom",
    "type_name": "Alarm",
    "event_name": "LOS-17",
    "variable_header": [{"name": "Priority", "type": "short", "value": 2}],
    "filterable_data": [
        {
            "name": "Fd1",
            "type": {
                "kind": "struct",
                "id": "IDL:Acme/Alarm:1.0",
                "name": "Alarm",
                "members": [{"name": "AlarmName", "type": "string"}, {"name": "Severity", "type": "long"}],
            },
            "value": {"AlarmName": "LOS", "Severity": 3},
        }
    ],
    "remainder_of_body": {"type": "string", "value": "loss of signal on port 7"},
}
EXPIRED = {
    "domain_name": "Telecom",
    "type_name": "Alarm",
    "event_name": "",
    "variable_header": [
        {
            "name": "StopTime",
            "type": {"kind": "named", "id": "IDL:omg.org/TimeBase/UtcT:1.0"},
            "value": {"time": 1, "inacclo": 0, "inacchi": 0, "tdf": 0},
        }
    ],
}
MAIN = [sys.executable, "-c", "from gateway.cli import main; main()"]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def with_input(data: bytes, *arguments: str) -> tuple[int, list[Any], str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = run(["translate", *arguments])
        captured = capsys.readouterr()
        return status, [json.loads(line) for line in captured.out.splitlines()], captured.err

    return with_input


def lines(*forms: Any) -> bytes:
    return b"".join(json.dumps(form).encode() + b"\n" for form in forms)


def properties(message: Any) -> dict[str, Any]:
    return {each["name"]: (each["type"], each["value"]) for each in message["properties"]}


@pytest.mark.parametrize(
    ("arguments", "severity"),
    [
        ((), "$Fd1.Severity"),
        (("--profile", "borland"), "$Fd1.Severity"),
        (("--profile", "strict"), "$Fd1$_Severity"),
        (("--profile", "mq"), "_sFd1_dSeverity"),
    ],
)
def test_events_become_messages_and_come_back(feed: Any, arguments: tuple[str, ...], severity: str) -> None:
    status, (message,), errors = feed(lines(ALARM), *arguments)
    assert (status, errors) == (0, "")
    assert properties(message)[severity] == ("int", 3)
    assert message["headers"]["JMSType"] == "Structured Event"
    assert message["headers"]["JMSPriority"] == 6
    assert message["body"] == {"type": "TextMessage", "value": "loss of signal on port 7"}
    assert feed(lines(message), "--reverse", *arguments) == (0, [ALARM], "")


def test_explain(feed: Any) -> None:
    status, (line,), _ = feed(lines(ALARM), "--explain")
    assert status == 0
    assert line.keys() == {"message", "explanation", "lossless"}
    assert line["lossless"] is True
    assert {
        "from": "filterable_data[0].value.Severity",
        "rule": "SE-PROP-4",
        "to": "$Fd1.Severity",
        "type": "int",
        "lossless": True,
    } in line["explanation"]
    status, (back,), _ = feed(lines(line["message"]), "--reverse", "--explain")
    assert status == 0
    assert back["event"] == ALARM
    assert back["lossless"] is True
    assert {entry["rule"] for entry in back["explanation"]} >= {"SE-FIX-1", "SE-PROP-4", "SE-VAR-2", "SE-BODY-2"}


def test_what_is_lost_is_said(feed: Any) -> None:
    lossy = ALARM | {"filterable_data": [{"name": "x", "type": "longdouble", "value": 1.5}]}
    _, (line,), _ = feed(lines(lossy), "--explain")
    assert line["lossless"] is False
    assert [entry["rule"] for entry in line["explanation"] if not entry["lossless"]] == ["OC-TYPE-6"]


def test_an_expired_event_is_dropped_in_its_place(feed: Any) -> None:
    status, answers, _ = feed(lines(ALARM, EXPIRED, ALARM))
    assert status == 0
    assert answers[1] == {"dropped": {"code": "MAP-EXPIRED", "reason": "expired"}}
    expired = {"headers": {"JMSExpiration": 1}}
    assert feed(lines(expired), "--reverse")[1] == [{"dropped": {"code": "MAP-EXPIRED", "reason": "expired"}}]


@pytest.mark.parametrize(
    ("line", "code", "path"),
    [
        (b"", "MAP-JSON", "line 2"),
        (b"   ", "MAP-JSON", "line 2"),
        (b"no json", "MAP-JSON", "line 2"),
        (b"\xff\xfe", "MAP-JSON", "line 2"),
        (b'"caf\xe9"', "MAP-JSON", "line 2"),
        (b"[" * 200_000, "MAP-JSON", "line 2"),
        (b"1" * 200_000, "MAP-JSON", "line 2"),
        (b"null", "MAP-EVENT-FORM", ""),
        (b"[]", "MAP-EVENT-FORM", ""),
        (b"{}", "MAP-EVENT-FORM", ""),
        (b'{"domain_name":"\\ud800","type_name":"","event_name":""}', "MAP-VALUE-TEXT", "domain_name"),
        (b'{"any":{"type":"long","value":NaN}}', "MAP-VALUE-TYPE", "any.value"),
        (b'{"any":{"type":"long","value":3000000000}}', "MAP-VALUE-RANGE", "any.value"),
        (b'{"any":{"type":' + b'{"kind":"sequence","bound":0,"element":' * 400 + b'"long"' + b"}" * 400
         + b',"value":[]}}', "MAP-DEPTH", "any.type"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_an_error_in_its_place(feed: Any, line: bytes, code: str, path: str) -> None:
    status, answers, errors = feed(lines(ALARM) + line + b"\n" + lines(ALARM))
    assert (status, errors) == (1, "")
    assert ["error" in answer for answer in answers] == [False, True, False]
    error = answers[1]["error"]
    assert error["code"] == code
    assert error["path"].startswith(path)
    assert error["message"]


def test_a_line_without_its_end_is_a_line(feed: Any) -> None:
    status, answers, _ = feed(lines(ALARM)[:-1])
    assert (status, len(answers)) == (0, 1)


def test_a_line_longer_than_any_is_passed_over(feed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 2000)
    status, answers, _ = feed(lines(ALARM) + b"x" * 5_000_000 + b"\n" + lines(ALARM))
    assert status == 1
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, "MAP-JSON", None]


def test_infinities_and_nan_go_there_and_back(feed: Any) -> None:
    values = ["NaN", "Infinity", "-Infinity"]
    form = ALARM | {
        "filterable_data": [{"name": f"x{n}", "type": "double", "value": value} for n, value in enumerate(values)]
    }
    _, (message,), _ = feed(lines(form))
    assert [properties(message)[f"$x{n}"] for n in range(3)] == [("double", value) for value in values]
    assert feed(lines(message), "--reverse")[1] == [form]


def test_a_message_with_a_changed_value_is_an_error_that_names_the_property(feed: Any) -> None:
    _, (message,), _ = feed(lines(ALARM))
    for each in message["properties"]:
        if each["name"] == "$Fd1.Severity":
            each |= {"type": "String", "value": "three"}
    status, (answer,), _ = feed(lines(message), "--reverse")
    assert status == 1
    assert answer["error"]["code"] == "MAP-PROPERTY-VALUE"
    assert answer["error"]["path"] == "properties.$Fd1.Severity"


# With a configuration

CONFIG = """\
name: gw
endpoints:
  ems: {type: memory}
  broker: {type: stomp, hosts: ["localhost:61613"], login: gw, password: "${env:NOT_SET_ANYWHERE}"}
channels:
  in: {endpoint: ems, name: alarms}
  out: {endpoint: broker, destination: "topic://nms.alarms", profile: strict}
links:
  alarms:
    from: in
    to: out
    mapping: {priority: linear, metadata: false}
    rules:
      - {rename: $Fd1$_Severity, to: severity}
      - {constant: origin, value: gw-1}
      - {route: "queue://urgent", when: "severity > 2"}
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "isthmus.yaml"
    path.write_text(CONFIG)
    return str(path)


def test_the_rules_of_a_link_need_neither_its_peers_nor_their_passwords(feed: Any, config: str) -> None:
    status, (line,), errors = feed(lines(ALARM), "--config", config, "--link", "alarms", "--explain")
    assert (status, errors) == (0, "")
    message = line["message"]
    assert message["headers"]["JMSDestination"] == "queue://urgent"
    assert message["headers"]["JMSPriority"] == 5
    sent = properties(message)
    assert sent["severity"] == ("int", 3)
    assert sent["origin"] == ("String", "gw-1")
    assert "$se" not in sent
    rules = [entry["rule"] for entry in line["explanation"]]
    assert rules[-3:] == ["LINK-RENAME", "LINK-CONSTANT", "LINK-ROUTE"]


def test_a_profile_named_on_the_command_line_comes_before_the_channel_s(feed: Any, config: str) -> None:
    _, (message,), _ = feed(lines(ALARM), "--config", config, "--link", "alarms", "--profile", "mq")
    assert "_sFd1_dSeverity" in properties(message)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--config", "{config}"), 2, "go together"),
        (("--link", "alarms"), 2, "go together"),
        (("--config", "{config}", "--link", "nothing"), 2, "has no link 'nothing' (there are: alarms)"),
        (("--config", "{config}.missing", "--link", "alarms"), 78, "CFG-FILE"),
        (("--profile", "none"), 2, "none"),
    ],
)
def test_a_wrong_command_line(feed: Any, config: str, arguments: tuple[str, ...], status: int, said: str) -> None:
    ended, answers, errors = feed(lines(ALARM), *(argument.format(config=config) for argument in arguments))
    assert (ended, answers) == (status, [])
    assert said in errors


def test_a_wrong_configuration(feed: Any, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(CONFIG.replace("linear", "upwards"))
    status, answers, errors = feed(lines(ALARM), "--config", str(path), "--link", "alarms")
    assert (status, answers) == (78, [])
    assert "wrong.yaml:12:" in errors


# As a process


def test_as_a_process_it_answers_line_by_line() -> None:
    with subprocess.Popen([*MAIN, "translate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(lines(ALARM))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["headers"]["JMSPriority"] == 6
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0


def test_it_imports_only_what_it_needs() -> None:
    """Starting fast means that neither settings, nor a grammar, nor a wire library is loaded for a plain translation."""
    program = (
        "import sys; from gateway.cli import run; status = run(['translate']); "
        "print([m for m in ('gateway.settings', 'yaml', 'lark', 'rich', 'stomp', 'omniORB', 'mappings.cdr') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], input=lines(ALARM), capture_output=True, timeout=60)
    assert ended.stdout.splitlines()[-1] == b"[]"


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    with subprocess.Popen(
        [*MAIN, "translate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        try:
            process.stdin.write(lines(*[ALARM] * 50))
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait() == 1
        assert process.stderr.read() == b""
