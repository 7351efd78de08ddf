"""Request and reply across the gateway: a question goes by one link, its answer comes back by another.

    asker ── JMSReplyTo: where he waits ──▶ link with `replies: answers` ── JMSReplyTo: where `answers` takes from ──▶ who answers
    asker ◀── sent to where he waits, with his correlation id ── link `answers` ◀── JMSCorrelationID as it came in the question ──┘

Where an asker waits (often a temporary queue) means nothing to the broker on the other side. So the link that takes the question
over puts the place in for it that the link with the answers takes from, and the asker's own place into the correlation id
(mappings.reply_tokens). Events have header fields of the same names (RULES.md 5.5), so CORBA applications can answer and ask, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adapters.base import StopError
from mappings.model import Message, StructuredEvent
from mappings.reply_tokens import Asker, seal, unseal

if TYPE_CHECKING:
    from gateway.settings import Settings

KEY_FILE: Final = "replies.key"
KEY_BYTES: Final = 32
REPLY_TO: Final = "JMSReplyTo"
CORRELATION_ID: Final = "JMSCorrelationID"


@dataclass(frozen=True, slots=True)
class Replies:
    """What a link has to do with questions and answers."""

    key: bytes
    answers: str | None = None  # the link that brings the answers to what this one sends
    address: str = ""  # where that link takes them from
    answering: str | None = None  # this link's own id, where it is such a link

    def of_message(self, message: Message) -> tuple[Message, str | None]:
        """The message as it goes on, and where to, if that is known."""
        message, destination = self._answer(message, message.headers.JMSCorrelationID)
        headers = message.headers
        if self.answers is not None and headers.JMSReplyTo is not None:
            asker = Asker(headers.JMSReplyTo, headers.JMSCorrelationID or headers.JMSMessageID)
            token = seal(self.key, self.answers, asker)
            message = _with(message, reply_to=self.address, correlation_id=token)
        return message, destination

    def of_event(self, event: StructuredEvent, message: Message) -> tuple[Message, str | None]:
        """The same of an event, and the message that was made of it. Answers to a CORBA application go to the link's channel,
        where it knows them by the correlation id that it gave."""
        correlation_id = header_text(event, CORRELATION_ID)
        message, destination = self._answer(message, correlation_id)
        if self.answers is not None and destination is None:  # nothing tells of an event whether it is a question
            message = _with(message, reply_to=self.address, correlation_id=correlation_id)
        return message, destination

    def _answer(self, message: Message, correlation_id: str | None) -> tuple[Message, str | None]:
        asker = None if self.answering is None else unseal(self.key, self.answering, correlation_id)
        if asker is None:
            return message, None
        return _with(message, reply_to=message.headers.JMSReplyTo, correlation_id=asker.correlation_id), asker.reply_to


def replies_of(settings: Settings, link: str) -> Replies | None:
    """None where the link has nothing to do with any. Of a configuration that has been checked. Raises StopError."""
    answers = settings.links[link].replies
    answering = any(other.replies == link for other in settings.links.values())
    if answers is None and not answering:
        return None
    address = "" if answers is None else address_of(settings, settings.links[answers].source)
    return Replies(reply_key(Path(settings.run_dir) / KEY_FILE), answers, address, link if answering else None)


def address_of(settings: Settings, channel_id: str) -> str:
    """Where somebody at the broker of this channel sends to, to reach it; its id where it has no name there."""
    channel = settings.channels[channel_id]
    queue = getattr(channel, "queue", None)
    address: str = getattr(channel, "destination", None) or (f"queue://{queue}" if queue else channel_id)
    return address


def header_text(event: StructuredEvent, name: str) -> str | None:
    """The text in the first field of that name in the variable header."""
    for field in event.variable_header:
        if field.name == name:
            return field.value if isinstance(field.value, str) else None
    return None


def reply_key(path: Path) -> bytes:
    """The key that seals tokens: made once, and kept, so that answers find their way after a restart. Raises StopError."""
    try:
        return _read(path) or _made(path)
    except OSError as error:
        raise StopError(
            "LNK-RUN-DIR",
            f"the key of replies cannot be kept: {error.strerror or error}",
            path=str(path),
            hint="give the gateway a run_dir that it may write to",
        ) from None


def _read(path: Path) -> bytes:
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return b""
    return key if len(key) == KEY_BYTES else b""  # else a crash left a part of it


def _made(path: Path) -> bytes:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    key = os.urandom(KEY_BYTES)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, key)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    part.replace(path)
    return key


def _with(message: Message, *, reply_to: str | None, correlation_id: str | None) -> Message:
    headers = replace(message.headers, JMSReplyTo=reply_to, JMSCorrelationID=correlation_id)
    return replace(message, headers=headers)
