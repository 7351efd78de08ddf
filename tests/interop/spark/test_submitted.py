"""What `isthmus spark …` submits. A real YARN runs it, with no more on its nodes than what comes with the job; for Kubernetes the
real spark-submit makes a pod, and what the pod is to run is run here, with no more of ours than what is in its image."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import pytest

from gateway.cli.spark_job import spark_submit
from tests.interop.spark.test_cluster import ISTHMUS, report
from tests.parts.availability import available
from tests.parts.kubernetes import api_server
from tests.parts.spark import environment
from tests.parts.yarn import SPARK_JARS, yarn
from tests.unit.spark.in_process import validated
from tests.unit.spark.test_broken_files import damage

JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto"


@pytest.fixture(scope="module")
def yarn_conf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(yarn(tmp_path_factory.mktemp("yarn"))))


def settings(folder: Path) -> list[str]:
    """One small executor, everything on loopback, and no copy of Spark's jars for each job."""
    conf = {
        "spark.executor.instances": "1",
        "spark.executor.memory": "512m",
        "spark.driver.memory": "512m",
        "spark.yarn.am.memory": "512m",
        "spark.executor.defaultJavaOptions": JAVA,
        "spark.driver.defaultJavaOptions": JAVA,
        "spark.yarn.jars": f"local:{SPARK_JARS}/*",
        "spark.yarn.stagingDir": str(folder / "staging"),
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
    }
    return [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]


def clean(**more: str) -> dict[str, str]:
    """Without what would lead to this tree."""
    ours = ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "HADOOP_CONF_DIR")
    return {**{name: value for name, value in os.environ.items() if name not in ours}, **more}


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_yarn_runs_what_is_submitted(mode: str, yarn_conf: Path, traffic: Path, tmp_path: Path) -> None:
    broken = tmp_path / "copy"
    damage(traffic, broken)
    options = ["--master", "yarn", "--deploy-mode", mode, "--environment", str(environment(tmp_path))]
    # The command that is printed is for a shell that finds spark-submit.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    variables = clean(HADOOP_CONF_DIR=str(yarn_conf), SPARK_LOCAL_IP="127.0.0.1", PATH=path)

    def done(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)

    arguments = [str(ISTHMUS), "spark", "validate", str(broken), "--out", "out", *options, *settings(tmp_path)]
    if mode == "client":
        run = done(*arguments)
        assert "validate: 901 events: 901 agrees, 5 findings" in run.stdout, run.stderr[-5000:]
    else:  # by hand, as the line that --dry-run prints
        run = done(*shlex.split(done(*arguments, "--dry-run").stdout))
    assert run.returncode == 1, run.stderr[-5000:]
    assert report(tmp_path / "out") == json.loads(json.dumps(validated(broken)))


def test_a_pod_for_kubernetes_does_the_job(traffic: Path, tmp_path: Path) -> None:
    """The image has what `isthmus spark archive` wrote, unpacked in /opt/isthmus: here in another place, for tests may not write
    there. The pod's master is one core instead of more pods."""
    image, out = tmp_path / "opt-isthmus", tmp_path / "out"
    with api_server() as server:
        options = ["--master", f"k8s://{server.url}", "--deploy-mode", "cluster", "--image", "isthmus-spark:1"]
        run = subprocess.run(
            [str(ISTHMUS), "spark", "validate", str(traffic), "--out", str(out), *options],
            env=clean(), capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr[-5000:]
    (pod,) = server.made["Pod"]
    (container,) = pod["spec"]["containers"]
    assert container["image"] == "isthmus-spark:1"
    with ZipFile(out / "isthmus-spark.zip") as archive:
        archive.extractall(image)

    def here(text: str) -> str:
        return text.replace("local://", "").replace("/opt/isthmus", str(image))

    variables = {one["name"]: here(one["value"]) for one in container["env"] if "value" in one}
    python = environment(tmp_path).with_name("python")
    (config,) = server.made["ConfigMap"]
    properties = here(config["data"]["spark.properties"]).replace("=python3", f"={python}").splitlines()
    pods_own = ("spark.master", "spark.driver.", "spark.kubernetes.")
    kept = [line for line in properties if not line.startswith(pods_own)]
    (tmp_path / "spark.properties").write_text("\n".join([*kept, "spark.master=local[1]"]))
    role, option, _, *arguments = map(here, container["args"])
    assert (role, option) == ("driver", "--properties-file")
    done = subprocess.run(  # as the entry point of Spark's images does
        [spark_submit(), "--deploy-mode", "client", option, str(tmp_path / "spark.properties"), *arguments],
        cwd=tmp_path, env=clean(PYTHONPATH=variables["PYTHONPATH"], SPARK_LOCAL_IP="127.0.0.1"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-5000:]
    assert report(out) == json.loads(json.dumps(validated(traffic)))
