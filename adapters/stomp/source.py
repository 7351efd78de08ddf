"""Source of the STOMP wire: a subscription with an acknowledgement for every single message."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from adapters.base import DeadLetterError, Delivery, ReconnectError, Source
from adapters.stomp.codec import CodecError, Decoder
from adapters.stomp.connection import Connection
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import Frame, FrameError, raw_header, unescape
from adapters.stomp.settings import StompChannel, StompEndpoint, capabilities
from adapters.topic_patterns import TOPIC, Topics
from mappings.makers import maker
from mappings.model import PERSISTENT

MOST_HELD: Final = 2  # times the prefetch: beyond it nothing is read, should a broker not keep to the prefetch

_make_delivery: Final = maker(Delivery)


class Token(NamedTuple):
    connection: int  # of which of our connections
    ack: str  # value of the `ack` header, escaped as it stood on the wire


class StompSource(Source):
    """The connection's thread fills `_arrived`, the link's empties it; `_changed` guards both."""

    def __init__(self, endpoint: StompEndpoint, channel: StompChannel, *, beat_ms: int | None = None) -> None:
        """`beat_ms`: see Connection."""
        self.capabilities = capabilities(channel)
        self._endpoint = endpoint
        self._channel = channel
        self._beat_ms = beat_ms
        self._flavour = FLAVOURS[endpoint.broker]
        self._decoder = Decoder(self._flavour, channel.destination)
        self._changed = threading.Condition()
        self._arrived: deque[Frame] = deque()
        self._waiting = False
        self._woken = False
        self._paused = False
        self._connection: Connection | None = None
        self._number = 0  # of the connection
        self._subscriptions = 0
        self._unsettled: set[str] = set()
        self._released: set[str] = set()  # given back, where NACK would lose them: they come with the next subscription
        self._topics = Topics(channel.destination, self._flavour.wildcards, self._topic_of)

    def connect(self) -> None:
        self._number += 1
        with self._changed:
            self._arrived.clear()
        self._unsettled.clear()
        self._released.clear()
        connection = Connection(
            self._endpoint,
            client_id=self._channel.subscription,
            beat_ms=self._beat_ms,
            on_messages=self._on_messages,
            on_lost=self._on_lost,
        )
        connection.open()
        try:
            self._subscribe(connection)
        except ReconnectError:
            connection.close()
            raise
        self._connection = connection

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        deadline = time.monotonic() + timeout_secs
        while True:
            taken, woken = self._take(limit, max(0.0, deadline - time.monotonic()))
            wanted = taken if self._topics.exact else self._without_strangers(taken)
            if wanted or woken or not taken:
                now = time.time()
                return [self._deliver(frame, now) for frame in wanted]

    def _take(self, limit: int, timeout_secs: float) -> tuple[list[Frame], bool]:
        """What has arrived, and whether wake() was called."""
        connection = self._require()
        if self._released and not self._unsettled and not self._arrived:
            self._fetch_released(connection)
        taken: list[Frame] = []
        with self._changed:
            if not self._arrived and not self._woken:
                self._waiting = True
                self._changed.wait_for(lambda: self._arrived or self._woken or connection.is_lost, timeout_secs)
                self._waiting = False
            woken, self._woken = self._woken, False
            if not connection.is_lost:
                taken = [self._arrived.popleft() for _ in range(min(limit, len(self._arrived)))]
                if self._paused and len(self._arrived) < self._channel.prefetch:
                    self._paused = False
                    connection.pause(False)
        connection.check()
        return taken, woken

    def _without_strangers(self, frames: list[Frame]) -> list[Frame]:
        wanted, acks = [], []
        for frame in frames:
            if self._wants(frame):
                wanted.append(frame)
            else:
                acks.append(raw_header(frame.head, b"ack"))
        if acks:
            self._require().send("".join([f"ACK\nid:{ack}\n\n\0" for ack in acks if ack is not None]).encode())
        return wanted

    def _wants(self, frame: Frame) -> bool:
        try:
            return self._topics.wants(raw_header(frame.head, b"destination"))
        except FrameError:
            return True  # it cannot be read: a dead letter, with a reason

    def _topic_of(self, wire: str) -> str:
        return self._flavour.from_wire(unescape(wire)).removeprefix(TOPIC)

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        self._answer("ACK", deliveries)

    def release(self, deliveries: Sequence[Delivery]) -> None:
        if self._flavour.nack_requeues:
            self._answer("NACK", deliveries)
            return
        for delivery in deliveries:
            if delivery.token.connection == self._number and delivery.token.ack in self._unsettled:
                self._unsettled.discard(delivery.token.ack)
                self._released.add(delivery.token.ack)

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def unsubscribe(self) -> None:
        name = self._channel.subscription
        if name is None:
            super().unsubscribe()
            return
        connection = Connection(self._endpoint, client_id=name)
        connection.open()
        try:
            if (
                self._flavour.subscription_header is None
            ):  # a broker that forgets only what this connection has subscribed to
                self._subscribe(connection)
            connection.unsubscribe(self._subscription_id, self._flavour.durable_headers(name))
        finally:
            connection.close()

    # The link's thread

    def _require(self) -> Connection:
        if self._connection is None:
            raise ReconnectError("STO-CLOSED", "the source is not connected")
        self._connection.check()
        return self._connection

    def _subscribe(self, connection: Connection) -> None:
        self._subscriptions += 1
        durable_name = self._channel.subscription
        channel = self._channel
        headers = self._flavour.subscribe_headers(
            channel.destination, channel.prefetch, durable_name, channel.queue_type
        )
        if self._channel.selector is not None:
            headers["selector"] = self._channel.selector
        connection.subscribe(self._flavour.to_wire(self._topics.subscribed), self._subscription_id, headers)

    @property
    def _subscription_id(self) -> str:
        if self._channel.subscription is not None and self._flavour.subscription_header is None:
            return self._channel.subscription
        return f"isthmus-{self._subscriptions}"

    def _fetch_released(self, connection: Connection) -> None:
        """Nothing else is open on this subscription: give it up, and what was released comes with the next one."""
        connection.unsubscribe(self._subscription_id)
        with self._changed:
            self._arrived.clear()  # came in between: comes again too
        self._released.clear()
        self._subscribe(connection)

    def _answer(self, command: str, deliveries: Sequence[Delivery]) -> None:
        """ACK or NACK, all in one write; each message once."""
        acks = [
            d.token.ack for d in deliveries if d.token.connection == self._number and d.token.ack in self._unsettled
        ]
        if not acks:
            return
        connection = self._require()
        self._unsettled.difference_update(acks)
        connection.send("".join([f"{command}\nid:{ack}\n\n\0" for ack in acks]).encode())

    def _deliver(self, frame: Frame, now: float) -> Delivery:
        try:
            message = self._decoder.decode(frame)
            headers = message.headers
            ack = raw_header(frame.head, b"ack")
            if ack is None:
                raise KeyError("ack")
            if headers.JMSMessageID is None:
                raise KeyError("message-id")
            self._unsettled.add(ack)
            id_ = headers.JMSMessageID
            if (
                self._flavour.counts_ids
            ):  # ids of ours must not be those of another broker, nor of this one with new data
                id_ = f"{self._endpoint.hosts[0]}/{id_}@{headers.JMSTimestamp}"
            return _make_delivery(
                message,
                id_,
                now,
                headers.JMSDeliveryMode == PERSISTENT,
                headers.JMSRedelivered,
                frame.original,
                None,
                Token(self._number, ack),
            )
        except (CodecError, KeyError) as error:
            return self._undecodable(frame, now, error)

    def _undecodable(self, frame: Frame, now: float, error: Exception) -> Delivery:
        token = Token(self._number, raw_header(frame.head, b"ack") or "")
        if token.ack:
            self._unsettled.add(token.ack)
        reason = f"no {error} header" if isinstance(error, KeyError) else str(error)
        return Delivery(
            payload=None,
            id=raw_header(frame.head, b"message-id") or f"{self._number}-{len(self._unsettled)}-{now}",
            received_at=now,
            original=frame.original,
            error=DeadLetterError("STO-DECODE", f"a message cannot be read: {reason}", path=self._channel.destination),
            token=token,
        )

    # The connection's thread

    def _on_messages(self, frames: list[Frame]) -> None:
        with self._changed:
            self._arrived.extend(frames)
            if len(self._arrived) > self._channel.prefetch * MOST_HELD and self._connection is not None:
                self._paused = True
                self._connection.pause(True)
            if self._waiting:
                self._changed.notify_all()

    def _on_lost(self, _: ReconnectError) -> None:
        with self._changed:
            self._changed.notify_all()
