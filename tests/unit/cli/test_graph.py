"""`isthmus graph`: the event domain as Mermaid and DOT text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli import run
from gateway.cli.exit_codes import ExitCode

TEXT = """\
name: x
endpoints:
  ems: {type: cosnotification, factory: run/notify.ior}
  broker: {type: stomp, hosts: ["a:1"], password: "${env:ISTHMUS_TEST_NOT_SET}"}
channels:
  alarms-in: {endpoint: ems, channel: 0}
  alarms-out: {endpoint: broker, destination: "topic://nms.alarms"}
  audit: {endpoint: broker, destination: "queue://audit"}
links:
  alarms: {from: alarms-in, to: alarms-out, filter: "$type_name == 'Alarm'"}
  audit: {from: alarms-in, to: audit, enabled: false}
"""

MERMAID = """\
flowchart LR
  subgraph group0["ems (cosnotification)"]
    channel0["alarms-in<br/>channel 0"]
  end
  subgraph group1["broker (stomp)"]
    channel1["alarms-out<br/>topic://nms.alarms"]
    channel2["audit<br/>queue://audit"]
  end
  channel0 -->|"alarms<br/>#36;type_name == 'Alarm'"| channel1
  channel0 -.->|"audit"| channel2
"""

DOT = r"""digraph domain {
  rankdir=LR
  node [shape=box]
  subgraph cluster_0 {
    label="ems (cosnotification)"
    channel0 [label="alarms-in\nchannel 0"]
  }
  subgraph cluster_1 {
    label="broker (stomp)"
    channel1 [label="alarms-out\ntopic://nms.alarms"]
    channel2 [label="audit\nqueue://audit"]
  }
  channel0 -> channel1 [label="alarms\n$type_name == 'Alarm'"]
  channel0 -> channel2 [label="audit" style=dashed]
}
"""


ROUTED = """\
name: x
endpoints:
  ems: {type: cosnotification, factory: run/notify.ior}
  broker: {type: stomp, hosts: ["a:1"]}
channels:
  in: {endpoint: ems, channel: 0}
  out: {endpoint: broker, destination: "topic://out"}
  bad: {endpoint: broker, destination: "queue://bad"}
links:
  one:
    from: in
    to: out
    rules: [{drop: x}, {route: "queue://bad", when: "Severity > 4"}, {route: "queue://odd", when: "x = 1"}]
  two: {from: in, to: bad, rules: [{route: "queue://odd", when: "y = 1"}], enabled: false}
"""

ROUTES = """\
flowchart LR
  subgraph group0["ems (cosnotification)"]
    channel0["in<br/>channel 0"]
  end
  subgraph group1["broker (stomp)"]
    channel1["out<br/>topic://out"]
    channel2["bad<br/>queue://bad"]
    channel3["queue://odd<br/>by a rule only"]
  end
  channel0 -->|"one"| channel1
  channel0 -.->|"two"| channel2
  channel0 -->|"one<br/>when Severity #62; 4"| channel2
  channel0 -->|"one<br/>when x = 1"| channel3
  channel0 -.->|"two<br/>when y = 1"| channel3
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "isthmus.yaml"
    file.write_text(TEXT)
    return file


@pytest.mark.parametrize(
    ("options", "drawing"), [([], MERMAID), (["--format", "mermaid"], MERMAID), (["--format", "dot"], DOT)]
)
def test_channels_stand_in_their_endpoints_and_links_between_them(
    options: list[str], drawing: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Secrets are not needed, and not looked up."""
    assert run(["graph", str(path), *options]) == ExitCode.OK
    output = capsys.readouterr()
    assert output.out == drawing
    assert output.err == ""


def test_a_domain_with_a_cycle_is_drawn_so_that_it_can_be_seen(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(TEXT + "  back: {from: audit, to: nowhere}\n  round: {from: alarms-out, to: alarms-in}\n")
    assert run(["graph", str(path)]) == ExitCode.CONFIGURATION
    output = capsys.readouterr()
    assert 'channel1 -->|"round"| channel0' in output.out
    assert '  channel3["nowhere<br/>does not exist"]' in output.out
    assert "DOM-CYCLE" in output.err
    assert "CFG-UNKNOWN-CHANNEL" in output.err


def test_what_cannot_be_read_is_not_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", str(tmp_path / "missing.yaml")]) == ExitCode.CONFIGURATION
    output = capsys.readouterr()
    assert output.out == ""
    assert "CFG-FILE" in output.err


def test_an_unknown_format_is_a_mistake_of_the_command_line(path: Path) -> None:
    assert run(["graph", str(path), "--format", "svg"]) == ExitCode.USAGE


def test_what_rules_send_elsewhere_is_drawn(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(ROUTED)
    assert run(["graph", str(path)]) == ExitCode.OK
    assert capsys.readouterr().out == ROUTES
