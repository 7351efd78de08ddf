"""docs/operating.md and the unit for systemd speak of things that are there."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from gateway.cli.command_table import COMMANDS
from gateway.cli.exit_codes import ExitCode
from gateway.telemetry.metric_defs import ALL
from tests.docs.test_errors import codes_on_the_page

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
UNIT = (ROOT / "config" / "isthmus.service").read_text(encoding="utf-8")


def settings(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def test_the_page_has_every_metric_with_its_meaning() -> None:
    rows = re.findall(r"^\| `(isthmus_\w+)` \| (\w+) \| ([\w, ]+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(metric.name, metric.kind, ", ".join(metric.labels), metric.meaning) for metric in ALL]


def test_alerts_ask_for_metrics_and_outcomes_that_there_are() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    rules = yaml.safe_load(block)["groups"][0]["rules"]
    known = {metric.name for metric in ALL}
    for rule in rules:
        assert set(re.findall(r"isthmus_\w+", rule["expr"])) <= known, rule
    settled = next(metric for metric in ALL if metric.name == "isthmus_link_settled_total")
    for outcomes in re.findall(r'outcome=~?"([^"]+)"', block):
        assert all(outcome in settled.meaning for outcome in outcomes.split("|")), outcomes


def test_codes_and_commands_on_the_page_exist() -> None:
    assert set(re.findall(r"\b[A-Z]{3}(?:-[A-Z]+)+\b", PAGE)) <= set(codes_on_the_page())
    assert set(re.findall(r"`isthmus (\w+)", PAGE)) <= set(COMMANDS)


def test_the_unit_does_not_try_again_what_a_restart_cannot_mend() -> None:
    (never,) = settings("RestartPreventExitStatus")
    assert {int(status) for status in never.split()} == {ExitCode.USAGE, ExitCode.CONFIGURATION}


def test_the_unit_lets_the_orb_ask_for_the_addresses_of_the_machine() -> None:
    """Without netlink an ORB that listens on 0.0.0.0 writes 127.0.0.1 into its references, and no peer can call it."""
    (families,) = settings("RestrictAddressFamilies")
    assert {"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"} == set(families.split())
