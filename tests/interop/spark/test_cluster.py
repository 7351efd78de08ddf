"""A standalone cluster of two workers gives what local[2] gives, and both what a user sees at the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark.job import Command
from tests.interop.spark.test_jobs import done
from tests.parts.spark import SMALL, cluster, environment
from tests.unit.spark.test_broken_files import damage

ISTHMUS = Path(sys.executable).with_name("isthmus")
CLUSTER = {
    **SMALL,
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def isthmus(folder: Path, *arguments: str, conf: dict[str, str]) -> subprocess.CompletedProcess[str]:
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(ISTHMUS), "spark", *arguments, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def report(folder: Path) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return result


def test_two_workers_give_what_two_cores_give(session: Any, traffic: Path, tmp_path: Path) -> None:
    broken = tmp_path / "copy"
    damage(traffic, broken)
    jobs: dict[Command, tuple[Path, int, str]] = {
        "validate": (broken, 1, "validate: 901 events: 901 agrees, 5 findings"),
        "audit": (traffic, 0, "every one accounted for, once and in order"),
    }
    (tmp_path / "cluster").mkdir()
    archive = environment(tmp_path)
    with cluster(tmp_path / "cluster") as url:
        for name, (capture, status, told) in jobs.items():
            options = ("--out", name, "--master", url, "--environment", str(archive))
            run = isthmus(tmp_path, name, str(capture), *options, conf=CLUSTER)
            assert (run.returncode, told in run.stdout) == (status, True), run.stderr[-3000:] + run.stdout
            assert "Traceback" not in run.stderr
        for worker in ("work1", "work2"):
            assert any((tmp_path / "cluster" / worker).iterdir()), f"{worker} had no part in it"
    for name, (capture, _, _) in jobs.items():
        local = done(session, tmp_path / f"{name}-local", name, capture)
        assert report(tmp_path / name) == json.loads(json.dumps(local))
        kept = {path.name for path in (tmp_path / name).iterdir()}
        assert kept <= {"job.json", "report.json", "report.html", "facts"}, "nothing of Spark's own stays"


@pytest.mark.parametrize("arguments", [["validate", "/nowhere"], ["audit", "/nowhere"]])
def test_a_capture_that_is_not_there_is_a_sentence(arguments: list[str], tmp_path: Path) -> None:
    done = isthmus(tmp_path, *arguments, "--out", "out", "--master", "local[1]", conf=SMALL)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("isthmus: CAP-NOT-FOUND")
    assert "Traceback" not in done.stderr
