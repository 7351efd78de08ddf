"""The JDK of this machine, and the small Java programs of the tests, compiled once per state of their sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.parts.cache import PartUnavailable, made

SOURCES = Path(__file__).parent / "java"
RELEASE = "17"
COMPILE_SECS = 120.0


def tool(name: str) -> str:
    """The path of `java` or `javac`."""
    path = shutil.which(name)
    if path is None:
        raise PartUnavailable(f"there is no `{name}` on the PATH (on Debian: apt-get install openjdk-17-jdk-headless)")
    return path


def compiled(package: str, classpath: Sequence[Path] = ()) -> Path:
    """The folder with the classes of one package below java/, compiled against these jars."""
    sources = sorted((SOURCES / package).glob("*.java"))
    digest = hashlib.sha256()
    for part in (RELEASE, joined(classpath), *(source.read_text(encoding="utf-8") for source in sources)):
        digest.update(part.encode() + b"\0")
    key = digest.hexdigest()[:16]

    def make(folder: Path) -> None:
        command = [tool("javac"), "--release", RELEASE, "-encoding", "UTF-8"]
        command += ["-d", str(folder), "-cp", joined(classpath), *map(str, sources)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECS)
        if done.returncode != 0:
            raise AssertionError(f"javac refuses {package}:\n{done.stderr or done.stdout}")

    return made(f"classes-{package}-{key}", key + "\n", make)


def joined(classpath: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, classpath))
