"""What capturing costs a gateway that passes 20 000 events a second on.

A real link takes events from a source that has them when they are due, translates them, and gives them to a sink that confirms
at once; with a capture, and without. Each thread's CPU is read from its own clock, so that nobody else's load is in it. The link's
thread is the hot one; the capture's own threads are the writer, and the sealer that makes Parquet.

    capture-hot-thread-B      events for a second of the link's CPU, when events come B at a time
    capture-writer-KIND       events for a second of the writer's CPU, against the bare encoding of both payloads of the same events

Printed beside it: how late events are sent by the clock, which other people's load is in.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from adapters import garbage
from adapters.base import Capabilities, Confirmation, Delivery, Outgoing, Refusal, Sink, Source
from gateway.capture.recorder import LinkRecorder
from gateway.capture.rows import Rows
from gateway.capture.sealer import Sealer
from gateway.capture.sweeper import Sweeper
from gateway.capture.writer import Writer
from gateway.links.link import Link, Pace
from gateway.links.observer import SilentObserver
from gateway.links.translation import compile_step
from mappings.captures.payloads import PayloadWriter
from mappings.captures.specification import End, Specification
from mappings.model import StructuredEvent
from mappings.passage import Translation, compile_translate
from tests.bench.bench_translate import ALARM, SIMPLE
from tests.bench.harness import Bench, Measure
from tests.unit.links.rig import Recorder as NoDeadLetters

RATE = 20_000
SECONDS = 3
COUNT = RATE * SECONDS
ROOM = 20_000  # as a gateway has it: capture.queue_events
SPECIFICATION = Specification("bench", "alarms", End("a", "a"), End("b", "b"), Translation("event", "message"), "0")
_WIRE = {"typed_properties": True, "transactions": False, "durable": True, "acknowledges": True, "ordered": True}


class PacedSource(Source):
    """Hands out an event when it is due, `batch` at a time."""

    def __init__(self, event: StructuredEvent, batch: int) -> None:
        self.capabilities = Capabilities("event", **_WIRE)  # type: ignore[arg-type]
        self._event = event
        self._batch = batch
        self._next = 0
        self._began = 0.0
        self.cpu = 0.0  # of the link's thread, from the first event to the end
        self.ended = threading.Event()

    def connect(self) -> None:
        pass

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        first = self._next
        if first == 0:
            self._began, self.cpu = time.perf_counter(), time.thread_time()
        elif first >= COUNT:
            if not self.ended.is_set():
                self.cpu = time.thread_time() - self.cpu
                self.ended.set()
            time.sleep(timeout_secs)
            return []
        last = min(first + self._batch, COUNT)
        if (wait := self.due(last) - time.perf_counter()) > 0:
            time.sleep(wait)
        now, event = time.time(), self._event
        self._next = last
        return [Delivery(event, f"bench-{n}", now) for n in range(first, last)]

    def due(self, number: int) -> float:
        """When the event before this one is there."""
        return self._began + number / RATE

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        pass

    def release(self, deliveries: Sequence[Delivery]) -> None:
        pass

    def wake(self) -> None:
        pass

    def close(self) -> None:
        pass


class PromptSink(Sink):
    """Confirms at once, and notes how late each batch was."""

    def __init__(self, source: PacedSource) -> None:
        self.capabilities = Capabilities("message", **_WIRE)  # type: ignore[arg-type]
        self._source = source
        self._sent = 0
        self.late: list[float] = []

    def connect(self) -> None:
        pass

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        self._sent += len(batch)
        self.late.append(time.perf_counter() - self._source.due(self._sent))
        done: Future[tuple[Refusal, ...]] = Future()
        done.set_result(())
        return done

    def close(self) -> None:
        pass


def pass_on(event: StructuredEvent, batch: int, recorder: LinkRecorder | None) -> tuple[float, list[float]]:
    """CPU seconds of the link's thread, and how late each batch was sent."""
    source = PacedSource(event, batch)
    sink = PromptSink(source)
    garbage.tune()  # as `isthmus run` does: the collector's rounds over what waits would be most of what is measured
    letters = NoDeadLetters()
    step = compile_step(SPECIFICATION.translation)
    link = Link("bench", source, sink, step, letters, SilentObserver(), Pace(), recorder=recorder)  # type: ignore[arg-type]
    link.start()
    assert source.ended.wait(120.0)
    link.stop()
    link.join()
    assert link.balance().delivered == COUNT, link.balance()
    return source.cpu, sorted(sink.late)


@contextmanager
def capturing(whole: list[float]) -> Iterator[LinkRecorder]:
    """Leaves the CPU seconds of the writer and of the sealer in `whole`."""
    with tempfile.TemporaryDirectory() as folder:
        sealer = Sealer(Path(folder), "zstd", 1, Sweeper(Path(folder), None, None), lambda _: None)
        writer = Writer(Path(folder), "bench", Rows(), sealer, 60.0, 500_000, lambda *_: None)
        recorder = LinkRecorder(SPECIFICATION, "r", ROOM, writer.hand_over)
        clocks: list[Any] = [Clock(writer), Clock(sealer)]
        sealer.start()
        writer.start()
        yield recorder
        assert writer.stop(60.0)
        assert sealer.stop(60.0)
        whole += [clock.secs for clock in clocks]


class Clock:
    """The CPU that the thread of a writer or sealer takes: what it runs is wrapped."""

    def __init__(self, owner: Any) -> None:
        self.secs = 0.0
        thread, run = owner._thread, owner._run

        def timed() -> None:
            began = time.thread_time()
            run()
            self.secs = time.thread_time() - began

        thread._target = timed


@contextmanager
def hot_thread(event: StructuredEvent, batch: int) -> Iterator[tuple[Measure, Measure]]:
    def captured() -> float:
        others: list[float] = []
        with capturing(others) as recorder:
            cpu, late = pass_on(event, batch, recorder)
        show(f"captured: link {micros(cpu)}, writer {micros(others[0])}, sealer {micros(others[1])}", late)
        print(f"    {recorder.uncaptured} of {COUNT} not captured", flush=True)
        return COUNT / cpu

    def bare() -> float:
        cpu, late = pass_on(event, batch, None)
        show(f"without:  link {micros(cpu)}", late)
        return COUNT / cpu

    yield captured, bare


def micros(cpu: float) -> str:
    return f"{cpu / COUNT * 1e6:.2f} us"


def show(told: str, late: list[float]) -> None:
    half, most, longest = (late[min(len(late) - 1, int(len(late) * part))] * 1000 for part in (0.5, 0.99, 1.0))
    print(f"  {told}; late by {half:.2f} ms, p99 {most:.1f} ms, at most {longest:.1f} ms", flush=True)


@contextmanager
def writer(event: StructuredEvent) -> Iterator[tuple[Measure, Measure]]:
    """All at once, nobody else at work: the writer's thread alone."""
    translate = compile_translate(SPECIFICATION.translation)
    now = time.time()
    deliveries = [Delivery(event, f"bench-{n}", now) for n in range(ROOM)]
    sent = [Outgoing(translate(event, d.id, int(now * 1000), 0), d.id, None, now) for d in deliveries]

    garbage.tune()

    def written() -> float:
        others: list[float] = []
        with capturing(others) as recorder:
            for start in range(0, ROOM, 100):
                part = slice(start, start + 100)
                recorder.received(deliveries[part])
                recorder.settled("delivered", deliveries[part], sent[part])
        assert recorder.captured == ROOM
        print(f"  writer {others[0] / ROOM * 1e6:.2f} us, sealer {others[1] / ROOM * 1e6:.2f} us", flush=True)
        return ROOM / others[0]

    def encoded() -> float:
        write = PayloadWriter().write
        began = time.thread_time()
        for delivery, outgoing in zip(deliveries, sent, strict=True):
            write(delivery.payload)  # type: ignore[arg-type]
            write(outgoing.payload)
        took = time.thread_time() - began
        print(f"  encoding alone {took / ROOM * 1e6:.2f} us", flush=True)
        return ROOM / took

    yield written, encoded


WITHOUT = "the same link without capture"
ENCODED = "encoding both payloads, nothing else"
BENCHES = [
    Bench("capture-hot-thread-100", "events/CPU-s", WITHOUT, partial(hot_thread, SIMPLE, 100)),
    Bench("capture-hot-thread-10", "events/CPU-s", WITHOUT, partial(hot_thread, SIMPLE, 10)),
    Bench("capture-writer-simple", "events/CPU-s", ENCODED, partial(writer, SIMPLE)),
    Bench("capture-writer-alarm", "events/CPU-s", ENCODED, partial(writer, ALARM)),
]
