"""`isthmus domain` as users run it, against the domains of a gateway."""

from __future__ import annotations

import io
import json
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import pytest

from gateway.cli.domain import domain
from gateway.cli.guard import guarded
from tests.interop.event_domains.plant import FORBID, Plant
from tests.parts.gateway import ISTHMUS


def run(*arguments: str, status: int = 0) -> str:
    """In this process, which has an ORB already; what is printed, or said on standard error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert guarded(lambda: domain(list(arguments), standalone_mode=False)) == status, err.getvalue()
    return out.getvalue() if status == 0 else err.getvalue()


@pytest.fixture
def written(shared: Plant, tmp_path: Any) -> Any:
    """The file of a new domain's reference, and those of three channels."""
    files = []
    made = [shared.channels.create_channel([], [])[0] for _ in range(3)]
    for number, each in enumerate([shared.new_domain(FORBID, FORBID), *made]):
        file = tmp_path / f"{number}.ior"
        file.write_text(shared.orb.to_string(each))
        files.append(str(file))
    return files


def test_a_domain_is_built_and_taken_apart_by_commands(written: list[str]) -> None:
    made, *channels = written
    assert [run("add", made, channel) for channel in channels] == ["0\n", "1\n", "2\n"]
    assert run("connect", made, "0", "1") == "0\n"
    assert run("connect", made, "1", "2", "--events", "any", "--style", "pull") == "1\n"
    lines = [json.loads(line) for line in run("show", made, "--json").splitlines()]
    assert lines[0] == {"qos": {"CycleDetection": 1, "DiamondDetection": 1}}
    assert [(line["channel"]["id"], line["channel"]["state"]) for line in lines[1:4]] == [
        (0, "answers"),
        (1, "answers"),
        (2, "answers"),
    ]
    assert [line["connection"] for line in lines[4:]] == [
        {"id": 0, "supplier": 0, "consumer": 1, "events": "structured", "style": "push", "interface": ""},
        {"id": 1, "supplier": 1, "consumer": 2, "events": "any", "style": "pull", "interface": ""},
    ]
    text = run("show", made)
    assert "cycles forbidden, diamonds forbidden" in text
    assert "connection 1: 1 -> 2, any pull" in text
    refused = run("connect", made, "2", "0", status=1)
    assert "DOM-CYCLE" in refused
    assert "0 → 1 → 2 → 0" in refused
    assert "DOM-DIAMOND" in run("connect", made, "0", "2", status=1)
    assert "DOM-NO-CHANNEL" in run("connect", made, "0", "9", status=1)
    assert run("cycles", made) == run("diamonds", made) == ""
    assert 'channel0 -->|"0: structured push"| channel1' in run("draw", made)
    run("remove", made, "--connection", "1")
    assert "DOM-NO-CONNECTION" in run("remove", made, "--connection", "1", status=1)
    run("remove", made, "--channel", "0")
    assert "channel 0" not in run("show", made)


def test_domains_are_found_by_their_factory(shared: Plant, written: list[str]) -> None:
    factory = str(shared.gateway.folder / "domains.ior")
    command = [ISTHMUS, "domain", "list", factory]
    ids = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert ids == [str(id_) for id_ in shared.domains.get_all_domains()]
    assert "cycles" in run("show", factory, "--id", ids[-1])
    assert "DOM-NO-DOMAIN" in run("show", factory, "--id", "100000", status=1)
    assert "DOM-REFERENCE" in run("show", written[1], status=1)
    assert "COR-REFERENCE" in run("show", "no-such-file.ior", status=69)
