"""Configurations for tests, with the place of the expected finding marked in the text: `▶` stands before its first character."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from gateway.settings import Finding, Source, read
from gateway.settings.findings import Place

MARK = "▶"


def unmarked(text: str) -> tuple[str, Place]:
    """The text without its mark, and where that stood."""
    text = dedent(text).lstrip("\n")
    assert text.count(MARK) == 1, text
    before = text[: text.index(MARK)].split("\n")
    return text.replace(MARK, ""), Place(len(before), len(before[-1]) + 1)


def findings_in(
    text: str | bytes,
    *,
    environment: dict[str, str] | None = None,
    folder: Path = Path("/nonexistent"),
    secrets: bool = True,
) -> list[Finding]:
    data = text if isinstance(text, bytes) else dedent(text).lstrip("\n").encode()
    reading = read(Source("test.yaml", data, folder), environment=environment or {}, look_up_secrets=secrets)
    errors = any(finding.severity == "error" for finding in reading.findings)
    assert reading.runnable == (not errors and secrets), "whatever is not run has an error that says why"
    return list(reading.findings)


def the_finding(text: str, code: str, **options: object) -> Finding:
    """The one finding with this code, which must stand where the mark is."""
    plain, place = unmarked(text)
    found = [finding for finding in findings_in(plain, **options) if finding.code == code]  # type: ignore[arg-type]
    assert len(found) == 1, (code, [str(finding) for finding in findings_in(plain, **options)])  # type: ignore[arg-type]
    assert Place(found[0].line, found[0].column) == place, str(found[0])
    return found[0]


def codes(text: str, **options: object) -> list[str]:
    return [finding.code for finding in findings_in(text, **options)]  # type: ignore[arg-type]


VALID = """
name: nms-bridge
orb: {listen: "127.0.0.1:5555", call_timeout_ms: 5000}
services:
  notification: {factory_ior: run/notify.ior, channels: 2}
  broker: {listen: "127.0.0.1:61613", login: gw, password: "${env:SECRET}"}
admin: {listen: "127.0.0.1:8161"}
endpoints:
  ems: {type: cosnotification, factory: run/notify.ior}
  broker: {type: stomp, hosts: ["127.0.0.1:61613"], login: gw, password: "${env:SECRET}"}
  memory: {type: memory}
domain: {cycles: forbid, diamonds: forbid}
channels:
  ems-alarms: {endpoint: ems, channel: 0}
  jms-alarms: {endpoint: broker, destination: "topic://nms.alarms", profile: strict}
  audit: {endpoint: memory, name: audit, form: message}
links:
  alarms:
    from: ems-alarms
    to: jms-alarms
    filter: "$type_name == 'Alarm' and $Severity > 2"
    rules: [{rename: $h, to: severity}, {constant: site, value: zurich}]
    delivery: {window: 500, retry: {max_age_secs: 86400, back_off: {first_ms: 100}}}
  audit: {from: ems-alarms, to: audit, enabled: false}
tests:
  - {name: keeps, link: alarms, given: {event: {}}, expect: {properties: {severity: 3}}}
"""
"""Uses most of what there is, and has nothing to find but a note on property types."""
