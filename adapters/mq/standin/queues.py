"""Queues of the stand-in, and the messages on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from adapters.mq.standin.connections import Connection, OpenObject
    from adapters.mq.standin.properties import Properties


class Publication(NamedTuple):
    """What MQPUT was given."""

    md: dict[str, Any]
    data: bytes
    properties: Properties


@dataclass(eq=False, slots=True)
class StoredMessage:
    md: dict[str, Any]  # as MQGET will give it, BackoutCount and Expiry excepted
    data: bytes
    topic: str | None  # of a publication
    number: int
    expires_at: float | None = None
    backout_count: int = 0
    put_by: Connection | None = None  # in a unit of work that is not committed
    got_by: Connection | None = None
    properties: Properties = field(default_factory=dict)

    @property
    def is_persistent(self) -> bool:
        return bool(self.md["Persistence"] == 1)

    @property
    def is_free(self) -> bool:
        return self.put_by is None and self.got_by is None


@dataclass(eq=False, slots=True)
class Queue:
    """Messages stand in the order of delivery: by priority (unless `fifo`), then as they came."""

    name: str
    max_depth: int = 5000
    max_length: int = 4_194_304
    backout_threshold: int = 0
    backout_queue: str = ""
    default_persistence: int = 0
    default_priority: int = 0
    fifo: bool = False
    get_inhibited: bool = False
    put_inhibited: bool = False
    is_model: bool = False
    temporary_owner: Connection | None = None
    messages: list[StoredMessage] = field(default_factory=list)
    opened: list[OpenObject] = field(default_factory=list)
    expiring: int = 0  # how many may expire, at the most
    depth: int = 0  # with puts that are not committed, without gets that are not

    def insert(self, message: StoredMessage) -> None:
        place = len(self.messages)
        if not self.fifo:
            while place and self.messages[place - 1].md["Priority"] < message.md["Priority"]:
                place -= 1
        self.messages.insert(place, message)
        self.depth += 1
        self.expiring += message.expires_at is not None

    def remove(self, message: StoredMessage) -> None:
        """Of a message that `depth` does not count any more."""
        if message in self.messages:
            self.messages.remove(message)

    def expire(self, now: float) -> list[StoredMessage]:
        """Take off what has expired; most queues hold nothing that ever does."""
        if not self.expiring:
            return []
        mortal = [m for m in self.messages if m.expires_at is not None]
        old = [m for m in mortal if m.expires_at is not None and m.expires_at <= now and m.is_free]
        self.expiring = len(mortal) - len(old)
        for message in old:
            self.messages.remove(message)
            self.depth -= 1
        return old
