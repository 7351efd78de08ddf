"""Workers that wait for their next connection.

A JVM takes a second of CPU to start. While a provider is down, links try again and again; each try gets a waiting worker, not a
new JVM. A worker that waits longer than IDLE_SECS ends by itself; it is reaped here the next time anybody looks.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from typing import Final

from adapters.base import ReconnectError
from adapters.jms.worker_process import Jvm, Worker

MOST_IDLE: Final = 8
PING_SECS: Final = 2.0

_lock: Final = threading.Lock()
_idle: Final[list[Worker]] = []


def borrow(jvm: Jvm, start_timeout_secs: float) -> Worker:
    """A worker with such a JVM, waiting or new. Raises ReconnectError or StopError."""
    while True:
        with _lock:
            _reap()
            worker = next((idle for idle in _idle if idle.jvm == jvm), None)
            if worker is None:
                break
            _idle.remove(worker)
        try:
            worker.set_patience(PING_SECS)
            worker.send(("ping",))
            worker.expect(("pong",), PING_SECS)
        except ReconnectError:  # it ended this very moment
            worker.kill()
        else:
            return worker
    return Worker(jvm, start_timeout_secs)


def give_back(worker: Worker) -> None:
    """It has closed its connection, and may serve again."""
    with _lock:
        _reap()
        if len(_idle) < MOST_IDLE and worker.running:
            _idle.append(worker)
            return
    worker.end()


def close() -> None:
    """End all that wait."""
    with _lock:
        waiting, _idle[:] = list(_idle), []
    for worker in waiting:
        with contextlib.suppress(OSError):
            worker.kill()


def _reap() -> None:
    """With the lock held."""
    for worker in [idle for idle in _idle if not idle.running]:
        _idle.remove(worker)
        worker.end()


atexit.register(close)
