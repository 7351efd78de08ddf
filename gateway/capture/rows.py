"""From what a link told to rows of a capture, and from rows to Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from adapters.base import Delivery, Outgoing
from gateway.capture.recorder import LinkRecorder
from gateway.capture.told import Told, Uncaptured
from gateway.links.translation import elapsed_ms
from mappings.captures.arrow import SCHEMA
from mappings.captures.layout import COLUMNS, JSON, NAMES, SEALED, UNCAPTURED
from mappings.captures.payloads import PayloadWriter
from mappings.captures.sealing import Seal
from mappings.captures.specification import Specification
from mappings.marks import MessageMarks, take_from_event
from mappings.model import Form, Payload, StructuredEvent

REPEATING: Final = [column.name for column in COLUMNS if column.repeats]
COUNTABLE: Final = [column.name for column in COLUMNS if column.type != "binary"]
"""The least and the greatest event of a file would be in its statistics, and nobody wants to know."""

Row = tuple[Any, ...]
_EMPTY: Final = dict.fromkeys(NAMES)


class Rows:
    """Makes rows. Belongs to the writer's thread."""

    def __init__(self, seal: Seal | None = None) -> None:
        self._write = PayloadWriter().write
        self._seal = seal
        self._codec = JSON if seal is None else SEALED

    def of(self, told: Told) -> Iterator[Row]:
        """The rows of events that have come to an end; lazily, so that whoever takes them can let others run in between."""
        recorder = told.recorder
        sent: Sequence[Outgoing | None] = told.sent or (None,) * len(told.deliveries)
        for sequence, delivery, outgoing in zip(told.sequences, told.deliveries, sent, strict=True):
            yield self._row(told, recorder, sequence, delivery, outgoing)

    def _row(
        self, told: Told, recorder: LinkRecorder, sequence: int, delivery: Delivery, outgoing: Outgoing | None
    ) -> Row:
        specification = recorder.specification
        payload = delivery.payload
        error = told.error
        event_id = outgoing.id if outgoing is not None else _stable_id(delivery, specification)
        made_at = outgoing.made_at if outgoing is not None and outgoing.made_at else told.at
        domain_name: str | None = None
        type_name: str | None = None
        if isinstance(payload, StructuredEvent):
            domain_name, type_name = payload.domain_name, payload.type_name
        elif payload is not None:
            type_name = payload.headers.JMSType
        return (
            specification.gateway,
            specification.link,
            recorder.run,
            sequence,
            None,
            _text(event_id),
            _text(delivery.id),
            delivery.redelivered,
            delivery.persistent,
            _micros(delivery.received_at),
            int(made_at * 1000) * 1000,
            elapsed_ms(delivery.received_at, made_at),
            _micros(told.at),
            told.status,
            None if error is None else error.code,
            None if error is None else _text(error.message),
            None if error is None else _text(error.path),
            _text(domain_name),
            _text(type_name),
            None if outgoing is None else _text(outgoing.destination),
            recorder.mapping_version,
            _form(payload),
            self._cell(payload, event_id, "source"),
            None if outgoing is None else _form(outgoing.payload),
            None if outgoing is None else self._cell(outgoing.payload, event_id, "sent"),
            self._codec,
        )

    def _cell(self, payload: Payload | None, event_id: str, column: str) -> bytes | None:
        if payload is None:
            return None
        cell = self._write(payload)
        return cell if self._seal is None else self._seal(cell, f"{column} {event_id}")


def _stable_id(delivery: Delivery, specification: Specification) -> str:
    """The id that the event would have gone on with."""
    match delivery.payload:
        case None:
            found = None
        case StructuredEvent() as event:
            found = take_from_event(event)[1].id
        case message:
            found = MessageMarks(specification.translation.source_profile).take(message)[1].id
    return found if found is not None else delivery.id


def _form(payload: Payload | None) -> Form | None:
    if payload is None:
        return None
    return "event" if isinstance(payload, StructuredEvent) else "message"


def uncaptured_row(recorder: LinkRecorder, gap: Uncaptured, at: float) -> Row:
    """Numbers of which nothing else is known."""
    known = {
        "gateway": recorder.specification.gateway,
        "link": recorder.specification.link,
        "run": recorder.run,
        "seq": gap.first,
        "seq_to": gap.last,
        "settled_at": _micros(at),
        "status": UNCAPTURED,
        "mapping_version": recorder.mapping_version,
    }
    return tuple((_EMPTY | known).values())


def to_batch(rows: Sequence[Row]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


def _text(text: str | None) -> str | None:
    """What no wire should bring, and Arrow cannot hold."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()
