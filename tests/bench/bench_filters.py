"""Evaluations per second of compiled filters, held against the same conditions as Python functions written by hand for the event.

The hand-written functions get the fields of the event by a loop over the lists, as any function must that does not know the order
of the fields; they do no type checks, because their author knows the types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mappings.filters import compile_etcl, compile_selector
from mappings.filters.etcl_checks import check
from mappings.filters.etcl_tree import parse_etcl
from mappings.idl_types import LONG, SHORT, STRING, Enum, Member, Sequence, Struct
from mappings.model import Headers, Message, MessageProperty, Property, StructuredEvent
from tests.bench.harness import Bench, per_second, simple

SEVERITY = Enum("IDL:Severity:1.0", "Severity", ("CRITICAL", "MAJOR", "MINOR", "WARNING", "CLEARED"))
SOURCE = Struct("IDL:Source:1.0", "Source", (Member("node", STRING), Member("port", LONG)))

alarm = StructuredEvent(
    "Telecom",
    "Alarm",
    "los",
    (Property("Priority", SHORT, 3),),
    (
        Property("Severity", LONG, 3),
        Property("site", STRING, "NE-Zürich-7"),
        Property("perceived", SEVERITY, "MAJOR"),
        Property("source", SOURCE, {"node": "ne7", "port": 7}),
        Property("slots", Sequence(LONG), [1, 2, 3]),
    ),
)
call = StructuredEvent("Telecom", "Call", "begin", (), (Property("duration", LONG, 3),))
message = Message(
    Headers(JMSType="Structured Event", JMSPriority=7),
    (
        MessageProperty("$domain_type", "String", "Telecom"),
        MessageProperty("$type_name", "String", "Alarm"),
        MessageProperty("$event_name", "String", "los"),
        MessageProperty("$Severity", "int", 3),
        MessageProperty("$site", "String", "NE-Zürich-7"),
    ),
)


def field(event: StructuredEvent, name: str) -> Any:
    for property_ in event.variable_header:
        if property_.name == name:
            return property_.value
    for property_ in event.filterable_data:
        if property_.name == name:
            return property_.value
    raise LookupError(name)


def property_(of: Message, name: str) -> Any:
    for each in of.properties:
        if each.name == name:
            return each.value
    return None


def by_hand_simple(event: StructuredEvent) -> bool:
    return event.type_name == "Alarm" and field(event, "Severity") > 2


def by_hand_rich(event: StructuredEvent) -> bool:
    return (
        event.type_name == "Alarm"
        and field(event, "perceived") in ("CRITICAL", "MAJOR")
        and field(event, "source")["port"] < 10
        and "Zürich" in field(event, "site")
    )


def by_hand_missing(event: StructuredEvent) -> bool:
    try:
        return bool(field(event, "Severity") > 2)
    except LookupError:
        return False


def by_hand_selector(of: Message) -> bool:
    severity, site = property_(of, "$Severity"), property_(of, "$site")
    return (
        property_(of, "$type_name") == "Alarm"
        and severity is not None
        and severity > 2
        and site is not None
        and site.startswith("NE-")
    )


def _bench(name: str, matches: Callable[[Any], bool], by_hand: Callable[[Any], bool], of: Any) -> Bench:
    assert matches(of) is by_hand(of)

    def times(function: Callable[[Any], bool]) -> Callable[[int], None]:
        def run(count: int) -> None:
            for _ in range(count):
                function(of)

        return run

    return simple(
        name,
        "evaluations/s",
        "the condition by hand",
        lambda: per_second(times(matches)),
        lambda: per_second(times(by_hand)),
    )


def _compilations() -> float:
    text = "$type_name == 'Alarm' and $Severity > 2"

    def run(count: int) -> None:
        for _ in range(count):
            tree = parse_etcl(text)
            assert tree is not None
            check(tree)

    return per_second(run)


def _python_compilations() -> float:
    def run(count: int) -> None:
        for _ in range(count):
            compile("event.type_name == 'Alarm' and event.Severity > 2", "filter", "eval")

    return per_second(run)


ETCL_SIMPLE = "$type_name == 'Alarm' and $Severity > 2"
ETCL_RICH = "$type_name == 'Alarm' and ($perceived == CRITICAL or $perceived == MAJOR) and $source.port < 10 and 'Zürich' ~ $site"
SELECTOR = "$type_name = 'Alarm' AND $Severity > 2 AND $site LIKE 'NE-%'"

BENCHES = [
    _bench("filter-etcl-simple", compile_etcl(ETCL_SIMPLE).matches, by_hand_simple, alarm),
    _bench("filter-etcl-other-type", compile_etcl(ETCL_SIMPLE).matches, by_hand_simple, call),
    _bench("filter-etcl-missing", compile_etcl("$Severity > 2").matches, by_hand_missing, call),
    _bench("filter-etcl-rich", compile_etcl(ETCL_RICH).matches, by_hand_rich, alarm),
    _bench("filter-selector", compile_selector(SELECTOR).matches, by_hand_selector, message),
    simple("filter-etcl-parse", "expressions/s", "Python's own compile()", _compilations, _python_compilations),
]
