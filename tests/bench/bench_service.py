"""Events per second supplier → our Notification Service → consumer, each a process of its own, one by one and in sequences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.service import NotificationService
from adapters.cosnotification.stubs import CORBA
from tests.bench.bench_cosnotification import process
from tests.bench.harness import Bench, Measure
from tests.interop.notification_service.clients import Channel, property_
from tests.parts.jacorb import JacOrb

COUNT = 20_000
BATCH = 100


@contextmanager
def setup(batch: int, consumers: int, filter_: str | None) -> Iterator[tuple[Measure, Measure]]:
    form = "sequence" if batch else "structured"
    count = COUNT // consumers
    with ExitStack() as stack:
        local, orb = LocalOrb(), Orb()
        local.start()
        stack.callback(local.stop)
        orb.start()
        stack.callback(orb.stop)
        service = NotificationService(orb)
        service.start()
        stack.callback(service.stop)
        supplier = stack.enter_context(process("tests.bench.cosnotification_supplier"))
        consumer = stack.enter_context(process("tests.bench.service_consumer"))
        references = {"structured": consumer(""), "sequence": consumer("")}

        def bare() -> float:
            elapsed = float(supplier(f"push {references[form]} {count} {batch}"))
            consumer(f"wait {count}")
            return count / elapsed

        def through_the_service() -> float:
            channel = Channel(local, service.factory_ior)
            for _ in range(consumers):
                connect(channel, form, batch, filter_, references[form])
            proxy = local.to_string(channel.supplier(form))
            started = time.perf_counter()
            supplier(f"push {proxy} {count} {batch}")
            consumer(f"wait {count * consumers}")
            elapsed = time.perf_counter() - started
            channel.close()
            return count / elapsed

        yield through_the_service, bare


@contextmanager
def beside_jacorb(batch: int) -> Iterator[tuple[Measure, Measure]]:
    """Both keep the order: one consumer, events of one priority; JacORB with one thread at each stage."""
    form = "sequence" if batch else "structured"
    with ExitStack() as stack:
        local, orb = LocalOrb(), Orb()
        local.start()
        stack.callback(local.stop)
        orb.start()
        stack.callback(orb.stop)
        service = NotificationService(orb)
        service.start()
        stack.callback(service.stop)
        other = stack.enter_context(JacOrb(at_full_speed=True))
        supplier = stack.enter_context(process("tests.bench.cosnotification_supplier"))
        consumer = stack.enter_context(process("tests.bench.service_consumer"))
        references = {"structured": consumer(""), "sequence": consumer("")}

        def through(factory: str) -> Callable[[], float]:
            def measure() -> float:
                channel = Channel(local, factory)
                connect(channel, form, batch, None, references[form])
                proxy = local.to_string(channel.supplier(form))
                started = time.perf_counter()
                supplier(f"push {proxy} {COUNT} {batch}")
                consumer(f"wait {COUNT}")
                elapsed = time.perf_counter() - started
                channel.close()
                return COUNT / elapsed

            return measure

        theirs = through(other.ior.read_text().strip())
        theirs()  # Java compiles what is hot
        yield through(service.factory_ior), theirs


def connect(channel: Channel, form: str, batch: int, filter_: str | None, consumer: str) -> None:
    proxy: Any = channel.proxy("push", "consumer", form)
    if batch:
        proxy.set_qos([property_("MaximumBatchSize", CORBA.TC_long, batch)])
    if filter_ is not None:
        proxy.add_filter(channel.filter(filter_))
    getattr(proxy, f"connect_{form}_push_consumer")(channel.orb.corba.string_to_object(consumer))


def _bench(name: str, batch: int, consumers: int = 1, filter_: str | None = None) -> Bench:
    ceiling = "the same supplier and one consumer without a channel"
    return Bench(name, "events/s", ceiling, partial(setup, batch, consumers, filter_))


BENCHES = [
    _bench("service-push", 0),
    _bench(f"service-push-{BATCH}", BATCH),
    _bench("service-push-filtered", 0, filter_="$Severity > 2"),
    _bench("service-push-to-10", 0, consumers=10),
    Bench("service-jacorb", "events/s", "JacORB's service between the same clients", partial(beside_jacorb, 0)),
    Bench(
        f"service-jacorb-{BATCH}",
        "events/s",
        "JacORB's service between the same clients",
        partial(beside_jacorb, BATCH),
    ),
]
