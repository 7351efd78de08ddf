"""A supplier that pushes as fast as it can: `python -m tests.bench.cosnotification_supplier`.

Commands on standard input, one answer each on standard output:

    factory                     the reference of a factory whose channel 0 gives us the consumer that connects
    push IOR|- COUNT BATCH [persistent]
                                push so many events to a consumer (-: the one that connected) one by one (BATCH 0) or in sequences;
                                answers with the seconds that it took
"""

from __future__ import annotations

import sys
import time
from typing import Any

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import OrbSettings
from adapters.cosnotification.stubs import CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA, CosNotifyComm
from mappings.idl_types import DOUBLE, LONG, SHORT, STRING, Enum, Member, Sequence, Struct
from mappings.model import Any_, Property, StructuredEvent

SEVERITY = Enum("IDL:Bench/Severity:1.0", "Severity", ("cleared", "minor", "major", "critical"))
PLACE = Struct("IDL:Bench/Place:1.0", "Place", (Member("shelf", LONG), Member("slot", LONG)))
ALARM = Struct(
    "IDL:Bench/Alarm:1.0",
    "Alarm",
    (
        Member("id", LONG),
        Member("text", STRING),
        Member("severity", SEVERITY),
        Member("place", PLACE),
        Member("history", Sequence(LONG)),
        Member("value", DOUBLE),
    ),
)


PERSISTENT = (Property("EventReliability", SHORT, 1),)


def event(header: tuple[Property, ...] = ()) -> StructuredEvent:
    """Five fields and a struct of six members that no consumer has compiled in."""
    fields = (
        Property("Severity", LONG, 3),
        Property("Source", STRING, "EMS-1/shelf 3/slot 7"),
        Property("Cause", STRING, "loss of signal"),
        Property("Value", DOUBLE, -31.5),
        Property("Count", LONG, 17),
    )
    body = {
        "id": 4711,
        "text": "optical power below threshold",
        "severity": "major",
        "place": {"shelf": 3, "slot": 7},
        "history": [1, 2, 3, 4],
        "value": -31.5,
    }
    return StructuredEvent("Telecom", "Alarm", "los", header, fields, Any_(ALARM, body))


class _Proxy(
    CosNotifyChannelAdmin__POA.StructuredProxyPushSupplier,  # type: ignore[misc]
):
    consumer: Any = None

    def connect_structured_push_consumer(self, push_consumer: Any) -> None:
        _Proxy.consumer = push_consumer

    def disconnect_structured_push_supplier(self) -> None: ...


class _SequenceProxy(CosNotifyChannelAdmin__POA.SequenceProxyPushSupplier):  # type: ignore[misc]
    def connect_sequence_push_consumer(self, push_consumer: Any) -> None:
        _Proxy.consumer = push_consumer

    def disconnect_sequence_push_supplier(self) -> None: ...


class _Everything(
    CosNotifyChannelAdmin__POA.EventChannelFactory,  # type: ignore[misc]
):
    def __init__(self, orb: LocalOrb) -> None:
        self._channel = orb.activate(_Channel(orb), b"channel")

    def get_event_channel(self, id_: int) -> Any:
        return self._channel


class _Channel(CosNotifyChannelAdmin__POA.EventChannel):  # type: ignore[misc]
    def __init__(self, orb: LocalOrb) -> None:
        self._admin = orb.activate(_Admin(orb), b"admin")

    def new_for_consumers(self, op: Any) -> tuple[Any, int]:
        return self._admin, 1


class _Admin(CosNotifyChannelAdmin__POA.ConsumerAdmin):  # type: ignore[misc]
    def __init__(self, orb: LocalOrb) -> None:
        self._structured = orb.activate(_Proxy(), b"structured")
        self._sequence = orb.activate(_SequenceProxy(), b"sequence")

    def obtain_notification_push_supplier(self, ctype: Any) -> tuple[Any, int]:
        return (self._sequence if ctype == CosNotifyChannelAdmin.SEQUENCE_EVENT else self._structured), 1

    def destroy(self) -> None: ...


def push(consumer: Any, count: int, batch: int, header: tuple[Property, ...]) -> float:
    started = time.perf_counter()
    if batch:
        one = consumer._narrow(CosNotifyComm.SequencePushConsumer).push_structured_events
        events = [event_to_orb(event(header)) for _ in range(batch)]
        for _ in range(count // batch):
            one(events)
    else:
        one = consumer._narrow(CosNotifyComm.StructuredPushConsumer).push_structured_event
        single = event_to_orb(event(header))
        for _ in range(count):
            one(single)
    return time.perf_counter() - started


def main() -> None:
    orb = LocalOrb(OrbSettings())
    orb.start()
    factory = orb.to_string(orb.activate(_Everything(orb), b"factory"))
    for line in sys.stdin:
        match line.split():
            case ["factory"]:
                print(factory, flush=True)
            case ["push", reference, count, batch, *persistent]:
                consumer = _Proxy.consumer if reference == "-" else orb.corba.string_to_object(reference)
                print(push(consumer, int(count), int(batch), PERSISTENT if persistent else ()), flush=True)
    orb.stop()


if __name__ == "__main__":
    main()
