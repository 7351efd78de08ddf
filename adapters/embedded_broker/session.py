"""One client of the broker: its frames, subscriptions and transactions.

Output is collected and written once per turn of the loop. A client that does not read gets nothing more once its buffer is full
(`writable`); one that sends to a full queue is not read from until there is room.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from adapters.embedded_broker.messages import StoredMessage, check_head, header, stored, with_reply_to
from adapters.embedded_broker.queues import TEMPORARY, Subscription
from adapters.embedded_broker.selection import SelectorError, acceptor
from adapters.stomp.frames import Frame, FrameError, FrameParser, encode, escape, raw_header, unescape

if TYPE_CHECKING:
    from adapters.embedded_broker.broker import BrokerCore

CONNECT_SECS: Final = 10.0  # a client that has not said CONNECT by then is cut off
GRACE: Final = 2.0
UNLIMITED: Final = 2**62
DEFAULT_PREFETCH: Final = 1000
MAX_TRANSACTIONS: Final = 100
MAX_TRANSACTION_FRAMES: Final = 100_000
MAX_TEMPORARY: Final = 1_000
OWN_TEMPORARY: Final = "/temp-queue/"


class Refused(Exception):
    """A frame that the broker does not take: ERROR with this text, and the end of the session."""


class Session(asyncio.Protocol):
    def __init__(self, core: BrokerCore) -> None:
        self._core = core
        self._loop = core.loop
        self._parser = FrameParser(max_head_bytes=core.max_head_bytes, max_body_bytes=core.max_body_bytes)
        self._transport: asyncio.Transport | None = None
        self._connected = False
        self._id = ""
        self._client_id = ""
        self._temporary: set[str] = set()  # queues that end with us
        self._subscriptions: dict[str, Subscription] = {}
        self._by_ack: dict[str, Subscription] = {}
        self._transactions: dict[str, list[Callable[[], None]]] = {}
        self._acks = 0
        self._output: list[bytes] = []
        self._flushing = False
        self.writable = True
        self._heard_at = self._wrote_at = time.monotonic()
        self._write_every_secs = self._hear_every_secs = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._commands: dict[bytes, Callable[[Frame], None]] = {
            b"SEND": self._send,
            b"ACK": self._ack,
            b"NACK": self._nack,
            b"BEGIN": self._begin,
            b"COMMIT": self._commit,
            b"ABORT": self._abort,
            b"SUBSCRIBE": self._subscribe,
            b"UNSUBSCRIBE": self._unsubscribe,
            b"DISCONNECT": self._disconnect,
        }

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        refused = self._core.joined(self)
        if refused is not None:
            self.end(refused)
            return
        self._timer = self._loop.call_later(CONNECT_SECS, self._too_slow)

    def data_received(self, data: bytes) -> None:
        self._heard_at = time.monotonic()
        try:
            for frame in self._parser.feed(data):
                self._take(frame)
                if self._transport is None:
                    return
        except FrameError as error:
            self.end(f"not STOMP 1.2: {error}")
        except Refused as error:
            self.end(str(error))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.writable = False
        if self._timer is not None:
            self._timer.cancel()
        for subscription in list(self._subscriptions.values()):
            self._leave(subscription)
        self._subscriptions.clear()
        self._transactions.clear()
        for name in self._temporary:
            self._core.destinations.end_temporary(name)
        self._core.left(self)

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        for subscription in self._subscriptions.values():
            if subscription.queue is not None:
                subscription.queue.dispatch()

    # For queues

    def deliver(self, frame: bytes) -> None:
        self._write(frame)

    def next_ack(self, subscription: Subscription) -> str:
        self._acks += 1
        ack = str(self._acks)
        self._by_ack[ack] = subscription
        return ack

    def pause(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        self._heard_at = time.monotonic()
        if self._transport is not None:
            self._transport.resume_reading()

    def end(self, reason: str | None = None) -> None:
        """Say why, then close when all is written."""
        if self._transport is None:
            return
        if reason is not None:
            self._output.append(encode("ERROR", [("message", reason), ("content-type", "text/plain")], reason.encode()))
        self._flush()
        transport, self._transport = self._transport, None
        self.writable = False
        transport.close()

    # Frames

    def _take(self, frame: Frame) -> None:
        check_head(frame)
        command = frame.command
        if not self._connected:
            if command not in (b"CONNECT", b"STOMP"):
                raise Refused("CONNECT comes first")
            self._connect(frame)
            return
        handler = self._commands.get(command)
        if handler is None:
            raise Refused(f"unknown command {command[:40].decode('ascii', 'replace')}")
        handler(frame)
        receipt = header(frame.head, b"receipt")
        if receipt is not None:
            self._core.when_safe(lambda: self._receipt(receipt))
        if command == b"DISCONNECT":
            self._core.when_safe(self.end)

    def _receipt(self, receipt: str) -> None:
        self._write(f"RECEIPT\nreceipt-id:{escape(receipt)}\n\n\0".encode())

    def _connect(self, frame: Frame) -> None:
        headers = frame.headers
        if "1.2" not in headers.get("accept-version", "1.0").replace(" ", "").split(","):
            self._output.append(encode("ERROR", [("version", "1.2"), ("message", "only STOMP 1.2 is spoken here")]))
            self.end()
            return
        if not self._core.admits(headers.get("login", ""), headers.get("passcode", "")):
            raise Refused("login refused: wrong login or password")
        self._client_id = headers.get("client-id", "")
        sends, wants = _pair(headers.get("heart-beat", "0,0"))
        ours = self._core.heartbeat_ms
        if ours and wants:
            self._write_every_secs = max(ours, wants) / 1000
        wanted = min(ours, sends) or ours  # a client may have its silence noticed sooner than we would
        if ours and sends:
            self._hear_every_secs = wanted / 1000
        if self._timer is not None:
            self._timer.cancel()
        self._connected = True
        self._id = self._core.next_session()
        answer = [("version", "1.2"), ("server", "isthmus"), ("heart-beat", f"{ours},{wanted}")]
        self._output.append(encode("CONNECTED", [*answer, ("session", self._id)]))
        self._flush()
        self._beat()

    def _send(self, frame: Frame) -> None:
        destination = self._destination(header(frame.head, b"destination"))
        reply_to = raw_header(frame.head, b"reply-to")
        if reply_to is not None and reply_to.startswith(OWN_TEMPORARY):
            frame = with_reply_to(frame, self._destination(unescape(reply_to)))
        message = stored(frame, *self._core.next_message(), destination, int(time.time() * 1000))
        self._now_or_in_transaction(frame, lambda: self._put(message))

    def _destination(self, name: str | None) -> str:
        """As the broker knows it. A client calls its own temporary queue /temp-queue/NAME; it is there from the first mention on,
        and as long as the client's connection. Raises Refused."""
        if name is not None and name.startswith(OWN_TEMPORARY):
            mine = f"{TEMPORARY}{self._id}-{name[len(OWN_TEMPORARY) :]}"
            if mine not in self._temporary:
                if len(self._temporary) >= MAX_TEMPORARY:
                    raise Refused("too many temporary queues")
                self._temporary.add(mine)
                self._core.destinations.temporary(mine)
            return mine
        if name is not None and name.startswith(TEMPORARY):
            if not self._core.destinations.exists(name):
                raise Refused(f"the temporary queue {name} does not exist")
            return name
        if name is None or not name.startswith(("/queue/", "/topic/")):
            raise Refused(f"a destination is /queue/NAME or /topic/NAME, not {name!r}")
        return name

    def _put(self, message: StoredMessage) -> None:
        for queue in self._core.put(message):
            # A client that consumes is never held back: its acknowledgements make the room.
            if queue.full and not self._subscriptions:
                queue.hold_back(self)

    def _ack(self, frame: Frame) -> None:
        id_ = self._required(frame, b"id")
        if id_ not in self._by_ack:
            raise Refused(f"there is nothing to acknowledge under the id {id_!r}")
        self._now_or_in_transaction(frame, lambda: self._settle(id_, again=False))

    def _nack(self, frame: Frame) -> None:
        id_ = self._required(frame, b"id")
        if id_ not in self._by_ack:
            raise Refused(f"there is nothing to refuse under the id {id_!r}")
        self._now_or_in_transaction(frame, lambda: self._settle(id_, again=True))

    def _settle(self, id_: str, *, again: bool) -> None:
        subscription = self._by_ack.get(id_)
        if subscription is None or subscription.queue is None:
            return
        settled = [id_]
        if subscription.mode == "client":  # this one and all before it
            settled = []
            for earlier in subscription.unsettled:
                settled.append(earlier)
                if earlier == id_:
                    break
        messages = [subscription.unsettled.pop(ack) for ack in settled if ack in subscription.unsettled]
        for ack in settled:
            self._by_ack.pop(ack, None)
        subscription.credit += len(messages)
        if again:
            subscription.queue.take_back(messages)
            # Not before everything that came with this frame is back: in order, as they were.
            self._loop.call_soon(subscription.queue.dispatch)
        else:
            self._core.settled(subscription.queue, messages)
            subscription.queue.dispatch()

    def _begin(self, frame: Frame) -> None:
        name = self._required(frame, b"transaction")
        if name in self._transactions:
            raise Refused(f"the transaction {name!r} has begun already")
        if len(self._transactions) >= MAX_TRANSACTIONS:
            raise Refused("too many transactions at once")
        self._transactions[name] = []

    def _commit(self, frame: Frame) -> None:
        for step in self._ending(frame):
            step()

    def _abort(self, frame: Frame) -> None:
        self._ending(frame)

    def _ending(self, frame: Frame) -> list[Callable[[], None]]:
        name = self._required(frame, b"transaction")
        if name not in self._transactions:
            raise Refused(f"no transaction {name!r} has begun")
        return self._transactions.pop(name)

    def _now_or_in_transaction(self, frame: Frame, step: Callable[[], None]) -> None:
        name = header(frame.head, b"transaction")
        if name is None:
            step()
            return
        steps = self._transactions.get(name)
        if steps is None:
            raise Refused(f"no transaction {name!r} has begun")
        if len(steps) >= MAX_TRANSACTION_FRAMES:
            raise Refused("the transaction is too long")
        steps.append(step)

    def _subscribe(self, frame: Frame) -> None:
        headers = frame.headers
        id_, mode = headers.get("id"), headers.get("ack", "auto")
        if id_ is None or id_ in self._subscriptions:
            raise Refused("SUBSCRIBE needs an id that is not in use")
        if mode not in ("auto", "client", "client-individual"):
            raise Refused(f"ack is auto, client or client-individual, not {mode!r}")
        destination = self._destination(headers.get("destination"))
        prefetch = headers.get("prefetch-count") or headers.get("activemq.prefetchSize") or ""
        credit = (
            UNLIMITED if mode == "auto" else int(prefetch) if prefetch.isdigit() and int(prefetch) else DEFAULT_PREFETCH
        )
        try:
            accepts = acceptor(headers["selector"]) if headers.get("selector") else None
        except SelectorError as error:
            raise Refused(f"selector: {error}") from None
        subscription = Subscription(self, id_, escape(id_).encode(), mode, credit, accepts)
        self._subscriptions[id_] = subscription
        name = headers.get("durable-subscription-name") or headers.get("activemq.subscriptionName")
        self._core.queue_of(destination, self._client_id, name).join(subscription)

    def _unsubscribe(self, frame: Frame) -> None:
        """With the name of a durable subscription that is the end of it, also where this session has not subscribed to it."""
        subscription = self._subscriptions.pop(self._required(frame, b"id"), None)
        if subscription is not None:
            self._leave(subscription)
        name = header(frame.head, b"durable-subscription-name") or header(frame.head, b"activemq.subscriptionName")
        kept = None if name is None else self._core.destinations.durable_named(self._client_id, name)
        if subscription is None and kept is None:
            raise Refused("UNSUBSCRIBE of what is not subscribed")
        if name is not None and kept is not None:
            if kept.listened:
                raise Refused(f"the durable subscription {name!r} is in use")
            self._core.end_durable(self._client_id, name)

    def _disconnect(self, frame: Frame) -> None:
        """The end comes behind the receipt."""

    def _leave(self, subscription: Subscription) -> None:
        queue = subscription.queue
        for ack in subscription.unsettled:
            self._by_ack.pop(ack, None)
        if queue is not None:
            queue.leave(subscription)
            self._core.abandoned(queue)

    def _required(self, frame: Frame, name: bytes) -> str:
        value = header(frame.head, name)
        if value is None:
            raise Refused(f"{frame.command.decode()} needs the header {name.decode()}")
        return value

    # Writing and time

    def _write(self, data: bytes) -> None:
        self._output.append(data)
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        if self._output and self._transport is not None:
            self._wrote_at = time.monotonic()
            self._transport.write(b"".join(self._output))
        self._output.clear()

    def _too_slow(self) -> None:
        self.end("no CONNECT came")

    def _beat(self) -> None:
        periods = [secs for secs in (self._write_every_secs, self._hear_every_secs) if secs]
        if not periods or self._transport is None:
            return
        now = time.monotonic()
        if (
            self._hear_every_secs
            and now - self._heard_at > self._hear_every_secs * GRACE
            and self._transport.is_reading()
        ):
            self._transport.abort()
            return
        if self._write_every_secs and now - self._wrote_at >= self._write_every_secs / 2:
            self._wrote_at = now
            self._transport.write(b"\n")
        self._timer = self._loop.call_later(min(periods) / 2, self._beat)


def _pair(text: str) -> tuple[int, int]:
    first, _, second = text.replace(" ", "").partition(",")
    return (int(first), int(second)) if first.isdigit() and second.isdigit() else (0, 0)
