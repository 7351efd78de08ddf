"""Translations per second, each against a function written by hand for that one event, which knows everything beforehand.

    simple   3 fixed and 5 simple fields
    alarm    an X.733 alarm in 3GPP's clothes: UtcT, CosNaming name, a sequence of structs
    wide     200 fields

The functions by hand are what somebody would write who has no gateway: straight lines, the usual constructors, a dictionary of the
properties on the way back because JMS keeps no order. They do not look whether the event is the one that they were written for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mappings.idl_types import BOOLEAN, DOUBLE, LONG, SHORT, STRING, Member, Sequence, Struct
from mappings.known_types import NAME, UTC_T
from mappings.model import Any_, Body, Headers, Message, MessageProperty, Property, StructuredEvent
from mappings.translate import Entry, Translator
from tests.bench.harness import Bench, Measure, per_second

NOW_MS = 1_795_000_000_000
GID = "0d4b6a2e-3f1c-4f0e-9a55-7f1f6d1c2b3a"

CORRELATED = Struct(
    "IDL:3gpp.org/NotificationIRPConstDefs/CorrelatedNotification:1.0",
    "CorrelatedNotification",
    (Member("source", STRING), Member("notifID", LONG)),
)
CORRELATED_SET = Sequence(CORRELATED)

SIMPLE = StructuredEvent(
    "Telecom",
    "Alarm",
    "LOS-17",
    (),
    (
        Property("Severity", LONG, 3),
        Property("Element", STRING, "ManagedElement=Zürich-7"),
        Property("Ratio", DOUBLE, 0.25),
        Property("Cleared", BOOLEAN, False),
        Property("Port", SHORT, 7),
    ),
    Any_(STRING, "loss of signal on port 7"),
)
ALARM = StructuredEvent(
    "Alarm IRP V2.3",
    "x1",
    "alarm-771",
    (Property("EventReliability", SHORT, 1), Property("Priority", SHORT, 3)),
    (
        Property("a", LONG, 771),
        Property("b", CORRELATED_SET, [{"source": "ManagedElement=7", "notifID": n} for n in (769, 770)]),
        Property("c", UTC_T, {"time": 140_140_000_000_000_000, "inacclo": 0, "inacchi": 0, "tdf": 60}),
        Property("d", STRING, "SubNetwork=1,ManagementNode=EMS-1"),
        Property("e", STRING, "ManagedElement"),
        Property("f", NAME, [{"id": part, "kind": ""} for part in ("Network", "NE-7", "Port-3")]),
        Property("g", SHORT, 29),
        Property("h", SHORT, 2),
        Property("i", STRING, "loss of signal"),
        Property("j", STRING, "LOS on optical port, both fibres"),
        Property("k", STRING, "A-000771"),
    ),
    Any_(STRING, "Zürich-Oerlikon: loss of signal: LOS on optical port, both fibres"),
)
WIDE = StructuredEvent("Telecom", "Counters", "15 min", (), tuple(Property(f"counter{n}", LONG, n) for n in range(200)))

Forward = Callable[[StructuredEvent, int, str], Message]
Backward = Callable[[Message], StructuredEvent]
Explain = Callable[[StructuredEvent, int, str], tuple[Message, list[Entry]]]


def metadata_of(event: StructuredEvent) -> str:
    """The `$se` of an event: a constant for somebody who writes by hand."""
    text: str = Translator().forward(event, now_ms=NOW_MS).properties[-1].value
    return text


SIMPLE_METADATA = metadata_of(SIMPLE)
ALARM_METADATA = metadata_of(ALARM)


def simple_forward(event: StructuredEvent, now_ms: int, gid: str) -> Message:
    severity, element, ratio, cleared, port = event.filterable_data
    return Message(
        Headers("Structured Event", JMSMessageID=f"ID:{gid}", JMSTimestamp=now_ms),
        (
            MessageProperty("$domain_type", "String", event.domain_name),
            MessageProperty("$type_name", "String", event.type_name),
            MessageProperty("$event_name", "String", event.event_name),
            MessageProperty("$Severity", "int", severity.value),
            MessageProperty("$Element", "String", element.value),
            MessageProperty("$Ratio", "double", ratio.value),
            MessageProperty("$Cleared", "boolean", cleared.value),
            MessageProperty("$Port", "short", port.value),
            MessageProperty("$gid", "String", gid),
            MessageProperty("$se", "String", SIMPLE_METADATA),
        ),
        Body("TextMessage", event.remainder_of_body.value),
    )


def simple_backward(message: Message) -> StructuredEvent:
    values = {name: value for name, _, value in message.properties}
    return StructuredEvent(
        values["$domain_type"],
        values["$type_name"],
        values["$event_name"],
        (),
        (
            Property("Severity", LONG, values["$Severity"]),
            Property("Element", STRING, values["$Element"]),
            Property("Ratio", DOUBLE, values["$Ratio"]),
            Property("Cleared", BOOLEAN, values["$Cleared"]),
            Property("Port", SHORT, values["$Port"]),
        ),
        Any_(STRING, message.body.value),
    )


def alarm_forward(event: StructuredEvent, now_ms: int, gid: str) -> Message:
    reliability, priority = event.variable_header
    a, b, c, d, e, f, g, h, i, j, k = event.filterable_data
    properties = [
        MessageProperty("$domain_type", "String", event.domain_name),
        MessageProperty("$type_name", "String", event.type_name),
        MessageProperty("$event_name", "String", event.event_name),
        MessageProperty("$a", "int", a.value),
        MessageProperty("$b._length", "int", len(b.value)),
    ]
    for number, notification in enumerate(b.value, 1):
        properties.append(MessageProperty(f"$b.{number}.source", "String", notification["source"]))
        properties.append(MessageProperty(f"$b.{number}.notifID", "int", notification["notifID"]))
    time = c.value
    properties += [
        MessageProperty("$c.time", "long", time["time"]),
        MessageProperty("$c.inacclo", "long", time["inacclo"]),
        MessageProperty("$c.inacchi", "int", time["inacchi"]),
        MessageProperty("$c.tdf", "short", time["tdf"]),
        MessageProperty("$d", "String", d.value),
        MessageProperty("$e", "String", e.value),
        MessageProperty("$f.Name._length", "int", len(f.value)),
    ]
    for number, component in enumerate(f.value, 1):
        properties.append(MessageProperty(f"$f.Name.{number}.id", "String", component["id"]))
        properties.append(MessageProperty(f"$f.Name.{number}.kind", "String", component["kind"]))
    properties += [
        MessageProperty("$g", "short", g.value),
        MessageProperty("$h", "short", h.value),
        MessageProperty("$i", "String", i.value),
        MessageProperty("$j", "String", j.value),
        MessageProperty("$k", "String", k.value),
        MessageProperty("$gid", "String", gid),
        MessageProperty("$se", "String", ALARM_METADATA),
    ]
    return Message(
        Headers(
            "Structured Event",
            "PERSISTENT" if reliability.value else "NON_PERSISTENT",
            min(max(4 + priority.value, 0), 9),
            JMSMessageID=f"ID:{gid}",
            JMSTimestamp=now_ms,
        ),
        tuple(properties),
        Body("TextMessage", event.remainder_of_body.value),
    )


def alarm_backward(message: Message) -> StructuredEvent:
    values = {name: value for name, _, value in message.properties}
    headers = message.headers
    return StructuredEvent(
        values["$domain_type"],
        values["$type_name"],
        values["$event_name"],
        (
            Property("EventReliability", SHORT, 1 if headers.JMSDeliveryMode == "PERSISTENT" else 0),
            Property("Priority", SHORT, headers.JMSPriority - 4),
        ),
        (
            Property("a", LONG, values["$a"]),
            Property(
                "b",
                CORRELATED_SET,
                [
                    {"source": values[f"$b.{number}.source"], "notifID": values[f"$b.{number}.notifID"]}
                    for number in range(1, values["$b._length"] + 1)
                ],
            ),
            Property(
                "c",
                UTC_T,
                {
                    "time": values["$c.time"],
                    "inacclo": values["$c.inacclo"],
                    "inacchi": values["$c.inacchi"],
                    "tdf": values["$c.tdf"],
                },
            ),
            Property("d", STRING, values["$d"]),
            Property("e", STRING, values["$e"]),
            Property(
                "f",
                NAME,
                [
                    {"id": values[f"$f.Name.{number}.id"], "kind": values[f"$f.Name.{number}.kind"]}
                    for number in range(1, values["$f.Name._length"] + 1)
                ],
            ),
            Property("g", SHORT, values["$g"]),
            Property("h", SHORT, values["$h"]),
            Property("i", STRING, values["$i"]),
            Property("j", STRING, values["$j"]),
            Property("k", STRING, values["$k"]),
        ),
        Any_(STRING, message.body.value),
    )


def wide_by_hand() -> tuple[Forward, Backward]:
    """Four hundred lines that nobody needs to read, put together here."""
    names = [field.name for field in WIDE.filterable_data]
    fixed = (("domain_type", "domain_name"), ("type_name", "type_name"), ("event_name", "event_name"))
    source = [
        "def forward(event, now_ms, gid):",
        f"    {', '.join(names)} = event.filterable_data",
        "    return Message(Headers('Structured Event', JMSMessageID=f'ID:{gid}', JMSTimestamp=now_ms), (",
        *(f"        MessageProperty('${name}', 'String', event.{attribute})," for name, attribute in fixed),
        *(f"        MessageProperty('${name}', 'int', {name}.value)," for name in names),
        "        MessageProperty('$gid', 'String', gid),",
        "        MessageProperty('$se', 'String', METADATA),",
        "    ))",
        "def backward(message):",
        "    values = {name: value for name, _, value in message.properties}",
        "    return StructuredEvent(values['$domain_type'], values['$type_name'], values['$event_name'], (), (",
        *(f"        Property('{name}', LONG, values['${name}'])," for name in names),
        "    ))",
    ]
    namespace: dict[str, Any] = {**globals(), "METADATA": metadata_of(WIDE)}
    exec(compile("\n".join(source), "<by hand>", "exec"), namespace)
    return namespace["forward"], namespace["backward"]


def explained_by_hand(event: StructuredEvent, forward: Forward) -> Explain:
    """The lines of a simple event are always the same; those of sequences follow their elements."""
    lines = Translator().explain(event, now_ms=NOW_MS).entries
    fixed = [entry for entry in lines if "value[" not in entry.source]
    growing = [
        (index, field.name, tuple(field.value[0]), ".Name" if field.type is NAME else "")
        for index, field in enumerate(event.filterable_data)
        if isinstance(field.value, list)
    ]

    def explain(the_event: StructuredEvent, now_ms: int, gid: str) -> tuple[Message, list[Entry]]:
        message = forward(the_event, now_ms, gid)
        entries = fixed[:]
        for index, name, members, alias in growing:
            for number in range(len(the_event.filterable_data[index].value)):
                for member in members:
                    path = f"filterable_data[{index}].value[{number}].{member}"
                    entries.append(Entry(path, "SE-PROP-4", f"${name}{alias}.{number + 1}.{member}", "String", True))
        return message, entries

    return explain


def bench(name: str, way: str, value: Callable[[int], None], ceiling: Callable[[int], None]) -> Bench:
    @contextmanager
    def setup() -> Iterator[tuple[Measure, Measure]]:
        yield lambda: per_second(value), lambda: per_second(ceiling)

    return Bench(f"translate-{name}-{way}", "events/s", "a function written by hand for this event", setup)


def benches(name: str, event: StructuredEvent, forward: Forward, backward: Backward) -> list[Bench]:
    translator = Translator()
    message = translator.forward(event, now_ms=NOW_MS, gid=GID)
    assert forward(event, NOW_MS, GID) == message, "the function by hand must do the same"
    assert backward(message) == event == translator.reverse(message, now_ms=NOW_MS)
    explain = explained_by_hand(event, forward)
    assert len(explain(event, NOW_MS, GID)[1]) == len(translator.explain(event, now_ms=NOW_MS, gid=GID).entries)

    def forwards(count: int) -> None:
        for _ in range(count):
            translator.forward(event, now_ms=NOW_MS, gid=GID)

    def forwards_by_hand(count: int) -> None:
        for _ in range(count):
            forward(event, NOW_MS, GID)

    def backwards(count: int) -> None:
        for _ in range(count):
            translator.reverse(message, now_ms=NOW_MS)

    def backwards_by_hand(count: int) -> None:
        for _ in range(count):
            backward(message)

    def explains(count: int) -> None:
        for _ in range(count):
            translator.explain(event, now_ms=NOW_MS, gid=GID)

    def explains_by_hand(count: int) -> None:
        for _ in range(count):
            explain(event, NOW_MS, GID)

    return [
        bench(name, "forward", forwards, forwards_by_hand),
        bench(name, "reverse", backwards, backwards_by_hand),
        bench(name, "explain", explains, explains_by_hand),
    ]


BENCHES = [
    *benches("simple", SIMPLE, simple_forward, simple_backward),
    *benches("alarm", ALARM, alarm_forward, alarm_backward),
    *benches("wide", WIDE, *wide_by_hand()),
]
