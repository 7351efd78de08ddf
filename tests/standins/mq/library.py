"""Our `libmqm_r.so`, compiled once for each state of its source."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.parts.cache import PartUnavailable, made

SOURCE = Path(__file__).parent / "libmqm_r.c"
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-Wl,-soname,libmqm_r.so")
COMPILE_SECS = 120.0


def client_folder() -> Path:
    """A folder as that of IBM's client: `lib64/libmqm_r.so` below it."""
    key = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]

    def make(folder: Path) -> None:
        compiler = shutil.which("gcc")
        if compiler is None:
            raise PartUnavailable("there is no `gcc` on the PATH (on Debian: apt-get install gcc libc6-dev)")
        (folder / "lib64").mkdir()
        command = [compiler, *FLAGS, "-o", str(folder / "lib64" / "libmqm_r.so"), str(SOURCE), "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECS)
        if done.returncode != 0:
            raise AssertionError(f"gcc refuses {SOURCE.name}:\n{done.stderr}")

    return made(f"mq-stand-in-{key}", key + "\n", make)
