"""A Delivery as the payload of a record: compact, exact, readable without any other record, and never executed.

    version (1 byte), form (1 byte: e, m, n, o), length of the shape (4), length of the body (4), shape, body, blobs

Shape and body are JSON text in ASCII. The shape of an event is the names and types of its properties; it is written in full into
every record, but since the events of a source have few shapes it is made once and kept. The body is a list:

    id, received_at, flags, error, …, sizes of the blobs
    e   …  domain_name, type_name, event_name, values of variable_header, of filterable_data, of remainder_of_body
    m   …  header fields in the order of `mappings.model.Headers`, properties, type of the body, its value
    n   …  nothing: the delivery has an error
    o   …  nothing: the original is the octets in which an event came, and says all of it (`mappings/cdr/original.py`)

Bytes (the original, octet sequences, bodies of messages) are blobs behind the JSON, as they are. What the adapter needs to
acknowledge (`token`) is not kept: it is of no use after a restart.
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable
from json import encoder
from typing import Any, Final

from adapters.base import DeadLetterError, Delivery
from gateway.journal.format import LARGEST_BODY
from gateway.journal.value_codec import TAG_TEXT, ValueReader, ValueWriter, type_from_form, type_to_form
from mappings.cdr.original import OriginalEvent, read_original
from mappings.errors import MappingError
from mappings.idl_types import IdlType
from mappings.makers import maker
from mappings.model import Any_, Body, Headers, Message, MessageProperty, Property, StreamElement, StructuredEvent

VERSION: Final = 1
_PREFIX: Final = struct.Struct(">BcII")
_EVENT, _MESSAGE, _NOTHING, _OCTETS = b"e", b"m", b"n", b"o"

_PERSISTENT: Final = 1
_REDELIVERED: Final = 2
_ORIGINAL: Final = 4  # the first blob is the original

_MOST_SHAPES: Final = 2000
_read_json: Final = json.JSONDecoder().raw_decode  # what `json.loads` does, without its looking for white space
_new: Final = tuple.__new__  # half the time of calling the NamedTuple; there are dozens in every event
_make_delivery, _make_event, _make_any = maker(Delivery), maker(StructuredEvent), maker(Any_)
_make_message, _make_headers = maker(Message), maker(Headers)

_HEADER_FIELDS: Final = tuple(Headers.__dataclass_fields__)


class _Texts(threading.local):
    """Makes the JSON text of a body; each thread has its own.

    What `json.JSONEncoder.encode` makes anew for every text, which is a third of its time, is made once: nobody encodes two
    texts at a time on one thread.
    """

    def __init__(self) -> None:
        self._writer = ValueWriter()
        accelerator: Any = getattr(encoder, "c_make_encoder", None)
        self.encode: Callable[[Any], str]
        if accelerator is None:
            self.encode = json.JSONEncoder(default=self._write, check_circular=False, separators=(",", ":")).encode
            return
        make = accelerator(None, self._write, encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
        self.encode = lambda body: "".join(make(body, 0))

    def begin(self) -> ValueWriter:
        self._writer = ValueWriter()
        return self._writer

    def _write(self, value: object) -> Any:
        return self._writer(value)


Shape = tuple[list[tuple[str, IdlType]], list[tuple[str, IdlType]], IdlType]
"""Names and types of variable_header and filterable_data, type of remainder_of_body."""


_Column = tuple[Any, ...]


class DeliveryCodec:
    """Any thread may use it; the caches are only ever added to or replaced as a whole."""

    def __init__(self) -> None:
        self._texts = _Texts()
        self._shape_texts: dict[object, tuple[bytes, object]] = {}
        self._shapes: dict[bytes, Shape] = {}

    def encode(self, delivery: Delivery) -> bytes:
        """What cannot be encoded, because it is nothing that the model knows, becomes a delivery with an error, which a link
        dead-letters."""
        try:
            payload = self._encode(delivery)
        except (TypeError, ValueError, RecursionError, AttributeError, OverflowError) as wrong:
            return self._encode(_without_payload(delivery, f"{type(wrong).__name__}: {wrong}"))
        if len(payload) > LARGEST_BODY:
            return self._encode(
                _without_payload(delivery, f"it takes {len(payload)} bytes, more than a record can hold")
            )
        return payload

    def decode(self, payload: bytes) -> Delivery:
        """A record that cannot be read, for instance of a later version, is a delivery with an error and the record as original."""
        try:
            return self._decode(payload)
        except (
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            RecursionError,
            struct.error,
            ArithmeticError,
            MappingError,
        ) as wrong:
            error = DeadLetterError(
                "JNL-RECORD",
                f"a record of the journal cannot be read: {type(wrong).__name__}: {wrong}",
                hint="was it written by a later version of Isthmus? It is kept whole in the dead letter",
            )
            return Delivery(None, "", 0.0, original=payload, error=error)

    def _encode(self, delivery: Delivery) -> bytes:
        writer = self._texts.begin()
        flags = (_PERSISTENT if delivery.persistent else 0) | (_REDELIVERED if delivery.redelivered else 0)
        if delivery.original is not None:
            writer.add_blob(delivery.original)
            flags |= _ORIGINAL
        error = delivery.error
        error_form = None if error is None else [error.code, error.message, error.path, error.hint]
        body: list[Any] = [delivery.id, delivery.received_at, flags, error_form]
        payload = delivery.payload
        shape = b""
        if type(delivery.original) is OriginalEvent and error is None:
            form = _OCTETS
        elif isinstance(payload, StructuredEvent):
            form = _EVENT
            rest = payload.remainder_of_body
            header_names, header_types, header_values = _columns(payload.variable_header)
            data_names, data_types, data_values = _columns(payload.filterable_data)
            shape = self._shape_text(header_names, header_types, data_names, data_types, rest.type)
            body += (payload.domain_name, payload.type_name, payload.event_name, header_values, data_values, rest.value)
        elif isinstance(payload, Message):
            form = _MESSAGE
            headers = [getattr(payload.headers, name) for name in _HEADER_FIELDS]
            body += (headers, payload.properties, payload.body.type, payload.body.value)
        elif payload is None:
            form = _NOTHING
        else:
            raise TypeError(f"{type(payload).__name__} is no payload")
        body.append(writer.sizes)  # last: the blobs are known when all else is written
        text = self._texts.encode(body)
        if text.count(TAG_TEXT) != writer.tagged:
            raise ValueError("a struct has a member whose name is a NUL character")
        data = text.encode("ascii")
        return b"".join((_PREFIX.pack(VERSION, form, len(shape), len(data)), shape, data, *writer.blobs))

    def _decode(self, payload: bytes) -> Delivery:
        version, form, shape_length, body_length = _PREFIX.unpack_from(payload)
        if version != VERSION:
            raise ValueError(f"version {version}")
        body_at = _PREFIX.size + shape_length
        blobs_at = body_at + body_length
        text = payload[body_at:blobs_at].decode("ascii")
        if TAG_TEXT in text:
            blobs = _split(payload, blobs_at, _sizes(text))
            parts = json.loads(text, object_hook=ValueReader(blobs))
        else:
            parts, end = _read_json(text)
            if end != len(text):
                raise ValueError("something stands behind its body")
            blobs = _split(payload, blobs_at, parts[-1])
        id_, received_at, flags, error_form, *fields, _ = parts
        content: StructuredEvent | Message | None = None
        if form == _OCTETS:
            blobs[0] = OriginalEvent(blobs[0])
            content = read_original(blobs[0])
        elif form == _EVENT:
            content = _event(self._shape(payload[_PREFIX.size : body_at]), fields)
        elif form == _MESSAGE:
            content = _message(fields)
        elif form != _NOTHING:
            raise ValueError(f"form {form!r}")
        return _make_delivery(
            content,
            id_,
            received_at,
            bool(flags & _PERSISTENT),
            bool(flags & _REDELIVERED),
            blobs[0] if flags & _ORIGINAL else None,
            None if error_form is None else _error(*error_form),
            None,
        )

    def _shape_text(
        self, header_names: _Column, header_types: _Column, data_names: _Column, data_types: _Column, rest: IdlType
    ) -> bytes:
        """Found by the names and the identities of the types: adapters keep one description per type. The types are kept with the
        text, and so alive: an identity is never that of another type."""
        key = (header_names, tuple(map(id, header_types)), data_names, tuple(map(id, data_types)), id(rest))
        known = self._shape_texts.get(key)
        if known is not None:
            return known[0]
        form = [
            [[name, type_to_form(type_)] for name, type_ in zip(header_names, header_types, strict=True)],
            [[name, type_to_form(type_)] for name, type_ in zip(data_names, data_types, strict=True)],
            type_to_form(rest),
        ]
        text = json.dumps(form, separators=(",", ":")).encode("ascii")
        if len(self._shape_texts) >= _MOST_SHAPES:
            self._shape_texts = {}
        self._shape_texts[key] = (text, (header_types, data_types, rest))
        # Who reads this shape gets the same descriptions, and need not compare them member by member.
        self._keep(text, (_pairs(header_names, header_types), _pairs(data_names, data_types), rest))
        return text

    def _shape(self, text: bytes) -> Shape:
        shape = self._shapes.get(text)
        if shape is None:
            header, data, rest = json.loads(text)
            shape = (_shape_types(header), _shape_types(data), type_from_form(rest))
            self._keep(text, shape)
        return shape

    def _keep(self, text: bytes, shape: Shape) -> None:
        if len(self._shapes) >= _MOST_SHAPES:
            self._shapes = {}
        self._shapes[text] = shape


def _pairs(names: _Column, types: _Column) -> list[tuple[str, IdlType]]:
    return list(zip(names, types, strict=True))


def _columns(properties: tuple[Property, ...]) -> tuple[_Column, _Column, _Column]:
    """Names, types, values."""
    if not properties:
        return (), (), ()
    names, types, values = zip(*properties, strict=True)
    return names, types, values


def _shape_types(forms: list[Any]) -> list[tuple[str, IdlType]]:
    return [(name, type_from_form(form)) for name, form in forms]


def _event(shape: Shape, fields: list[Any]) -> StructuredEvent:
    header, data, rest = shape
    domain_name, type_name, event_name, header_values, data_values, rest_value = fields
    return _make_event(
        domain_name,
        type_name,
        event_name,
        tuple([_new(Property, (*field, value)) for field, value in zip(header, header_values, strict=True)]),
        tuple([_new(Property, (*field, value)) for field, value in zip(data, data_values, strict=True)]),
        _make_any(rest, rest_value),
    )


def _message(fields: list[Any]) -> Message:
    headers, properties, body_type, body = fields
    if body_type == "StreamMessage":
        body = tuple(StreamElement(*element) for element in body)
    elif body_type == "MapMessage":
        body = tuple(MessageProperty(*element) for element in body)
    made = tuple([_new(MessageProperty, property_) for property_ in properties])
    return _make_message(_make_headers(*headers), made, Body(body_type, body))


def _error(code: str, message: str, path: str, hint: str) -> DeadLetterError:
    return DeadLetterError(code, message, path=path, hint=hint)


def _sizes(text: str) -> list[int]:
    """The last element of the body, read before the rest: values refer to blobs."""
    sizes: list[int] = json.loads(text[text.rindex("[") : -1])
    return sizes


def _split(payload: bytes, at: int, sizes: list[int]) -> list[bytes]:
    blobs = []
    for size in sizes:
        blobs.append(payload[at : at + size])
        at += size
    if at != len(payload):
        raise ValueError("its length is not the sum of its parts")
    return blobs


def _without_payload(delivery: Delivery, why: str) -> Delivery:
    error = DeadLetterError(
        "JNL-ENCODE",
        f"this delivery cannot be kept in the journal: {why}",
        hint="please report this: an adapter has made something that is no event and no message",
    )
    original = delivery.original
    if original is None or len(original) > LARGEST_BODY // 2:
        original = _shown(delivery.payload)
    return Delivery(
        None,
        delivery.id,
        delivery.received_at,
        delivery.persistent,
        delivery.redelivered,
        original,
        delivery.error or error,
    )


def _shown(payload: object) -> bytes:
    """What Python can show of it: for the person who looks into the dead letter."""
    try:
        return repr(payload).encode("utf-8", "backslashreplace")[: LARGEST_BODY // 2]
    except RecursionError:
        return b"nested too deeply to be shown"
