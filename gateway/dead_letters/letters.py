"""Dead letters as they stand in a file: one JSON object a line (gateway/links/dead_letter_file.py writes them)."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from adapters.base import Delivery, Payload
from mappings.errors import IsthmusError, MappingError
from mappings.event_forms import to_structured
from mappings.forms.events import event_from_json
from mappings.forms.messages import message_from_json

KEY_LENGTH: Final = 12  # hexadecimal digits: chance makes no two of a million letters alike


_LATEST: Final = 10.0**11  # seconds since 1970 that a calendar still has


class DeadLettersError(IsthmusError):
    """Something about dead letters that a person must decide (DLQ-…)."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One line. `key` tells it from all others and stays the same as long as the line is there."""

    key: str
    link: str
    form: dict[str, Any] | None = field(repr=False)  # the whole of it; None where the line is no letter

    @property
    def code(self) -> str:
        return str(self.form["error"].get("code", "")) if self.form else "DLQ-UNREADABLE"

    @property
    def dead_lettered_at(self) -> float:
        return float(self.form["dead_lettered_at"]) if self.form else 0.0

    @property
    def payload_form(self) -> dict[str, Any] | None:
        """The event or message in its form of FORMS.md; None where there is none, because it could not be read."""
        payload = (self.form or {}).get("payload") or {}
        form = payload.get("event") or payload.get("message")
        return form if isinstance(form, dict) else None

    @property
    def headline(self) -> str:
        """One line for people."""
        if self.form is None:
            return "this line is no dead letter: it was cut short or changed"
        payload = self.form.get("payload") or {}
        if event := payload.get("event"):
            names = [str(event.get(name, "")) for name in ("domain_name", "type_name", "event_name")]
            return f"event {' / '.join(names)}"
        if message := payload.get("message"):
            return f"message {(message.get('body') or {}).get('type', '')} {(message.get('headers') or {}).get('JMSType') or ''}"
        return str(self.form["error"].get("message", ""))

    def delivery(self) -> Delivery:
        """As the link would get it now: the time that it spent here does not count. Raises DeadLettersError."""
        if self.form is None or self.payload_form is None:
            raise DeadLettersError(
                "DLQ-NO-PAYLOAD",
                f"letter {self.key} holds no event that could be sent again",
                path=self.link,
                hint="its original bytes, if there are any, are in `isthmus dlq show`",
            )
        original = self.form.get("original")
        try:
            original_bytes = base64.b64decode(original, validate=True) if original is not None else None
        except ValueError:
            raise DeadLettersError(
                "DLQ-NO-PAYLOAD", f"letter {self.key} cannot be read: its original is no base64", path=self.link
            ) from None
        return Delivery(
            _payload(self.form["payload"], self),
            str(self.form["id"]),
            time.time(),
            redelivered=True,
            original=original_bytes,
        )


def letters_in(path: Path, link: str) -> Iterator[Letter]:
    """Oldest first; none where there is no file. A line that is being written right now is not seen. Raises OSError."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            if line.endswith(b"\n") and line.strip():
                yield letter_of(line, link)


def letter_of(line: bytes, link: str) -> Letter:
    key = hashlib.sha256(line.rstrip(b"\n")).hexdigest()[:KEY_LENGTH]
    try:
        form = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        form = None
    return Letter(key, link, form if _is_letter(form) else None)


def _is_letter(form: object) -> bool:
    """Whatever somebody has made of the file: what is shown of a letter, and looked for in it, is there and of its kind."""
    return (
        isinstance(form, dict)
        and "id" in form
        and isinstance(form.get("error"), dict)
        and isinstance(form.get("original"), str | None)
        and isinstance(at := form.get("dead_lettered_at"), int | float)
        and abs(at) < _LATEST
        and _is_payload(form.get("payload"))
    )


def _is_payload(form: object) -> bool:
    if not isinstance(form, dict | None):
        return False
    event, message = (form or {}).get("event"), (form or {}).get("message")
    return isinstance(event, dict | None) and (
        message is None
        or (
            isinstance(message, dict)
            and isinstance(message.get("body"), dict | None)
            and isinstance(message.get("headers"), dict | None)
        )
    )


def _payload(form: dict[str, Any], letter: Letter) -> Payload:
    try:
        return (
            message_from_json(form["message"]) if "message" in form else to_structured(event_from_json(form["event"]))
        )
    except MappingError as unfit:
        raise DeadLettersError(
            "DLQ-NO-PAYLOAD", f"letter {letter.key} cannot be read: {unfit.message}", path=unfit.path, hint=unfit.hint
        ) from unfit
