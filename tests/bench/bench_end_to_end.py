"""Events per second from a CORBA supplier through the journal, the translation and a link to a STOMP broker that confirms each.

Supplier, ORB, gateway and broker are processes of their own. The ceiling is the slower of a bare omniORBpy consumer that does
nothing and a bare STOMP sender in transactions of 100, each alone on the machine, in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapters import garbage
from adapters.stomp.settings import StompChannel, StompEndpoint
from gateway.appliance.appliance import Appliance
from gateway.settings.settings import Settings
from tests.bench.bench_cosnotification import process
from tests.bench.bench_stomp import Endpoint, classic, embedded, fresh, raw
from tests.bench.harness import Bench, Measure
from tests.unit.appliance.test_appliance import Listener

COUNT = 20_000
BATCH = 100


@contextmanager
def running_gateway(
    run_dir: Path,
    endpoint: StompEndpoint,
    factory: str,
    out: StompChannel,
    batch: int,
    journal: dict[str, Any] | None,
    safe: str,
) -> Iterator[Appliance]:
    """One link from a channel to a broker, connected at both ends."""
    settings = Settings.model_validate(
        {
            "name": "bench",
            "run_dir": str(run_dir),
            "journal": journal,
            "endpoints": {"ems": {"type": "cosnotification", "factory": factory}, "broker": endpoint},
            "channels": {
                "in": {"endpoint": "ems", "channel": 0, "events": "sequence" if batch else "structured"},
                "out": out,
            },
            "links": {"main": {"from": "in", "to": "out", "delivery": {"journal": {"safe": safe}}}},
        }
    )
    appliance = Appliance(settings, Listener())
    appliance.start()
    try:
        while (status := appliance.statuses()[0]).source != "ready" or status.sink != "ready":
            time.sleep(0.01)
        yield appliance
    finally:
        appliance.stop()


@contextmanager
def setup(
    broker: Endpoint, batch: int, journal: dict[str, Any] | None, safe: str, events: str
) -> Iterator[tuple[Measure, Measure]]:
    garbage.tune()  # as `isthmus run` does
    Path("build").mkdir(exist_ok=True)
    with (
        broker() as endpoint,
        TemporaryDirectory(dir="build") as folder,  # on a disk: /tmp may be memory
        process("tests.bench.cosnotification_supplier") as supplier,
        process("tests.bench.cosnotification_bare") as bare_consumer,
    ):
        structured, sequence = bare_consumer(""), bare_consumer("")
        runs = iter(range(1000))

        def bare() -> float:
            consumer = COUNT / float(supplier(f"push {sequence if batch else structured} {COUNT} {batch} {events}"))
            channel = fresh()
            started = time.perf_counter()
            raw(endpoint, channel, lambda client: client.send(COUNT))
            sender = COUNT / (time.perf_counter() - started)
            raw(endpoint, channel, lambda client: client.receive(COUNT))  # brokers get slow when they are full
            return min(consumer, sender)

        def gateway() -> float:
            out = fresh()
            run_dir = Path(folder) / str(next(runs))
            with running_gateway(run_dir, endpoint, supplier("factory"), out, batch, journal, safe) as appliance:
                started = time.perf_counter()
                supplier(f"push - {COUNT} {batch} {events}")
                while appliance.statuses()[0].balance.delivered < COUNT:
                    time.sleep(0.005)
                elapsed = time.perf_counter() - started
            raw(endpoint, out, lambda client: client.receive(COUNT))
            return COUNT / elapsed

        gateway(), bare()  # a broker in Java takes some ten thousand messages to come up to its speed
        yield gateway, bare


def _bench(
    name: str,
    broker: Endpoint,
    batch: int,
    journal: dict[str, Any] | None,
    safe: str = "by_event",
    events: str = "",
) -> Bench:
    ceiling = "slower of bare consumer, bare sender"
    return Bench(name, "events/s", ceiling, partial(setup, broker, batch, journal, safe, events))


BENCHES = [
    _bench(f"end-to-end-persistent-{BATCH}", classic, BATCH, {}, events="persistent"),
    _bench("end-to-end-written-1", classic, 0, {}, "written"),
    _bench(f"end-to-end-embedded-{BATCH}", embedded, BATCH, {}, "synced"),
    _bench(f"end-to-end-no-journal-{BATCH}", embedded, BATCH, None),
]
