"""Queues, topics and the subscriptions to them. Everything here runs on the broker's one thread.

A topic's subscription is a queue of its own with one subscriber. So there is one way to hold, hand out and take back messages.
A subscriber with credit left never leaves a message in its queue that it would take: that is why `put` looks at credit only, and
why a new message that nobody takes just joins the end.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from adapters.embedded_broker.messages import StoredMessage

if TYPE_CHECKING:
    from adapters.embedded_broker.session import Session

TEMPORARY: Final = "/remote-temp-queue/"
"""Begins the names of temporary queues, as on ActiveMQ; only their owners call them otherwise."""


class Subscription:
    """A session's SUBSCRIBE. `unsettled` is what it got and has not acknowledged, in order, by ack id."""

    __slots__ = ("accepts", "credit", "id", "mode", "queue", "session", "unsettled", "wire_id")

    def __init__(
        self,
        session: Session,
        id_: str,
        wire_id: bytes,
        mode: str,
        credit: int,
        accepts: Callable[[StoredMessage], bool] | None,
    ) -> None:
        self.session = session
        self.id = id_
        self.wire_id = wire_id
        self.mode = mode
        self.credit = credit
        self.accepts = accepts
        self.unsettled: dict[str, StoredMessage] = {}
        self.queue: Queue | None = None

    @property
    def ready(self) -> bool:
        return self.credit > 0 and self.session.writable

    def deliver(self, message: StoredMessage) -> None:
        if self.mode == "auto":
            self.session.deliver(message.frame(self.wire_id, b""))
            if self.queue is not None:
                self.queue.done(message)
            return
        self.credit -= 1
        ack = self.session.next_ack(self)
        self.unsettled[ack] = message
        self.session.deliver(message.frame(self.wire_id, f"\nack:{ack}".encode()))


class Limits(NamedTuple):
    """What bounds a queue, by holding producers back, and who wants to know of messages that nobody needs any more."""

    messages: int
    bytes: int
    done: Callable[[Queue, list[StoredMessage]], None]


class Queue:
    """Messages in order, and who takes them in turn."""

    def __init__(self, name: str, limits: Limits, key: str | None = None) -> None:
        self.name = name
        self.key = key  # under which its persistent messages are kept on disk; None: they are not
        self._limits = limits
        self._messages: deque[StoredMessage] = deque()
        self._bytes = 0
        self._subscriptions: deque[Subscription] = deque()
        self._held_back: set[Session] = set()

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def unused(self) -> bool:
        return not self._messages and not self._subscriptions

    @property
    def listened(self) -> bool:
        return bool(self._subscriptions)

    @property
    def full(self) -> bool:
        return len(self._messages) >= self._limits.messages or self._bytes >= self._limits.bytes

    def done(self, message: StoredMessage) -> None:
        self._limits.done(self, [message])

    def put(self, message: StoredMessage) -> None:
        if message.expires_ms and self._is_over(message):
            return
        subscription = self._taker(message)
        if subscription is not None:
            subscription.deliver(message)
            return
        self._messages.append(message)
        self._bytes += message.size

    def hold_back(self, session: Session) -> None:
        """The session reads nothing more until there is room again."""
        self._held_back.add(session)
        session.pause()

    def take_back(self, messages: Iterable[StoredMessage]) -> None:
        """To where they were, to be delivered again."""
        for message in messages:
            message.returns += 1
            self._bytes += message.size
            before = 0
            while before < len(self._messages) and self._messages[before].sequence < message.sequence:
                before += 1
            self._messages.insert(before, message)

    def join(self, subscription: Subscription) -> None:
        subscription.queue = self
        self._subscriptions.append(subscription)
        self.dispatch()

    def leave(self, subscription: Subscription) -> None:
        """What it has not acknowledged goes back."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
        unsettled, subscription.unsettled = list(subscription.unsettled.values()), {}
        self.take_back(unsettled)
        self.dispatch()

    def dispatch(self) -> None:
        """Hand out what somebody can take now."""
        if self._messages and any(subscription.ready for subscription in self._subscriptions):
            if any(subscription.accepts is not None for subscription in self._subscriptions):
                self._dispatch_choosing()
            else:
                self._dispatch_in_order()
            self._let_go()

    def release(self, session: Session) -> None:
        """The session is gone."""
        self._held_back.discard(session)

    def _dispatch_in_order(self) -> None:
        messages = self._messages
        while messages:
            subscription = self._next_ready()
            if subscription is None:
                return
            message = messages.popleft()
            self._bytes -= message.size
            if not self._is_over(message):
                subscription.deliver(message)

    def _dispatch_choosing(self) -> None:
        waiting, self._messages, self._bytes = self._messages, deque(), 0
        for message in waiting:
            self.put(message)

    def _taker(self, message: StoredMessage) -> Subscription | None:
        for _ in range(len(self._subscriptions)):
            subscription = self._subscriptions[0]
            self._subscriptions.rotate(-1)
            if subscription.ready and (subscription.accepts is None or subscription.accepts(message)):
                return subscription
        return None

    def _next_ready(self) -> Subscription | None:
        for _ in range(len(self._subscriptions)):
            subscription = self._subscriptions[0]
            self._subscriptions.rotate(-1)
            if subscription.ready:
                return subscription
        return None

    def _is_over(self, message: StoredMessage) -> bool:
        if message.expires_ms and message.expires_ms < time.time() * 1000:
            self.done(message)
            return True
        return False

    def _let_go(self) -> None:
        if self._held_back and not self.full:
            for session in self._held_back:
                session.resume()
            self._held_back.clear()


class Destinations:
    """All queues, and who listens to which topic."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._queues: dict[str, Queue] = {}
        self._listeners: list[Queue] = []
        self._durable: dict[tuple[str, str], tuple[str, Queue]] = {}  # (client id, name) -> (topic, queue)
        self.listeners_changed: Callable[[], None] = lambda: None
        self._routes: dict[str, list[Queue]] = {}  # topic -> who gets it; made anew when a listener joins or leaves

    def queues_for(self, destination: str) -> list[Queue]:
        """Where a message to `/queue/NAME` or `/topic/NAME` goes."""
        queue = self._queues.get(destination)
        if queue is not None:
            return [queue]
        if destination.startswith("/topic/"):
            route = self._routes.get(destination)
            if route is None:
                route = [queue for queue in self._listeners if _matches(queue.name[7:], destination[7:])]
                if len(self._routes) > 10_000:
                    self._routes.clear()
                self._routes[destination] = route
            return route
        return [self.queue(destination)]

    def temporary(self, name: str) -> None:
        """A queue that is kept nowhere, until `end_temporary`."""
        self._queues[name] = Queue(name, self._limits)

    def end_temporary(self, name: str) -> None:
        self._queues.pop(name, None)

    def exists(self, name: str) -> bool:
        return name in self._queues

    def queue(self, name: str) -> Queue:
        if name not in self._queues:
            self._queues[name] = Queue(name, self._limits, key=name)
        return self._queues[name]

    def listen(self, topic: str, key: str | None = None) -> Queue:
        """A new queue that gets what is sent to the topic from now on."""
        queue = Queue(topic, self._limits, key=key)
        self._listeners.append(queue)
        self._routes.clear()
        self.listeners_changed()
        return queue

    def durable(self, client_id: str, name: str, topic: str) -> Queue | None:
        """The queue of that durable subscription, if there is one to that topic."""
        kept = self._durable.get((client_id, name))
        return kept[1] if kept is not None and kept[0] == topic else None

    def durable_named(self, client_id: str, name: str) -> Queue | None:
        """The queue of that durable subscription, to whatever topic."""
        kept = self._durable.get((client_id, name))
        return None if kept is None else kept[1]

    def listen_durably(self, client_id: str, name: str, topic: str) -> Queue:
        """A new queue of that name, which goes on collecting when nobody listens. One under the same name is given up."""
        self.end_durable(client_id, name)
        queue = self.listen(topic, durable_key(client_id, name))
        self._durable[client_id, name] = (topic, queue)
        return queue

    def end_durable(self, client_id: str, name: str) -> None:
        kept = self._durable.pop((client_id, name), None)
        if kept is not None:
            self.forget(kept[1])

    def durable_queues(self) -> list[Queue]:
        return [queue for _, queue in self._durable.values()]

    def is_durable(self, queue: Queue) -> bool:
        return any(kept is queue for _, kept in self._durable.values())

    def forget(self, queue: Queue) -> None:
        """A topic's listener is gone, or a queue is of no use to anybody."""
        if self._queues.get(queue.name) is queue:
            if queue.unused:
                del self._queues[queue.name]
            return
        self._listeners = [other for other in self._listeners if other is not queue]
        self._routes.clear()
        self.listeners_changed()

    def release(self, session: Session) -> None:
        for queue in [*self._queues.values(), *self._listeners]:
            queue.release(session)

    def depths(self) -> dict[str, int]:
        depths: dict[str, int] = {}
        for queue in [*self._queues.values(), *self._listeners]:
            depths[queue.name] = depths.get(queue.name, 0) + len(queue)
        return depths


def durable_key(client_id: str, name: str) -> str:
    return f"{client_id}\n{name}"  # no queue is called so: their names begin with /queue/


def _matches(pattern: str, topic: str) -> bool:
    """`*` stands for one part of a name between dots, `#` or `>` for any number of them, none too."""
    if pattern == topic:
        return True
    parts = topic.split(".")
    reachable = {0}  # how many parts of the topic the pattern may have used up
    for wanted in pattern.split("."):
        if wanted in ("#", ">"):
            reachable = set(range(min(reachable), len(parts) + 1))
        else:
            reachable = {n + 1 for n in reachable if n < len(parts) and wanted in ("*", parts[n])}
        if not reachable:
            return False
    return len(parts) in reachable
