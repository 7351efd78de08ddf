"""RabbitMQ with its STOMP plugin, from Debian's packages.

It runs on Erlang's virtual machine, whose nodes find each other through a name server, epmd, that outlives them. So epmd is
started by us, on a port of its own, and ended by us. No AMQP, no management.

Killed within moments of making a queue, RabbitMQ 3.10 lost the queue, with messages that it had confirmed, in 12 of 92 attempts;
in none of 40 when the queue was three seconds old. A test that kills it and counts lets its queues grow SETTLING_SECS old first.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from tests.parts.broker_part import STOP_SECS, BrokerPart
from tests.parts.cache import PartUnavailable
from tests.parts.debian import unpacked

SETTLING_SECS = 3.0


def fetch() -> Path:
    return unpacked("rabbitmq-server", "erlang-")


class RabbitMQ(BrokerPart):
    kind: ClassVar[Literal["rabbitmq"]] = "rabbitmq"
    vhost = "/"

    def __init__(self) -> None:
        root = fetch() / "usr" / "lib"
        self._erlang = root / "erlang"
        self._home = next(root.glob("rabbitmq/lib/rabbitmq_server-*"))
        self._runtime = next(self._erlang.glob("erts-*")) / "bin"
        super().__init__("distribution", "epmd")
        self._epmd: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if self._epmd is None:
            port = self._ports["epmd"].number
            self._epmd = self._spawn(_leashed(self._runtime / "epmd", "-port", str(port), "-address", self.host))
        super().start()

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        epmd, self._epmd = self._epmd, None
        if epmd is not None:
            os.kill(epmd.pid, signal.SIGKILL)
            epmd.communicate(timeout=STOP_SECS)

    def _command(self) -> Sequence[str]:
        options = (
            "-noinput -boot start_sasl -s rabbit boot +W w "
            "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none "  # no busy waiting: the cores are shared
            "-syslog logger [] -syslog syslog_error_logger false "
            "-kernel prevent_overlapping_partitions false -kernel inet_dist_use_interface {127,0,0,1}"
        )
        return _leashed(self._runtime / "erlexec", *options.split())

    def _environment(self) -> dict[str, str]:
        """Nothing of this process's own: RabbitMQ is told everything by variables."""
        return {
            "PATH": f"{self._erlang / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "ROOTDIR": str(self._erlang),
            "BINDIR": str(self._runtime),
            "EMU": "beam",
            "PROGNAME": "erl",
            "ERL_LIBS": str(self._home / "plugins"),
            "ERL_EPMD_ADDRESS": self.host,
            "ERL_EPMD_PORT": str(self._ports["epmd"].number),
            "ERL_CRASH_DUMP_BYTES": "0",
            "RABBITMQ_HOME": str(self._home),
            "RABBITMQ_PLUGINS_DIR": str(self._home / "plugins"),
            "RABBITMQ_NODENAME": f"isthmus-{self.stomp_port}@localhost",
            "RABBITMQ_DIST_PORT": str(self._ports["distribution"].number),
            "RABBITMQ_CONFIG_FILE": str(self._etc / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._etc / "enabled_plugins"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_GENERATED_CONFIG_DIR": str(self.folder / "generated"),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "data"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_LOGS": "-",
        }


def rabbitmq() -> RabbitMQ:
    """`with rabbitmq() as broker:` — see BrokerPart. PartUnavailable where it cannot be had."""
    return RabbitMQ()


def _leashed(program: Path, *arguments: str) -> list[str]:
    """It ends with the thread that starts it, however that ends: start it from the main thread."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise PartUnavailable("there is no `setpriv` (on Debian: util-linux)")
    return [setpriv, "--pdeathsig", "KILL", str(program), *arguments]
