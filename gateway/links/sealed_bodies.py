"""Bodies of messages that only another gateway can read: compressed, encrypted, or both, from one link to the next.

    89 49 53 42 0D 0A 1A 0A    so that a sealed body is known for what it is
    1 byte                     version: 1
    1 byte                     flags, as in the journal: 1 zlib, 2 zstd, 4 sealed with AES-256-GCM
    1 byte                     type of the body that is inside, by its place in `mappings.model.BODY_TYPES`
    4 bytes                    day since 1970 on which it was sealed
    …                          the body: text in UTF-8, bytes, or the JSON form of FORMS.md

What is sealed is bound to the event's id, which the message carries as a property: a body that was put into another message does
not open. Each day has a key of its own, made from the configured one, so that random nonces are safe for as long as a gateway runs.
Properties and headers stay as they are, for brokers and their selectors.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from adapters.base import Delivery, Outgoing
from gateway.journal.envelope import Compression, Envelope, key_from_text
from gateway.journal.errors import JournalError
from gateway.links.step import Filtered, Step
from mappings.errors import MappingError
from mappings.forms.messages import message_from_json, message_to_json
from mappings.model import BODY_TYPES, Body, Message
from mappings.translate import names

if TYPE_CHECKING:
    from pydantic import SecretStr

    from gateway.settings.settings import Settings

MAGIC: Final = b"\x89ISB\r\n\x1a\n"
_HEAD: Final = struct.Struct(">8sBBBI")
_VERSION: Final = 1
_NAMESPACE: Final = b"isthmus body v1\0"  # stands where the id of a journal stands: 16 bytes
_DAY_SECS: Final = 86_400


class BodySealer:
    """For one link, on its thread. Raises JournalError where a library is missing."""

    def __init__(self, profile: str, compression: Compression, key: bytes | None) -> None:
        self._envelope = Envelope(_NAMESPACE, compression, (key,) if key is not None else ())
        self._id_name = names.PROFILES[profile].root(names.GATEWAY_ID)

    def seal(self, message: Message) -> Message:
        body = message.body
        kind, day = BODY_TYPES.index(body.type), int(time.time()) // _DAY_SECS
        flags, sealed = self._envelope.close(_to_bytes(body), day, _bound_to(message, self._id_name), kind)
        data = _HEAD.pack(MAGIC, _VERSION, flags, kind, day) + sealed
        return Message(message.headers, message.properties, Body("BytesMessage", data))


class BodyOpener:
    """For one link, on its thread. Raises JournalError where a library is missing."""

    def __init__(self, profile: str, keys: Sequence[bytes], *, accept_plain: bool) -> None:
        self._envelope = Envelope(_NAMESPACE, "none", keys)
        self._must_be_encrypted = bool(keys) and not accept_plain
        self._accept_plain = accept_plain
        self._id_name = names.PROFILES[profile].root(names.GATEWAY_ID)

    def open(self, message: Message) -> Message:
        """Raises MappingError: the message is then a dead letter, as it came."""
        data = message.body.value
        if message.body.type != "BytesMessage" or not isinstance(data, bytes) or not data.startswith(MAGIC):
            if self._accept_plain:
                return message
            raise _unreadable("its body is not sealed", "set unseal.accept_plain where both kinds come")
        try:
            _, version, flags, kind, day = _HEAD.unpack_from(data)
            if version != _VERSION or kind >= len(BODY_TYPES):
                raise _unreadable(
                    "its body is sealed as this version does not know it", "use a later version of Isthmus"
                )
            if self._must_be_encrypted and not flags & 4:
                raise _unreadable(
                    "its body is compressed only, and not encrypted", "set unseal.accept_plain to take it"
                )
            plain = self._envelope.open(data[_HEAD.size :], day, _bound_to(message, self._id_name), kind, flags)
            body = _from_bytes(BODY_TYPES[kind], plain)
        except JournalError as wrong:
            raise _unreadable(f"its body does not open ({wrong.code})", "compare the keys of the two links") from None
        except (struct.error, ValueError, KeyError, TypeError, MappingError) as wrong:
            if isinstance(wrong, MappingError) and wrong.code == "LNK-UNSEAL":
                raise
            raise _unreadable("its sealed body is damaged", "see who changed it on its way") from None
        return Message(message.headers, message.properties, body)


def with_sealed_bodies(step: Step, opener: BodyOpener | None, sealer: BodySealer | None) -> Step:
    """A step that opens what comes in, and seals what goes out. Selectors see the same properties either way."""
    if opener is None and sealer is None:
        return step

    def sealed(delivery: Delivery) -> Outgoing | Filtered:
        if opener is not None and isinstance(delivery.payload, Message):
            delivery = replace(delivery, payload=opener.open(delivery.payload))
        outgoing = step(delivery)
        if sealer is not None and isinstance(outgoing, Outgoing) and isinstance(outgoing.payload, Message):
            outgoing = replace(outgoing, payload=sealer.seal(outgoing.payload))
        return outgoing

    return sealed


def sealing_of(settings: Settings, link: str) -> tuple[BodyOpener | None, BodySealer | None]:
    """What a link's `unseal:` and `seal:` say. Raises JournalError where a library is missing."""
    its = settings.links[link]

    def profile(channel: str) -> str:
        return getattr(settings.channels[channel], "profile", "borland")

    def key(secret: SecretStr) -> bytes:
        return key_from_text(secret.get_secret_value())

    opener = sealer = None
    if its.unseal is not None:
        keys = [key(secret) for secret in its.unseal.secret_keys]
        opener = BodyOpener(profile(its.source), keys, accept_plain=its.unseal.accept_plain)
    if its.seal is not None:
        secret = its.seal.secret_key
        sealer = BodySealer(profile(its.sink), its.seal.compression, None if secret is None else key(secret))
    return opener, sealer


def _bound_to(message: Message, id_name: str) -> int:
    """The event's id as the number that an envelope is bound to."""
    id_ = next((value for name, _, value in message.properties if name == id_name), "")
    return int.from_bytes(blake2b(str(id_).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _to_bytes(body: Body) -> bytes:
    if isinstance(body.value, str):
        return b"t" + body.value.encode("utf-8", "surrogatepass")
    if isinstance(body.value, bytes):
        return b"b" + body.value
    form = message_to_json(Message(body=body))["body"]
    return b"j" + json.dumps(form, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _from_bytes(type_: str, plain: bytes) -> Body:
    form, content = plain[:1], plain[1:]
    if form == b"t":
        return Body(type_, content.decode("utf-8", "surrogatepass"))
    if form == b"b":
        return Body(type_, content)
    if form != b"j":
        raise ValueError("no form of a body")
    empty: dict[str, Any] = message_to_json(Message())
    return message_from_json({**empty, "body": json.loads(content.decode("utf-8", "surrogatepass"))}).body


def _unreadable(why: str, hint: str) -> MappingError:
    return MappingError("LNK-UNSEAL", f"the message cannot be read: {why}", path="body", hint=hint)
