"""Many clients at once: nothing is lost, order is kept, nobody starves, memory is bounded. The bench does it for longer."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA
from tests.contract.wires.cosnotification import Peer
from tests.interop.notification_service.clients import Channel, event, until
from tests.interop.notification_service.test_qos import longs

LEAST_SHARE = 0.2
ATTEMPTS = 3  # on a machine that has much else to do one consumer may wait long, but not each time
MOST_MEBIBYTES = 64  # what 40 000 deliveries may leave behind


def crowd(ior: str, suppliers: int, consumers: int, secs: float, most: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.interop.notification_service.crowd", ior]
    done = subprocess.run(
        [*command, str(suppliers), str(consumers), str(secs), str(most)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def mebibytes(pid: int) -> float:
    """Resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Peer]:
    peer = Peer(tmp_path)
    peer.start()
    yield peer
    peer.kill()


@pytest.mark.parametrize(
    ("suppliers", "consumers", "events"), [(1, 1, 2000), (1, 10, 400), (1, 100, 100), (200, 200, 200)]
)
def test_nothing_is_lost_and_nobody_starves(own: Peer, suppliers: int, consumers: int, events: int) -> None:
    crowd(own.ior.read_text().strip(), 1, 1, 60, 100)  # what every process loads once
    assert own.pid is not None
    before = mebibytes(own.pid)
    for _ in range(ATTEMPTS):
        answer = crowd(own.ior.read_text().strip(), suppliers, consumers, 120, events)
        assert answer["sent"] >= events
        assert answer["lost"] == 0
        assert answer["disordered"] == 0
        if answer["share"] > LEAST_SHARE:
            break
    assert answer["share"] > LEAST_SHARE, "the quickest consumer had everything when the slowest had this share"
    assert mebibytes(own.pid) - before < MOST_MEBIBYTES


def test_a_consumer_that_hangs_costs_no_more_than_its_limit(own: Peer) -> None:
    orb = LocalOrb()
    orb.start()
    channel = Channel(orb, own.ior.read_text().strip())
    let_go = threading.Event()
    hanging, proxy = channel.consumer()
    hanging.push_structured_event = lambda _: let_go.wait()
    proxy.set_qos(longs(MaxEventsPerConsumer=20))
    quick, _ = channel.consumer()
    supplier = channel.supplier()
    large = event(0)
    large.remainder_of_body = CORBA.Any(CORBA.TC_string, "x" * 100_000)
    assert own.pid is not None
    before = mebibytes(own.pid)
    for _ in range(1500):
        supplier.push_structured_event(large)
    until(lambda: len(quick.calls) == 1500)
    assert own.queued() <= 21
    assert mebibytes(own.pid) - before < MOST_MEBIBYTES, "150 MB passed"
    let_go.set()
    channel.close()
    orb.stop()
