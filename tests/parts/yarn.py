"""A YARN cluster of one node on loopback: Hadoop's own resource and node manager, of the version that pyspark was built with."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from tests.parts.java import compiled, joined, tool
from tests.parts.maven import jars

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
START_SECS = 300.0
END_SECS = 30.0


def fetch() -> list[Path]:
    """Hadoop's mini cluster, and what it needs and does not name."""
    (api,) = SPARK_JARS.glob("hadoop-client-api-*.jar")
    version = api.stem.removeprefix("hadoop-client-api-")
    found = jars(
        f"hadoop-minicluster-{version}",
        f"org.apache.hadoop:hadoop-client-minicluster:{version}",
        "org.bouncycastle:bcpkix-jdk18on:1.81",
        "org.junit.jupiter:junit-jupiter-api:5.13.4",
    )
    return [*found, *sorted(SPARK_JARS.glob("*.jar"))]


@contextmanager
def yarn(folder: Path) -> Iterator[Path]:
    """The folder that HADOOP_CONF_DIR is to name."""
    classpath = fetch()
    classes = compiled("yarn", classpath)
    conf = folder / "conf"
    conf.mkdir(parents=True)
    log = folder / "yarn.log"
    options = ["-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Dtest.build.data={folder / 'data'}"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [tool("java"), *options, "-cp", joined([classes, *classpath]), "Yarn", str(conf)],
            cwd=folder, stdin=subprocess.PIPE, stdout=file, stderr=file,
        )  # fmt: skip
    assert process.stdin is not None
    try:
        deadline = time.monotonic() + START_SECS
        while not (conf / "yarn-site.xml").exists():
            assert process.poll() is None, log.read_text("utf-8", "replace")[-3000:]
            assert time.monotonic() < deadline, log.read_text("utf-8", "replace")[-3000:]
            time.sleep(0.1)
        yield conf
    finally:
        process.stdin.close()
        try:
            process.wait(END_SECS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
