"""Fetching from Debian: which packages, with whose lists, and what a failure says. The scripts stand in for apt."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.parts.cache import PartUnavailable
from tests.parts.debian import unpacked

APT_CACHE = """#!/bin/sh
case "$*" in
  policy*) echo "thing:"; echo "  Candidate: {candidate}";;
  *depends*) printf 'thing\\n  Depends: part-a\\n  Depends: libc6\\n  Depends: <part-virtual>\\npart-a\\nlibc6\\n';;
esac
"""
APT_GET = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
  *update*) exit 0;;
  *download*) [ -z "{fails}" ] || {{ echo 'E: {fails}' >&2; exit 100; }}; cp {archive} .;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISTHMUS_PARTS", str(tmp_path / "parts"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def _apt(machine: Path, candidate: str = "1.0", fails: str = "") -> Path:
    content = machine / "content"
    for name, text in (("usr/lib/thing/run", "x"), ("usr/share/doc/thing/long", "x")):
        (content / name).parent.mkdir(parents=True)
        (content / name).write_text(text)
    control = content / "DEBIAN" / "control"
    control.parent.mkdir()
    control.write_text(
        "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: nobody <n@example>\nDescription: x\n"
    )
    archive, log = machine / "thing.deb", machine / "apt.log"
    subprocess.run(["dpkg-deb", "--build", str(content), str(archive)], check=True, capture_output=True, timeout=60)
    for name, text in (
        ("apt-cache", APT_CACHE.format(candidate=candidate)),
        ("apt-get", APT_GET.format(log=log, archive=archive, fails=fails)),
    ):
        (machine / name).write_text(text)
        (machine / name).chmod(0o755)
    return log


def test_the_package_and_the_chosen_dependencies_are_unpacked_without_documentation(machine: Path) -> None:
    log = _apt(machine)
    folder = unpacked("thing", "part-")
    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()) == [
        "STAMP",
        "usr/lib/thing/run",
    ]
    [download] = log.read_text().splitlines()
    assert download.endswith("download part-a thing")
    assert unpacked("thing", "part-") == folder
    assert len(log.read_text().splitlines()) == 1


def test_a_machine_without_lists_gets_its_own(machine: Path) -> None:
    log = _apt(machine, candidate="(none)")
    unpacked("thing", "part-")
    update, download = log.read_text().splitlines()
    assert update.endswith("update")
    assert "Dir::State::lists=" in update
    assert "Dir::State::lists=" in download


def test_a_failure_gives_the_reason_and_is_not_tried_again(machine: Path) -> None:
    log = _apt(machine, fails="Unable to fetch some archives")
    for _ in range(2):
        with pytest.raises(PartUnavailable, match="Unable to fetch some archives"):
            unpacked("thing", "part-")
    assert len(log.read_text().splitlines()) == 1


def test_no_apt_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISTHMUS_PARTS", str(tmp_path / "parts"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PartUnavailable, match="apt-get"):
        unpacked("thing", "part-")
