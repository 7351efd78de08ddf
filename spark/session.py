"""The Spark session of a job: local, a standalone cluster, or whatever `spark-submit` has prepared (YARN, Kubernetes)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from mappings.captures.errors import CaptureError
from spark.archive import write_archive

QUIET: Final = """rootLogger.level=error
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%p %c{1}: %m%n
"""
"""Spark's own log is for those who look for it; a job's output is the report."""

END_SECS: Final = 20.0

_QUICK: Final = {"spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"}
"""On one machine, where the work is Python's: a JVM that only hands it out starts in half the time, and compiles for a third."""

_DEFAULTS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def session(
    name: str, master: str | None, conf: Mapping[str, str], scratch: Path, *, by_python: bool = False
) -> Iterator[Any]:
    """`scratch`: a folder for what Spark writes for itself, which goes with the job. `by_python`: the JVM computes nothing to speak
    of. Raises CaptureError (CAP-SPARK)."""
    from pyspark.sql import SparkSession

    _environment(master)
    builder = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    quick = _QUICK if by_python and master is not None and master.startswith("local") else {}
    for key, value in {**_DEFAULTS, **quick, **_local(master, scratch), **conf}.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except Exception as trouble:  # whatever Java says
        told = " ".join(str(trouble).split())[:300]  # by the JVM, while it is there
        _end_jvm()
        raise CaptureError(
            "CAP-SPARK",
            f"Spark does not start: {told}",
            hint="it needs a Java runtime (17 or newer), and a master that answers",
        ) from trouble
    try:
        if master is not None and not master.startswith("local"):
            # Executors of a cluster get our packages with the job. Where spark-submit has begun it, it has sent them.
            archive = scratch / "isthmus-spark.zip"
            write_archive(archive)
            spark.sparkContext.addPyFile(str(archive))
        yield spark
    finally:
        _end(spark)


def _environment(master: str | None) -> None:
    """Workers run what we run: else they would take the first `python3` of the PATH, which has none of the libraries."""
    if master is not None:  # else spark-submit has seen to it
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    root = str(Path(__file__).parents[1])
    known = os.environ.get("PYTHONPATH", "")
    if master is not None and master.startswith("local") and root not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, known)))


def _local(master: str | None, scratch: Path) -> dict[str, str]:
    if master is None:
        return {}
    log = scratch / "log4j2.properties"
    log.write_text(QUIET, encoding="ascii")
    folder = Path(tempfile.mkdtemp(prefix="spark-", dir=scratch))
    options = f"-Dlog4j2.configurationFile={log.resolve().as_uri()} -Djava.io.tmpdir={folder.resolve()}"
    settings = {
        "spark.driver.extraJavaOptions": options,
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if master.startswith("local"):
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    if master.startswith("local["):
        settings["spark.sql.shuffle.partitions"] = "4"
    return settings


def _end(spark: Any) -> None:
    try:
        spark.stop()
    finally:
        _end_jvm()


def _end_jvm() -> None:
    """No Java is left behind, and the next session of this process starts its own: pyspark keeps the gateway of an ended JVM, and
    would call into nowhere."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if gateway is None or process is None:  # none has started, or it is spark-submit's
        return
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(Exception):  # whatever is open ends with the process
        gateway.shutdown()
    process.stdin.close()
    try:
        process.wait(END_SECS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
