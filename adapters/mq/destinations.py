"""Destinations: `queue://NAME` here, `queue:///NAME` in MQ's own messages; `queue://NAME@QM` names its queue manager, too.

`@` is in no name of MQ, so the two can be told apart from a queue whose name holds a `/`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"[A-Za-z0-9._/%]{1,48}")
_OPTIONS: Final = re.compile(r"\?[A-Za-z]\w*=[^?]*$")
_QUEUE: Final = "queue://"
_TOPIC: Final = "topic://"


class QueueName(NamedTuple):
    queue: str
    queue_manager: str = ""


def queue_name(destination: str) -> QueueName | None:
    """The queue that a destination of the model names; None where MQ can have no such queue."""
    if not destination.startswith(_QUEUE):
        return None
    queue, _, manager = destination[len(_QUEUE) :].partition("@")
    if not _NAME.fullmatch(queue) or (manager and not _NAME.fullmatch(manager)):
        return None
    return QueueName(queue, manager)


def topic_string(destination: str) -> str | None:
    return destination[len(_TOPIC) :] if destination.startswith(_TOPIC) else None


def to_uri(destination: str) -> str:
    """As IBM MQ classes for JMS write it into `Dst` and `Rto`; what is no destination of MQ stays as it is."""
    queue = queue_name(destination)
    return destination if queue is None else f"{_QUEUE}{queue.queue_manager}/{queue.queue}"


def from_uri(uri: str) -> str:
    """A `Dst` or `Rto` as a destination of the model; options such as `?targetClient=1` are dropped."""
    plain = _OPTIONS.sub("", uri)
    if plain.startswith(_QUEUE):
        manager, slash, queue = plain[len(_QUEUE) :].partition("/")
        if slash and queue:
            return of_queue(queue, manager)
        return uri
    return plain if plain.startswith(_TOPIC) else uri


def of_queue(queue: str, manager: str = "") -> str:
    return f"{_QUEUE}{queue}@{manager}" if manager else f"{_QUEUE}{queue}"
