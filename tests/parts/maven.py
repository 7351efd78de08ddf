"""Java parts from Maven Central, through the `mvn` of this machine and whatever repository it is configured for."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.parts.cache import PartUnavailable, made

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
ATTEMPTS = 2
ATTEMPT_SECS = 600.0


def distribution(group: str, artifact: str, version: str, wanted: Callable[[str], bool]) -> Path:
    """The folder of an unpacked binary distribution, without its top folder; of its files only those `wanted(path)`."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="isthmus-fetch-") as temporary:
            outlet = Path(temporary)
            _mvn(
                f"{PLUGIN}:copy",
                f"-Dartifact={group}:{artifact}:{version}:tar.gz:bin",
                f"-DoutputDirectory={outlet}",
                within=outlet,
            )
            archive = _only(outlet.glob("*.tar.gz"), f"{artifact} {version}")
            _unpack(archive, folder, wanted)

    return made(f"{artifact}-{version}", f"{group}:{artifact}:{version}:tar.gz:bin, unpacked, 1\n", make)


def jars(name: str, *coordinates: str) -> list[Path]:
    """The jars `group:artifact:version` with all that they need at run time; `name` is the folder's name in the cache."""

    def make(folder: Path) -> None:
        (folder / "pom.xml").write_text(_pom(coordinates), encoding="utf-8")
        _mvn(f"{PLUGIN}:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder}", within=folder)
        _, artifact, version = coordinates[0].split(":")
        _only(folder.glob(f"{artifact}-{version}.jar"), coordinates[0])

    return sorted(made(name, "\n".join(coordinates) + "\n", make).glob("*.jar"))


def _mvn(*arguments: str, within: Path) -> None:
    mvn = shutil.which("mvn")
    if mvn is None:
        raise PartUnavailable("there is no `mvn` on the PATH (on Debian: apt-get install maven)")
    reason = ""
    for _ in range(ATTEMPTS):
        # -U: a failure of an earlier run, which Maven remembers, is tried again. -C: a damaged download is a failure.
        reason = _run([mvn, "--batch-mode", "-q", "-U", "-C", *arguments], within)
        if not reason:
            return
    raise PartUnavailable(f"mvn could not fetch it: {reason}")


def _run(command: Sequence[str], within: Path) -> str:
    """Why it failed; empty when it did not."""
    process = subprocess.Popen(
        command,
        cwd=within,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=ATTEMPT_SECS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"no answer within {ATTEMPT_SECS:.0f} s"
    if process.returncode == 0:
        return ""
    errors = re.findall(r"\[ERROR\]\s*(.+)", output)
    return errors[0] if errors else f"status {process.returncode}: {output[-500:].strip()}"


def _unpack(archive: Path, folder: Path, wanted: Callable[[str], bool]) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            if member.isfile() and wanted(path):
                tar.extract(member.replace(name=path, deep=False), folder, filter="data")


def _only(found: Iterable[Path], what: str) -> Path:
    files = list(found)
    if len(files) != 1:
        raise PartUnavailable(f"mvn ended well but {what} is not there: {[file.name for file in files]}")
    return files[0]


def _pom(coordinates: Sequence[str]) -> str:
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        for group, artifact, version in (text.split(":") for text in coordinates)
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>isthmus.tests</groupId><artifactId>parts</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>\n"
    )
