"""Many clients of our Notification Service at once, a minute in all. Raises where an event is lost or out of order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.service import NotificationService
from tests.bench.bench_cosnotification import process
from tests.bench.harness import Bench, Measure

SECS = 5.0  # of pushing, three times for each
MOST = 1_000_000
BARE = 20_000


@contextmanager
def setup(suppliers: int, consumers: int) -> Iterator[tuple[Measure, Measure]]:
    with ExitStack() as stack:
        orb = Orb()
        orb.start()
        stack.callback(orb.stop)
        service = NotificationService(orb)
        service.start()
        stack.callback(service.stop)
        supplier = stack.enter_context(process("tests.bench.cosnotification_supplier"))
        consumer = stack.enter_context(process("tests.bench.service_consumer"))
        reference = consumer("")
        consumer("")

        def crowd() -> float:
            command = [sys.executable, "-m", "tests.interop.notification_service.crowd", service.factory_ior]
            numbers = [str(suppliers), str(consumers), str(SECS), str(MOST)]
            answer = json.loads(subprocess.run([*command, *numbers], capture_output=True, check=True).stdout)
            assert answer["lost"] == answer["disordered"] == 0, answer
            return float(answer["sent"] * consumers / answer["secs"])

        def bare() -> float:
            elapsed = float(supplier(f"push {reference} {BARE} 0"))
            consumer(f"wait {BARE}")
            return BARE / elapsed

        yield crowd, bare


BENCHES = [
    Bench(
        f"service-load-{suppliers}-to-{consumers}",
        "deliveries/s",
        "one supplier and one consumer without a channel",
        partial(setup, suppliers, consumers),
    )
    for suppliers, consumers in ((1, 1), (1, 10), (1, 100), (200, 200))
]
