"""Event domains against brute force: random sequences of adding and removing, random graphs of up to eight channels."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from gateway.domain.connection import ClientType, Connection, NotificationStyle
from gateway.domain.errors import (
    AlreadyExists,
    ChannelNotFound,
    CycleCreationForbidden,
    DiamondCreationForbidden,
    DomainError,
)
from gateway.domain.event_domain import EventDomain
from gateway.domain.persistence import domain_from_json, domain_to_json
from gateway.domain.qos import CYCLE_DETECTION, DIAMOND_DETECTION, Rules, UnsupportedQoS
from tests.unit.domain import brute_force
from tests.unit.domain.refusal import refusal

ALL = 10**9
MOST_MEMBERS = 7
rules = st.builds(Rules, st.booleans(), st.booleans())


class Domains(RuleBasedStateMachine):
    """A domain beside what it must be: ids, pairs, and brute force."""

    members = Bundle[int]("members")

    def __init__(self) -> None:
        super().__init__()
        self.domain: EventDomain[str] = EventDomain()
        self.present: list[int] = []
        self.pairs: dict[int, tuple[int, int]] = {}
        self.members_added = 0
        self.connections_added = 0
        self.consumer: int | None = None
        self.supplier: int | None = None

    @property
    def edges(self) -> frozenset[tuple[int, int]]:
        return frozenset(self.pairs.values())

    @initialize(rules=rules)
    def begin(self, rules: Rules) -> None:
        self.domain = EventDomain(rules, changeable_cycle_detection=True)

    @rule(target=members)
    def add_channel(self) -> int:
        if len(self.present) >= MOST_MEMBERS:
            return self.present[0]
        id_ = self.domain.add_channel(f"channel {self.members_added}")
        assert id_ == self.members_added
        assert self.domain.get_channel(id_) == f"channel {id_}"
        self.members_added += 1
        self.present.append(id_)
        if len(self.present) == 1:
            self.consumer = self.supplier = id_
        return id_

    @rule(member=members)
    def set_defaults(self, member: int) -> None:
        if member in self.present:
            self.domain.set_default_consumer_channel(member)
            self.consumer = member
        else:
            with pytest.raises(ChannelNotFound):
                self.domain.set_default_supplier_channel(member)

    @rule(member=consumes(members))
    def remove_channel(self, member: int) -> None:
        if member not in self.present:
            with pytest.raises(ChannelNotFound):
                self.domain.remove_channel(member)
            return
        gone = {id_ for id_, pair in self.pairs.items() if member in pair}
        assert set(self.domain.remove_channel(member)) == gone
        self.present.remove(member)
        self.pairs = {id_: pair for id_, pair in self.pairs.items() if id_ not in gone}
        self.consumer, self.supplier = (
            min(self.present, default=None) if default == member else default
            for default in (self.consumer, self.supplier)
        )

    @rule(supplier=members, consumer=members)
    def add_connection(self, supplier: int, consumer: int) -> None:
        connection = Connection(supplier, consumer)
        before = self.edges
        after = before | {(supplier, consumer)}
        if not {supplier, consumer} <= set(self.present):
            with pytest.raises(ChannelNotFound):
                self.domain.add_connection(connection)
        elif (supplier, consumer) in before:
            with pytest.raises(AlreadyExists):
                self.domain.add_connection(connection)
        elif self.domain.rules.forbid_cycles and brute_force.cycles(after) != brute_force.cycles(before):
            with pytest.raises(CycleCreationForbidden) as cycle:
                self.domain.add_connection(connection)
            expected = {(supplier, supplier)} if supplier == consumer else set(
                brute_force.simple_paths(before, consumer, supplier)
            )  # fmt: skip
            assert cycle.value.cycle in expected
        elif self.domain.rules.forbid_diamonds and brute_force.diamonds(after, self.present):
            with pytest.raises(DiamondCreationForbidden) as diamond:
                self.domain.add_connection(connection)
            routes = diamond.value.diamond
            ends = routes[0][0], routes[0][-1]
            assert set(routes) == brute_force.diamonds(after, self.present)[ends]
            assert list(routes) == sorted(routes, key=lambda route: (len(route), route))
        else:
            assert self.domain.add_connection(connection) == self.connections_added
            self.pairs[self.connections_added] = supplier, consumer
            self.connections_added += 1

    @rule(data=st.data())
    def remove_connection(self, data: st.DataObject) -> None:
        if self.pairs:
            id_ = data.draw(st.sampled_from(sorted(self.pairs)))
            assert self.domain.remove_connection(id_)[:2] == self.pairs.pop(id_)

    @rule(wanted=rules)
    def set_qos(self, wanted: Rules) -> None:
        broken = [CYCLE_DETECTION] if wanted.forbid_cycles and brute_force.cycles(self.edges) else []
        if wanted.forbid_diamonds and brute_force.diamonds(self.edges, self.present):
            broken.append(DIAMOND_DETECTION)
        before = self.domain.rules
        if broken:
            with pytest.raises(UnsupportedQoS) as refused:
                self.domain.set_qos(wanted.to_qos())
            assert [fault.name for fault in refused.value.faults] == broken
            assert self.domain.rules == before
        else:
            self.domain.set_qos(wanted.to_qos())
            assert self.domain.rules == wanted

    @rule()
    def save_and_restore(self) -> None:
        form = json.loads(json.dumps(domain_to_json(self.domain, str)))
        self.domain = domain_from_json(form, lambda rules: EventDomain(rules, changeable_cycle_detection=True), str)
        assert domain_to_json(self.domain, str) == form

    @invariant()
    def same_members_and_connections(self) -> None:
        assert self.domain.get_all_channels() == self.present == list(self.domain.graph.after)
        assert {id_: self.domain.get_connection(id_)[:2] for id_ in self.domain.get_all_connections()} == self.pairs
        assert self.domain.default_consumer == self.consumer
        assert self.domain.default_supplier == self.supplier

    @invariant()
    def same_cycles_and_diamonds(self) -> None:
        cycles = self.domain.get_cycles(ALL)
        assert cycles.complete
        assert sorted(cycles.cycles) == sorted(brute_force.cycles(self.edges))
        diamonds = self.domain.get_diamonds(ALL, ALL)
        assert diamonds.complete
        assert {diamond.ends: set(diamond.routes) for diamond in diamonds.diamonds} == brute_force.diamonds(
            self.edges, self.present
        )

    @invariant()
    def same_reachability(self) -> None:
        turned = frozenset((sink, source) for source, sink in self.edges)
        for member in self.present:
            assert self.domain.get_subscription_channels(member) == brute_force.reached(
                self.edges, member, self.present
            )
            assert self.domain.get_offer_channels(member) == brute_force.reached(turned, member, self.present)


TestDomains = Domains.TestCase
TestDomains.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


VERTICES = range(8)
edge_lists = st.lists(st.tuples(st.sampled_from(VERTICES), st.sampled_from(VERTICES)), max_size=20, unique=True)


def domain_with(rules: Rules, count: int = len(VERTICES)) -> EventDomain[int]:
    domain = EventDomain[int](rules)
    for number in range(count):
        domain.add_channel(number)
    return domain


@settings(max_examples=60, deadline=None)
@given(edge_lists, rules)
def test_refusals_leave_a_graph_that_keeps_to_its_rules_and_cannot_take_one_more(
    wanted: list[tuple[int, int]], rules: Rules
) -> None:
    domain = domain_with(rules)
    edges: frozenset[tuple[int, int]] = frozenset()
    for source, sink in wanted:
        with_edge = edges | {(source, sink)}
        cyclic = rules.forbid_cycles and bool(brute_force.cycles(with_edge))
        double = rules.forbid_diamonds and bool(brute_force.diamonds(with_edge, VERTICES))
        expected = CycleCreationForbidden if cyclic else DiamondCreationForbidden if double else None
        refused = refusal(domain.add_connection, Connection(source, sink))
        assert (None if refused is None else type(refused)) is expected
        if refused is None:
            edges = with_edge
    assert frozenset(domain.graph.edges()) == edges


few_vertices = st.sampled_from(range(6))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(few_vertices, few_vertices), min_size=6, max_size=20, unique=True))
@example([(0, 1), (1, 2), (2, 3), (3, 1), (2, 0), (0, 4), (4, 3)])
def test_enumerations_agree_with_brute_force(wanted: list[tuple[int, int]]) -> None:
    domain = domain_with(Rules(False, False))
    for source, sink in wanted:
        domain.add_connection(Connection(source, sink))
    edges = frozenset(wanted)
    assert domain.get_cycles(ALL) == (tuple(sorted(brute_force.cycles(edges))), True)
    diamonds = domain.get_diamonds(ALL, ALL).diamonds
    assert {diamond.ends: set(diamond.routes) for diamond in diamonds} == brute_force.diamonds(edges, VERTICES)
    assert [diamond.ends for diamond in diamonds] == sorted(diamond.ends for diamond in diamonds)


@settings(max_examples=60, deadline=None)
@given(edge_lists)
def test_routes_come_shortest_first_and_none_is_left_out(wanted: list[tuple[int, int]]) -> None:
    domain = domain_with(Rules(False, False))
    for source, sink in wanted:
        domain.add_connection(Connection(source, sink))
    everything = domain.get_diamonds(ALL, ALL)
    some = domain.get_diamonds(ALL, 2)
    assert [diamond.ends for diamond in some.diamonds] == [diamond.ends for diamond in everything.diamonds]
    for few, all_ in zip(some.diamonds, everything.diamonds, strict=True):
        by_length = sorted(
            brute_force.simple_paths(frozenset(wanted), *all_.ends), key=lambda route: (len(route), route)
        )
        assert list(all_.routes) == by_length
        assert list(few.routes) == by_length[:2]
        assert few.complete == (len(by_length) == 2)


connections = st.builds(
    Connection,
    st.sampled_from(VERTICES),
    st.sampled_from(VERTICES),
    st.sampled_from(ClientType),
    st.sampled_from(NotificationStyle),
    st.sampled_from(["", "IDL:Example/Alarm:1.0"]),
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(connections, max_size=8), st.data())
def test_no_damage_to_saved_data_makes_anything_but_a_refusal_or_a_sound_domain(
    wanted: list[Connection], data: st.DataObject
) -> None:
    domain = domain_with(Rules())
    for connection in wanted:
        try:
            domain.add_connection(connection)
        except DomainError:
            continue
    form = domain_to_json(domain, int)
    where: Any = form
    while True:  # a place anywhere in the data
        key = data.draw(st.sampled_from(list(where) if isinstance(where, dict) else range(len(where))))
        if not isinstance(where[key], dict | list) or not where[key] or data.draw(st.booleans()):
            break
        where = where[key]
    where[key] = data.draw(json_values)
    refused = refusal(domain_from_json, form, EventDomain, lambda value: value)
    if refused is not None:
        assert refused.code == "DOM-FORM"
        return
    restored: EventDomain[Any] = domain_from_json(form, EventDomain, lambda value: value)
    edges = frozenset(restored.graph.edges())
    assert not (restored.rules.forbid_cycles and brute_force.cycles(edges))
    assert not (restored.rules.forbid_diamonds and brute_force.diamonds(edges, restored.members))
    restored.remove_channel(restored.add_channel("one more"))
