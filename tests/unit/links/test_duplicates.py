"""gateway/links/duplicate_window.py and duplicates.py: what has arrived is not sent again, and no copy is lost for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import Delivery, Outgoing
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from gateway.links.accounts import Balance
from gateway.links.duplicate_window import DIGEST_BYTES, DuplicateWindow, digest_of
from gateway.links.duplicates import DuplicateWindows
from gateway.links.link import Link, Pace
from mappings.marks import Marks, put_on_event, take_from_event
from mappings.model import StructuredEvent
from tests.unit.links.rig import PATIENCE_SECS, QUICK, Rig, event, wait_for

PACE = Pace(window=50, batch=10, drain_secs=5.0, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)


def digests(*numbers: int) -> list[bytes]:
    return [digest_of(str(n)) for n in numbers]


def known(window: DuplicateWindow, *numbers: int) -> list[int]:
    return [n for n, digest in zip(numbers, digests(*numbers), strict=True) if window.claim(digest, window) == "known"]


def opened(folder: Path, size: int = 1000) -> DuplicateWindow:
    return DuplicateWindow(folder, "jms alarms/1", size)


# The window


def test_what_arrived_is_known_and_what_failed_is_not(tmp_path: Path) -> None:
    window = opened(tmp_path)
    one, other = object(), object()
    (digest,) = digests(1)
    assert window.claim(digest, one) == "new"
    assert window.claim(digest, one) == "new", "its own"
    assert window.claim(digest, other) == "claimed"
    window.give_back([digest])
    assert window.claim(digest, other) == "new"
    window.remember([digest])
    assert window.claim(digest, one) == "known"
    window.close()


def test_it_is_known_after_kill_9(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from gateway.links.duplicate_window import DuplicateWindow, digest_of\n"
        "window = DuplicateWindow(Path(sys.argv[1]), 'jms alarms/1', 1000)\n"
        "window.remember([digest_of(str(n)) for n in range(50)])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], timeout=60, check=False)
    assert done.returncode == -9
    assert known(opened(tmp_path), *range(-5, 60)) == list(range(50))


def test_it_is_bounded_and_forgets_the_oldest(tmp_path: Path) -> None:
    window = opened(tmp_path, size=100)
    for n in range(1000):
        window.remember(digests(n))
        assert len(window) <= 200
    window.close()
    again = opened(tmp_path, size=100)
    assert len(again) <= 200
    assert known(again, *range(900, 1000)) == list(range(900, 1000)), "at least the last hundred"
    assert known(again, *range(800)) == []
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 202 * DIGEST_BYTES


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=20),
    st.integers(0, 700),
    st.binary(max_size=40),
)
@settings(deadline=None)
def test_damage_costs_ids_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]], cut: int, garbage: bytes
) -> None:
    folder = tmp_path_factory.mktemp("window")
    window = opened(folder)
    window.remember(digests(*range(40)))
    window.close()
    (path,) = folder.iterdir()
    data = bytearray(path.read_bytes()[:cut])
    for at, value in flips:
        if at < len(data):
            data[at] ^= value
    path.write_bytes(bytes(data) + garbage)
    again = opened(folder)
    assert set(known(again, *range(100))) <= set(range(40)), "what was never there is not known"
    again.remember(digests(200, 201))
    again.close()
    assert known(opened(folder), 200, 201) == [200, 201], "it goes on behind the damage"


def test_a_disk_that_takes_nothing_costs_nothing_that_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = opened(tmp_path)
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        window.remember(digests(1, 2))
    assert known(window, 1, 2) == [1, 2]
    monkeypatch.setattr(os, "write", write)
    window.remember(digests(3))
    window.close()
    assert known(opened(tmp_path), 1, 2, 3) == [1, 2, 3], "written with the next"


# Links


def marked(number: int) -> StructuredEvent:
    """As it comes from another gateway: with an id of its own."""
    return put_on_event(event(number), Marks(f"event {number}"))


def by_mark(delivery: Delivery) -> Outgoing:
    assert isinstance(delivery.payload, StructuredEvent)
    return Outgoing(delivery.payload, take_from_event(delivery.payload)[1].id or delivery.id)


class Diamond:
    """Two links into one channel, each from a source of its own, that drop copies."""

    def __init__(self, folder: Path) -> None:
        self.left, self.right = Rig(by_mark), Rig(by_mark)
        self.windows = DuplicateWindows(folder)
        self.rigs = (self.left, self.right)
        self.left.outlet = self.right.outlet  # the channel that both lead to
        for name, rig in zip("ab", self.rigs, strict=True):
            rig.link = Link(
                name,
                MemorySource(rig.inlet, MemoryChannel(endpoint="in", name="in")),
                MemorySink(rig.outlet, MemoryChannel(endpoint="out", name="out")),
                by_mark,
                rig.recorder,
                rig.recorder,
                PACE,
                duplicates=self.windows.of_link(name, "d", "drop", 1000),
            )

    @contextmanager
    def running(self) -> Iterator[None]:
        for rig in self.rigs:
            rig.link.start()
        try:
            yield
        finally:
            for rig in self.rigs:
                rig.link.stop()
            for rig in self.rigs:
                assert rig.link.join(PATIENCE_SECS)
                assert rig.link.balance().holds
            self.windows.close()

    def sum(self) -> Balance:
        return Balance(*(a + b for a, b in zip(self.left.link.balance(), self.right.link.balance(), strict=True)))


def test_a_diamond_delivers_one_copy_in_total(tmp_path: Path) -> None:
    diamond = Diamond(tmp_path)
    with diamond.running():
        feeders = [
            threading.Thread(target=lambda rig=rig: [rig.inlet.put("in", [marked(n)]) for n in range(300)])  # type: ignore[misc]
            for rig in diamond.rigs
        ]
        for feeder in feeders:
            feeder.start()
        for feeder in feeders:
            feeder.join(PATIENCE_SECS)
        wait_for(lambda: diamond.sum().received == 600 and diamond.sum().pending == 0)
        assert sorted(diamond.left.arrived()) == list(range(300))
        assert diamond.sum() == Balance(received=600, delivered=300, duplicate=300)


def test_a_copy_waits_for_the_one_that_is_on_its_way_and_goes_when_that_fails(tmp_path: Path) -> None:
    diamond = Diamond(tmp_path)
    diamond.left.outlet.hold()
    with diamond.running():
        diamond.left.inlet.put("in", [marked(1), marked(2)])
        wait_for(lambda: len(diamond.left.arrived()) == 2)
        diamond.right.inlet.put("in", [marked(1)])
        wait_for(lambda: diamond.right.link.balance().received == 1)
        assert diamond.right.link.balance().pending == 1, (
            "not acknowledged before it is known that the other one arrived"
        )
        diamond.left.inlet.stop()  # what is in flight there goes on
        diamond.left.outlet.release_held()
        wait_for(lambda: diamond.right.link.balance().duplicate == 1)
    other = Diamond(tmp_path / "other")
    other.left.outlet.hold()
    with other.running():
        other.left.outlet.refuse(lambda _: True)
        other.left.inlet.put("in", [marked(1)])
        wait_for(lambda: other.left.link.balance().received == 1)
        other.right.inlet.put("in", [marked(1)])
        wait_for(lambda: other.right.link.balance().received == 1)
        other.left.outlet.refuse(None)
        other.left.outlet.release_held()
        wait_for(lambda: other.left.link.balance().dead_lettered == 1)
        wait_for(lambda: other.right.link.balance().delivered == 1)


def test_a_copy_whose_link_ends_is_anybody_s(tmp_path: Path) -> None:
    diamond = Diamond(tmp_path)
    diamond.left.outlet.stop()
    with diamond.running():
        diamond.left.outlet.start()
        wait_for(lambda: all(rig.link.status().state == "ready" for rig in diamond.rigs))
        diamond.left.outlet.hold()
        diamond.left.inlet.put("in", [marked(1)])
        wait_for(lambda: diamond.left.link.balance().pending == 1)
        diamond.right.inlet.put("in", [marked(1)])
        wait_for(lambda: diamond.right.link.balance().pending == 1)
        diamond.left.outlet.stop()
        diamond.left.link.stop()
        assert diamond.left.link.join(PATIENCE_SECS)
        diamond.right.outlet.release_held()
        diamond.right.outlet.start()
        wait_for(lambda: diamond.right.link.balance().delivered == 1)
        assert diamond.left.inlet.contents("in") == [marked(1)], "given back to its source"


def test_links_to_one_channel_may_have_deliveries_of_one_id(tmp_path: Path) -> None:
    """Three links may take from one journal, and lead to one channel by filters of their own."""
    windows = DuplicateWindows(tmp_path)
    first, second = (windows.of_link(name, "d", "drop_redelivered", 1000) for name in "ab")
    assert first is not None
    assert second is not None
    for link in (first, second):
        delivery = Delivery(event(1), "one id", 1.0)
        assert link.admit(delivery, by_mark(delivery)) == "new"
        link.arrived([delivery])
        again = Delivery(event(1), "one id", 1.0)
        assert link.admit(again, by_mark(again)) == "known"
    windows.close()


def test_what_a_source_delivers_again_is_dropped_and_equal_ids_of_another_link_are_not(tmp_path: Path) -> None:
    windows = DuplicateWindows(tmp_path)
    rigs = [Rig(), Rig()]
    for name, rig in zip("ab", rigs, strict=True):
        rig.link = Link(
            name,
            MemorySource(rig.inlet, MemoryChannel(endpoint="in", name="in")),
            MemorySink(rig.outlet, MemoryChannel(endpoint="out", name="out")),
            by_mark,
            rig.recorder,
            rig.recorder,
            PACE,
            duplicates=windows.of_link(name, "d", "drop_redelivered", 1000),
        )
        rig.link.start()
    try:
        for rig in rigs:
            rig.outlet.hold()
            rig.inlet.put("in", [marked(n) for n in range(10)])
            wait_for(lambda rig=rig: rig.link.balance().pending == 10)  # type: ignore[misc]
            rig.inlet.cut()  # its acknowledgement will be lost: all ten come again
            rig.outlet.release_held()
            wait_for(lambda rig=rig: rig.link.balance().received == 20 and rig.link.balance().pending == 0)  # type: ignore[misc]
            assert rig.link.balance() == Balance(received=20, delivered=10, duplicate=10)
            assert rig.arrived() == list(range(10))
    finally:
        for rig in rigs:
            rig.link.stop()
            assert rig.link.join(PATIENCE_SECS)
        windows.close()
