"""The stand-in queue manager in a process of its own that can be killed and started again, on the same port and with its store."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
END_SECS = 10.0


class ServerProcess:
    """All that there is to know of it stands in `folder`, so that another process can stop and start it: see `main`."""

    def __init__(
        self, folder: Path, queues: Sequence[str] = (), options: Sequence[str] = (), name: str = "QM1"
    ) -> None:
        self.folder = folder
        self._settings = folder / "settings.json"
        self._child: subprocess.Popen[bytes] | None = None
        if queues:
            self._settings.write_text(
                json.dumps({"name": name, "queues": [*queues], "port": 0, "leash": os.getpid(), "options": [*options]}),
                encoding="utf-8",
            )

    @property
    def port(self) -> int:
        return int(json.loads(self._settings.read_text(encoding="utf-8"))["port"])

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text(encoding="utf-8"))

    def start(self) -> None:
        settings = json.loads(self._settings.read_text(encoding="utf-8"))
        command = [sys.executable, "-m", "tests.standins.mq.server", "--name", settings["name"]]
        command += ["--port", str(settings["port"]), "--leash", str(settings["leash"])]
        command += ["--store", str(self.folder / "messages.db")]
        for queue in settings["queues"]:
            command += ["--queue", queue]
        command += settings["options"]
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        self._child = process
        assert process.stdout is not None
        with process.stdout as told:
            line = told.readline()
        assert line, (self.folder / "log").read_text(encoding="utf-8")
        settings["port"] = int(line)
        self._settings.write_text(json.dumps(settings), encoding="utf-8")
        (self.folder / "pid").write_text(str(process.pid), encoding="utf-8")

    def kill(self) -> None:
        """Also where another process has killed and started it since."""
        pid = self.pid
        child, self._child = self._child, None
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + END_SECS
        while _runs(pid):
            assert time.monotonic() < deadline, "the stand-in does not die"
            time.sleep(0.02)
        if child is not None:
            child.wait(END_SECS)


def _runs(pid: int) -> bool:
    """One that has ended, and whose parent has not asked for it yet, does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def main() -> None:
    """`python -m tests.standins.mq.process start|stop FOLDER`"""
    server = ServerProcess(Path(sys.argv[2]))
    if sys.argv[1] == "start":
        server.start()
    else:
        server.kill()


if __name__ == "__main__":
    main()
