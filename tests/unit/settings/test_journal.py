"""What lint finds about the journal, and which links use it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gateway.settings import Source, read
from gateway.settings.settings import Settings
from tests.unit.settings.marked import codes, the_finding

BASE = """
name: x
{top}
endpoints: {{memory: {{type: memory}}}}
channels:
  a: {{endpoint: memory, name: a}}
  b: {{endpoint: memory, name: b}}
  c: {{endpoint: memory, name: c}}
links:
  l: {{from: a, to: b, delivery: {{{l}}}}}
  k: {{from: a, to: c, delivery: {{{k}}}}}
"""


def text(top: str, l: str = "", k: str = "") -> str:  # noqa: E741 - as the links are called
    return BASE.format(top=top, l=l, k=k)


FINDINGS: list[tuple[str, str, str]] = [
    ("CFG-JOURNAL", text("journal: {folder: ▶/var/journal}"), "relative path"),
    ("CFG-JOURNAL", text("journal: {folder: ▶../journal}"), "relative path"),
    ("CFG-JOURNAL", text("journal: {max_bytes: 2000000, segment_bytes: ▶1000000}"), "500000"),
    ("CFG-VALUE", text("journal: {max_bytes: ▶1000}"), "1048576"),
    ("CFG-VALUE", text("journal: {compression: ▶lz4}"), "zstd"),
    ("CFG-VALUE", text("journal: {}", "journal: {when_full: ▶drop}"), "drop_oldest"),
    ("CFG-NO-EFFECT", text("journal: {▶keep_bytes: 5000}"), "keep_secs"),
    ("CFG-NO-EFFECT", text("", "▶journal: {when_full: drop_oldest}"), "journal: {}"),
    ("CFG-JOURNAL-MIXED", text("journal: {}", "", "journal: ▶{enabled: false}"), '"l"'),
    ("CFG-SECRET-PLAIN", text(f"journal: {{secret_key: ▶{'ab' * 32}}}"), "${env:NAME}"),
    ("CFG-SECRET-PLAIN", text("journal: {older_secret_keys: [▶short]}"), "${env:NAME}"),
]


@pytest.mark.parametrize(("code", "configuration", "words"), FINDINGS)
def test_each_finding_at_its_place(code: str, configuration: str, words: str) -> None:
    found = str(the_finding(configuration, code))
    assert words in found
    assert "abab" not in found


@pytest.mark.parametrize("top", ["", "journal: {}", "journal: {max_bytes: null, keep_secs: 60, keep_bytes: 1}"])
def test_nothing_is_found_where_nothing_is_wrong(top: str) -> None:
    assert codes(text(top)) == []


def test_a_key_is_checked_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("ab" * 31)
    configuration = text("journal: {secret_key: '${file:key}', older_secret_keys: ['${env:OLD}']}")
    reading = read(Source("x.yaml", configuration.encode(), tmp_path), environment={**os.environ, "OLD": "cd" * 32})
    (finding,) = reading.findings
    assert (finding.code, finding.severity) == ("CFG-JOURNAL", "error")
    assert "abab" not in str(finding)
    assert "openssl rand -hex 32" in finding.hint


def test_links_use_the_journal_where_there_is_one_and_they_do_not_say_no() -> None:
    assert not settings_of().journalled("l")
    settings = settings_of(journal={}, run_dir="there")
    assert settings.journalled("l")
    assert not settings.journalled("k")
    assert settings.journal_path("a") == Path("there/journal/a")
    assert settings_of(yes=True).journalled("k"), "with the default options"


def test_without_a_word_about_it_the_journal_is_for_sources_that_forget_what_they_have_handed_over() -> None:
    ems = {"type": "cosnotification", "factory": "x.ior"}
    channels = {
        "a": {"endpoint": "m", "channel": 0},
        "b": {"endpoint": "m", "channel": 1},
        "c": {"endpoint": "m", "channel": 2},
    }
    corba = {"endpoints": {"m": ems}, "channels": channels}
    assert settings_of(**corba).journalled("l")
    assert not settings_of(**corba).journalled("k"), "it says no"
    assert not settings_of(**corba, journal=None).journalled("l"), "null: for none"
    assert settings_of(**corba).journal_options == settings_of(**corba, journal={}).journal


def settings_of(*, yes: bool = False, **more: Any) -> Settings:
    whole = {
        "name": "x",
        "endpoints": {"m": {"type": "memory"}},
        "channels": {name: {"endpoint": "m", "name": name} for name in "abc"},
        "links": {
            "l": {"from": "a", "to": "b"},
            "k": {"from": "a", "to": "c", "delivery": {"journal": {"enabled": yes}}},
        },
    }
    return Settings.model_validate({**whole, **more})
