"""From what links told to the columns of a capture, a chunk at a time.

Columns are made whole, from many events at once, and never row by row: most of a row is the same for all events of a batch, and a
row of its own would cost more than what is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import pyarrow as pa

from adapters.base import Delivery
from gateway.capture.recorder import LinkRecorder
from gateway.capture.told import Told, Uncaptured
from gateway.links.translation import elapsed_ms
from mappings.captures.arrow import SCHEMA
from mappings.captures.checksum import checksum
from mappings.captures.layout import COLUMNS, JSON, NAMES, SEALED, UNCAPTURED
from mappings.captures.payloads import PayloadWriter
from mappings.captures.sealing import Seal
from mappings.captures.specification import Specification
from mappings.marks import MessageMarks, take_from_event
from mappings.model import Form, Payload, StructuredEvent

REPEATING: Final = [column.name for column in COLUMNS if column.repeats]
COUNTABLE: Final = [column.name for column in COLUMNS if column.type != "binary"]
"""The least and the greatest event of a file would be in its statistics, and nobody wants to know."""

CONSTANT: Final = (
    "gateway", "link", "run", "seq_to", "settled_at", "status", "error_code", "error_message", "error_path", "mapping_version",
    "codec",
)  # fmt: skip
"""What all events of a batch share."""
CHANGING: Final = tuple(name for name in NAMES if name not in CONSTANT)


class Owner(NamedTuple):
    """Whose rows these are, and the numbers that they stand for: what is to be said if they cannot be kept."""

    recorder: LinkRecorder
    numbers: Sequence[int] | Uncaptured


class Chunk:
    """Rows that wait to be written together."""

    def __init__(self) -> None:
        self.rows = 0
        self.owners: list[Owner] = []
        self._constants: list[tuple[int, dict[str, Any]]] = []  # for so many rows
        self._columns: dict[str, list[Any]] = {name: [] for name in CHANGING}

    def add(self, owner: Owner, rows: int, constant: dict[str, Any], changing: dict[str, Sequence[Any]]) -> None:
        """Columns that are not named are null."""
        self.rows += rows
        self.owners.append(owner)
        if self._constants and self._constants[-1][1] == constant:
            self._constants[-1] = self._constants[-1][0] + rows, constant
        else:
            self._constants.append((rows, constant))
        for name, column in self._columns.items():
            values = changing.get(name)
            column.extend(repeat(None, rows) if values is None else values)

    def to_batch(self) -> pa.RecordBatch:
        arrays = []
        for name, type_ in zip(SCHEMA.names, SCHEMA.types, strict=True):
            if name in self._columns:
                arrays.append(_array(self._columns[name], type_))
            elif len(self._constants) == 1:
                arrays.append(_repeated(self._constants[0][1].get(name), self.rows, type_))
            else:
                values = [value for rows, its in self._constants for value in repeat(its.get(name), rows)]
                arrays.append(_array(values, type_))
        return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


class Rows:
    """Makes columns of what links told. Belongs to the writer's thread."""

    def __init__(self, seal: Seal | None = None) -> None:
        self._write = PayloadWriter().write
        self._seal = seal
        self._codec = JSON if seal is None else SEALED

    def add(self, told: Told, first: int, last: int, chunk: Chunk) -> None:
        """Events of one batch, from `first` to before `last`."""
        deliveries, sequences = told.deliveries[first:last], told.sequences[first:last]
        sent = [outgoing for outgoing in told.sent[first:last] if outgoing is not None]  # for each of them, or none
        received = [delivery.received_at for delivery in deliveries]
        if sent:
            ids: Sequence[str] = [outgoing.id for outgoing in sent]
            made = [outgoing.made_at or told.at for outgoing in sent]
        else:
            specification = told.recorder.specification
            ids = [_stable_id(delivery, specification) for delivery in deliveries]
            made = [told.at] * len(deliveries)
        payloads = [delivery.payload for delivery in deliveries]
        results = [outgoing.payload for outgoing in sent]
        sources = self._cells(payloads, ids, "source")
        sents = self._cells(results, ids, "sent") if sent else [None] * len(deliveries)
        domains, types = _kinds(payloads)
        changing: dict[str, Sequence[Any]] = {
            "seq": sequences,
            "event_id": ids,
            "source_id": [delivery.id for delivery in deliveries],
            "redelivered": [delivery.redelivered for delivery in deliveries],
            "persistent": [delivery.persistent for delivery in deliveries],
            "received_at": list(map(_micros, received)),
            "made_at": [int(at * 1000) * 1000 for at in made],
            "elapsed_ms": list(map(elapsed_ms, received, made)),
            "domain_name": domains,
            "type_name": types,
            "source_form": _forms(payloads),
            "source": sources,
            "sent": sents,
            "checksum": list(map(checksum, sources, sents)),
        }
        if sent:
            changing["destination"] = [outgoing.destination for outgoing in sent]
            changing["sent_form"] = _forms(results)
        constant = _of_link(told.recorder)
        constant |= {"settled_at": _micros(told.at), "status": told.status, "codec": self._codec}
        if (error := told.error) is not None:
            constant |= {"error_code": error.code, "error_message": error.message, "error_path": error.path}
        chunk.add(Owner(told.recorder, sequences), len(sequences), constant, changing)

    def add_gap(self, recorder: LinkRecorder, gap: Uncaptured, at: float, chunk: Chunk) -> None:
        """Numbers of which nothing else is known."""
        constant = _of_link(recorder) | {"seq_to": gap.last, "settled_at": _micros(at), "status": UNCAPTURED}
        chunk.add(Owner(recorder, gap), 1, constant, {"seq": [gap.first]})

    def _cells(self, payloads: Sequence[Payload | None], ids: Sequence[str], column: str) -> list[bytes | None]:
        write, seal = self._write, self._seal
        cells = [None if payload is None else write(payload) for payload in payloads]
        if seal is None:
            return cells
        return [
            None if cell is None else seal(cell, f"{column} {_encodable(id_)}")
            for cell, id_ in zip(cells, ids, strict=True)
        ]


def _of_link(recorder: LinkRecorder) -> dict[str, Any]:
    specification = recorder.specification
    return {
        "gateway": specification.gateway,
        "link": specification.link,
        "run": recorder.run,
        "mapping_version": recorder.mapping_version,
    }


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


def _kinds(payloads: Sequence[Payload | None]) -> tuple[list[str | None], list[str | None]]:
    """Domain and type names of events; of messages the JMSType."""
    domains: list[str | None] = []
    types: list[str | None] = []
    for payload in payloads:
        if isinstance(payload, StructuredEvent):
            domains.append(payload.domain_name)
            types.append(payload.type_name)
        else:
            domains.append(None)
            types.append(None if payload is None else payload.headers.JMSType)
    return domains, types


def _forms(payloads: Sequence[Payload | None]) -> list[Form | None]:
    return [
        "event" if type(payload) is StructuredEvent else None if payload is None else "message" for payload in payloads
    ]


def _repeated(value: Any, rows: int, type_: pa.DataType) -> pa.Array:
    if value is None:
        return pa.nulls(rows, type_)
    return pa.repeat(_array([value], type_)[0], rows)


def _array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, type_)
    except UnicodeEncodeError:  # what no wire should bring, and Arrow cannot hold
        return pa.array([None if text is None else _encodable(text) for text in values], type_)


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)
