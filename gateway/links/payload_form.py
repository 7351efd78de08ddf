"""An event or message for people and scripts: its form of FORMS.md, or what can be shown of it."""

from __future__ import annotations

from typing import Any

from adapters.base import Payload
from mappings.errors import MappingError
from mappings.forms.events import event_to_json
from mappings.forms.messages import message_to_json
from mappings.model import Message


def payload_to_json(payload: Payload | None) -> dict[str, Any] | None:
    """`{"event": …}` or `{"message": …}`; None where it could not be decoded."""
    if payload is None:
        return None
    try:
        return (
            {"message": message_to_json(payload)} if isinstance(payload, Message) else {"event": event_to_json(payload)}
        )
    except MappingError as unreadable:
        # A value that does not fit its own type: keep what Python shows of it.
        return {"repr": repr(payload), "error": unreadable.to_json()}
