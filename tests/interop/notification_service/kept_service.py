"""Our Notification Service with a store, in a process of its own on a port of its own, which can be killed and started again.

As a program: `python -m tests.interop.notification_service.kept_service OPTIONS` (JSON). Prints the factory's reference, and
answers each line of standard input:

    queued          events that wait for a consumer
    full            from now on no file of this process grows: the disk is full
    room            it may grow again
    stop            an orderly end
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.engine.outlet import RetryPolicy
from adapters.cosnotification.service.host import ROOM, ServiceHost
from adapters.cosnotification.settings import OrbSettings
from adapters.cosnotification.typed.idl_files import read_interfaces
from tests.parts.ports import ReservedPort


class KeptService:
    """`start`, `kill` (-9) or `stop`, `start` …: always at the same address. In the end `close`."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self._port = ReservedPort()
        self.port = self._port.number
        self.options = {"listen": f"127.0.0.1:{self._port.number}", "store": str(folder / "notify.db"), **options}
        self._process: subprocess.Popen[str] | None = None
        self.factory_ior = ""

    def start(self) -> str:
        command = [sys.executable, "-m", "tests.interop.notification_service.kept_service", json.dumps(self.options)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.factory_ior = self._process.stdout.readline().strip()
        assert self.factory_ior.startswith("IOR:"), "the service did not start"
        return self.factory_ior

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:  # waits, and closes the pipes
                self._process = None

    def close(self) -> None:
        self.kill()
        self._port.close()

    def stop(self) -> None:
        self.ask("stop")
        assert self._process is not None
        assert self._process.wait(20) == 0
        self.kill()

    def ask(self, question: str) -> str:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


def main() -> None:
    options = json.loads(sys.argv[1])
    orb = LocalOrb(OrbSettings(listen=options["listen"], allow=options.get("allow")), held=[ROOM], doorway=True)
    orb.start()
    retry = RetryPolicy(longest_pause_secs=0.3, give_up_secs=options.get("give_up_secs", 300.0))
    channels = options.get("channels", 1)
    hides = options.get("hides_others", False)
    service = ServiceHost(
        orb,
        channels=channels,
        interfaces=read_interfaces(tuple(options["idl"]), ()) if options.get("idl") else (),
        store=Path(options["store"]),
        hides_others=hides,
        in_memory=options.get("in_memory", 10_000),
        retry=retry,
    )
    service.start()
    print(service.factory_ior, flush=True)
    for line in sys.stdin:
        answer: object = "done"
        match line.strip():
            case "queued":
                answer = service.queued()
            case "full":
                log = Path(options["store"] + "-wal")
                resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, resource.RLIM_INFINITY))
            case "room":
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            case "stop":
                service.stop()
                print(answer, flush=True)
                break
        print(answer, flush=True)
    os._exit(0)  # a thread of the ORB that is on its way out when Python ends would abort the process


if __name__ == "__main__":
    main()
