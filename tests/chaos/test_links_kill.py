"""A gateway with a journal, killed with -9 again and again while events pass: each arrives at least once, in order, and the
accounts go on where they were.

The seed is printed, and a failing one (ISTHMUS_SEED) reproduces the choices; not what the operating system makes of them.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Outgoing
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.stomp import BrokerProcess, broker_process, embedded_endpoint
from tests.parts.gateway import Gateway

KILLS = 3
FEED_BATCH = 20
FEED_PAUSE_SECS = 0.03  # events come all the time, so that every kill finds some on their way
PATIENCE_SECS = 20.0
WINDOW = 300
QUICK = {"first_ms": 20, "longest_ms": 200}


@pytest.fixture
def broker() -> Iterator[BrokerProcess]:
    with broker_process() as process:
        yield process


class Feeder:
    """Sends numbered messages, each confirmed by the broker, until told to stop."""

    def __init__(self, endpoint: StompEndpoint) -> None:
        self.sent = 0
        self._trouble: BaseException | None = None
        self._sink = StompSink(endpoint, StompChannel(endpoint="broker", destination="queue://chaos.in"))
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def feeding(self) -> Iterator[None]:
        self._sink.connect()
        self._thread.start()
        try:
            yield
        finally:
            self._enough.set()
            self._thread.join(PATIENCE_SECS)
            self._sink.close()
        assert self._trouble is None
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while not self._enough.wait(FEED_PAUSE_SECS):
                batch = [_numbered(self.sent + n) for n in range(FEED_BATCH)]
                assert self._sink.send(batch).result(PATIENCE_SECS) == ()
                self.sent += FEED_BATCH
        except BaseException as trouble:
            self._trouble = trouble


def test_every_event_arrives_in_order_over_kills_and_the_accounts_hold(tmp_path: Path, broker: BrokerProcess) -> None:
    seed = int(os.environ.get("ISTHMUS_SEED") or random.SystemRandom().randrange(1, 2**31))
    print(f"seed {seed}")
    chance = random.Random(seed)
    endpoint = embedded_endpoint(broker.address)
    gateway = Gateway(tmp_path, _configuration(broker.address))
    feeder = Feeder(endpoint)
    received = {"all": 0, "even": 0}
    with feeder.feeding():
        for round_ in range(KILLS):
            _start(gateway, round_)
            # Accounts go on from where they were: what was received is never forgotten.
            for link, before in received.items():
                gateway.wait_for_link(link, lambda status, before=before: _received(status) > before)  # type: ignore[misc]
            time.sleep(chance.uniform(0.0, 0.8))
            received = {link: _received(status) for link, status in gateway.links().items()}
            gateway.kill()
    _start(gateway, KILLS)
    assert feeder.sent > 500
    numbers = list(range(feeder.sent))
    arrived: dict[str, list[int]] = {}
    try:
        for link, last in (("all", numbers[-1]), ("even", numbers[-2])):
            arrived[link] = _drain(endpoint, f"queue://chaos.{link}", last)
        final = {link: gateway.wait_for_link(link, _is_done)["accounts"] for link in received}
    finally:
        status = gateway.stop()
    assert status == 0, gateway.tail()
    assert _first_occurrences(arrived["all"]) == numbers
    assert _first_occurrences(arrived["even"]) == numbers[::2]
    for link, accounts in final.items():
        assert accounts["holds"]
        assert accounts["received"] == accounts["delivered"] + accounts["filtered"] + accounts["duplicate"]
        assert accounts["duplicate"] <= KILLS * 2 * WINDOW  # what the source and the journal handed out again
        assert accounts["received"] >= received[link]
        # Twice delivered is what was sent and not settled when the gateway was killed: never more than was in the air.
        assert accounts["delivered"] <= len(arrived[link]) <= accounts["delivered"] + KILLS * WINDOW
    assert final["all"]["received"] == final["even"]["received"]  # one journal for both
    assert final["all"]["filtered"] == 0
    assert final["even"]["filtered"] > 0
    assert max(Counter(arrived["all"]).values()) <= 2 * KILLS + 1  # a kill may repeat it at either end


def _configuration(address: str) -> dict[str, Any]:
    delivery = {"window": WINDOW, "batch": 50}
    return {
        "journal": {},
        "endpoints": {
            "broker": {"type": "stomp", "broker": "embedded", "hosts": [address], "back_off": QUICK},
        },
        "channels": {
            name: {"endpoint": "broker", "destination": f"queue://chaos.{name}"} for name in ("in", "all", "even")
        },
        "links": {
            "all": {"from": "in", "to": "all", "delivery": delivery},
            "even": {"from": "in", "to": "even", "delivery": delivery, "selector": "even = 'yes'"},
        },
    }


def _start(gateway: Gateway, round_: int) -> None:
    gateway.log_file = gateway.folder / f"gateway-{round_}.log"  # what it waits for must not be in an older log
    gateway.start()


def _received(status: dict[str, Any]) -> int:
    return int(status["accounts"]["received"])


def _is_done(status: dict[str, Any]) -> bool:
    return bool(status["accounts"]["pending"] == 0 and status["inlet"]["unsafe"] == 0)


def _numbered(number: int) -> Outgoing:
    even = MessageProperty("even", "String", "yes" if number % 2 == 0 else "no")
    return Outgoing(Message(Headers(), (even,), Body("TextMessage", str(number))), str(number))


def _drain(endpoint: StompEndpoint, destination: str, last: int) -> list[int]:
    """Everything that arrives in a queue, in order, up to the last number (and what comes right behind it)."""
    source = StompSource(endpoint, StompChannel(endpoint="broker", destination=destination))
    source.connect()
    numbers: list[int] = []
    try:
        deadline = time.monotonic() + PATIENCE_SECS
        while (deliveries := source.receive(500, 0.5)) or last not in numbers[-1000:]:
            assert time.monotonic() < deadline, f"{last} has not arrived; the last ones: {numbers[-5:]}"
            source.acknowledge(deliveries)
            for delivery in deliveries:
                assert isinstance(delivery.payload, Message)
                numbers.append(int(str(delivery.payload.body.value)))
    finally:
        source.close()
    return numbers


def _first_occurrences(numbers: Sequence[int]) -> list[int]:
    return list(dict.fromkeys(numbers))
