"""What an ERROR frame of a broker means for us.

After an ERROR the broker closes the connection (STOMP 1.2), so to the caller each is a ReconnectError. Its code tells an operator
where to look. `blames_message` tells the sink that one message of the batch may be the cause, so that it finds out which.
"""

from __future__ import annotations

import re
from typing import Final

from adapters.base import ReconnectError
from adapters.stomp.frames import Frame, FrameError

MAX_TEXT: Final = 300

_ACCESS: Final = re.compile(
    r"authori[sz]|authenticat|denied|permission|password|credential|log ?in|access.refused|not allowed|AMQ119031|AMQ229031",
    re.IGNORECASE,
)
_VHOST: Final = re.compile(r"virtual host|\bvhost\b", re.IGNORECASE)
_FULL: Final = re.compile(
    r"\bfull\b|limit (?:was )?(?:reached|exceeded)|no space|usage|AMQ119102|AMQ229102|resource alarm", re.I
)
_MISSING: Final = re.compile(r"does ?n[o']t exist|not[ _-]found|no such|unknown destination|AMQ339001", re.IGNORECASE)
_TEMPORARY: Final = re.compile(r"temp-(?:queue|topic)://|temporary (?:queue|topic)", re.IGNORECASE)
_SUBSCRIBING: Final = re.compile(r"AMQ339016")  # Artemis, whatever the reason
_SENDING: Final = re.compile(
    r"AMQ339011"
)  # the same, with the whole message in it: no other word in the text means a thing
_OTHERS: Final = re.compile(r"inequivalent arg|resource[_ ]locked", re.IGNORECASE)


class BrokerError(ReconnectError):
    """An ERROR frame; `receipt_id` names the frame that it is about, where the broker says so."""

    def __init__(
        self, code: str, message: str, *, path: str, hint: str, blames_message: bool, receipt_id: str | None
    ) -> None:
        super().__init__(code, message, path=path, hint=hint)
        self.blames_message = blames_message
        self.receipt_id = receipt_id


def broker_error(frame: Frame, path: str, *, connecting: bool) -> BrokerError:
    try:
        headers = frame.headers
    except FrameError:
        headers = {}
    told = headers.get("message", "").strip()
    body = frame.body.decode("utf-8", "replace").strip()
    # A stack trace below the first line helps the broker's people only; its first line often says more than the header.
    first = body.splitlines()[0].strip() if body else ""
    text = " - ".join(dict.fromkeys(part for part in (told, first) if part))[:MAX_TEXT] or "no reason given"
    code, message, hint, blames = _classify(text, connecting)
    return BrokerError(
        code,
        f"{message}: {text}",
        path=path,
        hint=hint,
        blames_message=blames,
        receipt_id=headers.get("receipt-id"),
    )


def _classify(text: str, connecting: bool) -> tuple[str, str, str, bool]:
    if _SUBSCRIBING.search(text):
        hint = "give this login the right to consume from it, and to make queues; the broker's log says more"
        return "STO-SUBSCRIBE", "the broker does not let us subscribe", hint, False
    if _SENDING.search(text):
        hint = "see the broker's log: may this login send there, is there room?"
        return "STO-SEND", "the broker did not take a message, and does not say why", hint, False
    if _ACCESS.search(text) and not (connecting and _VHOST.search(text)):
        if connecting:
            return (
                "STO-LOGIN",
                "the broker refused the login",
                "check login and password, here and at the broker",
                False,
            )
        return "STO-ACCESS", "the broker denied access", "give this login the right to the destination", False
    if connecting:
        return "STO-CONNECT", "the broker refused the connection", "check `vhost` and that it speaks STOMP 1.2", False
    if _TEMPORARY.search(text):
        return "STO-ANSWER", "whoever asked waits no more", "nothing: the temporary destination is gone", True
    if _FULL.search(text):
        return "STO-FULL", "the broker takes no more", "consume from it, or raise its limits", False
    if _MISSING.search(text):
        return (
            "STO-DESTINATION",
            "the broker does not know the destination",
            "create it, or let the broker create it",
            False,
        )
    if _OTHERS.search(text):
        return (
            "STO-DESTINATION",
            "somebody else has made that queue with other properties",
            "on RabbitMQ: a durable queue without arguments, of the channel's `queue_type`; say which, or choose another name",
            False,
        )
    return "STO-REFUSED", "the broker refused a frame", "see the broker's log", True
