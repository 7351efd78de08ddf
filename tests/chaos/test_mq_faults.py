"""A campaign of faults: thousands of messages, some of them poison, while calls fail before and after they took effect."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence

import pytest

from adapters.base import Delivery, Outgoing, ReconnectError, RetryLaterError, Sink, Source
from adapters.mq import mqi
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from adapters.mq.standin.manager import DEAD_LETTER_QUEUE, StandInQueueManager
from mappings.model import Body, Message
from tests.contract.wires.mq import channel_of, endpoint_of, stand_in

MESSAGES = 2000
POISON = 40  # 2 %
MOST_TURNS = 20_000
VERBS = ("MQGET", "MQGET", "MQCMIT", "MQCMIT", "MQCMIT", "MQPUT", "MQPUT", "MQBACK", "MQOPEN", "MQCONNX")
REASONS = (mqi.MQRC_CONNECTION_BROKEN, mqi.MQRC_CONNECTION_BROKEN, mqi.MQRC_BACKED_OUT, mqi.MQRC_Q_FULL)


class Bridge:
    """What a link does, with a far side that chokes on some messages: those it gives back."""

    def __init__(self, source: Source, sink: Sink, chokes_on: Callable[[str], bool]) -> None:
        self._source = source
        self._sink = sink
        self._chokes_on = chokes_on
        for end in (source, sink):
            self._connect(end)

    def turn(self) -> None:
        try:
            deliveries = self._source.receive(20, 0.05)
            bad = [d for d in deliveries if self._chokes_on(content(d))]
            good = [d for d in deliveries if d not in bad]
            if good:
                self._send(good)
            self._source.acknowledge(good)
            self._source.release(bad)
        except ReconnectError:
            self._connect(self._source)

    def close(self) -> None:
        self._source.close()
        self._sink.close()

    def _send(self, deliveries: Sequence[Delivery]) -> None:
        batch = [Outgoing(d.payload, d.id) for d in deliveries if d.payload is not None]
        while True:
            try:
                assert self._sink.send(batch).result(30.0) == ()
                return
            except RetryLaterError:
                continue
            except ReconnectError:
                self._connect(self._sink)

    def _connect(self, end: Source | Sink) -> None:
        while True:
            end.close()
            try:
                end.connect()
                return
            except ReconnectError:
                continue


def content(delivery: Delivery) -> str:
    assert isinstance(delivery.payload, Message)
    return str(delivery.payload.body.value)


def on(manager: StandInQueueManager, queue: str) -> list[tuple[str, bytes]]:
    """Content and MsgId of every message."""
    return [(m.data.rpartition(b" ")[2].decode(), m.md["MsgId"]) for m in manager.queues[queue].messages]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_whatever_fails(seed: int) -> None:
    chance = random.Random(seed)
    attributes: dict[str, object] = {"backout_threshold": 4, "backout_queue": "BACKOUT", "max_depth": MESSAGES}
    with stand_in(IN=attributes, BACKOUT={"max_depth": MESSAGES}) as manager:
        manager.define("OUT", max_depth=MESSAGES * 2)
        endpoint = endpoint_of(manager)
        feeder = MqSink(endpoint, channel_of("IN"))
        feeder.connect()
        numbers = [f"{n:04}" for n in range(MESSAGES)]
        for start in range(0, MESSAGES, 100):
            batch = [Outgoing(Message(body=Body("TextMessage", f" {n}")), n) for n in numbers[start : start + 100]]
            assert feeder.send(batch).result(30.0) == ()
        feeder.close()
        poison = set(chance.sample(numbers, POISON))
        bridge = Bridge(
            MqSource(endpoint, channel_of("IN")),
            MqSink(endpoint, channel_of("OUT")),
            lambda text: text.strip() in poison,
        )
        turns = faults = 0
        while manager.queues["IN"].messages:
            turns += 1
            assert turns < MOST_TURNS
            if chance.random() < 0.2:
                verb = chance.choice(VERBS)
                reason = mqi.MQRC_HOST_NOT_AVAILABLE if verb == "MQCONNX" else chance.choice(REASONS)
                late = reason == mqi.MQRC_CONNECTION_BROKEN and chance.random() < 0.5  # it was done, the answer is lost
                manager.fail_next(verb, reason, when="after" if late else "before")
                faults += 1
            bridge.turn()
        bridge.close()
        manager.break_connections()

        arrived = on(manager, "OUT")
        aside = on(manager, "BACKOUT") + on(manager, DEAD_LETTER_QUEUE)  # where the backout queue was full for once
        passed, put_aside = {number for number, _ in arrived}, {number for number, _ in aside}
        assert faults > 20
        assert passed | put_aside == set(numbers), "lost"
        assert poison <= put_aside
        assert not poison & passed
        assert len(aside) == len(put_aside), "put aside twice"
        # What arrived twice is rare (a commit whose answer was lost), and can be told by its MsgId.
        ids: dict[str, set[bytes]] = defaultdict(set)
        for number, id_ in arrived:
            ids[number].add(id_)
        assert all(len(same) == 1 for same in ids.values())
        duplicates = len(arrived) - len(passed)
        print(f"seed {seed}: {faults} faults in {turns} turns, {duplicates} duplicates, {len(aside)} put aside")
        assert duplicates <= faults * 20
