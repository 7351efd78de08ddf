"""What a link tells its recorder: every event once when it comes, and once when it ends, with what it became."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.base import Delivery, Outgoing
from gateway.links.accounts import Outcome
from gateway.links.link import Pace
from gateway.links.step import FILTERED, Filtered
from mappings.errors import Expired, IsthmusError, MappingError
from tests.unit.links.rig import QUICK, Rig, as_it_is, number, running, wait_for


class Traffic:
    def __init__(self) -> None:
        self.came: list[int] = []
        self.ends: dict[int, tuple[str, int | str | None]] = {}

    def received(self, deliveries: Sequence[Delivery]) -> None:
        self.came += [_number(delivery) for delivery in deliveries]

    def settled(self, outcome: Outcome, deliveries: Sequence[Delivery], sent: Sequence[Outgoing]) -> None:
        became = [number(outgoing.payload) for outgoing in sent] or [None] * len(deliveries)
        for delivery, what in zip(deliveries, became, strict=True):
            self._end(delivery, outcome, what)

    def dead_lettered(self, delivery: Delivery, error: IsthmusError, outgoing: Outgoing | None) -> None:
        self._end(delivery, "dead_lettered", f"{error.code} {outgoing and number(outgoing.payload)}")

    def left(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            self._end(delivery, "left", None)

    def _end(self, delivery: Delivery, outcome: str, what: int | str | None) -> None:
        assert _number(delivery) not in self.ends
        self.ends[_number(delivery)] = outcome, what


def _number(delivery: Delivery) -> int:
    assert delivery.payload is not None
    return number(delivery.payload)


def step(delivery: Delivery) -> Outgoing | Filtered:
    match _number(delivery) % 5:
        case 1:
            return FILTERED
        case 2:
            raise Expired("over")
        case 3:
            raise MappingError("MAP-TEST", "never")
    return as_it_is(delivery)


def test_every_event_comes_once_and_ends_once_as_the_accounts_say() -> None:
    traffic = Traffic()
    rig = Rig(step, traffic=traffic)
    rig.outlet.refuse(lambda payload: number(payload) % 5 == 4)
    rig.feed(100)
    with running(rig):
        wait_for(lambda: rig.link.balance().pending == 0 and rig.link.balance().received == 100)
    assert traffic.came == list(range(100))
    wanted = {0: "delivered", 1: "filtered", 2: "expired", 3: "dead_lettered", 4: "dead_lettered"}
    whats = {0: lambda n: n, 3: lambda _: "MAP-TEST None", 4: lambda n: f"MEM-REFUSED {n}"}
    assert traffic.ends == {n: (wanted[n % 5], whats.get(n % 5, lambda _: None)(n)) for n in range(100)}


def test_what_a_link_leaves_behind_is_told_too() -> None:
    traffic = Traffic()
    pace = Pace(window=50, batch=10, drain_secs=0.05, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)
    rig = Rig(pace=pace, traffic=traffic)
    rig.outlet.hold()
    rig.feed(30)
    with running(rig):
        wait_for(lambda: rig.link.balance().received == 30)
    assert traffic.ends == dict.fromkeys(range(30), ("left", None))
