"""A crowd of clients of one channel: `python -m tests.interop.notification_service.crowd IOR SUPPLIERS CONSUMERS SECS MOST`.

sent, secs          events, and the time until the last consumer had the last of them
lost, disordered    deliveries that did not come, or came before an earlier event of their supplier
share               what the slowest consumer had, of what was sent, when the quickest had everything
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA, CosNotifyComm__POA
from mappings.idl_types import LONG
from tests.interop.notification_service.clients import Channel, connect, event, number_of, property_

PUSHERS = 4
ROOM = 1_000_000
PATIENCE_SECS = 120.0


class Counter(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    """Its events carry their supplier (`n`) and their number with that supplier (`k`)."""

    def __init__(self, suppliers: int) -> None:
        self.count = 0
        self.disordered = 0
        self._latest = [-1] * suppliers

    def push_structured_event(self, notification: Any) -> None:
        supplier, number = number_of(notification), notification.filterable_data[1].value.value()
        if number != self._latest[supplier] + 1:
            self.disordered += 1
        self._latest[supplier] = number
        self.count += 1

    def offer_change(self, added: Any, removed: Any) -> None: ...

    def disconnect_structured_push_consumer(self) -> None: ...


def run(orb: LocalOrb, ior: str, suppliers: int, consumers: int, secs: float, most: int) -> dict[str, Any]:
    qos = [property_("OrderPolicy", CORBA.TC_short, 1), property_("MaxEventsPerConsumer", CORBA.TC_long, ROOM)]
    channel = Channel(orb, ior, qos)
    counters = [Counter(suppliers) for _ in range(consumers)]
    for counter in counters:
        connect(
            channel.proxy("push", "consumer", "structured"), "push", "consumer", "structured", channel.activate(counter)
        )
    proxies = [channel.supplier() for _ in range(suppliers)]
    pushers = min(PUSHERS, suppliers)
    sent = [0] * suppliers
    deadline = time.monotonic() + secs

    def push(first: int) -> None:
        number = 0
        while True:
            for supplier in range(first, suppliers, pushers):
                if time.monotonic() > deadline or sum(sent) >= most:
                    return
                proxies[supplier].push_structured_event(event(supplier, k=(LONG, number)))
                sent[supplier] = number + 1
            number += 1

    started = time.monotonic()
    threads = [threading.Thread(target=push, args=(first,)) for first in range(pushers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(sent)
    patience = time.monotonic() + PATIENCE_SECS
    share = 0.0
    while (slowest := min(counter.count for counter in counters)) < total and time.monotonic() < patience:
        if not share and max(counter.count for counter in counters) == total:
            share = slowest / total
        time.sleep(0.001)
    elapsed = time.monotonic() - started
    channel.close()
    return {
        "sent": total,
        "secs": elapsed,
        "lost": sum(total - counter.count for counter in counters),
        "disordered": sum(counter.disordered for counter in counters),
        "share": share or 1.0,
    }


def main() -> None:
    orb = LocalOrb()
    orb.start()
    ior, suppliers, consumers, secs, most = sys.argv[1:]
    print(json.dumps(run(orb, ior, int(suppliers), int(consumers), float(secs), int(most))), flush=True)
    os._exit(0)  # a thread of the ORB that is on its way out when Python ends would abort the process


if __name__ == "__main__":
    main()
