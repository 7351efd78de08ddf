"""Connections to the stand-in, what they have open, and their units of work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from adapters.mq.mqi import MQRC_HMSG_ERROR, MQRC_HOBJ_ERROR
from adapters.mq.standin.queues import Queue, StoredMessage

if TYPE_CHECKING:
    from adapters.mq.standin.properties import MessageHandle

ANY_INPUT: Final = 7
"""MQOO_INPUT_AS_Q_DEF, MQOO_INPUT_SHARED, MQOO_INPUT_EXCLUSIVE"""


class MqiError(Exception):
    """A verb ends with this completion code and reason."""

    def __init__(self, reason: int, completion: int = 2) -> None:
        super().__init__(reason)
        self.reason = reason
        self.completion = completion


class Tls(NamedTuple):
    """What a caller of MQCONNX wishes of TLS. There is none here: it is only compared with what the channel asks for."""

    cipher: str = ""
    peer_name: str = ""
    key_repository: str = ""
    key_repository_password: str = ""
    certificate_label: str = ""


class Login(NamedTuple):
    """What a caller of MQCONNX tells of itself."""

    channel: str = ""
    connection_name: str = ""
    user: str | None = None
    password: str | None = None
    token: str | None = None
    application: str = ""
    tls: Tls = Tls()


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
    message_handles: dict[int, MessageHandle] = field(default_factory=dict)

    def message_handle(self, handle: int) -> MessageHandle:
        found = self.message_handles.get(handle)
        if found is None:
            raise MqiError(MQRC_HMSG_ERROR)
        return found

    def object(self, handle: int, *kinds: str) -> OpenObject:
        found = self.objects.get(handle)
        if found is None or (kinds and found.kind not in kinds):
            raise MqiError(MQRC_HOBJ_ERROR)
        return found
