"""Sessions of one process: each has a JVM of its own, which ends with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

SESSIONS = """
import sys
from pathlib import Path
from mappings.captures.errors import CaptureError
from spark.session import session
from tests.parts.spark import SMALL

for master in ("local[1]", "local[many]", "local[2]"):
    try:
        with session("tests", master, SMALL, Path(sys.argv[1])) as spark:
            jvm = spark.sparkContext._gateway.proc
            print(spark.range(3).count(), "on", spark.sparkContext.defaultParallelism)
    except CaptureError as error:
        print(error)
    assert jvm.poll() is not None, "a JVM is left"
"""


def test_a_process_has_one_session_after_another(tmp_path: Path) -> None:
    """In a process of its own: the session of the other tests is open in this one."""
    run = subprocess.run(
        [sys.executable, "-c", SESSIONS, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    first, refused, second = run.stdout.splitlines()
    assert (first, second) == ("3 on 1", "3 on 2")
    assert refused.startswith("CAP-SPARK: Spark does not start: ")
    assert "local[many]" in refused, "what Java said"
