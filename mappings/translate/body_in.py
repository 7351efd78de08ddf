"""A JMS body as the remainder_of_body it was made of: `body_out.py` the other way round.

What `$se` says is tried first. Where the body is of another kind than it says, an application has put its own in the place, and
that is taken as it is (RULES.md 5.5); text that arrives as bytes, and bytes as text, are a wire's doing and mean the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from mappings.errors import MappingError
from mappings.idl_types import NULL, Alias, Array, Basic, Exception_, IdlType, Sequence, Struct, ValueBox, unalias
from mappings.known_types import KNOWN
from mappings.model import Any_, Body, StreamElement
from mappings.translate.body_out import ALONE, BODY_KEY, LAYERS, MAX_ELEMENTS, REMAINDER, is_property_seq
from mappings.translate.explanation import Entry, Trace
from mappings.translate.flatten import is_octets
from mappings.translate.leaves import NUL_REPLACEMENT, Leaf, leaf_of
from mappings.translate.metadata import CDR, BodyForm
from mappings.translate.names import MAP_KEYS, TakenNames
from mappings.translate.native import Native
from mappings.translate.options import Options
from mappings.translate.rebuild import Rebuilder, Removed, decoded, octets_of

RULES: Final = {
    "none": "OC-BODY-1",
    "text": "SE-BODY-2",
    "octets": "SE-BODY-4",
    "stream": "SE-BODY-1",
    "map": "SE-BODY-3",
    "map-ordinals": "OC-BODY-4",
    "cdr-any": "OC-BODY-6",
    "cdr-value": "OC-BODY-6",
    "json": "LINK-BODY",
}


class _Foreign(Exception):
    """The body is not the one that `$se` speaks of."""


class BodyReader:
    def __init__(self, options: Options, native: Native, counts: Counter[str]) -> None:
        self._options = options
        self._native = native
        self._counts = counts

    def marked(self, body: Body, mark: str, type_id: str, trace: Trace) -> Any_:
        """Without `$se`: by `$body`, else by the body's own kind."""
        data = body.value
        if isinstance(data, bytes):
            if mark == "cdr-any":
                self._explain(trace, "OC-BODY-6", "any")
                return decoded(data, "")
            if mark == "cdr-value" and type_id in KNOWN:
                self._explain(trace, "OC-BODY-6", type_id)
                return Any_(KNOWN[type_id], _decode_value(KNOWN[type_id], data))
            if mark == "utf-8":
                body = Body("TextMessage", data.decode("utf-8", "replace"))
        if mark == "json" and isinstance(data, str):
            return _any_from_json(data)
        if body.type == "StreamMessage" and (any_ := self._homogeneous(body.value)) is not None:
            self._explain(trace, "SE-BODY-1", any_.type.kind)
            return any_
        return self._native.remainder(body, trace)

    def _homogeneous(self, elements: tuple[Any, ...]) -> Any_ | None:
        """A single element is a value, several of one type are a sequence (SE-BODY-1)."""
        read = self._native.remainder(Body("StreamMessage", elements), None).value
        types = {any_.type for any_ in read}
        if len(types) != 1 or NULL in types:
            return None
        if len(read) == 1:
            return Any_(read[0].type, read[0].value)
        values: Any = [any_.value for any_ in read]
        return Any_(Sequence(read[0].type), bytes(values) if read[0].type.kind == "octet" else values)

    def read(
        self,
        body: Body,
        form: BodyForm,
        inner_types: Mapping[str, IdlType | None],
        keys: TakenNames,
        include_seq_alias: bool,
        trace: Trace,
    ) -> Any_:
        try:
            any_ = self._read(body, form, inner_types, keys, include_seq_alias, trace)
        except _Foreign:
            return self._native.remainder(body, trace)
        self._explain(trace, RULES[form.form], any_.type.kind)
        return any_

    def _read(
        self,
        body: Body,
        form: BodyForm,
        inner_types: Mapping[str, IdlType | None],
        keys: TakenNames,
        include_seq_alias: bool,
        trace: Trace,
    ) -> Any_:
        if form.form == "cdr-any":
            return decoded(_bytes(body), "")
        if form.form == "json":
            return _any_from_json(_text(body))
        type_ = form.type
        if type_ is None:
            raise _Foreign
        if form.form == "cdr-value":
            return Any_(type_, _decode_value(type_, _bytes(body)))
        layers = _Layers(type_, inner_types, keys)
        inner = layers.innermost
        if form.form == "none":
            if body.value not in (None, "", b""):
                raise _Foreign
            return layers.around(None)
        if form.form == "text":
            return layers.around(self._string(inner, body))
        if form.form == "octets":
            return layers.around(_octets(inner, _bytes(body)))
        if form.form == "stream":
            return layers.around(self._stream(inner, body, inner_types, keys))
        if form.form in ("map", "map-ordinals"):
            return layers.around(self._map(inner, body, form, inner_types, keys, include_seq_alias, trace))
        raise _Foreign

    def _string(self, type_: IdlType, body: Body) -> str:
        leaf = leaf_of(type_)
        if leaf is None:
            raise _Foreign
        text: str = leaf.read(_text(body), "body")
        if "\0" in text:
            self._counts["OC-TYPE-10"] += 1
            text = text.replace("\0", NUL_REPLACEMENT)
        return text

    def _stream(self, type_: IdlType, body: Body, inner_types: Mapping[str, IdlType | None], keys: TakenNames) -> Any:
        if body.type != "StreamMessage":
            raise _Foreign
        elements = body.value
        if (leaf := leaf_of(type_)) is not None:
            if len(elements) != 1:
                raise _Foreign
            return _read(leaf, elements)[0]
        if not isinstance(type_, Sequence | Array):
            raise _Foreign
        if isinstance(type_, Array) and len(elements) != type_.length:
            raise _Foreign
        if isinstance(type_, Sequence) and type_.bound and len(elements) > type_.bound:
            raise _Foreign
        element = unalias(type_.element)
        if element.kind == "any":
            return [self._element(each, inner_types, keys) for each in elements]
        leaf = leaf_of(element)
        if leaf is None:
            raise _Foreign
        return _read(leaf, elements)

    def _element(self, element: Any, inner_types: Mapping[str, IdlType | None], keys: TakenNames) -> Any_:
        type_ = inner_types.get(keys.take(BODY_KEY))
        if type_ is None:
            native: list[Any_] = self._native.remainder(Body("StreamMessage", (element,)), None).value
            return native[0]
        plain = unalias(type_)
        leaf = leaf_of(plain)
        if leaf is not None:
            return Any_(type_, leaf.read(element.value, "body"))
        return Any_(type_, _octets(plain, octets_of(element.value, "body")))

    def _map(
        self,
        type_: IdlType,
        body: Body,
        form: BodyForm,
        inner_types: Mapping[str, IdlType | None],
        keys: TakenNames,
        include_seq_alias: bool,
        trace: Trace,
    ) -> Any:
        if body.type != "MapMessage":
            raise _Foreign
        elements = {element.name: element.value for element in body.value}
        rebuilder = Rebuilder(
            MAP_KEYS,
            TakenNames(MAP_KEYS, frozenset({""})),
            elements,
            inner_types,
            keys,
            self._counts,
            include_seq_alias=include_seq_alias,
            largest=MAX_ELEMENTS,
            trace=trace,
        )
        try:
            if is_property_seq(type_):
                return self._properties(rebuilder, form, body)
            if isinstance(type_, Struct | Exception_):
                return {
                    member.name: rebuilder.field(member.type, member.name, f"{REMAINDER}.value.{member.name}")
                    for member in type_.members
                }
            return rebuilder.field(type_, ALONE, f"{REMAINDER}.value")
        except Removed:
            raise _Foreign from None

    def _properties(self, rebuilder: Rebuilder, form: BodyForm, body: Body) -> list[dict[str, Any]]:
        properties: list[dict[str, Any]] = []
        keys: list[str] = []
        ordinals = form.form == "map-ordinals"
        for ordinal, field in enumerate(form.names, 1):
            key = f"{field.name}{ordinal}" if ordinals else field.name
            keys.append(key)
            path = f"{REMAINDER}.value[{len(properties)}].value"
            if field.how == CDR:
                taken, found = rebuilder.take(key)
                if found is not None:
                    properties.append({"name": field.name, "value": decoded(octets_of(found, taken), taken)})
            elif field.type is not None:
                try:
                    value = rebuilder.field(field.type, key, path)
                except Removed:
                    continue
                properties.append({"name": field.name, "value": Any_(field.type, value)})
        for element in body.value:
            if element.name not in rebuilder.used and not _is_part(element.name, keys):
                added = self._native.field(element.name, element, f"{REMAINDER}.value[{len(properties)}]", None)
                properties.append({"name": added.name, "value": Any_(added.type, added.value)})
        return properties

    def _explain(self, trace: Trace, rule: str, kind: str) -> None:
        if trace is not None:
            trace.append(Entry("body", rule, REMAINDER, kind, True))


def _is_part(name: str, keys: list[str]) -> bool:
    """Whether an element is left over from an entry that `$se` names: a sequence that has become shorter, say."""
    return any(name.startswith((f"{key}.", f"{key}#")) for key in keys)


def _read(leaf: Leaf, elements: tuple[StreamElement, ...]) -> list[Any]:
    """The values of stream elements; an error names the element."""
    read = leaf.read
    values: list[Any] = []
    try:
        for element in elements:
            values.append(read(element[1], ""))
    except MappingError as error:
        error.path = f"body[{len(values)}]"
        raise
    return values


class _Layers:
    """The layers of any, typedef and value box around a remainder, as `body_out` took them off."""

    def __init__(self, type_: IdlType, inner_types: Mapping[str, IdlType | None], keys: TakenNames) -> None:
        self._outer = type_
        self._anys: list[IdlType] = []  # types of anys, from the outside
        self.innermost: IdlType = NULL
        self._nil = False
        for _ in range(LAYERS):
            if isinstance(type_, Alias):
                type_ = type_.type
            elif type(type_) is Basic and type_.kind == "any":
                inner = inner_types.get(keys.take(BODY_KEY))
                if inner is None:
                    raise _Foreign
                self._anys.append(inner)
                type_ = inner
            elif isinstance(type_, ValueBox):
                if inner_types.get(keys.take(BODY_KEY), type_) is None:
                    self._nil = True
                    break
                type_ = type_.type
            else:
                self.innermost = type_
                break

    def around(self, value: Any) -> Any_:
        any_value = None if self._nil else value
        for inner in reversed(self._anys):
            any_value = Any_(inner, any_value)
        return Any_(self._outer, any_value)


def _bytes(body: Body) -> bytes:
    if isinstance(body.value, bytes):
        return body.value
    if isinstance(body.value, str):
        return body.value.encode("utf-8", "surrogatepass")
    if body.value is None:
        return b""
    raise _Foreign


def _text(body: Body) -> str:
    if isinstance(body.value, str):
        return body.value
    if isinstance(body.value, bytes):
        try:
            return body.value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise _Foreign from None
    if body.value is None:
        return ""
    raise _Foreign


def _octets(type_: IdlType, data: bytes) -> bytes:
    if not isinstance(type_, Sequence | Array) or not is_octets(type_):
        raise _Foreign
    if len(data) != type_.length if isinstance(type_, Array) else type_.bound and len(data) > type_.bound:
        raise _Foreign
    return data


def _decode_value(type_: IdlType, data: bytes) -> Any:
    from mappings.cdr import decode_value

    try:
        return decode_value(type_, data)
    except MappingError as error:
        error.path, error.rule = "body", "OC-BODY-6"
        raise


def _any_from_json(text: str) -> Any_:
    from mappings.forms.types import type_from_json
    from mappings.forms.values import value_from_json

    try:
        form = json.loads(text)
        type_ = type_from_json(form["type"], "body.type")
        return Any_(type_, value_from_json(type_, form["value"], "body.value"))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MappingError("MAP-BODY", "the body is marked as JSON of an any, and is not", path="body") from error
