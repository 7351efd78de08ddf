"""A record of a journal as JSON, for `show` and `export`: the event or message in its form of FORMS.md, and what is known of it."""

from __future__ import annotations

import base64
from typing import Any

from adapters.base import Delivery
from mappings.errors import MappingError
from mappings.forms.events import event_to_json
from mappings.forms.messages import message_to_json
from mappings.model import Message


def record_to_json(sequence: int, delivery: Delivery, *, original: bool = False) -> dict[str, Any]:
    """`event` or `message` where there is one; `error` where it could not be decoded; the original bytes only if asked for."""
    form: dict[str, Any] = {
        "sequence": sequence,
        "id": delivery.id,
        "received_at": delivery.received_at,
        "persistent": delivery.persistent,
        "redelivered": delivery.redelivered,
        **payload_to_json(delivery),
    }
    if delivery.error is not None:
        form["error"] = delivery.error.to_json()
    if original:
        form["original"] = None if delivery.original is None else base64.b64encode(delivery.original).decode("ascii")
    return form


def payload_to_json(delivery: Delivery) -> dict[str, Any]:
    payload = delivery.payload
    if payload is None:
        return {}
    try:
        if isinstance(payload, Message):
            return {"message": message_to_json(payload)}
        return {"event": event_to_json(payload)}
    except MappingError as unfit:  # a value that does not fit its own type: the link will dead-letter it
        return {"unfit": repr(payload), "error": unfit.to_json()}


def headline(delivery: Delivery) -> str:
    """One line for people."""
    payload = delivery.payload
    if payload is None:
        return str(delivery.error)
    if isinstance(payload, Message):
        return f"message {payload.body.type} {payload.headers.JMSType or ''}".rstrip()
    return f"event {payload.domain_name} / {payload.type_name} / {payload.event_name}"
