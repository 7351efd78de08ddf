"""The configurations that we give away are right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gateway.settings import Source, read
from gateway.settings.template import template_text
from mappings.forms.events import event_from_json
from mappings.forms.messages import message_from_json

CONFIG = Path(__file__).parents[3] / "config"
EXAMPLES = sorted(CONFIG.glob("examples/*.yaml"))


def test_there_are_examples() -> None:
    assert {path.name for path in EXAMPLES} == {
        "ems-to-broker.yaml",
        "ems-to-mq.yaml",
        "broker-to-corba.yaml",
        "in-memory.yaml",
        "notices.yaml",
        "typed-to-broker.yaml",
    }


@pytest.mark.parametrize("path", [CONFIG / "isthmus.yaml", *EXAMPLES], ids=lambda path: path.name)
def test_they_lint_clean(path: Path, tmp_path: Path) -> None:
    """Secrets are given as their users would; a note on STOMP is no blemish."""
    (tmp_path / "secret").write_text("x")
    data = path.read_bytes().replace(b"/run/secrets/broker", str(tmp_path / "secret").encode())
    reading = read(Source(str(path), data, path.parent), environment={"BROKER_PASSWORD": "x"})
    assert [str(finding) for finding in reading.findings if finding.code != "CFG-TYPES-LOST"] == []
    assert reading.runnable


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_what_their_tests_are_given_can_be_read(path: Path) -> None:
    settings = read(path, look_up_secrets=False).settings
    assert settings is not None
    for test in settings.tests:
        if test.given.event is not None:
            event_from_json(test.given.event)
        elif test.given.message is not None:
            message_from_json(test.given.message)
        else:
            assert test.given.file is not None
            message_from_json(json.loads((path.parent / test.given.file).read_text(encoding="utf-8")))


def test_the_commented_options_of_the_template_are_right_too() -> None:
    """A user takes the # away and expects it to work. Comments that stand indented are options; two of them are alternatives."""
    alternatives = ("    factory: run/notify.ior ", '    # password: "${env:BROKER_PASSWORD}" ')
    lines = [line for line in template_text().splitlines() if not line.startswith(alternatives)]
    assert len(lines) == len(template_text().splitlines()) - 2
    text, count = re.subn(r"^( +)# ", r"\1", "\n".join(lines), flags=re.MULTILINE)
    assert count >= 10
    reading = read(Source("template", text.encode(), Path("/nonexistent")), look_up_secrets=False)
    assert [str(finding) for finding in reading.findings if finding.severity == "error"] == []
    assert reading.settings is not None
    alarms = reading.settings.links["alarms"]
    assert alarms.filter is not None
    assert len(alarms.rules) == 2
    assert alarms.delivery.retry.max_age_secs == 86400


def test_the_configuration_on_the_page_is_right() -> None:
    page = (CONFIG.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    reading = read(Source("page", text.encode(), Path("/nonexistent")), environment={"BROKER_PASSWORD": "x"})
    assert [finding.code for finding in reading.findings] == ["CFG-TYPES-LOST"]
    assert reading.runnable
