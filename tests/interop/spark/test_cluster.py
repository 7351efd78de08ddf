"""A standalone cluster of two workers gives what local[2] gives, and both what a user sees at the command line."""

from __future__ import annotations

import json
import os
import signal
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


def test_a_job_that_follows_ends_when_it_is_told_and_leaves_nothing(traffic: Path, tmp_path: Path) -> None:
    """Told is the command alone, as by `kill`: it tells its job."""
    options = [part for key, value in SMALL.items() for part in ("--conf", f"{key}={value}")]
    command = [
        str(ISTHMUS),
        "spark",
        "audit",
        str(traffic),
        "--follow",
        "--out",
        "out",
        "--master",
        "local[1]",
        *options,
    ]
    with (tmp_path / "stderr").open("wb") as told:
        process = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=told, text=True, start_new_session=True
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()  # after the first batch; it would go on for ever
        assert "audit: 901 events: every one accounted for" in line, (tmp_path / "stderr").read_text()
        assert report(tmp_path / "out")["clean"]
        process.terminate()
        assert process.wait() == 130
        assert process.stdout.read() == "", "the job, and its JVM, had this pipe too"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "job.json", "report.json", "report.html", "facts", "parts", "checkpoint",
    }  # fmt: skip
    told_us = (tmp_path / "stderr").read_text()
    assert "Traceback" not in told_us, told_us


@pytest.mark.parametrize("arguments", [["validate", "/nowhere"], ["audit", "/nowhere"]])
def test_a_capture_that_is_not_there_is_a_sentence(arguments: list[str], tmp_path: Path) -> None:
    done = isthmus(tmp_path, *arguments, "--out", "out", "--master", "local[1]", conf=SMALL)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("isthmus: CAP-NOT-FOUND")
    assert "Traceback" not in done.stderr
