"""The remainder_of_body as a JMS body (SE-BODY-1 … SE-BODY-5, OC-BODY-1 … OC-BODY-6, LINK-BODY).

    null, void                                 Message                                      OC-BODY-1
    string, wstring                            TextMessage                                  SE-BODY-2, OC-BODY-3
    basic value; sequence or array of them     StreamMessage                                SE-BODY-1, OC-BODY-2
    sequence<any> of basic values              StreamMessage: what a native one becomes goes back as one
    PropertySeq                                MapMessage                                   SE-BODY-3, OC-BODY-4
    struct, with struct_body=map               MapMessage                                   OC-BODY-2
    octets                                     BytesMessage, `$body`=octets                 SE-BODY-4
    anything else                              BytesMessage, `$body`=cdr-any or cdr-value   SE-BODY-4, OC-BODY-6

Layers of any, typedefs and value boxes are taken off first (OC-TYPE-13, OC-TYPE-16). A rule of the link may choose another form.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from mappings.idl_types import (
    STRING,
    WSTRING,
    Alias,
    Array,
    Basic,
    Enum,
    Exception_,
    IdlType,
    Sequence,
    Struct,
    Union,
    ValueBox,
    unalias,
)
from mappings.known_types import OCTET_SEQ, PROPERTY
from mappings.model import EMPTY_BODY, Any_, Body, MessageProperty, StreamElement
from mappings.translate.explanation import Entry, Trace
from mappings.translate.flatten import Flattener, TooMuch, encoded, is_octets
from mappings.translate.leaves import REFERENCES, TEXTS, Leaf, leaf_of, property_type
from mappings.translate.metadata import CDR, SENT, BodyForm, Field
from mappings.translate.names import MAP_KEYS, TakenNames
from mappings.translate.options import Limits, Options
from mappings.translate.rules import chosen_body

REMAINDER: Final = "remainder_of_body"
MAX_ELEMENTS: Final = 10_000  # of a map; what is larger goes as CDR
BODY_KEY: Final = ""  # in `$se`, for the layers of the remainder itself
LAYERS: Final = 16
ALONE: Final = "value"  # the key of a remainder that has no name of its own, in a map that a rule asked for


class BodyOut(NamedTuple):
    body: Body
    form: BodyForm
    mark: str = ""  # `$body`, where it is sent
    type_id: str = ""  # `$body_type`


class BodyWriter:
    def __init__(self, options: Options) -> None:
        self._options = options
        rule = chosen_body(options.rules)
        self._chosen = None if rule is None else rule.form
        self._map_limits = Limits(options.limits.depth, MAX_ELEMENTS, options.limits.property_bytes)

    def write(
        self, remainder: Any_, inner_types: dict[str, IdlType | None], keys: TakenNames, trace: Trace, opaque: bool
    ) -> BodyOut:
        """`opaque`: everything that would need many types in `$se` goes as CDR."""
        out, rule = self._form(remainder, inner_types, keys, trace, opaque)
        if trace is not None:
            trace.append(Entry(REMAINDER, rule, "body", out.body.type, self.comes_back(out.form, remainder.type)))
        return out

    def is_always_cdr(self, type_: IdlType) -> bool:
        """Whether every remainder of this type, whatever is in it, goes as the CDR of an any, and nothing else (OC-BODY-6)."""
        if self._chosen is not None or self._options.body_cdr != "any":
            return False
        if isinstance(type_, Struct | Exception_):
            return self._options.struct_body != "map"
        return isinstance(type_, Enum | Union)

    def comes_back(self, form: BodyForm, type_: IdlType) -> bool:
        """Whether the way back gives exactly this body; without `$se` that is where the body tells its type."""
        if self._options.metadata:
            return True
        match form.form:
            case "none":
                return type_.kind == "null"
            case "text":
                return type_ == (STRING if self._options.text_as == "string" else WSTRING)
            case "octets":
                return type_ == OCTET_SEQ
        return form.form == "cdr-any"

    def _form(
        self, remainder: Any_, inner_types: dict[str, IdlType | None], keys: TakenNames, trace: Trace, opaque: bool
    ) -> tuple[BodyOut, str]:
        layers: dict[str, IdlType | None] = {}
        mark = keys.mark()
        peeled = _peeled(remainder, layers, keys)
        if peeled is not None:
            type_, value = peeled
            chosen = self._by_choice(remainder, type_, value, layers, keys, trace)
            if chosen is None:
                chosen = self._by_rule(remainder, type_, value, layers, keys, trace, opaque)
            if chosen is not None:
                inner_types |= layers
                return chosen
        keys.give_back(mark)
        return self._cdr(remainder), "OC-BODY-6"

    def _by_rule(
        self,
        remainder: Any_,
        type_: IdlType,
        value: Any,
        layers: dict[str, IdlType | None],
        keys: TakenNames,
        trace: Trace,
        opaque: bool,
    ) -> tuple[BodyOut, str] | None:
        if type_.kind in ("null", "void"):
            return BodyOut(EMPTY_BODY, BodyForm("none", remainder.type)), "OC-BODY-1"
        if type_.kind in TEXTS:
            rule = "SE-BODY-2" if type_.kind == "string" else "OC-BODY-3"
            return BodyOut(Body("TextMessage", value), BodyForm("text", remainder.type)), rule
        if isinstance(type_, Sequence | Array) and is_octets(type_):
            form = BodyForm("octets", remainder.type)
            return BodyOut(Body("BytesMessage", value), form, "octets"), "SE-BODY-4"
        if opaque:
            return None
        if (elements := _stream(type_, value, layers, keys)) is not None:
            rule = "OC-BODY-2" if isinstance(type_, Sequence | Array) else "SE-BODY-1"
            rule = "OC-BODY-3" if type_.kind in ("char", "wchar") else rule
            return BodyOut(Body("StreamMessage", elements), BodyForm("stream", remainder.type)), rule
        if is_property_seq(type_) or (self._options.struct_body == "map" and isinstance(type_, Struct | Exception_)):
            out = self._map(remainder, type_, value, layers, keys, trace)
            return None if out is None else (out, "SE-BODY-3" if is_property_seq(type_) else "OC-BODY-2")
        return None

    def _by_choice(
        self,
        remainder: Any_,
        type_: IdlType,
        value: Any,
        layers: dict[str, IdlType | None],
        keys: TakenNames,
        trace: Trace,
    ) -> tuple[BodyOut, str] | None:
        """As the link's rule says; None where there is no rule, or this remainder cannot be put that way."""
        out: BodyOut | None = None
        if self._chosen is None or type_.kind in ("null", "void"):
            return None
        if self._chosen == "text" and type_.kind not in TEXTS:
            out = BodyOut(Body("TextMessage", _json_text(remainder)), BodyForm("json", None), "json")
            layers.clear()
        elif self._chosen == "bytes" and type_.kind in TEXTS:
            form = BodyForm("text", remainder.type)
            out = BodyOut(Body("BytesMessage", value.encode("utf-8", "surrogatepass")), form, "utf-8")
        elif self._chosen == "bytes" and not (isinstance(type_, Sequence | Array) and is_octets(type_)):
            layers.clear()
            out = self._cdr(remainder)
        elif self._chosen == "map" and not is_property_seq(type_):
            out = self._map(remainder, type_, value, layers, keys, trace)
        elif self._chosen == "stream" and type_.kind in TEXTS:
            out = BodyOut(Body("StreamMessage", (StreamElement("String", value),)), BodyForm("stream", remainder.type))
        return None if out is None else (out, "LINK-BODY")

    def _map(
        self,
        remainder: Any_,
        type_: IdlType,
        value: Any,
        layers: dict[str, IdlType | None],
        keys: TakenNames,
        trace: Trace,
    ) -> BodyOut | None:
        out: list[MessageProperty] = []
        flattener = Flattener(
            MAP_KEYS,
            TakenNames(MAP_KEYS, frozenset({""})),  # JMS forbids an empty name
            self._map_limits,
            include_seq_alias=self._options.include_seq_alias,
            trace=trace,
            out=out,
            inner_types=layers,
            keys=keys,
            elements=True,
        )
        entries, mark, before = len(trace or ()), keys.mark(), dict(layers)
        try:
            names = self._map_fields(flattener, type_, value)
        except TooMuch:
            keys.give_back(mark)
            layers.clear()
            layers |= before
            if trace is not None:
                del trace[entries:]
            return None
        form = "map-ordinals" if names and self._options.map_keys == "borland" else "map"
        return BodyOut(Body("MapMessage", tuple(out)), BodyForm(form, remainder.type, names))

    def _map_fields(self, flattener: Flattener, type_: IdlType, value: Any) -> tuple[Field, ...]:
        if not is_property_seq(type_):
            if isinstance(type_, Struct | Exception_):
                for member in type_.members:
                    path = f"{REMAINDER}.value.{member.name}"
                    flattener.field(member.type, value[member.name], member.name, path)
            else:
                flattener.field(type_, value, ALONE, f"{REMAINDER}.value")
            return ()
        if len(value) > MAX_ELEMENTS:
            raise TooMuch
        fields: list[Field] = []
        for ordinal, each in enumerate(value, 1):
            name, inner = each["name"], each["value"]
            key = f"{name}{ordinal}" if self._options.map_keys == "borland" else name
            path = f"{REMAINDER}.value[{ordinal - 1}].value"
            try:
                flattener.field(inner.type, inner.value, key, path)
                fields.append(Field(name, inner.type, SENT))
            except TooMuch:
                flattener.opaque(inner.type, inner.value, key, path)
                fields.append(Field(name, None, CDR))
        return tuple(fields)

    def _cdr(self, remainder: Any_) -> BodyOut:
        type_id = getattr(remainder.type, "id", "")
        if self._options.body_cdr == "value":
            from mappings.cdr import encode_value

            data = encode_value(remainder.type, remainder.value)
            return BodyOut(Body("BytesMessage", data), BodyForm("cdr-value", remainder.type), "cdr-value", type_id)
        data = encoded(remainder.type, remainder.value)
        return BodyOut(Body("BytesMessage", data), BodyForm("cdr-any", None), "cdr-any", type_id)


def _peeled(remainder: Any_, layers: dict[str, IdlType | None], keys: TakenNames) -> tuple[IdlType, Any] | None:
    """Type and value without layers of typedef, any and value box; None where a type speaks of one around it."""
    type_, value = remainder.type, remainder.value
    for _ in range(LAYERS):
        if isinstance(type_, Alias):
            type_ = type_.type
        elif type(type_) is Basic and type_.kind == "any":
            layers[keys.take(BODY_KEY)] = value.type
            type_, value = value.type, value.value
        elif isinstance(type_, ValueBox):
            key = keys.take(BODY_KEY)
            if value is None:
                layers[key] = None
                return Basic("null"), None
            type_ = type_.type
        else:
            return None if type_.kind == "recursive" else (type_, value)
    return None


def is_property_seq(type_: IdlType) -> bool:
    """Whether a type without aliases is the sequence of CosNotification::Property."""
    return isinstance(type_, Sequence) and unalias(type_.element) == PROPERTY


def _stream(
    type_: IdlType, value: Any, layers: dict[str, IdlType | None], keys: TakenNames
) -> tuple[StreamElement, ...] | None:
    if (leaf := _basic(type_)) is not None:
        return None if value is None else (element(leaf, value),)
    if not isinstance(type_, Sequence | Array):
        return None
    inner = unalias(type_.element)
    if inner.kind == "any":
        return _stream_of_anys(value, layers, keys)
    leaf = _basic(inner, texts=True)
    if leaf is None or (leaf.kind in REFERENCES and None in value):
        return None
    return tuple(_elements(leaf, value))


def _stream_of_anys(
    values: list[Any_], layers: dict[str, IdlType | None], keys: TakenNames
) -> tuple[StreamElement, ...] | None:
    if len(values) > MAX_ELEMENTS:
        return None
    out: list[StreamElement] = []
    types: list[IdlType] = []
    for any_ in values:
        inner = unalias(any_.type)
        leaf = _basic(inner, texts=True)
        if leaf is not None and any_.value is not None:
            out.append(element(leaf, any_.value))
        elif isinstance(inner, Sequence) and is_octets(inner):
            out.append(StreamElement("bytes", any_.value))
        else:
            return None
        types.append(any_.type)
    for type_ in types:
        layers[keys.take(BODY_KEY)] = type_
    return tuple(out)


def _basic(type_: IdlType, *, texts: bool = False) -> Leaf | None:
    """The leaf of a type that a stream takes: an enum is constructed by the user, and a string alone is a text."""
    if isinstance(type_, Enum) or (type_.kind in TEXTS and not texts):
        return None
    return leaf_of(type_)


def element(leaf: Leaf, value: Any) -> StreamElement:
    written = value if leaf.write is None else leaf.write(value)
    return StreamElement(leaf.element_type or property_type(written), written)


def _elements(leaf: Leaf, values: Iterable[Any]) -> list[StreamElement]:
    if leaf.write is not None:
        return [element(leaf, value) for value in values]
    type_ = leaf.element_type
    new = tuple.__new__
    return [new(StreamElement, (type_, value)) for value in values]


def _json_text(remainder: Any_) -> str:
    """The JSON form of an any (FORMS.md section 2)."""
    from mappings.forms.types import type_to_json
    from mappings.forms.values import value_to_json

    form = {"type": type_to_json(remainder.type), "value": value_to_json(remainder.type, remainder.value)}
    return json.dumps(form, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
