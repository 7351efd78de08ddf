"""Source of the MQ wire: MQGET under syncpoint, handed to the link, MQCMIT when the link has acknowledged.

A unit of work is a batch of gets on one connection, and nothing else can be got on that connection until it is settled. So there
are `units` connections, each with a thread of its own (`lane.py`), and while the events of one are under way the next is filled.
Only one of them fills at a time, which keeps the order. Nothing is got that the link has not asked for: a message that waits with
us gains a BackoutCount when we go.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from typing import Final

from adapters.base import Delivery, ReconnectError, Source
from adapters.mq.codec import Decoder
from adapters.mq.faults import MqiFailure, lost
from adapters.mq.lane import Key, Lane
from adapters.mq.session import Session
from adapters.mq.settings import MqChannel, MqEndpoint, capabilities
from adapters.mq.shim import load

CLOSE_SECS: Final = 5.0
MOST_REMEMBERED: Final = 20_000


def wait_for_connections(lanes: Sequence[Lane], endpoint: MqEndpoint) -> None:
    """Raises ReconnectError: the first failure, or that it takes too long."""
    done, waiting = wait(
        [lane.connected for lane in lanes], endpoint.connect_timeout_ms / 1000, return_when=FIRST_EXCEPTION
    )
    for connected in done:
        connected.result()
    if waiting:
        raise ReconnectError("MQ-TIMEOUT", "no connection in time", path=endpoint.connection_name)


class MqSource(Source):
    """`changed` guards everything that the link's thread and the lanes share."""

    def __init__(self, endpoint: MqEndpoint, channel: MqChannel) -> None:
        self.capabilities = capabilities(channel)
        self.endpoint = endpoint
        self.channel = channel
        self.name = channel.destination
        self.decoder = Decoder(
            channel.destination, other_folders=channel.other_folders, provider_properties=channel.provider_properties
        )
        self.changed = threading.Condition()
        self._lanes: list[Lane] = []
        self._connection = 0
        self._demand = 0  # how many deliveries a receive() waits for
        self._fetching = False
        self._arrived: deque[Delivery] = deque()
        self._woken = False
        self._lost: ReconnectError | None = None
        self._known: OrderedDict[Key, int] = (
            OrderedDict()
        )  # acknowledged, but perhaps not forgotten by the peer: how many

    def connect(self) -> None:
        library = load(self.endpoint)
        with self.changed:
            self._connection += 1
            self._arrived.clear()
            self._lost = None
            self._demand = 0
            self._fetching = False
            # A subscription belongs to one connection.
            count = 1 if self.channel.topic is not None else self.channel.units
            lanes = [Lane(self, library, self._connection) for _ in range(count)]
            self._lanes = lanes
        for lane in lanes:
            lane.thread.start()
        try:
            wait_for_connections(lanes, self.endpoint)
        except ReconnectError:
            self.close()
            raise

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        with self.changed:
            if not self._lanes:
                raise ReconnectError("MQ-CLOSED", "the source is not connected", path=self.name)
            if not self._arrived and not self._woken and self._lost is None:
                self._demand = min(limit, self.channel.max_batch)
                self.changed.notify_all()
                self.changed.wait_for(lambda: self._arrived or self._woken or self._lost is not None, timeout_secs)
                self._demand = 0
            self._woken = False
            if self._lost is not None:
                raise self._lost
            return [self._arrived.popleft() for _ in range(min(limit, len(self._arrived)))]

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        self._answer(deliveries, released=False)
        if self._lost is not None:
            raise self._lost

    def release(self, deliveries: Sequence[Delivery]) -> None:
        self._answer(deliveries, released=True)

    def wake(self) -> None:
        with self.changed:
            self._woken = True
            self.changed.notify_all()

    def unsubscribe(self) -> None:
        channel = self.channel
        if channel.topic is None or channel.subscription is None:
            super().unsubscribe()
            return
        session = None
        try:
            session = Session(load(self.endpoint), self.endpoint)
            session.unsubscribe(channel.topic, channel.subscription)
        except MqiFailure as failure:
            raise lost(failure, self.name) from failure
        finally:
            if session is not None:
                session.close()

    def close(self) -> None:
        with self.changed:
            lanes, self._lanes = self._lanes, []
            for lane in lanes:
                lane.closing = True
            self._arrived.clear()
            self.changed.notify_all()
        deadline = time.monotonic() + CLOSE_SECS
        for lane in lanes:
            if lane.thread.ident is not None:
                lane.thread.join(max(0.0, deadline - time.monotonic()))
        with self.changed:
            for lane in lanes:
                self.remember(lane.settled)  # of a unit that was not settled as a whole: it comes again
                lane.settled = []

    def _answer(self, deliveries: Sequence[Delivery], *, released: bool) -> None:
        with self.changed:
            for delivery in deliveries:
                connection, lane, unit, number = delivery.token
                if connection != self._connection or lane.unit != unit or number not in lane.open:
                    continue
                key = lane.open.pop(number)
                if released:
                    lane.released = True
                else:
                    lane.settled.append(key)
            self.changed.notify_all()

    # For the lanes, with `changed` held unless said otherwise

    def may_fetch(self) -> bool:
        return self._demand > 0 and not self._fetching and not self._arrived

    def start_fetching(self) -> int:
        """How many, for the one lane that is first; 0 for the others."""
        if not self.may_fetch():
            return 0
        self._fetching = True
        return self._demand

    def fetched(self, deliveries: Sequence[Delivery]) -> None:
        self._fetching = False
        self._arrived.extend(deliveries)
        self.changed.notify_all()

    def lose(self, error: ReconnectError, lane: Lane) -> None:
        """Without `changed` held."""
        with self.changed:
            if lane in self._lanes and self._lost is None:
                self._lost = error
                self.changed.notify_all()

    def remember(self, keys: Sequence[Key]) -> None:
        for key in keys:
            self._known[key] = self._known.get(key, 0) + 1
        while len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)

    def forget(self, keys: Sequence[Key]) -> None:
        for key in keys:
            self._take(key)

    def takes_as_known(self, key: Key) -> bool:
        """Whether it was acknowledged before; each that was counts once. Without `changed` held."""
        with self.changed:
            return self._take(key)

    def _take(self, key: Key) -> bool:
        count = self._known.pop(key, 0)
        if count > 1:
            self._known[key] = count - 1
        return count > 0
