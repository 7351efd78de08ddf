"""`${env:NAME}` and `${file:PATH}`: they bring their values, say when they cannot, and nobody is ever shown what they bring."""

from __future__ import annotations

import json
import logging
import os
import pickle
import traceback
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr

from gateway.cli import run
from gateway.settings import Reading, Source, read
from gateway.settings.nodes import scalars
from gateway.settings.picture import picture_of
from gateway.settings.schema import schema_text
from gateway.settings.secrets import LARGEST_FILE_BYTES
from tests.unit.settings.marked import VALID, codes, findings_in, the_finding

SECRET = "hunter2:with spaces/and@signs"


def login_of(login: str, folder: Path, **environment: str) -> str | None:
    """What becomes of a value that holds references."""
    text = f"name: x\nendpoints: {{b: {{type: stomp, hosts: ['a:1'], login: {json.dumps(login)}}}}}\n"
    reading = read(Source("test.yaml", text.encode(), folder), environment=environment)
    assert reading.runnable, reading.findings
    assert reading.settings is not None
    return reading.settings.endpoints["b"].login  # type: ignore[union-attr]


def test_they_bring_what_they_name(tmp_path: Path) -> None:
    (tmp_path / "user").write_text("file-user\n")
    (tmp_path / "crlf").write_bytes("Zoë \r\n".encode())
    assert login_of("${env:USER_NAME}", tmp_path, USER_NAME="env-user") == "env-user"
    assert login_of("${file:user}", tmp_path) == "file-user"
    assert login_of(f"${{file:{tmp_path}/user}}", Path("/nonexistent")) == "file-user"
    assert login_of("${file:crlf}", tmp_path) == "Zoë "
    assert login_of("a-${env:A}-${file:user}-b", tmp_path, A="1") == "a-1-file-user-b"


def test_what_they_bring_is_not_looked_at_again(tmp_path: Path) -> None:
    assert login_of("${env:A}", tmp_path, A="${env:B} $${", B="x") == "${env:B} $${"


def test_two_dollars_stand_for_one(tmp_path: Path) -> None:
    assert login_of("$${env:A}", tmp_path) == "${env:A}"
    assert login_of("$a ${env:A} {x}", tmp_path, A="1") == "$a 1 {x}"


def test_what_they_bring_is_always_text(tmp_path: Path) -> None:
    assert login_of("${env:A}", tmp_path, A="true") == "true"
    assert login_of("${env:A}", tmp_path, A="007") == "007"


@pytest.mark.parametrize(
    ("reference", "code", "words"),
    [
        ("${env:NOT_SET}", "CFG-SECRET-MISSING", "NOT_SET is not set"),
        ("${env:EMPTY}", "CFG-SECRET-MISSING", "EMPTY is empty"),
        ("${env:BROKEN}", "CFG-SECRET-MISSING", "not UTF-8"),
        ("${file:missing}", "CFG-SECRET-MISSING", "${file:missing}"),
        ("${file:.}", "CFG-SECRET-MISSING", "regular file"),
        ("${file:empty}", "CFG-SECRET-MISSING", "is empty"),
        ("${file:binary}", "CFG-SECRET-MISSING", "not UTF-8"),
        ("${file:large}", "CFG-SECRET-MISSING", "64 KiB"),
        ("${file:pipe}", "CFG-SECRET-MISSING", "regular file"),
        ("${env:A B}", "CFG-SECRET-SYNTAX", "letters, digits"),
        ("${env:}", "CFG-SECRET-SYNTAX", "${env:NAME}"),
        ("${ENV:A}", "CFG-SECRET-SYNTAX", "${env:NAME}"),
        ("${A}", "CFG-SECRET-SYNTAX", "$${"),
        ("${", "CFG-SECRET-SYNTAX", "$${"),
        ("${env:A", "CFG-SECRET-SYNTAX", "$${"),
    ],
)
def test_a_reference_that_brings_nothing_is_an_error_at_its_place(
    tmp_path: Path, reference: str, code: str, words: str
) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"x" * (LARGEST_FILE_BYTES + 1))
    os.mkfifo(tmp_path / "pipe")
    text = f"name: x\nendpoints: {{b: {{type: stomp, hosts: ['a:1'], password: ▶{json.dumps(reference)}}}}}\n"
    finding = the_finding(text, code, folder=tmp_path, environment={"EMPTY": "", "BROKEN": "a\udcff", "A": "x"})
    assert finding.severity == "error"
    assert words in finding.message + finding.hint


def test_a_value_that_is_not_known_has_that_one_finding_only() -> None:
    text = """
    name: x
    orb: {listen: "${env:NOWHERE}"}
    endpoints: {b: {type: stomp, hosts: ["${env:NOWHERE}"]}}
    channels: {c: {endpoint: b, destination: "${env:NOWHERE}"}, d: {endpoint: "${env:NOWHERE}", name: d}}
    links: {l: {from: "${env:NOWHERE}", to: c, filter: "${env:NOWHERE}"}}
    """
    assert [code for code in codes(text) if not code.startswith("CFG-UNUSED")] == ["CFG-SECRET-MISSING"] * 6


def test_without_looking_up_only_their_form_is_checked() -> None:
    text = 'name: x\norb: {listen: "${env:NOWHERE}"}\nadmin: {listen: "${file:/etc/passwd}"}\n'
    assert codes(text, secrets=False) == []
    assert codes(text + 'run_dir: "${x}"\n', secrets=False) == ["CFG-SECRET-SYNTAX"]


EVERYWHERE = """
name: x
orb: {listen: "${env:SECRET}", publish: "${env:SECRET}"}
services: {notification: {factory_ior: "${env:SECRET}"}, broker: {listen: "${env:SECRET}", password: "${env:SECRET}"}}
admin: {listen: "${env:SECRET}"}
endpoints:
  b: {type: stomp, hosts: ["${env:SECRET}"], login: "${env:SECRET}", password: "${env:SECRET}", broker: "${env:SECRET}"}
  c: {type: cosnotification, factory: "${env:SECRET}", call_timeout_ms: "${env:SECRET}"}
  d: {type: "${env:SECRET}"}
  m: {type: memory}
channels:
  b: {endpoint: b, destination: "${env:SECRET}", selector: "${env:SECRET}"}
  c: {endpoint: c, channel: "${env:SECRET}"}
  d: {endpoint: "${env:SECRET}"}
  m: {endpoint: m, name: "${env:SECRET}"}
  n: {endpoint: m, name: n, form: message, profile: strict}
domain: {cycles: "${env:SECRET}"}
links:
  a: {from: "${env:SECRET}", to: "${env:SECRET}", filter: "${env:SECRET}"}
  b: {from: "${env:SECRET}", to: m}
  e: {from: m, to: "${env:SECRET}", selector: "${env:SECRET}"}
  f:
    from: m
    to: n
    filter: "$x == ' ${env:SECRET}"
    mapping: {event_name_from: "JMS${env:SECRET}", priority: "${env:SECRET}"}
    dead_letter: {file: "/${env:SECRET}"}
    rules:
      - {rename: "${env:SECRET}", to: "${env:SECRET}"}
      - {rename: "${env:SECRET}", to: "JMS${env:SECRET}"}
      - {constant: "${env:SECRET}", type: int, value: "${env:SECRET}"}
      - {route: "${env:SECRET}", when: "${env:SECRET}"}
      - {route: "queue://x", when: "${env:SECRET}"}
      - {copy_header: "${env:SECRET}", to: "${env:SECRET}"}
tests:
  - {name: "${env:SECRET}", link: "${env:SECRET}", given: {file: "${env:SECRET}"}, expect: {error: "${env:SECRET}"}}
  - {name: "${env:SECRET}", link: f, given: {file: "${env:SECRET}"}, expect: {error: "${env:SECRET}"}}
"${env:SECRET}": x
password:hunter2: x
secrets: {password: hunter2}
"""
"""A reference wherever there is text, most of them wrong in their place; and secrets where nobody should have put them."""


def everything_shown(reading: Reading) -> str:
    """All that the settings show of themselves, in all the ways that a program might print them."""
    settings = reading.settings
    shown = [str(finding) for finding in reading.findings]
    shown += [json.dumps(finding.to_json()) for finding in reading.findings]
    shown += [repr(settings), str(settings), f"{settings}", f"{settings!r:>10}"]
    if settings is not None:
        parts = [settings.orb, settings.services, settings.admin, *settings.tests]
        parts += [*settings.endpoints.values(), *settings.channels.values(), *settings.links.values()]
        shown += [repr(part) + str(part) for part in parts]
        shown += [repr(rule) for link in settings.links.values() for rule in link.rules]
    if reading.document is not None:
        shown.append(repr(picture_of(reading.document)))
    return "\n".join(shown)


@pytest.mark.parametrize(
    ("secret", "other"),
    [
        (SECRET, SECRET.replace("hunter2", "correct-horse")),
        ("hunter2", "correcthorse"),
        ("y", "zzz"),
        ("a:1", "b:22"),
        ("queue://hunter2", "topic://y"),
        ("y = 'hunter2", "zz = 'correct horse"),
        ("9", "88"),
    ],
)
def test_no_finding_repr_or_drawing_shows_a_secret(secret: str, other: str) -> None:
    """With short secrets too: another one of the same kind must give the very same text."""
    source = Source("test.yaml", EVERYWHERE.encode(), Path("/nonexistent"))
    shown = everything_shown(read(source, environment={"SECRET": secret}))
    assert "hunter2" not in shown
    assert shown == everything_shown(read(source, environment={"SECRET": other}))
    assert "${env:SECRET}" in shown


def test_reprs_name_keys_only() -> None:
    source = Source("test.yaml", VALID.encode(), Path("/nonexistent"))
    reading = read(source, environment={"SECRET": SECRET})
    assert reading.runnable
    assert reading.settings is not None
    broker = reading.settings.endpoints["broker"]
    assert repr(broker) == "StompEndpoint(hosts, login, password, type)"
    assert isinstance(broker.password, SecretStr)  # type: ignore[union-attr]
    assert broker.password.get_secret_value() == SECRET  # type: ignore[union-attr]
    assert SECRET not in everything_shown(reading)
    assert SECRET not in reading.settings.model_dump_json()


def test_logs_and_tracebacks_do_not_show_them(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    settings = read(Source("t", VALID.encode(), Path("/nonexistent")), environment={"SECRET": SECRET}).settings
    logging.getLogger("test").error("settings %s %r", settings, settings)
    structlog.wrap_logger(structlog.PrintLogger()).error(
        "settings", settings=settings, endpoints=settings and settings.endpoints
    )
    try:
        raise TypeError(f"no wire for {settings!r}")
    except TypeError:
        shown = traceback.format_exc()
    output = capsys.readouterr()
    assert SECRET not in caplog.text + output.out + output.err + shown


@pytest.mark.parametrize("command", [["lint"], ["lint", "--json"], ["graph"], ["graph", "--format", "dot"]])
def test_no_command_shows_them(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    path = tmp_path / "isthmus.yaml"
    for text in (EVERYWHERE, VALID):
        path.write_text(text)
        run([command[0], str(path), *command[1:]])
    output = capsys.readouterr()
    assert "alarms" in output.out + output.err or "CFG-" in output.out
    assert "hunter2" not in output.out + output.err


def test_the_schema_is_not_made_from_any_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    assert SECRET not in schema_text()


def test_marks_on_values_survive_nothing_but_the_reading() -> None:
    """Settings are plain values: what leaves a process by pickling is what was configured, and nothing of the file."""
    settings = read(Source("t", VALID.encode(), Path("/nonexistent")), environment={"SECRET": SECRET}).settings
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_a_secret_next_to_its_key_is_not_repeated() -> None:
    found = findings_in("name: x\nendpoints: {b: {type: stomp, hosts: ['a:1'], password:hunter2}}\n")
    assert [finding.code for finding in found if finding.severity == "error"] == ["CFG-UNKNOWN-KEY"]
    assert not any("hunter2" in str(finding) for finding in found)
    assert "password …" in found[0].message or any("password …" in finding.message for finding in found)


def test_every_scalar_with_a_reference_is_marked() -> None:
    reading = read(Source("t", EVERYWHERE.encode(), Path("/nonexistent")), environment={"SECRET": SECRET})
    assert reading.document is not None
    for scalar in scalars(reading.document.top):
        assert scalar.substituted == ("${" in scalar.text)
