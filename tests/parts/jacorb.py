"""JacORB's Notification Service: a service that is not ours, on an ORB that is not ours, from Maven Central.

It keeps nothing over its end, and has a new port, hence new references, each time that it starts.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final, Self

from tests.parts.java import compiled, joined, tool
from tests.parts.maven import jars

READY_SECS: Final = 90.0
END_SECS: Final = 20.0
LOG_TAIL_CHARS: Final = 3000
CHANNELS: Final = 2

_SYSTEM_PROPERTIES: Final = {
    "OAIAddr": "127.0.0.1",
    "org.omg.CORBA.ORBClass": "org.jacorb.orb.ORB",
    "org.omg.CORBA.ORBSingletonClass": "org.jacorb.orb.ORBSingleton",
    "jacorb.log.default.verbosity": "2",
    # Its default is neither order, nor one worker at each stage
    "jacorb.notification.order_policy": "FifoOrder",
    "jacorb.notification.discard_policy": "FifoOrder",
    "jacorb.notification.filter.thread_pool_size": "1",
    "jacorb.notification.proxysupplier.thread_pool_size": "1",
    "jacorb.notification.proxyconsumer.thread_pool_size": "1",
    "jacorb.notification.max_events_per_consumer": "20000",  # 100 otherwise: the oldest are then dropped
    "jacorb.notification.supplier.poll_intervall": "2",  # spelt so
    "jacorb.notification.consumer.backout_interval": "100",
}
_SMALL: Final = ("-Xmx192M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_FAST: Final = ("-Xmx1G", "-Djacorb.notification.max_events_per_consumer=1000000")


def fetch() -> list[Path]:
    """The jars; that of javax.rmi because Java has it no more."""
    return jars(
        "jacorb-3.9",
        "org.jacorb:jacorb:3.9",
        "org.jacorb:jacorb-services:3.9",
        "org.jboss.spec.javax.rmi:jboss-rmi-api_1.0_spec:1.0.6.Final",
    )


class JacOrb:
    """One service, in a process that ends with ours. Channels have the ids 0 and 1."""

    def __init__(self, *, at_full_speed: bool = False) -> None:
        """`at_full_speed`: as its users would run it under load, with both compilers of Java, and room for every event."""
        self._options = _FAST if at_full_speed else _SMALL
        self._folder = tempfile.TemporaryDirectory(prefix="isthmus-jacorb-")
        folder = Path(self._folder.name)
        self.ior = folder / "factory.ior"
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        classpath = joined([compiled("leash"), *fetch()])
        command = [tool("java"), "-Xshare:auto"]
        command += [f"-D{name}={value}" for name, value in _SYSTEM_PROPERTIES.items()]
        command += self._options
        command += ["-cp", classpath, "leash.Leash", "org.jacorb.notification.ConsoleMain"]
        command += ["-writeIOR", str(self.ior), "-channels", str(CHANNELS)]
        self.ior.unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self._folder.name,
                stdin=subprocess.PIPE,  # the leash
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + READY_SECS
        while not self._written():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"JacORB does not start: {self._log.read_text()[-LOG_TAIL_CHARS:]}")
            time.sleep(0.05)

    def _written(self) -> bool:
        return self.ior.exists() and self.ior.read_bytes().startswith(b"IOR:")

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait(END_SECS)
            assert process.stdin is not None
            process.stdin.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._folder.cleanup()
