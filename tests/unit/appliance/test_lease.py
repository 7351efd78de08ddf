"""Who leads: one at a time, whatever stops, starts or wakes up late."""

from __future__ import annotations

import errno
import random
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Delivery, Outgoing, ReconnectError, Sink
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from gateway.appliance.fencing import FencedDisk, FencedSink, fence
from gateway.appliance.lease import Lease
from gateway.journal.codec import RawCodec
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.disk import Disk
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from tests.unit.journal.rig import read_all, wait_for
from tests.unit.links.rig import event


class Clock:
    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_the_first_leads_and_the_second_waits_until_it_is_silent_for_the_whole_lease(tmp_path: Path) -> None:
    clock, other_clock = Clock(), Clock(5e6)  # two machines know nothing of each other's time
    one, other = Lease(tmp_path, 10.0, clock), Lease(tmp_path, 10.0, other_clock)
    assert one.try_to_lead()
    assert one.is_valid
    for _ in range(5):
        clock.now += 3
        other_clock.now += 3
        assert one.renew()
        assert not other.try_to_lead()
    other_clock.now += 9.9
    assert not other.try_to_lead()
    other_clock.now += 0.2
    assert other.try_to_lead()
    assert (other.term, other.leader()) == (2, other.leader())
    clock.now += 1
    assert not one.renew(), "it finds a later term"
    assert not one.is_valid


def test_a_leader_that_could_not_renew_stops_believing_itself_before_the_others_do(tmp_path: Path) -> None:
    clock = Clock()
    one = Lease(tmp_path, 10.0, clock)
    assert one.try_to_lead()
    clock.now += 8.1
    assert not one.is_valid
    assert not one.renew(), "and does not come back by itself"


def test_what_is_released_is_free_at_once(tmp_path: Path) -> None:
    one, other = Lease(tmp_path, 1000.0), Lease(tmp_path, 1000.0)
    assert one.try_to_lead()
    assert not other.try_to_lead()
    one.release()
    assert other.try_to_lead()
    other.release()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff" * 512, b'{"beat": []}'])
def test_a_damaged_term_is_over_when_it_stands_still(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "leader.7").write_bytes(content)
    (tmp_path / "leader.x").write_bytes(b"")
    clock = Clock()
    lease = Lease(tmp_path, 10.0, clock)
    assert not lease.try_to_lead()
    clock.now += 10.1
    assert lease.try_to_lead()
    assert lease.term == 8


def test_two_never_lead_at_the_same_time(tmp_path: Path) -> None:
    """Three machines whose turns, stops and wake-ups come in any order; one clock here, to see all of them at one moment."""
    chance = random.Random(7)
    clock = Clock()
    leases = [Lease(tmp_path, 10.0, clock) for _ in range(3)]
    asleep_until = [0.0] * 3
    led = set()
    for _ in range(3000):
        clock.now += chance.uniform(0.0, 2.0)
        at = chance.randrange(3)
        if chance.random() < 0.03:
            asleep_until[at] = clock.now + chance.uniform(0, 60)
        if clock.now < asleep_until[at]:
            continue
        if leases[at].term and leases[at].is_valid:
            leases[at].renew()
        elif leases[at].term:
            leases[at].release()
            leases[at] = Lease(tmp_path, 10.0, clock)  # its process has ended and was started again
        else:
            leases[at].try_to_lead()
        valid = [index for index, lease in enumerate(leases) if lease.is_valid]
        assert len(valid) <= 1
        led.update(valid)
    assert led == {0, 1, 2}
    for lease in leases:
        lease.release()


def test_a_leader_that_wakes_up_late_calls_nothing_safe_and_changes_nothing(tmp_path: Path) -> None:
    clock = Clock()
    folder = tmp_path / "journal" / "in"
    old_lease, new_lease = Lease(tmp_path, 10.0, clock), Lease(tmp_path, 10.0, clock)
    assert old_lease.try_to_lead()
    options = Options(hold_first_secs=0.01, hold_longest_secs=0.02)
    old = Journal.open(folder, RawCodec(), options, disk=FencedDisk(old_lease))
    old_cursor = old.cursor("a")
    safe: list[int] = []
    old.append([b"one", b"two"], on_safe=lambda: safe.append(2))
    wait_for(lambda: safe == [2])
    assert len(read_all(old_cursor)) == 2
    assert not new_lease.try_to_lead()
    clock.now += 10.1  # the old one is stopped
    assert new_lease.try_to_lead()
    cursor_file = folder / "a.cursor"
    before = cursor_file.stat().st_ino, cursor_file.read_bytes()
    fence(tmp_path)
    assert cursor_file.read_bytes() == before[1]
    assert cursor_file.stat().st_ino != before[0], "a write that has begun goes into a file that nobody sees"
    new = Journal.open(folder, RawCodec(), options, disk=FencedDisk(new_lease))
    cursor = new.cursor("a")
    # The old one wakes up, and goes on with what it was doing.
    old.append([b"a wrong three"], on_safe=lambda: safe.append(3))
    old_cursor.settle([1, 2], "filtered")
    wait_for(lambda: old.held is not None)
    assert old.held is not None
    assert "leads no more" in old.held.message
    new.append([b"three"], on_safe=lambda: safe.append(-3))
    wait_for(lambda: -3 in safe)
    assert read_all(cursor) == [(1, b"one"), (2, b"two"), (3, b"three")]
    cursor.settle([1, 2])
    new.close()
    old.close(1.0)
    assert 3 not in safe
    again = Journal.open(folder, RawCodec(), options)
    assert read_all(again.cursor("a")) == [(3, b"three")]
    assert again.status().links[0].settled["delivered"] == 2
    assert again.status().links[0].settled["filtered"] == 0
    again.close()


def test_a_fenced_disk_refuses_whatever_changes_anything(tmp_path: Path) -> None:
    clock = Clock()
    lease = Lease(tmp_path / "lease", 10.0, clock)
    assert lease.try_to_lead()
    disk = FencedDisk(lease)
    descriptor = disk.create(tmp_path / "a")
    assert disk.write(descriptor, b"abc", 0) == 3
    clock.now += 20
    for action in (
        lambda: disk.create(tmp_path / "b"),
        lambda: disk.open(tmp_path / "b"),
        lambda: disk.write(descriptor, b"x", 0),
        lambda: disk.sync(descriptor),
        lambda: disk.truncate(descriptor, 0),
        lambda: disk.remove(tmp_path / "a"),
        lambda: disk.rename(tmp_path / "a", tmp_path / "c"),
    ):
        with pytest.raises(OSError, match="leads no more") as refused:
            action()
        assert refused.value.errno == errno.ESTALE
    assert disk.read(descriptor, 10, 0) == b"abc"
    disk.close(descriptor)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "lease"]
    assert DeliveryCodec().decode(DeliveryCodec().encode(Delivery(event(1), "x", 1.0))).id == "x"


def test_what_was_done_while_the_lease_ran_out_counts_as_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new leader may have looked before it was there."""
    clock = Clock()
    lease = Lease(tmp_path / "lease", 10.0, clock)
    assert lease.try_to_lead()
    disk = FencedDisk(lease)
    descriptor = disk.create(tmp_path / "a")
    for name, action in (("write", lambda: disk.write(descriptor, b"x", 0)), ("sync", lambda: disk.sync(descriptor))):
        with monkeypatch.context() as patched:
            its = getattr(Disk, name)

            def slowly(*arguments: object, its: Any = its) -> object:
                done = its(*arguments)
                clock.now += 20
                return done

            patched.setattr(Disk, name, slowly)
            with pytest.raises(OSError, match="leads no more"):
                action()
            clock.now -= 20
    disk.close(descriptor)


def test_a_fenced_sink_sends_as_long_as_its_gateway_leads_and_not_once_more(tmp_path: Path) -> None:
    clock = Clock()
    lease = Lease(tmp_path, 5.0, clock)
    assert lease.try_to_lead()
    peer = MemoryPeer()
    sink = FencedSink(MemorySink(peer, MemoryChannel(endpoint="out", name="out")), lease.leads)
    sink.connect()
    assert sink.send([Outgoing(event(1), "1")]).result(1.0) == ()
    clock.now += 4.5  # the others take over after 5.0
    with pytest.raises(ReconnectError, match="another gateway leads"):
        sink.send([Outgoing(event(2), "2")])
    sink.check()
    sink.close()
    with pytest.raises(ReconnectError, match="another gateway leads"):
        sink.connect()
    assert peer.contents("out") == [event(1)]


def test_a_fenced_sink_leaves_nothing_of_a_sink_to_its_base() -> None:
    """What a sink may be asked is passed on, also what is added to the contract some day."""
    asked = {name for name, part in vars(Sink).items() if callable(part) and not name.startswith("_")}
    assert asked <= set(vars(FencedSink))
