"""What an answer brings back of its question: where it must go, and the correlation id that the asker waits for.

A question that crosses the gateway takes a *token* along as its JMSCorrelationID, and whoever answers copies that, as JMS has it.
So nothing has to be remembered: an answer finds its way after a restart of the gateway, and however late it comes. A token is
sealed, so that nobody can make the gateway send somewhere by writing one himself.

    isthmus-reply:<base64 of JSON [reply to, correlation id or null]>.<base64 of the first half of its HMAC-SHA256>
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from typing import Final, NamedTuple

PREFIX: Final = "isthmus-reply:"
SEAL_BYTES: Final = 16
MAX_TOKEN: Final = 16_384  # characters; longer ones are not looked at


class Asker(NamedTuple):
    """Who waits for an answer, and how he knows it."""

    reply_to: str
    correlation_id: str | None


def seal(key: bytes, context: str, asker: Asker) -> str:
    """`context` names what the token is for: it opens for nothing else."""
    content = _text(json.dumps(asker, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    return f"{PREFIX}{content}.{_seal(key, context, content)}"


def unseal(key: bytes, context: str, text: str | None) -> Asker | None:
    """None where it is no token of ours, or none for this."""
    if text is None or not text.startswith(PREFIX) or len(text) > MAX_TOKEN:
        return None
    content, _, seal_ = text[len(PREFIX) :].partition(".")
    if not hmac.compare_digest(seal_.encode("utf-8", "replace"), _seal(key, context, content).encode()):
        return None
    try:
        return Asker(*json.loads(base64.urlsafe_b64decode(content).decode("utf-8", "surrogatepass")))
    except (ValueError, TypeError, binascii.Error):  # sealed by us in another version
        return None


def _seal(key: bytes, context: str, content: str) -> str:
    data = f"{context}\0{content}".encode("utf-8", "surrogatepass")
    return _text(hmac.digest(key, data, hashlib.sha256)[:SEAL_BYTES])


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()
