"""What is offered and wanted travels along links: who is asked for what, and what a gate stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from adapters.base import Delivery, EventTypes, HearTypes, Outgoing
from adapters.memory.connection import MemoryPeer
from adapters.memory.settings import MemoryChannel
from adapters.memory.sink import MemorySink
from adapters.memory.source import MemorySource
from gateway.links.demand import Demand, Gate, Terms, gated
from gateway.links.lanes import LanedSink, round_robin
from gateway.links.step import FILTERED
from mappings.filters.type_tests import may_pass
from mappings.model import Body, Headers, Message, StructuredEvent
from tests.unit.links.rig import as_it_is, wait_for

ALARM, STATE, PLANT = ("Telecom", "Alarm"), ("Telecom", "State"), ("Plant", "*")
CHANNEL = MemoryChannel(endpoint="m", name="c")


def types(*all_: tuple[str, str]) -> EventTypes:
    return frozenset(all_)


class Source(MemorySource):
    def __init__(self) -> None:
        super().__init__(MemoryPeer(), CHANNEL)
        self.wants: list[EventTypes] = []
        self.offers: HearTypes | None = None

    def watch_offers(self, heard: HearTypes) -> None:
        self.offers = heard

    def want(self, types: EventTypes) -> None:
        self.wants.append(types)


class Sink(MemorySink):
    def __init__(self) -> None:
        super().__init__(MemoryPeer(), CHANNEL)
        self.offered: list[EventTypes] = []
        self.wanted: HearTypes = lambda _: None

    def watch_wanted(self, heard: HearTypes) -> None:
        self.wanted = heard

    def offer(self, types: EventTypes) -> None:
        self.offered.append(types)


class Rig:
    def __init__(self) -> None:
        self.told: list[tuple[str, EventTypes]] = []
        self.demand = Demand(lambda link, types: self.told.append((link, types)))

    def link(
        self, name: str, *, source: str = "s", may: Callable[[str, str], bool] | None = None, **terms: bool
    ) -> Sink:
        its = {"on_demand": True, "by_type": True, "passes_offers": True, **terms}
        sink = Sink()
        all_terms = Terms(source, f"channel of {name}", **its, **({} if may is None else {"may_pass": may}))
        self.demand.begin(name, all_terms, sink, sink.watch_wanted)
        return sink

    def source(self, name: str = "s") -> Source:
        source = Source()
        self.demand.source(name, source)
        return source


@pytest.fixture
def rig() -> Iterator[Rig]:
    found = Rig()
    yield found
    found.demand.stop()


def test_a_source_is_asked_for_what_any_link_behind_it_wants(rig: Rig) -> None:
    one, two = rig.link("one"), rig.link("two")
    source = rig.source()
    rig.demand.settle({"one", "two"}, set())
    one.wanted(types(ALARM))
    two.wanted(types())
    wait_for(lambda: source.wants == [types(ALARM)])
    two.wanted(types(STATE, PLANT))
    wait_for(lambda: source.wants[-1] == types(ALARM, STATE, PLANT))
    one.wanted(types())
    wait_for(lambda: source.wants[-1] == types(STATE, PLANT))
    two.wanted(None)
    wait_for(lambda: source.wants[-1] is None)
    two.wanted(types())
    wait_for(lambda: source.wants[-1] == types())
    assert rig.told == [
        ("one", types(ALARM)), ("two", types()), ("two", types(STATE, PLANT)), ("one", types()), ("two", None),
        ("two", types()),
    ]  # fmt: skip


def test_a_link_that_is_not_on_demand_wants_everything(rig: Rig) -> None:
    one = rig.link("one")
    rig.link("other", on_demand=False)
    source = rig.source()
    one.wanted(types())
    wait_for(lambda: rig.told == [("one", types())])
    assert source.wants == []
    rig.demand.settle({"one"}, set())  # the other has gone
    wait_for(lambda: source.wants == [types()])
    rig.demand.settle({"one"}, {"s"})  # it is away for a while, and its journal collects
    wait_for(lambda: source.wants == [types(), None])


def test_a_source_that_is_made_anew_is_asked_again(rig: Rig) -> None:
    sink = rig.link("one")
    first = rig.source()
    sink.wanted(types(ALARM))
    wait_for(lambda: first.wants == [types(ALARM)])
    second = rig.source()
    wait_for(lambda: second.wants == [types(ALARM)])
    assert first.wants == [types(ALARM)]


def test_a_link_that_is_made_anew_goes_on_with_what_it_knew(rig: Rig) -> None:
    sink = rig.link("one")
    source = rig.source()
    sink.wanted(types(ALARM))
    wait_for(lambda: source.wants == [types(ALARM)])
    again = rig.link("one")
    sink.wanted(types(STATE))  # a late word of the sink before: it counts no more
    again.wanted(types(ALARM))
    again.wanted(types(PLANT))
    wait_for(lambda: source.wants[-1] == types(PLANT))
    assert source.wants == [types(ALARM), types(PLANT)]


def test_types_that_the_filter_never_passes_are_neither_asked_for_nor_offered(rig: Rig) -> None:
    sink = rig.link("one", may=lambda _, type_: type_ == "Alarm")
    source = rig.source()
    sink.wanted(types(ALARM, STATE, PLANT))
    wait_for(lambda: source.wants == [types(ALARM, PLANT)])  # of a pattern it cannot be told
    assert source.offers is not None
    source.offers(types(ALARM, STATE))
    wait_for(lambda: sink.offered == [types(ALARM)])
    source.offers(types(STATE))
    wait_for(lambda: sink.offered == [types(ALARM), types()])


def test_offers_reach_every_link_and_one_that_comes_later(rig: Rig) -> None:
    one = rig.link("one", on_demand=False)
    source = rig.source()
    assert source.offers is not None
    source.offers(types(ALARM))
    wait_for(lambda: one.offered == [types(ALARM)])
    two = rig.link("two", on_demand=False)
    silent = rig.link("silent", on_demand=False, passes_offers=False)
    wait_for(lambda: two.offered == [types(ALARM)])
    assert (one.offered, silent.offered) == ([types(ALARM)], [])


def test_where_events_change_their_type_on_the_way_it_is_all_or_nothing(rig: Rig) -> None:
    sink = rig.link("one", by_type=False)
    source = rig.source()
    sink.wanted(types())
    wait_for(lambda: source.wants == [types()])
    sink.wanted(types(ALARM))
    wait_for(lambda: source.wants == [types(), None])


def delivery(payload: StructuredEvent | Message) -> Delivery:
    return Delivery(payload, "1", 0.0)


def test_a_gate_stops_what_nobody_wants() -> None:
    gate = Gate(Terms("s", "c", on_demand=True, by_type=True))
    step = gated(as_it_is, gate)
    alarm = delivery(StructuredEvent("Telecom", "Alarm", "", (), ()))
    fire = delivery(StructuredEvent("Plant", "Fire", "", (), ()))
    message = delivery(Message(Headers(), (), Body("text", "x")))

    def passed() -> list[bool]:
        return [isinstance(step(each), Outgoing) for each in (alarm, fire, message)]

    assert passed() == [True, True, True], "as long as it is not known what is wanted"
    gate.set(types(PLANT))
    assert passed() == [False, True, True]
    gate.set(types())
    assert passed() == [False, False, False]
    assert step(alarm) is FILTERED
    gate.set(None)
    assert passed() == [True, True, True]


def test_lanes_are_one_sink() -> None:
    lanes = [Sink(), Sink()]
    whole = LanedSink(lanes, round_robin())
    heard: list[EventTypes] = []
    whole.watch_wanted(heard.append)
    lanes[0].wanted(types(ALARM))
    whole.offer(types(STATE))
    assert heard == [types(ALARM)]
    assert [lane.offered for lane in lanes] == [[types(STATE)], [types(STATE)]]


@pytest.mark.parametrize(
    ("text", "alarms", "others"),
    [
        ("", True, True),
        ("$type_name == 'Alarm'", True, False),
        ("'Alarm' == $type_name and $Severity > 2", True, False),
        ("$Severity > 2 or $type_name == 'Alarm'", True, True),
        ("$domain_name != 'Telecom'", False, True),
        ("not ($type_name == 'Alarm')", False, True),
        ("not ($Severity > 2)", True, True),
        ("$.header.fixed_header.event_type.type_name == 'Alarm'", True, False),
        ("$.filterable_data(type_name) == 'Alarm'", True, True),
        ("$type_name == 'Alarm' or $type_name == 'State'", True, False),
        ("$type_name == 'Alarm' and $type_name == 'Fire'", False, False),
        ("$event_name == 'x'", True, True),
        ("TRUE", True, True),
        ("FALSE", False, False),
    ],
)
def test_what_a_filter_says_of_types(text: str, alarms: bool, others: bool) -> None:
    """Telecom/Alarm, and Plant/Fire."""
    assert (may_pass(text, "Telecom", "Alarm"), may_pass(text, "Plant", "Fire")) == (alarms, others)
