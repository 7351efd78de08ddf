"""Connections to the stand-in, what they have open, and their units of work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from adapters.mq.standin.queues import Queue, StoredMessage


class MqiError(Exception):
    """A verb ends with this completion code and reason."""

    def __init__(self, reason: int, completion: int = 2) -> None:
        super().__init__(reason)
        self.reason = reason
        self.completion = completion


class Login(NamedTuple):
    """What a caller of MQCONNX tells of itself."""

    channel: str = ""
    connection_name: str = ""
    user: str | None = None
    password: str | None = None
    application: str = ""
    cipher: str = ""


@dataclass(eq=False)
class Subscription:
    name: str
    topic: str
    queue: Queue
    durable: bool
    managed: bool
    correlation_id: bytes
    level: int = 1


@dataclass(eq=False)
class OpenObject:
    kind: Literal["queue", "manager", "topic", "subscription"]
    options: int
    queue: Queue | None = None
    topic: str = ""
    subscription: Subscription | None = None
    cursor: int = -1  # number of the message under the browse cursor
    saved_context: dict[str, Any] | None = None


class Change(NamedTuple):
    """One step of a unit of work."""

    kind: Literal["put", "get"]
    queue: Queue
    message: StoredMessage


@dataclass(eq=False)
class Connection:
    login: Login
    objects: dict[int, OpenObject] = field(default_factory=dict)
    unit: list[Change] = field(default_factory=list)
    is_broken: bool = False
    is_alive: Callable[[], bool] = lambda: True  # of a client in another process: whether it is still there

    def object(self, handle: int, *kinds: str) -> OpenObject:
        from adapters.mq.mqi import MQRC_HOBJ_ERROR

        found = self.objects.get(handle)
        if found is None or (kinds and found.kind not in kinds):
            raise MqiError(MQRC_HOBJ_ERROR)
        return found
