"""`isthmus schema`."""

from __future__ import annotations

import json

import pytest

from gateway.cli import run
from gateway.cli.exit_codes import ExitCode


def test_it_prints_one_json_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == ExitCode.OK
    output = capsys.readouterr()
    assert output.err == ""
    schema = json.loads(output.out)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert {"name", "orb", "services", "endpoints", "channels", "links"} <= schema["properties"].keys()
    assert schema["required"] == ["name"]
