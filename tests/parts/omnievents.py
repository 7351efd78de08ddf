"""omniEvents, from Debian's packages: an Event Service that knows nothing of notification, in C++, by others.

It writes down its channels and who is connected to them, and comes back with both, at the same address.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final, Self

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA
from tests.parts.debian import unpacked
from tests.parts.ports import ReservedPort

# ruff: isort: split
import CosLifeCycle
import CosNaming

READY_SECS: Final = 20.0
PULL_RETRY_MS: Final = 20  # how often it asks a supplier; a second otherwise


def fetch() -> Path:
    return unpacked("omnievents", "libomni")


class OmniEvents:
    """`start`, `kill` (-9), `start` …; a context manager."""

    def __init__(self) -> None:
        root = fetch() / "usr"
        self._program = root / "sbin" / "omniEvents"
        libraries = [root / "lib", *{path.parent for path in root.glob("lib/*/libomniORB4.so*")}]
        self._folder = tempfile.TemporaryDirectory(prefix="isthmus-omnievents-")
        self._path = Path(self._folder.name)
        self._port = ReservedPort()
        self.address = f"127.0.0.1:{self._port.number}"
        self._configuration = self._path / "omniORB.cfg"
        # It listens everywhere, and cannot be told otherwise: but it takes connections of this machine alone.
        self._configuration.write_text(
            f"endPointPublish = giop:tcp:{self.address}\nserverTransportRule = 127.0.0.1/32 tcp\n  = * none\n"
        )
        self._environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries))}
        self._process: subprocess.Popen[bytes] | None = None
        self._has_run = False

    def start(self) -> None:
        command = [str(self._program), "-f", "-l", str(self._path), "-t", str(self._path / "trace")]
        command += [] if self._has_run else ["-p", str(self._port.number)]
        self._process = subprocess.Popen(
            [*command, "-ORBconfigFile", str(self._configuration)], env=self._environment, stdin=subprocess.DEVNULL
        )
        self._has_run = True
        orb = LocalOrb()
        orb.start()
        factory = self._factory(orb)
        deadline = time.monotonic() + READY_SECS
        while not _answers(factory):
            assert self._process.poll() is None, (self._path / "trace").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        orb.stop()

    def new_channel(self) -> str:
        """Its reference, which stays."""
        orb = LocalOrb()
        orb.start()
        key = [CosNaming.NameComponent("EventChannel", "object interface")]
        criteria = [CosLifeCycle.NameValuePair("PullRetryPeriod_ms", CORBA.Any(CORBA.TC_ulong, PULL_RETRY_MS))]
        reference = orb.to_string(self._factory(orb).create_object(key, criteria))
        orb.stop()
        return reference

    def _factory(self, orb: LocalOrb) -> Any:
        found = orb.corba.string_to_object(f"corbaloc::{self.address}/omniEvents")
        return found._unchecked_narrow(CosLifeCycle.GenericFactory)

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._port.close()
        self._folder.cleanup()


def _answers(reference: Any) -> bool:
    try:
        return not reference._non_existent()
    except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
        return False
