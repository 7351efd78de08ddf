"""omniORB's naming service, which comes with the ORB library."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jeteve_omniorb

from tests.parts.ports import ReservedPort

PROGRAM = Path(jeteve_omniorb.__file__).parent / "bin" / "omniNames"
PATIENCE_SECS = 20.0


@contextmanager
def omni_names(folder: Path) -> Iterator[str]:
    """Its address, `host:port`."""
    with ReservedPort() as port:
        address = f"127.0.0.1:{port.number}"
        log = folder / "names.log"
        arguments = ["-start", str(port.number), "-datadir", str(folder), "-errlog", str(log)]
        process = subprocess.Popen([PROGRAM, *arguments, "-ORBendPoint", f"giop:tcp:{address}"])
        try:
            until = time.monotonic() + PATIENCE_SECS
            while "Root context is" not in (log.read_text() if log.exists() else ""):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < until
                time.sleep(0.02)
            yield address
        finally:
            process.kill()
            process.wait()
