"""Starting a job: a process of its own, so that nothing of the gateway needs Spark.

A local master and a standalone cluster are reached by `python -m spark`; YARN and Kubernetes by `spark-submit`, whose command
line is put together here and shown by --dry-run.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from gateway.cli.exit_codes import ExitCode
from mappings.captures.errors import CaptureError, library_missing

JOB_FILE: Final = "job.json"
ARCHIVE: Final = "isthmus-spark.zip"
SUBMIT: Final = "spark-submit"
ENVIRONMENT: Final = "environment"
"""The folder in which an executor unpacks the archive that --environment names."""
ENVIRONMENT_PYTHON: Final = f"./{ENVIRONMENT}/bin/python"
GRACE_SECS: Final = 3.0
IN_IMAGE: Final = "/opt/isthmus"
"""Where an image for Kubernetes has what `isthmus spark archive` wrote, unpacked."""


class Target(NamedTuple):
    """Where a job runs."""

    master: str
    deploy_mode: str = "client"
    environment: str | None = None
    image: str | None = None

    @property
    def by_submit(self) -> bool:
        return self.master == "yarn" or self.master.startswith("k8s://")

    @property
    def conf(self) -> dict[str, str]:
        """What a job that is not submitted has to tell Spark."""
        if self.environment is None or self.by_submit:
            return {}
        return {"spark.archives": f"{Path(self.environment).absolute()}#{ENVIRONMENT}"}


@dataclass
class JobFile:
    out: Path
    job: dict[str, Any]

    def write(self) -> Path:
        path = self.out / JOB_FILE
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self.job, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        except OSError as trouble:
            raise CaptureError(
                "CAP-OUT", f"the output folder cannot be written: {trouble.strerror or trouble}", path=str(self.out)
            ) from None
        return path


def run_job(file: JobFile, target: Target, conf: Mapping[str, str], *, dry_run: bool) -> int:
    """Its exit status. Raises CaptureError."""
    _check(target)
    path = file.write()
    command = _command(path, target, conf)
    if target.by_submit:
        write_archive(file.out / ARCHIVE)
    if dry_run:
        print(shlex.join(command))
        return ExitCode.OK
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise library_missing("pyspark (and pyarrow)", "a Spark job")
    if target.by_submit:
        command[0] = spark_submit()
    signal.signal(signal.SIGTERM, _interrupt)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=_environment(target))
    try:
        return process.wait()
    except KeyboardInterrupt:
        _end(process)
        return ExitCode.INTERRUPTED


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    """A terminal sends its signal to the job too; where somebody has sent it to us alone, we pass it on."""
    try:
        process.wait(GRACE_SECS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait()


def _command(path: Path, target: Target, conf: Mapping[str, str]) -> list[str]:
    if not target.by_submit:
        return [sys.executable, "-m", "spark", str(path)]
    return submit_command(path, target, conf, spark_package() / "__main__.py", path.with_name(ARCHIVE))


def submit_command(job: Path, target: Target, conf: Mapping[str, str], program: Path, archive: Path) -> list[str]:
    """`spark-submit …` for YARN and Kubernetes."""
    command = ["spark-submit", "--master", target.master, "--deploy-mode", target.deploy_mode, "--name", "isthmus"]
    settings: dict[str, str] = {}
    in_image = target.image is not None and target.deploy_mode == "cluster"
    if not in_image:
        command += ["--py-files", str(archive)]
    if target.environment is not None:
        command += ["--archives", f"{target.environment}#{ENVIRONMENT}"]
        settings["spark.pyspark.python"] = ENVIRONMENT_PYTHON
    if target.image is not None:
        settings["spark.kubernetes.container.image"] = target.image
        settings["spark.pyspark.python"] = "python3"
    if in_image:
        settings["spark.kubernetes.driverEnv.PYTHONPATH"] = IN_IMAGE
        settings["spark.executorEnv.PYTHONPATH"] = IN_IMAGE
    if settings and target.deploy_mode == "client":
        settings["spark.pyspark.driver.python"] = sys.executable  # the driver is here, not where the executors are
    for key, value in {**settings, **conf}.items():
        command += ["--conf", f"{key}={value}"]
    # The output folder is shared with the driver, wherever that runs: it finds the job there.
    return [*command, f"local://{IN_IMAGE}/spark/{program.name}" if in_image else str(program), str(job)]


def spark_submit() -> str:
    """That of the cluster's own Spark where the PATH has one, else that of our pyspark. Raises CaptureError."""
    found = shutil.which(SUBMIT)
    if found is not None and Path(found).parent != Path(sys.executable).parent:
        return found
    # Not the script that pip puts beside our Python: it looks for pyspark in whatever `python3` the PATH has first.
    pyspark = find_spec("pyspark")
    if pyspark is None or not pyspark.submodule_search_locations:
        raise library_missing("pyspark", "a Spark job")
    return str(Path(next(iter(pyspark.submodule_search_locations))) / "bin" / SUBMIT)


def spark_package() -> Path:
    """Where our jobs are, found without importing them."""
    found = find_spec("spark")
    if found is None or not found.submodule_search_locations:
        raise CaptureError("CAP-LIBRARY", "the jobs are not part of this installation")
    return Path(next(iter(found.submodule_search_locations)))


def write_archive(path: Path) -> None:
    """By the jobs' own program. Raises CaptureError."""
    done = subprocess.run([sys.executable, "-m", "spark.archive", str(path)], check=False)
    if done.returncode:
        raise CaptureError("CAP-OUT", "the archive cannot be written", path=str(path))


def _check(target: Target) -> None:
    wrong = None
    if target.deploy_mode not in ("client", "cluster"):
        wrong = f"--deploy-mode is client or cluster, not {target.deploy_mode!r}"
    elif target.master.startswith("k8s://") and target.image is None:
        wrong = "Kubernetes needs --image: executors have nothing but what is in it"
    elif not (target.by_submit or target.master.startswith(("local", "spark://"))):
        wrong = f"{target.master!r} is no master"
    elif target.deploy_mode == "cluster" and not target.by_submit:
        wrong = "--deploy-mode cluster is for yarn and k8s://"
    elif target.environment is not None and target.master != "yarn" and not target.master.startswith("spark://"):
        wrong = "--environment is for yarn and spark://"
    elif target.image is not None and not target.master.startswith("k8s://"):
        wrong = "--image is for k8s://"
    if wrong is not None:
        raise CaptureError("CAP-OPTION", wrong, hint="local[N], spark://HOST:PORT, yarn, or k8s://https://HOST:PORT")


def _environment(target: Target) -> dict[str, str]:
    environment = dict(os.environ)
    if target.environment is None and target.image is None:
        environment.setdefault("PYSPARK_PYTHON", sys.executable)
    elif not target.by_submit:
        environment["PYSPARK_PYTHON"] = ENVIRONMENT_PYTHON
    return environment
