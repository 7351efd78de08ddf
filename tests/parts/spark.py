"""Spark in tests: one small session for a whole test run, and a standalone cluster of two workers on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.parts.ports import ReservedPort

START_SECS = 120.0

SMALL = {
    # The quick compiler, little memory, no code generation: a test's data is small, and its time goes into starting.
    "spark.driver.memory": "1g",
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto",
    "spark.executor.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def local_session(scratch: Path) -> Iterator[Any]:
    from spark.session import session

    with session("tests", "local[2]", SMALL, scratch) as spark:
        yield spark


def environment(folder: Path) -> Path:
    """What --environment wants: an archive with a Python for executors. It has all libraries of ours, and none of our packages:
    these must come with the job. (-S leaves out what puts this tree on its path.)"""
    libraries = sysconfig.get_path("purelib")
    program = folder / "python"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec "{sys.executable}" -S "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    archive = folder / "environment.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(program, "bin/python")
    return archive


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A master and two workers with one core each; its URL."""
    import pyspark

    home = Path(pyspark.__file__).parent
    reserved = ReservedPort()
    port = reserved.number
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    # Workers must find our packages in the archive that comes with a job, not in this folder.
    environment.pop("PYTHONPATH", None)
    java = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy."]
    master = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    processes: list[subprocess.Popen[bytes]] = []
    log = folder / "master.log"
    try:
        with log.open("wb") as file:
            processes.append(
                subprocess.Popen([java[0], java[1] + "master.Master", *master], env=environment, cwd=folder,
                                 stdin=subprocess.DEVNULL, stdout=file, stderr=file)
            )  # fmt: skip
        url = f"spark://127.0.0.1:{port}"
        _wait(log, "New state: ALIVE", 1, processes[0])
        for number in (1, 2):
            with (folder / f"worker{number}.log").open("wb") as file:
                processes.append(
                    subprocess.Popen(
                        [java[0], java[1] + "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                         "--webui-port", "0", "--work-dir", str(folder / f"work{number}"), url],
                        env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                    )
                )  # fmt: skip
        _wait(log, "Registering worker", 2, processes[0])
        yield url
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)
        reserved.close()


def _wait(log: Path, text: str, times: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECS
    while log.read_text("utf-8", "replace").count(text) < times:
        assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
        assert time.monotonic() < deadline, log.read_text("utf-8", "replace")[-2000:]
        time.sleep(0.1)
