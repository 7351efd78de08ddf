"""Two gateways on one folder: the leader is killed with -9, then the next is stopped and wakes up late, while events pass."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.test_links_kill import (
    Feeder,
    _configuration,
    _drain,
    _first_occurrences,
    _is_done,
    _received,
)
from tests.contract.wires.stomp import BrokerProcess, broker_process, embedded_endpoint
from tests.parts.gateway import Gateway

LEASE_SECS = 2.0


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    with broker_process() as process:
        yield process


def _gateway(folder: Path, name: str, broker: BrokerProcess) -> Gateway:
    (folder / name).mkdir()
    shared = {"run_dir": str(folder / "shared"), "standby": {"lease_secs": LEASE_SECS}}
    return Gateway(folder / name, {**_configuration(broker.address), **shared})


def test_a_standby_takes_over_without_loss_and_a_leader_that_wakes_up_late_does_no_harm(
    tmp_path: Path, broker: BrokerProcess
) -> None:
    one, two, three = (_gateway(tmp_path, name, broker) for name in ("one", "two", "three"))
    running = []
    feeder = Feeder(embedded_endpoint(broker.address))
    try:
        with feeder.feeding():
            one.start()
            running.append(one)
            two.start("standby")
            running.append(two)
            one.wait_for_link("all", lambda status: _received(status) > 200)
            one.kill()
            running.remove(one)
            two.wait_for_log(event="gateway changed", state="ready")
            two.wait_for_link("all", lambda status: _received(status) > 400)
            three.start("standby")
            running.append(three)
            two.signal(signal.SIGSTOP)
            three.wait_for_log(event="gateway changed", state="ready")
            three.wait_for_link("all", lambda status: _received(status) > 600)
            two.signal(signal.SIGCONT)
            assert two.wait() == 75, two.tail()
            running.remove(two)
            assert any(line.get("state") == "deposed" for line in two.log())
            three.wait_for_link("all", lambda status: _received(status) > 800)
            time.sleep(0.2)
        numbers = list(range(feeder.sent))
        for link, last, wanted in (("all", numbers[-1], numbers), ("even", numbers[-2], numbers[::2])):
            arrived = _drain(embedded_endpoint(broker.address), f"queue://chaos.{link}", last)
            first = _first_occurrences(arrived)
            assert sorted(first) == wanted, "nothing is lost"
            # What the stopped leader had been handed the broker has given to the next one before that began: see `beat_ms`.
            assert first == wanted, "nothing comes late"
            assert three.wait_for_link(link, _is_done)["accounts"]["holds"]
        assert three.stop() == 0, three.tail()
        running.remove(three)
    finally:
        for gateway in running:
            gateway.signal(signal.SIGCONT)
            gateway.kill()
