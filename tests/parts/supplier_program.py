"""A CORBA supplier as users write them: compiled stubs, omniORB, nothing of Isthmus. Runs as a process of its own.

    python supplier_program.py FACTORY_IOR_FILE CHANNEL_ID

It connects to the channel as a structured push supplier and obeys one JSON object per line on standard input, with one answer
per line on standard output: {"push": "alarm", "first": 0, "count": 3} pushes three events made by `alarm(n)`. An event whose
push fails is pushed again, as a supplier must that wants none lost; `refused` counts those failures.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import omniORB
import omniORB.COS
from omniORB import CORBA
from omniORB import any as anys

PERSISTENT = 1
PUSH_SECS = 60.0  # no event is tried for longer

omniORB.importIDL(str(Path(__file__).with_name("idl") / "acme.idl"))
import Acme  # type: ignore[import-not-found]  # noqa: E402 - made by the line above
import CosNaming  # noqa: E402
import CosNotification  # noqa: E402
import CosNotifyChannelAdmin  # noqa: E402
import TimeBase  # noqa: E402


def alarm(n: int) -> Any:
    """Header fields that become JMS headers, every kind of field that becomes properties, and a string for the body."""
    path = [CosNaming.NameComponent(f"NC{i}", f"kind{i}") for i in (1, 2, 3)]
    header = [
        CosNotification.Property("EventReliability", CORBA.Any(CORBA.TC_short, PERSISTENT)),
        CosNotification.Property("Priority", CORBA.Any(CORBA.TC_short, 2)),
        CosNotification.Property("Timeout", CORBA.Any(TimeBase._tc_TimeT, 600 * 10**7)),
        CosNotification.Property("Ohf1", CORBA.Any(CosNaming._tc_Name, path)),
    ]
    fields = {
        "Fd1": CORBA.Any(Acme._tc_Alarm, Acme.Alarm("LOS", 3)),
        "number": CORBA.Any(CORBA.TC_long, n),
        "flag": CORBA.Any(CORBA.TC_boolean, True),
        "octet": CORBA.Any(CORBA.TC_octet, 200),
        "ushort": CORBA.Any(CORBA.TC_ushort, 65535),
        "huge": CORBA.Any(CORBA.TC_ulonglong, 2**64 - 1),
        "ratio": CORBA.Any(CORBA.TC_double, 0.25),
        "letter": CORBA.Any(CORBA.TC_char, "x"),
        "wide": CORBA.Any(CORBA.TC_wstring, "Zürich: 3 € \\ ok"),
        "state": CORBA.Any(Acme._tc_State, Acme.outOfService),
        "levels": CORBA.Any(Acme._tc_Levels, [-3, 0, 7]),
        "reading": CORBA.Any(Acme._tc_Reading, Acme.Reading(dbm=-12.5)),
        "boxed": CORBA.Any(CORBA.TC_any, CORBA.Any(CORBA.TC_string, "inner")),
        "image": _octets(b"\x00\x01\xff"),
    }
    return _event(f"LOS-{n}", header, fields, anys.to_any(f"loss of signal on port {n}: Zürich"))


def lasting(n: int) -> Any:
    """Persistent, and in nobody's clock too old."""
    header = [CosNotification.Property("EventReliability", CORBA.Any(CORBA.TC_short, PERSISTENT))]
    return _event(
        f"LOS-{n}", header, {"number": CORBA.Any(CORBA.TC_long, n)}, anys.to_any(f"loss of signal on port {n}")
    )


def octets(n: int) -> Any:
    return _event(f"octets-{n}", [], {}, _octets(bytes(range(256))))


def numbers(n: int) -> Any:
    tc = omniORB.tcInternal.createTypeCode((omniORB.tcInternal.tv_sequence, omniORB.tcInternal.tv_long, 0))
    return _event(f"numbers-{n}", [], {}, CORBA.Any(tc, [1, -2, 2**31 - 1]))


def named(n: int) -> Any:
    """A PropertySeq, which becomes a map."""
    properties = [
        CosNotification.Property("port", CORBA.Any(CORBA.TC_long, 7)),
        CosNotification.Property("site", anys.to_any("Bern")),
        CosNotification.Property("up", CORBA.Any(CORBA.TC_boolean, False)),
    ]
    return _event(f"named-{n}", [], {}, CORBA.Any(CosNotification._tc_PropertySeq, properties))


def struct(n: int) -> Any:
    return _event(f"struct-{n}", [], {}, CORBA.Any(Acme._tc_Alarm, Acme.Alarm("LOS", n)))


def empty(n: int) -> Any:
    return _event(f"empty-{n}", [], {}, CORBA.Any(CORBA.TC_null, None))


def _octets(data: bytes) -> Any:
    tc = omniORB.tcInternal.createTypeCode((omniORB.tcInternal.tv_sequence, omniORB.tcInternal.tv_octet, 0))
    return CORBA.Any(tc, data)


def _event(name: str, header: list[Any], fields: dict[str, Any], remainder: Any) -> Any:
    fixed = CosNotification.FixedEventHeader(CosNotification.EventType("Telecom", "Alarm"), name)
    properties = [CosNotification.Property(field, value) for field, value in fields.items()]
    return CosNotification.StructuredEvent(CosNotification.EventHeader(fixed, header), properties, remainder)


def connect(orb: Any, factory_file: str, channel_id: int) -> Any:
    text = Path(factory_file).read_text(encoding="ascii").strip()
    factory = orb.string_to_object(text)._narrow(CosNotifyChannelAdmin.EventChannelFactory)
    admin = factory.get_event_channel(channel_id)._get_default_supplier_admin()
    proxy, _ = admin.obtain_notification_push_consumer(CosNotifyChannelAdmin.STRUCTURED_EVENT)
    proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
    proxy.connect_structured_push_supplier(None)
    return proxy


def push(proxy: Any, event: Any) -> int:
    """How often it was refused before it was taken."""
    deadline = time.monotonic() + PUSH_SECS
    refused = 0
    while True:
        try:
            proxy.push_structured_event(event)
            return refused
        except (CORBA.TRANSIENT, CORBA.TIMEOUT):
            refused += 1
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main() -> None:
    options = ["-ORBconfigFile", "none", "-ORBnativeCharCodeSet", "UTF-8", "-ORBclientCallTimeOutPeriod", "20000"]
    orb = CORBA.ORB_init([sys.argv[0], *options], CORBA.ORB_ID)
    proxy = connect(orb, sys.argv[1], int(sys.argv[2]))
    print(json.dumps({"connected": True}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        make = {f.__name__: f for f in (alarm, lasting, octets, numbers, named, struct, empty)}[command["push"]]
        first = command["first"]
        refused = sum(push(proxy, make(n)) for n in range(first, first + command["count"]))
        print(json.dumps({"pushed": command["count"], "refused": refused}), flush=True)
    proxy.disconnect_structured_push_consumer()
    orb.destroy()


if __name__ == "__main__":
    main()
