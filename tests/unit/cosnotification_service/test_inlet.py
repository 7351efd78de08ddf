"""The thread that pulls from one supplier: what it has taken is put into the channel, however long that takes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.cosnotification.service.engine import inlet as inlet_module
from adapters.cosnotification.service.engine.hub import Full
from adapters.cosnotification.service.engine.inlet import Inlet
from adapters.cosnotification.service.engine.outlet import RetryPolicy
from adapters.cosnotification.service.store.database import StoreFailed
from adapters.cosnotification.stubs import CORBA

PATIENCE_SECS = 20.0


def made(
    pull: Callable[[], list[Any]], send_many: Callable[[list[Any]], None], gone: Callable[[], object] = lambda: None
) -> Inlet:
    hub: Any = SimpleNamespace(is_full=False, send_many=send_many)
    return Inlet("t", pull, lambda event: event != "unfit", hub, gone, RetryPolicy())


@pytest.mark.parametrize("refusal", [Full, StoreFailed])
def test_what_does_not_fit_now_is_put_there_later_and_nothing_is_pulled_meanwhile(
    monkeypatch: pytest.MonkeyPatch, refusal: type[Exception]
) -> None:
    monkeypatch.setattr(inlet_module, "FULL_PAUSE_SECS", 0.01)
    stock = deque([["a", "unfit", "b"], ["c"]])
    got: list[Any] = []
    refused: list[int] = []
    done = threading.Event()

    def send_many(events: list[Any]) -> None:
        if len(refused) < 3:
            refused.append(len(stock))
            raise refusal
        got.extend(events)
        if "c" in got:
            done.set()

    inlet = made(lambda: stock.popleft() if stock else [], send_many)
    inlet.start()
    assert done.wait(PATIENCE_SECS)
    inlet.stop()
    assert inlet.join(PATIENCE_SECS)
    assert got == ["a", "b", "c"]
    assert refused == [1, 1, 1]


def test_a_supplier_is_asked_at_its_interval_whether_it_has_something_or_not() -> None:
    pauses: list[float] = []
    answers: deque[list[Any]] = deque([["a"], [], ["b"]])

    class Pausing(threading.Event):
        """A pause takes no time, and the last one ends it all."""

        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            if not answers:
                self.set()
            return self.is_set()

    inlet = made(answers.popleft, lambda _: None)
    inlet.interval_secs = 7.0
    inlet._stopping = Pausing()
    inlet.start()
    assert inlet.join(PATIENCE_SECS)
    assert pauses == [7.0, 7.0, 7.0]


def test_a_supplier_that_wants_nothing_more_is_given_up() -> None:
    gone = threading.Event()

    def pull() -> list[Any]:
        raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)

    inlet = made(pull, lambda _: None, gone.set)
    inlet.start()
    assert gone.wait(PATIENCE_SECS)
    assert inlet.join(PATIENCE_SECS)
