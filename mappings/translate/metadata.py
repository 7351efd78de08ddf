"""The `$se` property: what the way back must know and the message does not show (OC-META-1).

Compact JSON, ASCII only, in one property or, where it is long, in parts (`$se`, `$se.2` …, at most MAX_PARTS):

    {"v":1,"p":"borland","t":[types],"h":[fields],"f":[fields],"b":[form,type]}       and where needed
     "n":0                   names of sequence typedefs are not in the names
     "r":[[from,to], …]      properties that a link's rule renamed       "i":[name, …]  properties that a link's rule added
     "c":["domain_type"]     texts that were cut (OC-EVT-1)
     "d":[timeout,{name: type},[types]]    always last: an exact Timeout, the types inside anys, nil references and boxes

A field is [name, type] where it was sent as its type says, else [name, type, how, properties], with `how` one of

     "hdr"   became a JMS header field (with one property beside it, or none)
     "cdr"   base64 of CDR, in one property or more; no type, the CDR has it
     "rest"  is in `$se.rest` with others
     "lost"  was not sent (OC-TYPE-6)

Everything but "d" is the same for all events of a shape, so it is made once per plan, and read once per text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from mappings.errors import MappingError
from mappings.idl_types import IdlType
from mappings.translate.names import MAX_PARTS, METADATA, PROFILES, Profile
from mappings.translate.type_tags import TypeReader, TypeWriter, bad_metadata

VERSION: Final = 1
PART_BYTES: Final = 8_192  # ActiveMQ refuses STOMP headers of about 10 KB
MAX_TEXT: Final = PART_BYTES * MAX_PARTS

SENT, HEADER, CDR, REST_OF, LOST = "", "hdr", "cdr", "rest", "lost"
_HOWS: Final = frozenset({HEADER, CDR, REST_OF, LOST})
NIL: Final = "nil"
_DYNAMIC: Final = ',"d":['  # cannot stand inside a JSON string, where quotes are escaped

_dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


class Field(NamedTuple):
    """How a field was sent. `type` is None for "cdr" and "rest", which carry their type."""

    name: str
    type: IdlType | None
    how: str = SENT
    parts: int = 0  # properties, where `how` does not tell


class BodyForm(NamedTuple):
    """How the remainder was sent; `names` are those of a property list that became a map."""

    form: str  # none, text, octets, stream, map, map-ordinals, cdr-any, cdr-value, json
    type: IdlType | None
    names: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Metadata:
    """The part of `$se` that all events of a shape share."""

    profile: Profile
    header: tuple[Field, ...]
    data: tuple[Field, ...]
    body: BodyForm
    include_seq_alias: bool = True
    renames: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


class Dynamic(NamedTuple):
    """The part of `$se` that belongs to one event: an exact Timeout, and by name the types inside anys (None: nil)."""

    timeout: int | None = None
    types: Mapping[str, IdlType | None] = {}


NO_DYNAMIC: Final = Dynamic()


def write(metadata: Metadata, dynamic: Dynamic = NO_DYNAMIC) -> str:
    """Raises TooLargeType."""
    text, types = write_shared(metadata)
    return text if dynamic == NO_DYNAMIC else with_dynamic(text, dynamic, types)


def write_shared(metadata: Metadata) -> tuple[str, TypeWriter]:
    """The part that all events of a shape share. Raises TooLargeType."""
    types = TypeWriter()
    form: dict[str, Any] = {"v": VERSION, "p": metadata.profile.name, "t": None}
    form["h"] = [_field(field, types) for field in metadata.header]
    form["f"] = [_field(field, types) for field in metadata.data]
    form["b"] = _body(metadata.body, types)
    if not metadata.include_seq_alias:
        form["n"] = 0
    if metadata.renames:
        form["r"] = metadata.renames
    if metadata.added:
        form["i"] = metadata.added
    if metadata.cut:
        form["c"] = metadata.cut
    form["t"] = types.table[:]
    if not types.table:
        del form["t"]
    return _dumps(form), types


def with_dynamic(text: str, dynamic: Dynamic, types: TypeWriter) -> str:
    """The shared part with the "d" of one event, whose types go on numbering where the shared ones end. Raises TooLargeType."""
    shared = len(types.table)
    tags = {name: NIL if type_ is None else types.tag(type_) for name, type_ in dynamic.types.items()}
    form = [dynamic.timeout, tags, types.table[shared:]] if len(types.table) > shared else [dynamic.timeout, tags]
    return f'{text[:-1]},"d":{_dumps(form)}}}'


def _field(field: Field, types: TypeWriter) -> list[Any]:
    tag = None if field.type is None else types.tag(field.type)
    return [field.name, tag, field.how, field.parts] if field.how else [field.name, tag]


def _body(body: BodyForm, types: TypeWriter) -> list[Any]:
    form: list[Any] = [body.form]
    if body.type is not None or body.names:
        form.append(None if body.type is None else types.tag(body.type))
    if body.names:
        form.append([_field(field, types) for field in body.names])
    return form


def split(text: str) -> tuple[str, str]:
    """The part that all events of a shape share, and the rest."""
    at = text.find(_DYNAMIC)
    return (text, "") if at < 0 else (text[:at] + "}", text[at + len(_DYNAMIC) - 1 : -1])


def read(text: str) -> tuple[Metadata, TypeReader]:
    """The shared part; the reader knows its types, for `read_dynamic`. Raises MappingError."""
    form = _loads(text)
    if not isinstance(form, dict) or form.get("v") != VERSION:
        raise bad_metadata("it is of no version that this one knows")
    profile = PROFILES.get(form.get("p", ""))
    if profile is None:
        raise bad_metadata("it names no naming profile that this version knows")
    types = TypeReader(form.get("t", []))
    try:
        metadata = Metadata(
            profile,
            tuple(_read_field(entry, types) for entry in form["h"]),
            tuple(_read_field(entry, types) for entry in form["f"]),
            _read_body(form["b"], types),
            form.get("n", 1) != 0,
            tuple((_text(old), _text(new)) for old, new in form.get("r", ())),
            tuple(map(_text, form.get("i", ()))),
            tuple(map(_text, form.get("c", ()))),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise bad_metadata("a part of it is missing or malformed") from error
    return metadata, types


def read_dynamic(text: str, types: TypeReader) -> Dynamic:
    """The part of one event, as `split` gave it. Raises MappingError."""
    if not text:
        return NO_DYNAMIC
    form = _loads(text)
    try:
        timeout, tags, *more = form
        if more:
            types = types.extended(more[0])
        inner = {_text(name): None if tag == NIL else types.type(tag) for name, tag in tags.items()}
    except (TypeError, ValueError, AttributeError) as error:
        raise bad_metadata("its last part is malformed") from error
    if timeout is not None and (type(timeout) is not int or not 0 <= timeout < 2**64):
        raise bad_metadata("its Timeout is no TimeT")
    return Dynamic(timeout, inner)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise bad_metadata("it is not JSON") from error


def _read_field(entry: Any, types: TypeReader) -> Field:
    if len(entry) == 2:
        name, tag = entry
        return Field(_text(name), types.type(tag))
    name, tag, how, parts = entry
    if how not in _HOWS or type(parts) is not int or not 0 <= parts <= MAX_PARTS:
        raise ValueError(how)
    return Field(_text(name), None if tag is None else types.type(tag), how, parts)


def _read_body(entry: Any, types: TypeReader) -> BodyForm:
    tag = entry[1] if len(entry) > 1 else None
    names = tuple(_read_field(name, types) for name in entry[2]) if len(entry) > 2 else ()
    return BodyForm(_text(entry[0]), None if tag is None else types.type(tag), names)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


def in_parts(text: str, name: str, profile: Profile, part_bytes: int) -> list[tuple[str, str]]:
    """An ASCII text as one or more properties: name and text of each. Raises MappingError where even all parts are too small."""
    if len(text) <= part_bytes:
        return [(name, text)]
    if len(text) > part_bytes * MAX_PARTS:
        raise MappingError(
            "MAP-SIZE",
            f"{name[:80]} would take {len(text)} bytes, more than {MAX_PARTS} properties of {part_bytes} bytes hold",
            hint="raise mapping.limits.property_bytes, or put large values into the remainder_of_body",
        )
    starts = range(0, len(text), part_bytes)
    names = [name, *(profile.below(name, str(part)) for part in range(2, len(starts) + 1))]
    return [(part_name, text[at : at + part_bytes]) for part_name, at in zip(names, starts, strict=True)]


def joined(name: str, profile: Profile, values: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    """A text that `in_parts` made, and the names it was under; None where there is none."""
    first = values.get(name)
    if not isinstance(first, str):
        return None
    text, names = [first], [name]
    for part in range(2, MAX_PARTS + 1):
        below = profile.below(name, str(part))
        more = values.get(below)
        if not isinstance(more, str):
            break
        text.append(more)
        names.append(below)
    return "".join(text), names


def found_in(values: Mapping[str, Any], preferred: Profile) -> str | None:
    """The `$se` of a message, whichever profile its maker used."""
    for profile in (preferred, *PROFILES.values()):
        if (found := joined(profile.root(METADATA), profile, values)) is not None:
            return found[0]
    return None
