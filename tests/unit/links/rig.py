"""A link on the in-memory wire, with everything a test may want to look at or to hurt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from adapters.base import Delivery, Outgoing, Payload
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from adapters.settings_base import BackOff
from gateway.links.accounts import Accounts
from gateway.links.link import Handover, Link, Pace
from gateway.links.observer import Side, State
from gateway.links.recorder import Recorder as TrafficRecorder
from gateway.links.step import Step
from mappings.errors import IsthmusError
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent

QUICK = BackOff(first_ms=5, longest_ms=20)
PATIENCE_SECS = 20.0


def event(number: int) -> StructuredEvent:
    return StructuredEvent("Telecom", "Alarm", f"n{number}", (), (Property("Number", LONG, number),))


def number(payload: Payload) -> int:
    assert isinstance(payload, StructuredEvent)
    return int(payload.filterable_data[0].value)


def as_it_is(delivery: Delivery) -> Outgoing:
    assert delivery.payload is not None
    return Outgoing(delivery.payload, delivery.id)


@dataclass
class Recorder:
    """Observer and dead-letter store in one; `disk_full` makes the store fail."""

    lines: list[tuple[str, str, str | None]] = field(default_factory=list)
    letters: list[tuple[Delivery, IsthmusError]] = field(default_factory=list)
    attempts: list[int] = field(default_factory=list)
    disk_full: bool = False

    def side_changed(self, link: str, side: Side, state: State, error: IsthmusError | None, attempts: int) -> None:
        self.lines.append((side, state, error.code if error else None))

    def link_changed(self, link: str, state: State, error: IsthmusError | None) -> None:
        self.lines.append(("link", state, error.code if error else None))

    def numbers_missing(self, link: str, by: str, first: int, last: int) -> None:
        self.lines.append(("numbers", f"{first}-{last}", by))

    def dead_lettered(self, link: str, delivery: Delivery, error: IsthmusError) -> None:
        pass

    def put(self, link: str, delivery: Delivery, error: IsthmusError, attempts: int = 0) -> None:
        if self.disk_full:
            raise OSError(28, "No space left on device")
        self.letters.append((delivery, error))
        self.attempts.append(attempts)


class Rig:
    def __init__(
        self,
        step: Step = as_it_is,
        pace: Pace | None = None,
        accounts: Accounts | None = None,
        handover: Handover | None = None,
        traffic: TrafficRecorder | None = None,
    ) -> None:
        self.inlet = MemoryPeer()
        self.outlet = MemoryPeer()
        self.recorder = Recorder()
        source = handover.source if handover else MemorySource(self.inlet, MemoryChannel(endpoint="in", name="in"))
        sink = MemorySink(self.outlet, MemoryChannel(endpoint="out", name="out"))
        pace = pace or Pace(
            window=50, batch=10, drain_secs=5.0, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK
        )
        unsettled = handover and handover.unsettled
        self.link = Link("a", source, sink, step, self.recorder, self.recorder, pace, accounts, unsettled, traffic)

    def feed(self, count: int, first: int = 0) -> None:
        self.inlet.put("in", [event(n) for n in range(first, first + count)])

    def arrived(self) -> list[int]:
        return [number(p) for p in self.outlet.contents("out")]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


@contextmanager
def running(rig: Rig) -> Iterator[Rig]:
    rig.link.start()
    try:
        yield rig
    finally:
        rig.link.stop()
        assert rig.link.join(PATIENCE_SECS)
        assert rig.link.balance().holds
