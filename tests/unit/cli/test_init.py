"""`isthmus init`: a file to start from, and never over somebody's work."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli import run
from gateway.cli.exit_codes import ExitCode
from gateway.settings import check, load


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_configuration_that_can_be_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init"]) == ExitCode.OK
    assert "isthmus.yaml" in capsys.readouterr().out
    path = folder / "isthmus.yaml"
    assert [str(finding) for finding in check(path) if finding.severity != "note"] == []
    assert load(path).links.keys() == {"alarms"}
    assert run(["lint", "isthmus.yaml"]) == ExitCode.OK


def test_it_overwrites_only_when_told_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "mine.yaml"
    path.write_text("precious")
    assert run(["init", "mine.yaml"]) == ExitCode.FAILED
    assert path.read_text() == "precious"
    assert "--force" in capsys.readouterr().err
    assert run(["init", "--force", "mine.yaml"]) == ExitCode.OK
    assert path.read_text().startswith("# yaml-language-server")


def test_a_file_that_cannot_be_written_is_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "missing/isthmus.yaml"]) == ExitCode.FAILED
    assert run(["init", "--force", str(folder)]) == ExitCode.FAILED
    output = capsys.readouterr()
    assert len(output.err.splitlines()) == 2
    assert all(line.startswith("isthmus: ") for line in output.err.splitlines())
    assert list(folder.iterdir()) == []
