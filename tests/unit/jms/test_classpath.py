"""Entries of `classpath:`."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.base import StopError
from adapters.jms.classpath import fingerprint, resolve


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.jar", "a.jar", "notes.txt"):
        (tmp_path / name).write_text(name)
    return tmp_path.resolve()


def names(paths: tuple[str, ...]) -> list[str]:
    return [Path(path).name for path in paths]


def test_a_jar_a_folder_and_a_pattern(folder: Path) -> None:
    assert names(resolve([str(folder / "b.jar")])) == ["b.jar"]
    assert resolve([str(folder)]) == tuple(str(path) for path in (folder, folder / "a.jar", folder / "b.jar"))
    assert names(resolve([str(folder / "*.jar")])) == ["a.jar", "b.jar"]
    assert names(resolve([str(folder / "b.jar"), str(folder / "*.jar")])) == ["b.jar", "a.jar"]


def test_paths_from_where_we_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert resolve(["a.jar"]) == (str(folder / "a.jar"),)
    assert names(resolve(["*.jar"])) == ["a.jar", "b.jar"]


@pytest.mark.parametrize("entry", ["missing.jar", "missing/*.jar", "*.war"])
def test_an_entry_that_brings_nothing_stops_the_link(folder: Path, entry: str) -> None:
    with pytest.raises(StopError) as caught:
        resolve([str(folder / "a.jar"), str(folder / entry)])
    assert caught.value.code == "JMS-CLASSPATH"
    assert entry in caught.value.message


def test_a_replaced_jar_shows(folder: Path) -> None:
    paths = resolve([str(folder)])
    before = fingerprint(paths)
    assert fingerprint(paths) == before
    (folder / "a.jar").write_text("another version")
    assert fingerprint(paths) != before
