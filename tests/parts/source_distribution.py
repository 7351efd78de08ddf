"""Source distributions of Python packages, for what no wheel has: a version of its own, unpacked once."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.parts.cache import PartUnavailable, made

FETCH_SECS = 300.0


def fetch(package: str, version: str, below: str) -> Path:
    """A folder with what the distribution has below this folder of its own. Raises PartUnavailable."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package]
        command += ["-d", str(folder), f"{package}=={version}"]
        # pip asks the distribution for its name and version, and that of ibmmq then wants IBM's headers, but not in CI.
        environment = {**os.environ, "CI": "true"}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=FETCH_SECS)
        except subprocess.TimeoutExpired:
            raise PartUnavailable(f"pip gave no answer within {FETCH_SECS:.0f} s") from None
        archive = folder / f"{package}-{version}.tar.gz"
        if done.returncode != 0 or not archive.is_file():
            raise PartUnavailable(f"pip could not fetch {package} {version}: {done.stderr.strip()[-300:]}")
        with tarfile.open(archive) as tar:
            for member in tar:
                inside = member.name.partition(f"/{below}/")[2]
                if member.isfile() and inside:
                    tar.extract(member.replace(name=inside, deep=False), folder, filter="data")
        archive.unlink()

    return made(f"{package}-{version}-source", f"{package} {version}, {below}, 1\n", make)
