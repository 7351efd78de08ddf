"""Events per second read from octets, and walked over, held against what the ORB library takes to unmarshal the same octets.

The library makes its own objects of them, of which the adapter then has to make an event: neither is in the ceiling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import omniORB

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.stubs import CosNotification
from mappings.cdr.events import event_reader
from mappings.idl_types import BOOLEAN, SHORT, STRING, Alias, Enum, Member, Sequence, Struct
from mappings.known_types import TIME_T
from mappings.model import Any_, Property, StructuredEvent
from tests.bench.cosnotification_supplier import event as everyday_event
from tests.bench.harness import Bench, Measure, per_second
from tests.unit.cdr.omniorb_model import plain_orb

BATCH = 100
NAME_AND_VALUE = Struct(
    "IDL:mtnm/NameAndStringValue_T:1.0", "NameAndStringValue_T", (Member("name", STRING), Member("value", STRING))
)
NAMES = Alias("IDL:mtnm/NVSList_T:1.0", "NVSList_T", Sequence(NAME_AND_VALUE))
SEVERITY = Enum("IDL:mtnm/PerceivedSeverity_T:1.0", "PerceivedSeverity_T", ("CRITICAL", "MAJOR", "MINOR", "CLEARED"))
PATH = [{"name": "EMS", "value": "Acme/OptiMan-1"}, {"name": "ManagedElement", "value": "NE-Zürich-7"}]


def telecom_alarm() -> StructuredEvent:
    """Of the kind that TMF 814 sends: names as lists of pairs, enums, times as text."""
    fields = (
        Property("notificationId", STRING, "N-00000001"),
        Property("objectName", NAMES, [*PATH, {"name": "PTP", "value": "/rack=1/shelf=2/slot=1/port=1"}]),
        Property("emsTime", STRING, "20261118083000.0Z"),
        Property("isClearable", BOOLEAN, True),
        Property("layerRate", SHORT, 20),
        Property("perceivedSeverity", SEVERITY, "MAJOR"),
        Property("affectedTPList", Sequence(NAMES), [PATH, PATH]),
        Property("additionalInfo", NAMES, [{"name": "vendor.alarmCode", "value": "4003"}]),
    )
    header = (Property("Priority", SHORT, 4), Property("Timeout", TIME_T, 18_000_000_000))
    return StructuredEvent("tmf_mtnm", "NT_ALARM", "", header, fields, Any_(STRING, "Loss of signal on optical port"))


def _bench(name: str, event: StructuredEvent, *, makes: bool, batch: int) -> Bench:
    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        with plain_orb():
            type_ = CosNotification._tc_EventBatch if batch > 1 else CosNotification._tc_StructuredEvent
            value = [event_to_orb(event)] * batch if batch > 1 else event_to_orb(event)
            octets = omniORB.cdrMarshal(type_, value, True)
            reader = event_reader(True)
            single = reader.event if makes else reader.walk
            several = reader.events if makes else reader.walk_all
            read = several if batch > 1 else single

            def times(function: Callable[[bytes], object]) -> float:
                def run(count: int) -> None:
                    for _ in range(count):
                        function(octets)

                return batch * per_second(run)

            yield lambda: times(read), lambda: times(lambda octets: omniORB.cdrUnmarshal(type_, octets, True))

    return Bench(name, "events/s", "omniORB's cdrUnmarshal", setup)


BENCHES = [
    _bench(f"cdr-{way}-{name}{'-batch' if batch > 1 else ''}", event, makes=way == "read", batch=batch)
    for name, event in (("everyday", everyday_event()), ("telecom", telecom_alarm()))
    for way in ("read", "walk")
    for batch in (1, BATCH)
]
