"""What is offered and wanted travels along the links (RULES.md 1.9): offers from the source of a link on to its sink, and, where a
link is `on_demand`, what consumers at its sink want back to its source.

    channel ── offers ──▶ source ──▶ Demand ──▶ sink ── offers ──▶ channel
    channel ◀── wants ── source ◀── Demand ◀── sink ◀── wants ── channel

Channels between links pass on what they hear, so this goes on along whole chains. A source that several links take from (by way of
a journal) is asked for what any of them wants. What a peer sends all the same is stopped at the link, by its gate.

All is done on one thread, which lives only where there is something to tell: adapters call on threads that must not block.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Set
from queue import SimpleQueue
from typing import Final, NamedTuple

from adapters.base import Delivery, EventTypes, HearTypes, Outgoing, Payload, Sink, Source
from gateway.links.step import FILTERED, Filtered, NotYet, PatientStep
from mappings.filters.event_types import EventTypes as Covering
from mappings.model import StructuredEvent

NOTHING: Final[EventTypes] = frozenset()
STOP_SECS: Final = 2.0

Told = Callable[[str, EventTypes], None]
"""A link that is on demand, and what is wanted behind it from now on."""


class Terms(NamedTuple):
    """What of a link's settings bears on its demand (`demand_terms.py`)."""

    source: str  # who asks the peer for it: the inlet of a channel, or the link itself
    sink: str  # the channel
    on_demand: bool = False
    by_type: bool = False  # events keep their type on the way
    passes_offers: bool = False
    may_pass: Callable[[str, str], bool] = lambda _domain, _type: (
        True
    )  # False: the link's filter passes no event of this type

    def passing(self, types: EventTypes) -> EventTypes:
        """Those of the types that the link may pass."""
        if types is None:
            return None
        return frozenset(type_ for type_ in types if "*" in "".join(type_) or self.may_pass(*type_))


class Gate:
    """Of one link that is on demand: whether an event is wanted. Until that is known, every one is."""

    def __init__(self, terms: Terms, wanted: EventTypes = None) -> None:
        self.terms = terms
        self._admits: Callable[[Payload], bool] | None = None
        self.set(wanted)

    def set(self, wanted: EventTypes) -> None:
        self.wanted = wanted
        if wanted is None:
            self._admits = None
        elif not wanted:
            self._admits = lambda _: False
        else:
            self._admits = _test(wanted) if self.terms.by_type else None

    def admits(self, payload: Payload | None) -> bool:
        admits = self._admits
        return admits is None or payload is None or admits(payload)

    @property
    def asks_for(self) -> EventTypes:
        """What is to be had from the source."""
        if not self.terms.on_demand:
            return None
        return self.terms.passing(self.wanted) if self.terms.by_type or not self.wanted else None


def gated(step: PatientStep, gate: Gate) -> PatientStep:
    def wanted(delivery: Delivery) -> Outgoing | Filtered | NotYet:
        return step(delivery) if gate.admits(delivery.payload) else FILTERED

    return wanted


class Demand:
    """`stop` it at the end. Other calls come from the thread that drives the gateway."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._lock = threading.Lock()
        self._gates: dict[str, Gate] = {}
        self._sinks: dict[str, Sink] = {}
        self._sources: dict[str, Source] = {}
        self._kept: Set[str] = frozenset()
        self._asked: dict[str, tuple[Source, EventTypes]] = {}
        self._offered: dict[str, tuple[Source, EventTypes]] = {}
        self._passed: dict[str, tuple[Sink, EventTypes]] = {}
        self._news: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    # For the appliance

    def begin(self, link: str, terms: Terms, sink: Sink, watch: Callable[[HearTypes], None]) -> Gate:
        """A link that is about to run; `watch` asks for what is wanted behind its sink. Before its source is made."""
        with self._lock:
            before = self._gates.get(link)
            known = before is not None and before.terms.sink == terms.sink
            gate = Gate(terms, before.wanted if before is not None and known else None)
            self._gates[link] = gate
            self._sinks[link] = sink
        if terms.on_demand:
            watch(lambda types: self._later(lambda: self._hear_wanted(link, gate, types)))
        if terms.on_demand or terms.passes_offers:
            self._later(self._look)
        return gate

    def source(self, id_: str, source: Source) -> None:
        """What the links whose terms name it take from; again for each new one."""
        with self._lock:
            self._sources[id_] = source
            terms = [gate.terms for gate in self._gates.values() if gate.terms.source == id_]
        if any(its.passes_offers for its in terms):
            source.watch_offers(lambda types: self._later(lambda: self._hear_offers(id_, source, types)))
        if any(its.on_demand or its.passes_offers for its in terms):
            self._later(self._look)

    def settle(self, running: Set[str], kept: Set[str]) -> None:
        """Which links there are by now; `kept`: the sources that are asked for everything all the same."""
        with self._lock:
            for link in self._gates.keys() - set(running):
                del self._gates[link], self._sinks[link]
            self._kept = kept
        if self._thread is not None:
            self._later(self._look)

    def stop(self) -> None:
        if self._thread is not None:
            self._news.put(None)
            self._thread.join(STOP_SECS)
            self._thread = None

    # On its own thread

    def _later(self, do: Callable[[], None]) -> None:
        self._news.put(do)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="demand", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while (do := self._news.get()) is not None:
            do()

    def _hear_wanted(self, link: str, gate: Gate, types: EventTypes) -> None:
        if gate.wanted == types or self._gates.get(link) is not gate:
            return
        gate.set(types)
        self._told(link, types)
        self._look()

    def _hear_offers(self, id_: str, source: Source, types: EventTypes) -> None:
        self._offered[id_] = (source, types)
        self._look()

    def _look(self) -> None:
        """Tell sources and sinks what is new to them."""
        with self._lock:
            gates, sinks, sources, kept = dict(self._gates), dict(self._sinks), dict(self._sources), self._kept
        for id_, source in sources.items():
            behind = {link: gate for link, gate in gates.items() if gate.terms.source == id_}
            if not behind:
                continue
            wanted = None if id_ in kept else _union([gate.asks_for for gate in behind.values()])
            asked_of, asked = self._asked.get(id_, (source, None))
            if wanted != (asked if asked_of is source else None):
                self._asked[id_] = (source, wanted)
                source.want(wanted)
            offerer, offered = self._offered.get(id_, (None, None))
            if offerer is not source or offered is None:
                continue
            for link, gate in behind.items():
                offer = gate.terms.passing(offered)
                if gate.terms.passes_offers and self._passed.get(link) != (sinks[link], offer):
                    self._passed[link] = (sinks[link], offer)
                    sinks[link].offer(offer)


def _union(all_: list[EventTypes]) -> EventTypes:
    types: frozenset[tuple[str, str]] = frozenset()
    for each in all_:
        if each is None:
            return None
        types |= each
    return types


def _test(wanted: frozenset[tuple[str, str]]) -> Callable[[Payload], bool]:
    covers = Covering(wanted).covers
    return lambda payload: not isinstance(payload, StructuredEvent) or covers(payload.domain_name, payload.type_name)
