"""A worker as its parent sees it: a process with a JVM, and a socket to it. Made and ended here, lent out by `pool`.

The worker ends when its socket closes, so it never outlives us, however we end. It is started as a new program, never by fork:
a JVM does not survive one, nor do our own threads.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import adapters
from adapters.base import ReconnectError
from adapters.jms.frames import Frame, FrameError, FrameSocket
from adapters.jms.provider_errors import Report, classify

END_SECS: Final = 3.0
COMPLAINT_CHARS: Final = 300


class Jvm(NamedTuple):
    """What a JVM is started with. Workers with an equal one can stand in for each other."""

    classpath: tuple[str, ...]
    fingerprint: tuple[tuple[str, int, int], ...]
    options: tuple[str, ...]
    java_home: str | None
    serial_filter: str


class Worker:
    """Every method raises ReconnectError, and nothing else, when the process is gone, hangs, or talks nonsense."""

    def __init__(self, jvm: Jvm, start_timeout_secs: float) -> None:
        """Starts the process and its JVM. Raises StopError where there is no Java or no JPype."""
        self.jvm = jvm
        self._complaints = _bounded_file()
        ours, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "adapters.jms.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._complaints,
                stderr=self._complaints,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": _python_path()},
                start_new_session=True,  # Ctrl-C is for us: we end our workers when the links have drained
            )
        except OSError as error:
            ours.close()
            os.close(self._complaints)
            raise ReconnectError("JMS-WORKER", f"the worker cannot be started: {error.strerror or error}") from None
        finally:
            theirs.close()
        self._frames = FrameSocket(ours, send_timeout_secs=start_timeout_secs)
        self._ended = False
        self.hangs = False  # there is no use in talking to it any more
        try:
            self.send(("start", jvm.classpath, jvm.options, jvm.java_home, jvm.serial_filter))
            answer = self.expect(("started", "failed"), start_timeout_secs)
            if answer[0] == "failed":
                raise classify(Report(*answer[1]), "java_home")
        except BaseException:
            self.kill()
            raise
        self.java_version: str = answer[1]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return not self._ended and self._process.poll() is None

    def set_patience(self, secs: float) -> None:
        """How long a send may wait for a worker that does not read."""
        self._frames.set_send_timeout(secs)

    def send(self, frame: Frame) -> int:
        """The size of the frame."""
        try:
            return self._frames.send(frame)
        except TimeoutError:
            raise self.hung() from None
        except (OSError, FrameError) as error:
            raise self._gone(error) from None

    def send_encoded(self, data: bytes) -> None:
        try:
            self._frames.send_encoded(data)
        except TimeoutError:
            raise self.hung() from None
        except OSError as error:
            raise self._gone(error) from None

    def read(self, timeout_secs: float, wake: int | None = None) -> Frame | None:
        """The next frame; None after the time-out or a wake."""
        try:
            return self._frames.read(timeout_secs, wake)
        except (EOFError, TimeoutError, OSError, FrameError) as error:
            raise self._gone(error) from None

    def expect(self, names: tuple[str, ...], timeout_secs: float) -> Frame:
        """The next frame of one of these names, whatever comes before it."""
        deadline = time.monotonic() + timeout_secs
        while (remaining := deadline - time.monotonic()) > 0:
            frame = self.read(remaining)
            if frame is not None and frame[0] in names:
                return frame
        raise ReconnectError(
            "JMS-NO-ANSWER",
            f"no answer within {timeout_secs:g} s",
            hint="the provider hangs, or speaks no JMS there; or raise `connect_timeout_ms`",
        )

    def hung(self) -> ReconnectError:
        self.hangs = True
        return ReconnectError(
            "JMS-HUNG",
            "the worker says nothing, and is ended",
            hint="the provider hangs, or its client does; see the provider's log",
        )

    def end(self) -> None:
        """Close the socket, which ends a healthy worker, and kill one that stays."""
        if self._ended:
            return
        self._ended = True
        self._frames.close()
        try:
            self._process.wait(END_SECS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._complaints)

    def kill(self) -> None:
        """At once, for one that hangs; whoever reads from it sees its end."""
        if not self._ended:
            self._process.kill()
            self._process.wait()
            self.end()

    def _gone(self, error: Exception) -> ReconnectError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)  # a socket closes a little before the process has ended
        status = self._process.poll()
        if status is None:
            return ReconnectError("JMS-WORKER", f"the worker talks nonsense: {error or type(error).__name__}")
        said = f": {tail}" if (tail := self._last_words()) else ""
        return ReconnectError(
            "JMS-WORKER",
            f"the worker ended with status {status}{said}",
            hint="the link starts another; if it goes on, look for hs_err_pid files and the kernel's log",
        )

    def _last_words(self) -> str:
        if self._ended:
            return ""
        try:
            size = os.fstat(self._complaints).st_size
            lines = os.pread(self._complaints, 4000, max(0, size - 4000)).decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")[:COMPLAINT_CHARS]


def _python_path() -> str:
    """So that the worker finds the same packages as we did, wherever it is started."""
    root = str(Path(adapters.__file__).resolve().parents[1])
    given = os.environ.get("PYTHONPATH")
    return root if not given else os.pathsep.join((root, given))


def _bounded_file() -> int:
    """A file without a name for what the JVM and the provider's client print; the worker keeps it short."""
    descriptor, name = tempfile.mkstemp(prefix="isthmus-jms-")
    os.close(descriptor)
    descriptor = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    Path(name).unlink()
    return descriptor
