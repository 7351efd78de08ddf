"""Calls of the gateway to the worker: many may wait for peers that hang, and none of that costs an event."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.cosnotification.worker.__main__ import CALLS_AT_ONCE, Worker
from adapters.cosnotification.worker.gate import Gate, NotTaken


def test_a_source_that_is_being_closed_takes_nothing_more_though_no_thread_is_free_to_close_it() -> None:
    """The gateway waits some seconds for the close, and then listens to this source no more."""
    frames: Any = SimpleNamespace(send=lambda frame: None)
    passed_on: list[Any] = []
    worker = Worker(frames)
    hang = threading.Event()
    for _ in range(CALLS_AT_ONCE):
        worker._pool.submit(hang.wait)
    try:
        gate = Gate(10, 0.2, lambda first, contents: passed_on.append(contents))
        receiver: Any = SimpleNamespace(gate=gate, close=lambda: True)
        worker._receivers[1] = receiver
        gate.offer(["taken"])
        worker._on_call(0, "close", (1,))
        with pytest.raises(NotTaken):
            gate.offer(["not taken"])
        assert passed_on == [["taken"]]
    finally:
        hang.set()
        worker._pool.shutdown()
