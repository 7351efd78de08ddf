"""The ORB of the gateway: a worker process that is started, watched, and started again when it has died.

Peers cannot bring the gateway down: what crashes or hangs the ORB library costs the worker, and the links on it reconnect. The ORB
comes back on the same port, and the services that it hosts come back with it.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from typing import Any, Final, Protocol

from adapters.base import AdapterError, ReconnectError, StopError
from adapters.cosnotification.left_behind import LeftBehind
from adapters.cosnotification.settings import OrbSettings
from adapters.cosnotification.worker.frames import Closed, Frames, pack, pipe
from adapters.cosnotification.worker.parcels import NumberedTypes, TypeNumbers
from adapters.cosnotification.worker.told import heard

START_SECS: Final = 30.0
STOP_SECS: Final = 15.0
QUIET_SECS: Final = 1.0  # then the worker is asked whether it lives
HUNG_SECS: Final = 20.0  # without a sign of life: it is killed
GATHER_SECS: Final = 0.001
STREAM_SECS: Final = 0.003  # frames that follow each other more quickly are a stream
LONGEST_PAUSE_SECS: Final = 5.0
STEADY_SECS: Final = 30.0  # a worker that lived so long is replaced at once


class End(Protocol):
    """A source or a sink, as the worker sees it. Called on the supervisor's thread: must not block."""

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        """True where somebody waits for what follows from it: the next frames must not be gathered."""

    def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None: ...


class Gathering:
    """While events stream in, look for more only every millisecond: ten at once cost the gateway little more than one.

    An event after a silence is not delayed, nor is anything while a peer is waiting for an answer.
    """

    def __init__(self) -> None:
        self.hurry = False
        self._looked = 0.0

    def pause(self) -> None:
        now = time.monotonic()
        if now - self._looked < STREAM_SECS and not self.hurry:
            time.sleep(GATHER_SECS)
        self.hurry = False
        self._looked = now


class Worker:
    """One life of the worker process."""

    def __init__(self) -> None:
        """Raises OSError where the system has no process, memory or descriptor to give."""
        with ExitStack() as undo:
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            with theirs:
                reader, writer = pipe()
                undo.callback(os.close, reader)
                given = [theirs.fileno(), writer]
                command = [sys.executable, "-P", "-m", "adapters.cosnotification.worker", *map(str, given)]
                try:
                    self.process = subprocess.Popen(command, pass_fds=given, stdin=subprocess.DEVNULL)
                finally:
                    os.close(writer)
            undo.pop_all()
        self.frames = Frames(ours, reader=reader)
        self.types_out = TypeNumbers(lambda number, data: self.frames.send(("types", number, data)))
        self.types_in = NumberedTypes()
        self.born = time.monotonic()
        self.fault: str | None = None  # why it must end, where that is not for what it said
        self._numbers = itertools.count()
        self._calls: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()  # guards the calls and the end
        self._ended: ReconnectError | None = None

    def post(self, *frame: Any) -> None:
        """Without an answer. A worker that has gone hears nothing, and needs not."""
        self.post_packed(pack(frame))

    def post_packed(self, frame: bytes) -> None:
        with suppress(Closed):
            self.frames.send_packed(frame)

    def ask_for_a_sign(self) -> None:
        """On the supervisor's thread, which must notice a worker that hangs, also while others wait for room in its socket."""
        with suppress(Closed):
            self.frames.send_if_room(("ping",))

    def call(self, name: str, *arguments: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        number = next(self._numbers)
        with self._lock:
            if self._ended is not None:
                answer.set_exception(self._ended)
                return answer
            self._calls[number] = answer
        self.post("call", number, name, arguments)
        return answer

    def on_return(self, number: int, value: Any, error: Any) -> None:
        with self._lock:
            answer = self._calls.pop(number, None)
        if answer is None:
            return
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(heard(error))

    def end(self, fault: str | None = None) -> ReconnectError:
        """It has gone, or must go: what it died of. `fault`: why it must, where it is for what it said."""
        self.frames.release()
        try:
            status = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        error = ReconnectError(
            "COR-WORKER",
            f"the ORB's process was {how}{fault or ''}" if status < 0 else f"the ORB's process {how}{fault or ''}",
            hint="it is started again, and what crashed it is passed over",
        )
        with self._lock:
            self._ended = error
            unanswered, self._calls = self._calls, {}
        for answer in unanswered.values():
            answer.set_exception(error)
        return error


class Orb:
    """`start` and `stop` pair up; `stop` twice is fine. Sources, sinks and services live between the two."""

    def __init__(
        self,
        settings: OrbSettings | None = None,
        left_behind: LeftBehind | None = None,
        *,
        held: Sequence[str] = (),
        changed: Callable[[ReconnectError | None], None] = lambda error: None,
    ) -> None:
        """`held`: names of the rooms of services that will be hosted: whoever calls them before they are there waits.

        `changed` hears what the process died of, and None when there is another; it must not hold up its caller.
        """
        self.settings: Final = settings or OrbSettings()
        self.left_behind: Final = left_behind or LeftBehind()
        self._held = list(held)
        self._changed = changed
        self.crashes = 0
        self._lock = threading.Lock()
        self._worker: Worker | None = None  # None: it is away, or we are stopped
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._ends: dict[int, End] = {}
        self._end_ids = itertools.count(1)
        self._hosted: dict[str, tuple[str, tuple[Any, ...]]] = {}  # calls that every new worker gets again
        self._listen = self.settings  # with the port that was chosen

    # For the gateway

    def start(self) -> None:
        """Raises StopError where the ORB does not come up; nothing is then left running."""
        if self._thread is not None:
            return
        if find_spec("omniORB") is None:  # the worker would say so in a traceback, and be started again
            raise ModuleNotFoundError("the library of the ORB is not installed", name="omniORB")
        self._stopping.clear()
        self._listen = _with_port(self.settings)
        worker = Worker()
        thread = threading.Thread(target=self._supervise, args=(worker,), name="orb-supervisor", daemon=True)
        thread.start()
        try:
            await_(worker.call("start", self._listen.model_dump_json(), self._held), START_SECS)
        except AdapterError as error:
            self._stopping.set()
            worker.process.kill()
            thread.join()
            raise StopError(error.code, error.message, path="orb", hint=error.hint) from error
        self._thread = thread
        with self._lock:
            self._worker = worker

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._stopping.set()
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            try:
                worker.call("stop").result(STOP_SECS)
            except (AdapterError, Late):
                worker.process.kill()
            worker.frames.close()
        thread.join()

    # For sources, sinks and services

    def attach(self, end: End) -> tuple[int, Worker]:
        """A number for this end, and the worker that serves it until one of both goes. Raises ReconnectError."""
        with self._lock:
            if self._worker is None:
                raise ReconnectError("COR-WORKER", "the ORB's process is not running")
            number = next(self._end_ids)
            self._ends[number] = end
            return number, self._worker

    def detach(self, number: int) -> None:
        with self._lock:
            self._ends.pop(number, None)

    def host(self, name: str, *arguments: Any, key: str = "") -> Any:
        """A call that is made again, in the same words, to every later worker. Raises StopError or ReconnectError.

        `key` tells apart what is hosted by calls of the same name.
        """
        answer = self.ask(name, *arguments)
        self._hosted[key or name] = name, arguments
        return answer

    def rehost(self, name: str, *arguments: Any, key: str) -> None:
        """What is hosted under this key is hosted in other words by later workers."""
        if key in self._hosted:
            self._hosted[key] = name, arguments

    def ask(self, name: str, *arguments: Any, timeout_secs: float = START_SECS) -> Any:
        """A call to the worker that is there now. Raises StopError, ReconnectError, or what the worker says."""
        with self._lock:
            worker = self._worker
        if worker is None:
            if self._thread is not None:
                raise ReconnectError("COR-WORKER", "the ORB's process is not running")
            raise StopError("COR-ORB", "the ORB is not running")
        return await_(worker.call(name, *arguments), timeout_secs)

    def unhost(self, key: str, ending: str, *arguments: Any) -> None:
        self._hosted.pop(key, None)
        with self._lock:
            worker = self._worker
        if worker is not None:
            with suppress(AdapterError, Late):
                worker.call(ending, *arguments).result(STOP_SECS)

    # The supervisor's thread

    def _supervise(self, worker: Worker) -> None:
        pause_secs = 0.0
        while True:
            fault = self._hear_out(worker)
            with self._lock:
                if self._worker is worker:
                    self._worker = None
                ends = list(self._ends.values())
            error = worker.end(fault or worker.fault)
            for end in ends:
                end.on_worker_lost(worker, error)
            if self._stopping.is_set():
                return
            self.crashes += 1
            self._changed(error)
            lived_secs = time.monotonic() - worker.born
            pause_secs = 0.0 if lived_secs > STEADY_SECS else min(pause_secs * 2 + 0.1, LONGEST_PAUSE_SECS)
            if (successor := self._successor(pause_secs)) is None:
                return
            worker = successor
            self._revive(worker)

    def _successor(self, pause_secs: float) -> Worker | None:
        """None when we are to end. A system without memory or processes to give is asked again: it must not end the supervision."""
        while not self._stopping.wait(pause_secs):
            try:
                return Worker()
            except OSError:
                pause_secs = min(pause_secs * 2 + 0.1, LONGEST_PAUSE_SECS)
        return None

    def _hear_out(self, worker: Worker) -> str | None:
        """Until the worker ends. What it says may be anything: it must not end the supervision, whatever comes of it."""
        try:
            self._listen_to(worker)
        except Exception as bug:  # noqa: BLE001 - told in the error that every end gets
            worker.process.kill()
            return f", because it said what cannot be taken ({type(bug).__name__}: {bug}); please report this"
        return None

    def _listen_to(self, worker: Worker) -> None:
        heard_at = time.monotonic()
        gathering = Gathering()
        for frame in worker.frames.receive(QUIET_SECS, gathering.pause):
            if frame is None:
                if time.monotonic() - heard_at > HUNG_SECS:
                    worker.process.kill()
                    return
                worker.ask_for_a_sign()
                continue
            heard_at = time.monotonic()
            kind = frame[0]
            if kind == "return":
                worker.on_return(*frame[1:])
            elif kind == "types":
                worker.types_in.add(*frame[1:])
            elif kind != "pong":
                end = self._ends.get(frame[1])
                if end is not None and end.on_frame(worker, frame):
                    gathering.hurry = True

    def _revive(self, worker: Worker) -> None:
        """Start the ORB in the new worker and host again what was hosted; then it is ours to use. Nothing here may wait."""
        calls = [("start", (self._listen.model_dump_json(), self._held)), *self._hosted.values()]

        def next_call(done: Future[Any] | None = None) -> None:
            if done is not None and (trouble := done.exception()) is not None:
                worker.fault = f", because what it hosts could not be started: {trouble}"
                worker.process.kill()  # its end is noticed, and it is tried again
            elif calls:
                name, arguments = calls.pop(0)
                worker.call(name, *arguments).add_done_callback(next_call)
            elif not self._stopping.is_set():
                with self._lock:
                    self._worker = worker
                self._changed(None)

        next_call()


def _with_port(settings: OrbSettings) -> OrbSettings:
    """A free port in place of port 0: it stays ours over the workers, so that references that peers hold go on to lead here.

    The library reuses an address that has connections of a dead process lingering on it only if it was told the port.
    """
    host, _, port = settings.listen.rpartition(":")
    if port != "0":
        return settings
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host.strip("[]"), 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as chosen:
            chosen.bind(address)
            return settings.model_copy(update={"listen": f"{host}:{chosen.getsockname()[1]}"})
    except OSError as error:
        raise StopError("COR-ORB", f"the ORB cannot listen on {settings.listen}: {error}", path="orb.listen") from error


def await_(answer: Future[Any], timeout_secs: float) -> Any:
    """The answer of the worker. Raises its error, or a ReconnectError."""
    try:
        return answer.result(timeout_secs)
    except Late:
        raise ReconnectError("COR-WORKER", "the ORB's process does not answer") from None
