"""A cached part is complete or absent, and made once however many processes ask."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts.cache import PartUnavailable, made

ROOT = Path(__file__).parents[3]

ASK = """
import sys, time
from pathlib import Path
from tests.parts.cache import made
root = Path(sys.argv[1])
def make(folder):
    with (root / "log").open("a") as log:
        log.write("made\\n")
    (folder / "first").write_text("1")
    time.sleep(0.5)
    (folder / "second").write_text("2")
folder = made("part", "1", make, root=root)
print(sorted(file.name for file in folder.iterdir()))
"""


def _writes(text: str):  # type: ignore[no-untyped-def]
    return lambda folder: (folder / "content").write_text(text)


def test_made_once_when_processes_ask_at_once(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", ASK, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert outputs == ["['STAMP', 'first', 'second']\n"] * 3
    assert (tmp_path / "log").read_text() == "made\n"


def test_kept_while_the_stamp_is_the_same(tmp_path: Path) -> None:
    first = made("part", "1", _writes("old"), root=tmp_path)
    assert (made("part", "1", _writes("new"), root=tmp_path) / "content").read_text() == "old"
    assert made("part", "2", _writes("new"), root=tmp_path) == first
    assert (first / "content").read_text() == "new"


def test_a_failure_leaves_nothing_and_may_be_mended(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").write_text("")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        made("part", "1", fails, root=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".part.lock"]
    assert (made("part", "1", _writes("whole"), root=tmp_path) / "content").read_text() == "whole"


def test_what_cannot_be_had_is_not_tried_again(tmp_path: Path) -> None:
    def dead_network(_: Path) -> None:
        raise PartUnavailable("no route")

    with pytest.raises(PartUnavailable, match="no route"):
        made("part", "1", dead_network, root=tmp_path)
    with pytest.raises(PartUnavailable, match="no route"):
        made("part", "1", lambda _: pytest.fail("tried again"), root=tmp_path)


def test_remains_of_a_killed_process_are_swept(tmp_path: Path) -> None:
    (tmp_path / ".part.making-dead").mkdir()
    made("part", "1", _writes(""), root=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".part.lock", "part"]
