"""The thread that pulls: it asks only where there is room, and does not end without a word."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from adapters.base import ReconnectError
from adapters.cosnotification.stubs import CORBA, CosEventComm
from adapters.cosnotification.worker.gate import Gate
from adapters.cosnotification.worker.receiving import Puller

PATIENCE_SECS = 20.0


def pulled(*steps: Any, capacity: int = 100) -> tuple[list[int], ReconnectError]:
    """How many events each pull asked for, and how it ended: each step is how many it gives, or what it raises."""
    asked: list[int] = []
    script = iter(steps)
    ended = threading.Event()
    failures: list[ReconnectError] = []
    gate = Gate(capacity, 1.0, lambda first, contents: None)

    def pull(_: Any, most: int, intake: Any) -> bool:
        asked.append(most)
        step = next(script)
        if isinstance(step, Exception):
            raise step
        if step:
            gate.hand_over([None] * step)
        return bool(step)

    def fail(error: ReconnectError) -> None:
        failures.append(error)
        ended.set()

    kind: Any = SimpleNamespace(pull=pull)
    connection: Any = SimpleNamespace(partner=object())
    intake: Any = None
    puller = Puller(kind, connection, intake, gate, 0.001, fail)
    puller.start()
    assert ended.wait(PATIENCE_SECS)
    puller.stop()
    return asked, failures[0]


def test_it_asks_for_no_more_than_there_is_room_for() -> None:
    asked, _ = pulled(4, 3, 0, CosEventComm.Disconnected(), capacity=10)
    assert asked == [10, 6, 3, 3]


def test_later_is_no_trouble() -> None:
    later = CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)
    asked, error = pulled(later, 1, CosEventComm.Disconnected())
    assert len(asked) == 3
    assert error.code == "COR-DISCONNECTED"


def test_what_nobody_expected_is_told() -> None:
    _, error = pulled(ValueError("odd"))
    assert error.code == "COR-PEER"
    assert "ValueError" in error.message
