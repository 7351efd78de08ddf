"""What an event domain costs, in processor time: connections added one by one to large domains, and the bounded enumerations where
they are worst.

Adding is held against putting the same pairs into a plain dict, which checks nothing; the enumerations against one walk over the
same edges. What to look at is how `domain-add` changes from 100 to 10 000 channels: it must grow far slower than the domain.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sized

from gateway.domain.connection import Connection
from gateway.domain.errors import CycleCreationForbidden, DiamondCreationForbidden
from gateway.domain.event_domain import EventDomain
from gateway.domain.qos import Rules
from tests.bench.harness import Bench, per_second, simple

Pairs = list[tuple[int, int]]

BOTH = Rules(forbid_cycles=True, forbid_diamonds=True)
NO_CYCLES = Rules(forbid_cycles=True, forbid_diamonds=False)
NO_DIAMONDS = Rules(forbid_cycles=False, forbid_diamonds=True)


def sparse(channels: int) -> Pairs:
    """Any channel to any other: what would go round or arrive twice is refused, which is work too."""
    chance = random.Random(channels)
    return [tuple(chance.sample(range(channels), 2)) for _ in range(10 * channels)]  # type: ignore[misc]


def layered(channels: int) -> Pairs:
    """Ten layers, each channel to channels of the next layer."""
    chance = random.Random(channels)
    width = channels // 10
    starts = [chance.randrange(channels - width) for _ in range(10 * channels)]
    return [(start, (start // width + 1) * width + chance.randrange(width)) for start in starts]


def suppliers_to_consumers(channels: int) -> Pairs:
    """Half of the channels only supply, half only consume: every connection is taken, so the domain is as large as it says."""
    chance = random.Random(channels)
    half = channels // 2
    return [(chance.randrange(half), half + chance.randrange(half)) for _ in range(10 * channels)]


def domain_of(rules: Rules, channels: int) -> EventDomain[int]:
    domain = EventDomain[int](rules)
    for number in range(channels):
        domain.add_channel(number)
    return domain


def adding(kind: Callable[[int], Pairs], channels: int, rules: Rules, name: str) -> Bench:
    pairs = list(dict.fromkeys(kind(channels)))

    def add() -> float:
        domain = domain_of(rules, channels)
        connections = [Connection(*pair) for pair in pairs]
        started = time.process_time()
        for connection in connections:
            try:
                domain.add_connection(connection)
            except (CycleCreationForbidden, DiamondCreationForbidden):
                continue
        return len(pairs) / (time.process_time() - started)

    def insert() -> float:
        connections = [Connection(*pair) for pair in pairs]
        started = time.process_time()
        plain = {}
        for number, connection in enumerate(connections):
            plain[connection] = number
        return len(pairs) / (time.process_time() - started)

    return simple(f"domain-add-{name}-{channels}", "connections/s", "a dict insert, no check", add, insert)


def enumerating(name: str, ask: Callable[[EventDomain[int]], Sized]) -> Bench:
    """On K28, where there are more cycles and routes than atoms in a bucket of water. One call gives everything at once, bounded;
    what it takes stands in the unit. (756 diamonds are one for each pair; each has 16 routes.)"""
    domain = domain_of(Rules(False, False), 28)
    for source in range(28):
        for sink in range(28):
            if source != sink:
                domain.add_connection(Connection(source, sink))

    def walk(count: int) -> None:
        for _ in range(count):
            for _ in domain.graph.edges():
                pass

    def repeat(count: int) -> None:
        for _ in range(count):
            ask(domain)

    def rate(work: Callable[[int], None]) -> Callable[[], float]:
        return lambda: per_second(work, clock=time.process_time)

    started = time.process_time()
    answers = len(ask(domain))
    millis = (time.process_time() - started) * 1000
    unit = f"calls/s, each of all {answers} {name} in {millis:.0f} ms of processor time"
    return simple(f"domain-{name}-k28", unit, "walks over its edges", rate(repeat), rate(walk))


BENCHES = [
    *(adding(sparse, channels, BOTH, "sparse") for channels in (100, 1_000, 10_000)),
    *(adding(layered, channels, BOTH, "layered") for channels in (100, 1_000, 10_000)),
    *(adding(suppliers_to_consumers, channels, BOTH, "two-sides") for channels in (1_000, 10_000)),
    *(adding(layered, channels, NO_CYCLES, "layered-no-cycles") for channels in (100, 1_000, 10_000)),
    *(adding(sparse, channels, NO_CYCLES, "sparse-no-cycles") for channels in (100, 1_000)),
    *(adding(sparse, channels, NO_DIAMONDS, "sparse-no-diamonds") for channels in (100, 1_000)),
    enumerating("cycles", lambda domain: domain.get_cycles().cycles),
    enumerating("diamonds", lambda domain: domain.get_diamonds().diamonds),
]
