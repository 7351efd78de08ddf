"""What lint finds about the capture, and which links are captured."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.settings import Source, read
from tests.unit.settings.marked import codes, the_finding

BASE = """
name: x
{top}
endpoints: {{memory: {{type: memory}}}}
channels:
  a: {{endpoint: memory, name: a}}
  b: {{endpoint: memory, name: b}}
links:
  l: {{from: a, to: b{l}}}
"""


def text(top: str, l: str = "") -> str:  # noqa: E741 - as the link is called
    return BASE.format(top=top, l=l)


def test_a_link_that_asks_without_a_capture_is_told() -> None:
    assert "capture: {}" in str(the_finding(text("", ", ▶capture: true"), "CFG-CAPTURE"))


@pytest.mark.parametrize(
    ("top", "l"), [("", ", capture: false"), ("capture: {}", ", capture: true"), ("capture: {}", "")]
)
def test_nothing_is_found_where_nothing_is_wrong(top: str, l: str) -> None:  # noqa: E741
    assert codes(text(top, l)) == []


def test_a_key_is_checked_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("ab" * 31)
    reading = read(Source("x.yaml", text('capture: {secret_key: "${file:key}"}').encode(), tmp_path))
    (finding,) = reading.findings
    assert finding.code == "CFG-CAPTURE"
    assert "abab" not in str(finding)


@pytest.mark.parametrize(
    ("top", "l", "captured"),
    [
        ("", "", False),
        ("capture: {}", "", True),
        ("capture: {}", ", capture: false", False),
        ("", ", capture: true", False),
    ],
)
def test_which_links_are_captured(top: str, l: str, captured: bool, tmp_path: Path) -> None:  # noqa: E741
    settings = read(Source("x.yaml", text(top, l).encode(), tmp_path)).settings
    assert settings is not None
    assert settings.captured("l") is captured


def test_what_is_confidential_is_captured_only_when_the_link_says_so(tmp_path: Path) -> None:
    for l, captured in (("", False), (", capture: true", True)):  # noqa: E741
        marked = text("capture: {}", l).replace("name: b}", "name: b, confidential: true}")
        settings = read(Source("x.yaml", marked.encode(), tmp_path)).settings
        assert settings is not None
        assert settings.captured("l") is captured
