"""The command lines for clusters, the archive for executors, and jobs as data."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from zipfile import is_zipfile

import pyspark
import pytest

from gateway.cli import run
from gateway.cli.spark_job import Target, spark_submit, submit_command, write_archive
from gateway.cli.spark_times import micros
from mappings.captures.errors import CaptureError
from spark.job import Job, Selection, job_from_json
from tests.parts.captures import configuration, write_configuration

JOB, PROGRAM, ARCHIVE = Path("/out/job.json"), Path("/lib/spark/__main__.py"), Path("/out/isthmus-spark.zip")


def test_the_command_for_yarn() -> None:
    command = submit_command(
        JOB, Target("yarn", "cluster", "env.tar.gz"), {"spark.executor.memory": "2g"}, PROGRAM, ARCHIVE
    )
    assert shlex.join(command) == (
        "spark-submit --master yarn --deploy-mode cluster --name isthmus --py-files /out/isthmus-spark.zip "
        "--archives 'env.tar.gz#environment' "
        "--conf spark.pyspark.python=./environment/bin/python "
        "--conf spark.executor.memory=2g /lib/spark/__main__.py /out/job.json"
    )
    client = submit_command(JOB, Target("yarn", "client", "env.tar.gz"), {}, PROGRAM, ARCHIVE)
    assert f"spark.pyspark.driver.python={sys.executable}" in client, "the driver is not where the environment is"
    assert not any("python=" in part for part in submit_command(JOB, Target("yarn"), {}, PROGRAM, ARCHIVE))


def test_the_command_for_kubernetes() -> None:
    target = Target("k8s://https://10.0.0.1:6443", "cluster", None, "registry/isthmus-spark:1")
    assert shlex.join(submit_command(JOB, target, {}, PROGRAM, ARCHIVE)) == (
        "spark-submit --master k8s://https://10.0.0.1:6443 --deploy-mode cluster --name isthmus "
        "--conf spark.kubernetes.container.image=registry/isthmus-spark:1 "
        "--conf spark.pyspark.python=python3 "
        "--conf spark.kubernetes.driverEnv.PYTHONPATH=/opt/isthmus "
        "--conf spark.executorEnv.PYTHONPATH=/opt/isthmus "
        "local:///opt/isthmus/spark/__main__.py /out/job.json"
    )
    client = submit_command(JOB, target._replace(deploy_mode="client"), {}, PROGRAM, ARCHIVE)
    assert client[client.index("--py-files") + 1] == str(ARCHIVE)
    assert f"spark.pyspark.driver.python={sys.executable}" in client
    assert client[-2:] == [str(PROGRAM), str(JOB)]


def test_a_dry_run_writes_the_job_and_starts_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = [
        "spark",
        "audit",
        "/captures/a",
        "hdfs://nn/captures/b",
        "--out",
        str(out),
        "--master",
        "yarn",
        "--dry-run",
    ]
    assert run([*arguments, "--hop", "a/x=b/y", "--from", "2026-11-18", "--link", "x"]) == 0
    assert capsys.readouterr().out.startswith("spark-submit --master yarn")
    job = job_from_json((out / "job.json").read_text())
    assert job.captures == ("/captures/a", "hdfs://nn/captures/b")
    assert job.hops == (("a/x", "b/y"),)
    assert job.selection == Selection(since=1_794_960_000_000_000, links=("x",))
    assert job.master is None
    assert is_zipfile(out / "isthmus-spark.zip"), "what the command names is there"


def test_the_spark_submit_of_the_path_is_taken_before_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert (ours.exists(), spark_submit()) == (True, str(ours))
    (tmp_path / "spark-submit").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert spark_submit() == str(tmp_path / "spark-submit")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--master", "mesos://x"],
        ["--master", "k8s://https://x"],
        ["--master", "yarn", "--deploy-mode", "elsewhere"],
        ["--master", "spark://x:1", "--deploy-mode", "cluster"],
        ["--master", "local[2]", "--environment", "env.tar.gz"],
        ["--master", "yarn", "--image", "x"],
        ["--from", "yesterday"],
        ["--conf", "nothing"],
    ],
)
def test_options_that_are_wrong_are_refused_before_anything_starts(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["spark", "validate", str(tmp_path), "--out", str(tmp_path / "out"), *arguments]) == 1
    assert "CAP-OPTION" in capsys.readouterr().err


def test_a_job_comes_back_from_its_text() -> None:
    job = Job(
        "compare", ("a",), "/o", Selection(1, 2, ("l",)), old={"l": {}}, selectors=({"name": "n"},), hops=(("a", "b"),)
    )
    assert job_from_json(job.to_json()) == job
    for text in ("", "[]", "{}", '{"command":"validate","captures":[],"out":"x","what":1}', "nul"):
        with pytest.raises(CaptureError, match="CAP-JOB"):
            job_from_json(text)


def test_times_are_utc_where_no_zone_is_given() -> None:
    assert micros("1970-01-01T00:00:01") == 1_000_000
    assert micros("1970-01-01T01:00:01+01:00") == 1_000_000
    assert micros(None) is None


def test_the_archive_is_all_that_an_executor_needs_of_ours(tmp_path: Path) -> None:
    archive, again = tmp_path / "a.zip", tmp_path / "b.zip"
    write_archive(archive)
    write_archive(again)
    assert archive.read_bytes() == again.read_bytes()
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "import mappings, spark.validate, spark.compare, spark.catalogue, spark.work\n"
        f"assert mappings.__file__.startswith({str(archive)!r}), mappings.__file__\n"
        "from mappings.filters import compile_etcl, compile_selector\n"
        "compile_etcl('$a > 1'), compile_selector('a > 1')\n"
        "from mappings.translate import Translator\n"
        "assert not any(name in sys.modules for name in ('gateway', 'adapters', 'pydantic'))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd="/", timeout=60)


def test_captured_traffic_goes_into_production_only_when_asked_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configuration(tmp_path)
    del config["environment"]  # production is what a configuration is for that does not say
    path = write_configuration(tmp_path, config)
    arguments = [
        "spark",
        "replay",
        str(tmp_path),
        "--config",
        str(path),
        "--into",
        "alarms",
        "--out",
        str(tmp_path / "o"),
    ]
    assert run([*arguments, "--dry-run"]) == 1
    assert "CAP-PRODUCTION" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
    assert run([*arguments, "--dry-run", "--yes"]) == 0
    write_configuration(tmp_path, {**config, "environment": "test"})
    (tmp_path / "o" / "progress.json").write_text('{"position": 7}')
    assert run([*arguments, "--dry-run"]) == 0
    assert (tmp_path / "o" / "progress.json").exists(), "a dry run forgets nothing"
    assert json.loads((tmp_path / "o" / "job.json").read_text())["command"] == "replay"
    assert run([*arguments[:-4], "--into", "nothing", "--dry-run"]) == 2
