"""Fetching through `mvn`: one more attempt, then a reason. The script stands in for a network that fails on demand."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.parts.cache import PartUnavailable
from tests.parts.maven import distribution

SCRIPT = """#!/bin/sh
echo x >> {log}
[ "$(wc -l < {log})" -ge {good_attempt} ] || {{ echo '[ERROR] Could not transfer artifact'; exit 1; }}
for word in "$@"; do case "$word" in -DoutputDirectory=*) cp {archive} "${{word#*=}}/";; esac; done
"""


@pytest.fixture
def attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of an `mvn` that fails until its attempt number `good_attempt` (see _mvn)."""
    monkeypatch.setenv("ISTHMUS_PARTS", str(tmp_path / "parts"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "attempts.log"


def _mvn(attempts: Path, good_attempt: int) -> None:
    folder = attempts.parent
    attempts.touch()
    for name in ("lib/a.jar", "docs/long.html"):
        (folder / "thing-1" / name).parent.mkdir(parents=True)
        (folder / "thing-1" / name).write_text(name)
    archive = folder / "thing-1-bin.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder / "thing-1", "thing-1")
    script = folder / "mvn"
    script.write_text(SCRIPT.format(log=attempts, good_attempt=good_attempt, archive=archive))
    script.chmod(0o755)


def _fetch() -> Path:
    return distribution("org.example", "thing", "1", lambda path: path.startswith("lib/"))


def test_a_second_attempt_succeeds(attempts: Path) -> None:
    _mvn(attempts, good_attempt=2)
    folder = _fetch()
    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()) == [
        "STAMP",
        "lib/a.jar",
    ]
    assert _fetch() == folder
    assert attempts.read_text().count("x") == 2


def test_two_failures_give_the_reason(attempts: Path) -> None:
    _mvn(attempts, good_attempt=99)
    with pytest.raises(PartUnavailable, match="Could not transfer artifact"):
        _fetch()
    assert attempts.read_text().count("x") == 2


def test_no_mvn_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISTHMUS_PARTS", str(tmp_path / "parts"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PartUnavailable, match="apt-get install maven"):
        _fetch()
