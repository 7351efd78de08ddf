"""One gateway at a time owns a run folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adapters.base import StopError
from gateway.appliance.run_dir import RunDir, write_whole

HOLDER = """
import sys, time
from pathlib import Path
from gateway.appliance.run_dir import RunDir
RunDir(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


def test_a_folder_is_made_and_can_be_taken_again_after_release(tmp_path: Path) -> None:
    folder = RunDir(tmp_path / "deep" / "run")
    folder.acquire()
    folder.release()
    folder.release()
    RunDir(folder.path).acquire()


def test_a_folder_in_use_is_refused_with_the_process_that_has_it_and_freed_by_its_death(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StopError) as refused:
            RunDir(tmp_path).acquire()
        assert refused.value.code == "LNK-RUN-DIR-TAKEN"
        assert str(holder.pid) in refused.value.message
        holder.kill()
    RunDir(tmp_path).acquire()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(StopError) as refused:
        RunDir(tmp_path / "run").acquire()
    assert refused.value.code == "LNK-RUN-DIR"


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "notify.ior"
    write_whole(path, "IOR:00")
    write_whole(path, "IOR:01")
    assert path.read_text() == "IOR:01"
    assert [entry.name for entry in path.parent.iterdir()] == ["notify.ior"]
