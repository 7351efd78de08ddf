"""The Python part of pymqi, out of its source distribution: to build it needs IBM's headers, to run it over a stand-in does not."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

from tests.parts.cache import PartUnavailable, made

VERSION = "1.12.13"
FETCH_SECS = 300.0


def fetch() -> Path:
    """A folder for sys.path."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), f"pymqi=={VERSION}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECS)
        except subprocess.TimeoutExpired:
            raise PartUnavailable(f"pip gave no answer within {FETCH_SECS:.0f} s") from None
        archives = list(folder.glob("*.tar.gz"))
        if done.returncode != 0 or len(archives) != 1:
            raise PartUnavailable(f"pip could not fetch pymqi {VERSION}: {done.stderr.strip()[-300:]}")
        with tarfile.open(archives[0]) as tar:
            for member in tar:
                inside = member.name.partition("/code/")[2]
                if member.isfile() and inside.endswith(".py"):
                    tar.extract(member.replace(name=inside, deep=False), folder, filter="data")

    return made(f"pymqi-{VERSION}", f"pymqi {VERSION}, Python part, 1\n", make)
