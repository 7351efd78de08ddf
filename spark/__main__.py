"""`python -m spark JOB.json`: runs one job, writes its reports, prints one line.

Exit status: 0 all is well, 1 the job found something (see the line, and the report), 69 Spark is not there, 2 the job is wrong.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mappings.captures.errors import CaptureError
from mappings.errors import IsthmusError
from spark.job import Job, job_from_json

OK: Final = 0
FOUND: Final = 1
USAGE: Final = 2
UNAVAILABLE: Final = 69
INTERNAL: Final = 70
INTERRUPTED: Final = 130


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m spark JOB.json", file=sys.stderr)
        return USAGE
    if not _debugging():
        logging.disable()  # pyspark raises what it logs, and logs an interruption with the stack of each call that it ended
    try:
        job = job_from_json(Path(arguments[0]).read_text(encoding="utf-8"))
        return run(job)
    except CaptureError as error:
        print(f"isthmus: {error}", file=sys.stderr)
        return USAGE if error.code == "CAP-JOB" else UNAVAILABLE if error.code == "CAP-SPARK" else FOUND
    except (IsthmusError, OSError) as error:
        print(f"isthmus: {error}", file=sys.stderr)
        return FOUND
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as defect:  # noqa: BLE001 - what nobody foresaw, and all that Java may say
        return _defect(defect)


def _defect(defect: Exception) -> int:
    if _debugging():
        import traceback

        traceback.print_exception(defect)
    first = next(iter(str(defect).splitlines()), "")[:300]
    told = CaptureError(
        "CAP-JOB-FAILED",
        f"the job ended before its time: {type(defect).__name__}: {first}",
        hint="ISTHMUS_DEBUG=1 prints all that is known",
    )
    print(f"isthmus: {told}", file=sys.stderr)
    return INTERNAL


def _debugging() -> bool:
    return os.environ.get("ISTHMUS_DEBUG") == "1"


def run(job: Job) -> int:
    """Raises IsthmusError, OSError."""
    from spark.progress import progress
    from spark.reports import write_reports
    from spark.running import inventory_of, once
    from spark.session import session

    out = Path(job.out)
    out.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=out))
    try:
        inventory = inventory_of(job)
        by_python = job.command not in ("audit", "replay")
        name = f"isthmus-{job.command}"
        with (
            session(name, job.master, job.conf, scratch, by_python=by_python) as spark,
            progress(spark, job.command),
        ):
            # pyspark's own handler calls Java from within a call to Java.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if job.follow:
                return _follow(spark, job, out)
            if job.command == "replay":
                from spark.replay import plan

                result = plan(spark, job, inventory, out)
            else:
                result = once(spark, job, inventory, out)
        write_reports(result, out)
        print(summary(result))
        return OK if is_well(result, job) else FOUND
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _follow(spark: Any, job: Job, out: Path) -> int:
    from spark.following import Following
    from spark.reports import write_reports

    last: dict[str, Any] = {}

    def told(result: Mapping[str, Any]) -> None:
        last.clear()
        last.update(result)
        write_reports(result, out)
        print(summary(result), flush=True)

    Following(spark, job, out, told).run()
    return OK if not last or is_well(last, job) else FOUND


def is_well(result: Mapping[str, Any], job: Job) -> bool:
    """Whether a script may go on."""
    match result["job"]:
        case "validate":
            return bool(result["agrees"])
        case "compare":
            accepted = ("no-change", "compatible") if job.accept_compatible else ("no-change",)
            return result["verdict"] in accepted and bool(result["complete"])
        case "audit":
            return bool(result.get("clean"))
    return not result["findings"]


def summary(result: Mapping[str, Any]) -> str:
    """One line for people; the report has the rest."""
    events = f"{result['job']}: {result['events']} events"
    findings = f", {len(result['findings'])} findings" if result["findings"] else ""
    match result["job"]:
        case "validate":
            verdicts = ", ".join(f"{count} {name}" for name, count in result["verdicts"].items() if count)
            return f"{events}: {verdicts or 'nothing to check'}{findings}"
        case "compare":
            selectors = f", {len(result['selectors'])} selections change" if result["selectors"] else ""
            return f"{events}, {result['changed']} of {result['compared']} change{selectors}: {result['verdict']}{findings}"
        case "audit":
            problems = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in result.get("problems", {}).items() if n)
            return f"{events}: {problems or 'every one accounted for, once and in order'}"
    return f"{events}{findings}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
