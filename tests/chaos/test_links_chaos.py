"""Thousands of events while everything around them breaks at random: at the end every accepted event has arrived at least once, in
the order of its source, duplicates are within what was in the air, and the accounts add up at every look.

- memory: connections cut, peers stopped and full, confirmations held back, clocks stepped, the disk full, restarts, reloads
- CosNotification and STOMP: the gateway, its ORB worker and the broker killed with -9, connections cut, the file system full,
  the clock of the channel's host, of the gateway and of the broker stepped, together and apart

The seed is printed, and a failing one (ISTHMUS_SEED) reproduces the choices; not what the operating system makes of them.
"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from adapters.stomp.settings import StompChannel
from adapters.stomp.source import StompSource
from gateway.appliance.appliance import Appliance
from gateway.journal.disk import Disk
from gateway.links.accounts import Balance
from gateway.settings.settings import Settings
from mappings.model import Message
from tests.chaos.stomp_proxy import Proxy
from tests.contract.wires.stomp import BrokerProcess, broker_process, embedded_endpoint
from tests.parts.clock import SteppedClock
from tests.parts.gateway import ISTHMUS, Gateway
from tests.parts.supplier import Supplier
from tests.unit.appliance.test_appliance import Listener, number_of
from tests.unit.links.rig import event, wait_for

QUICK = {"first_ms": 5, "longest_ms": 50}
WINDOW = 200
PATIENCE_SECS = 60.0


def chance_of() -> random.Random:
    seed = int(os.environ.get("ISTHMUS_SEED") or random.SystemRandom().randrange(1, 2**31))
    print(f"seed {seed}")
    return random.Random(seed)


def first_occurrences(numbers: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(numbers))


# Memory


class FillingDisk(Disk):
    """Full whenever a test says so."""

    def __init__(self) -> None:
        self.full = False

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(descriptor, data, offset)


def memory_settings(folder: Path, journal: bool, version: int) -> Settings:
    delivery = {"window": WINDOW, "batch": 20, "retry": {"back_off": QUICK, "breaker": 1 + version % 5}}
    return Settings.model_validate(
        {
            "name": "chaos",
            "run_dir": str(folder / "run"),
            **({"journal": {"segment_bytes": 65536}} if journal else {}),
            "endpoints": {name: {"type": "memory", "back_off": QUICK} for name in ("in", "out", "other")},
            "channels": {
                "events": {"endpoint": "in", "name": "events"},
                "messages": {"endpoint": "out", "name": "messages", "form": "message"},
                "copies": {"endpoint": "other", "name": "copies", "form": "message"},
            },
            "links": {
                "main": {"from": "events", "to": "messages", "delivery": delivery},
                **({"copy": {"from": "events", "to": "copies", "delivery": delivery}} if journal else {}),
            },
        }
    )


@pytest.mark.parametrize("journal", [True, False])
def test_memory(tmp_path: Path, journal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = chance_of()
    stepped = [0.0]
    real_time = time.time
    monkeypatch.setattr(time, "time", lambda: real_time() + stepped[0])
    disk = FillingDisk()
    appliance = Appliance(memory_settings(tmp_path, journal, 0), Listener(), drain_secs=0.2, disk=disk)
    appliance.start()
    peers = {name: appliance.wiring.memory_peer(name) for name in ("in", "out", "other")}
    hurts = 0

    def settle_down() -> None:
        disk.full = False
        for peer in peers.values():
            peer.start()
            peer.capacity = None
            peer.release_held()

    def restart() -> None:
        nonlocal appliance
        settle_down()
        appliance.stop()
        appliance = Appliance(memory_settings(tmp_path, journal, hurts), Listener(), drain_secs=0.2, disk=disk)
        appliance.wiring._memory_peers.update(peers)  # the far sides outlive the gateway
        appliance.start()

    faults: list[Callable[[], object]] = [
        lambda: chance.choice(list(peers.values())).cut(),
        lambda: chance.choice(list(peers.values())).stop(),
        lambda: setattr(chance.choice([peers["out"], peers["other"]]), "capacity", fed // 2),
        lambda: chance.choice([peers["out"], peers["other"]]).hold(),
        lambda: stepped.__setitem__(0, chance.choice([0.0, 3600.0, -3600.0, 0.5])),
        lambda: setattr(disk, "full", journal),
        lambda: appliance.reload(memory_settings(tmp_path, journal, hurts)),
        restart,
        settle_down,
    ]
    fed = 0
    try:
        while fed < 3000:
            count = chance.randrange(1, 60)
            peers["in"].put("events", [event(n) for n in range(fed, fed + count)])
            fed += count
            if chance.random() < 0.5:
                hurts += 1
                chance.choice(faults)()
            time.sleep(chance.uniform(0.0, 0.01))
            assert all(balance.holds for balance in balances(appliance).values())
        settle_down()
        links = {"main": ("out", "messages"), **({"copy": ("other", "copies")} if journal else {})}
        for link, (peer, queue) in links.items():
            wait_for(lambda peer=peer, queue=queue: len(set(arrived(peers[peer], queue))) == fed)  # type: ignore[misc]
            wait_for(lambda link=link: balances(appliance)[link].pending == 0)  # type: ignore[misc]
            numbers = arrived(peers[peer], queue)
            assert first_occurrences(numbers) == list(range(fed))
            assert len(numbers) - fed <= hurts * WINDOW, "no more came twice than was in the air"
            balance = balances(appliance)[link]
            assert balance.holds
            assert balance.dead_lettered == balance.expired == balance.filtered == balance.lost == balance.dropped == 0
    finally:
        settle_down()
        appliance.stop()


def balances(appliance: Appliance) -> dict[str, Balance]:
    return {status.id: status.balance for status in appliance.statuses()}


def arrived(peer: Any, queue: str) -> list[int]:
    return [number_of(payload) for payload in peer.contents(queue)]


# CosNotification and STOMP


@contextmanager
def small_file_system(folder: Path) -> Iterator[bool]:
    """True where one could be mounted at the folder."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "isthmus-test", str(folder)]
    mounted = subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


class Clocks:
    """Of the machines that would be three."""

    def __init__(self, folder: Path) -> None:
        self._all: list[SteppedClock] = []
        for name in ("host", "gateway", "broker"):
            (folder / f"clock-{name}").mkdir()
            self._all.append(SteppedClock(folder / f"clock-{name}"))
        self.host, self.gateway, self.broker = self._all

    def step(self, chance: random.Random) -> None:
        """One of them or all, by an hour at the most, forth and back."""
        for clock in chance.choice([self._all, [chance.choice(self._all)]]):
            clock.step(chance.choice([0.0, 3600.0, -3600.0, 2.5, -0.5]))


@pytest.fixture
def clocks(tmp_path: Path) -> Clocks:
    return Clocks(tmp_path)


@pytest.fixture
def broker(tmp_path: Path, clocks: Clocks) -> Iterator[BrokerProcess]:
    with broker_process("--store", str(tmp_path / "broker.db"), environment=clocks.broker.environment) as process:
        yield process


def test_cosnotification_and_stomp(tmp_path: Path, broker: BrokerProcess, clocks: Clocks) -> None:
    """alarms (a channel in a process of its own) → a → b, with everything that can be killed killed."""
    chance = chance_of()
    ior = tmp_path / "factory.ior"
    (tmp_path / "host").mkdir()
    host = Gateway(
        tmp_path / "host",
        {"services": {"notification": {"factory_ior": str(ior)}}, "endpoints": {}, "channels": {}, "links": {}},
        clocks.host.environment,
    )
    with small_file_system(tmp_path / "small") as mounted, host, Proxy(broker.address) as proxy:
        config = stomp_configuration(ior, proxy.address, tmp_path / "small")
        (tmp_path / "gw").mkdir()
        gateway = Gateway(tmp_path / "gw", config, clocks.gateway.environment)
        gateway.start()
        ballast = tmp_path / "small" / "ballast"
        pushed = 0
        kills = 0

        def ready() -> None:
            """Its source too: what is pushed to a consumer that has gone is gone with it."""
            for link in ("out", "on"):
                gateway.wait_for_link(
                    link,
                    lambda status: bool(status["state"] == "ready" and status["inlet"]["state"] == "ready"),
                    PATIENCE_SECS,
                )

        def losses() -> int:
            down = {"event": "inlet changed", "channel": "alarms", "state": "down"}
            return sum(down.items() <= line.items() for line in gateway.log())

        def kill_gateway() -> None:
            gateway.kill()
            gateway.log_file = gateway.folder / f"gateway-{kills}.log"
            gateway.start()

        def kill_worker() -> None:
            before = losses()
            for pid in orb_workers(gateway.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            wait_for(lambda: losses() > before)  # noticed: or it would still be called ready

        def kill_broker() -> None:
            broker.kill()
            time.sleep(chance.uniform(0.0, 0.5))
            broker.start()

        def fill_disk() -> None:
            if mounted:
                with suppress(OSError), ballast.open("wb") as file:
                    while True:
                        file.write(bytes(1 << 20))
                time.sleep(chance.uniform(0.2, 0.6))
                ballast.unlink()

        def step_clocks() -> None:
            for _ in range(3):
                clocks.step(chance)
                time.sleep(chance.uniform(0.0, 0.2))

        faults = [kill_gateway, kill_worker, kill_broker, proxy.cut, fill_disk, step_clocks, step_clocks]
        chance.shuffle(faults)
        try:
            with Supplier(ior) as supplier:
                ready()
                for fault in (*faults, chance.choice(faults)):
                    burst = chance.randrange(150, 350)
                    supplier.begin("lasting", first=pushed, count=burst)
                    pushed += burst
                    time.sleep(chance.uniform(0.0, 0.4))
                    kills += 1
                    fault()
                    supplier.end()
                    ready()
                supplier.push("lasting", first=pushed, count=200)  # all is well again: every one of these must come
                pushed += 200
            last = pushed - 1
            numbers = drain(broker, last)
            accepted = in_journal(tmp_path / "small" / "journal" / "alarms")
            first = first_occurrences(numbers)
            assert set(accepted) <= set(first), "accepted, and gone"
            assert first == first_occurrences(accepted)
            assert set(range(pushed - 200, pushed)) <= set(first)
            assert len(accepted) > 500
            assert len(numbers) - len(first) <= kills * 2 * WINDOW
            for link in ("out", "on"):
                final = gateway.wait_for_link(link, lambda status: status["accounts"]["pending"] == 0)
                accounts = final["accounts"]
                assert accounts["holds"]
                assert accounts["received"] == accounts["delivered"] + accounts["duplicate"]
            assert gateway.stop() == 0, gateway.tail()
        except BaseException:
            with suppress(AssertionError, OSError):
                gateway.kill()
            raise


def stomp_configuration(ior: Path, address: str, folder: Path) -> dict[str, Any]:
    quick = {"first_ms": 50, "longest_ms": 300}
    delivery = {"window": WINDOW, "batch": 50, "retry": {"back_off": quick}}
    return {
        "run_dir": str(folder),
        "journal": {"keep_secs": 86_400, "segment_bytes": 1 << 20},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": str(ior), "back_off": quick, "ping_interval_secs": 0.5},
            "broker": {"type": "stomp", "broker": "embedded", "hosts": [address], "back_off": quick},
        },
        "channels": {
            "alarms": {"endpoint": "ems", "channel": 0},
            "a": {"endpoint": "broker", "destination": "queue://chaos.a"},
            "b": {"endpoint": "broker", "destination": "queue://chaos.b"},
        },
        "links": {
            "out": {"from": "alarms", "to": "a", "delivery": delivery},
            "on": {"from": "a", "to": "b", "delivery": delivery},
        },
    }


def orb_workers(parent: int) -> list[int]:
    """The processes of this gateway that run its ORB."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            its_parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if its_parent == parent and b"adapters.cosnotification.worker" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def drain(broker: BrokerProcess, last: int) -> list[int]:
    channel = StompChannel(endpoint="broker", destination="queue://chaos.b")
    source = StompSource(embedded_endpoint(broker.address), channel)
    source.connect()
    numbers: list[int] = []
    deadline = time.monotonic() + PATIENCE_SECS
    try:
        while (deliveries := source.receive(500, 1.0)) or last not in numbers:
            assert time.monotonic() < deadline, f"{last} has not arrived; the last ones: {numbers[-5:]}"
            source.acknowledge(deliveries)
            for delivery in deliveries:
                assert isinstance(delivery.payload, Message)
                numbers.append(
                    next(int(str(value)) for name, _, value in delivery.payload.properties if name == "$number")
                )
    finally:
        source.close()
    return numbers


def in_journal(directory: Path) -> list[int]:
    """What the gateway has accepted, in the order in which it came."""
    done = subprocess.run(
        [ISTHMUS, "journal", "export", str(directory), "--bare"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout, done.stderr
    fields = (json.loads(line)["filterable_data"] for line in done.stdout.splitlines())
    return [next(int(field["value"]) for field in each if field["name"] == "number") for each in fields]
