"""From values of the ORB to values of the model, by TypeCode, for types that were never compiled in.

A converter is compiled once per descriptor and kept; None means that the ORB's value is the model's already.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from decimal import Context, Decimal
from typing import Any, NamedTuple

from adapters.base import DeadLetterError
from adapters.cosnotification.descriptors import (
    INDIRECT,
    kind_of,
    label_of,
    member_name,
    members,
    plain,
    target,
    type_of,
)
from adapters.cosnotification.stubs import omniORB
from mappings.cdr.references import parse, stringify
from mappings.idl_types import IdlType
from mappings.model import NO_ARM, Any_, UnionValue

KEPT_DECODERS = 4096

Convert = Callable[[Any], Any]


class Decoder(NamedTuple):
    type: IdlType
    convert: Convert | None  # None: the value is fine as it is


_decoders: dict[Any, Decoder] = {}


def decoder_of(descriptor: Any) -> Decoder:
    """Raises DeadLetterError for what cannot be carried."""
    try:
        found = _decoders.get(descriptor)
        key: Hashable = descriptor
    except TypeError:  # unions and recursive types hold a dict or a list
        key = _key(descriptor)
        found = _decoders.get(key)
    if found is None:
        found = Decoder(type_of(descriptor), _compile(descriptor, ()))
        if len(_decoders) >= KEPT_DECODERS:
            _decoders.clear()
        _decoders[key] = found
    return found


def any_from_orb(any_: Any) -> Any_:
    type_, convert = decoder_of(any_._t._d)
    return Any_(type_, any_._v if convert is None else convert(any_._v))


def _key(descriptor: Any) -> Hashable:
    """The descriptor without what cannot be hashed, which says nothing that the rest does not say."""
    if not isinstance(descriptor, tuple):
        return descriptor  # type: ignore[no-any-return]
    kind = descriptor[0]
    if kind in INDIRECT:
        meant = target(descriptor)
        return ("to", *meant[1:4:1]) if kind_of(meant) == 21 else ("to", meant[1], meant[2])
    if kind == 16:
        return (*map(_key, descriptor[:6]), tuple((label, name, _key(inner)) for label, name, inner in descriptor[6]))
    return tuple(map(_key, descriptor))


_Around = tuple[tuple[Any, list[Convert | None]], ...]


def _compile(descriptor: Any, around: _Around) -> Convert | None:
    if isinstance(descriptor, int):
        if descriptor == 26:
            raise DeadLetterError(
                "COR-WCHAR",
                "the event holds a wchar, which the ORB library misreads",
                hint="let the supplier use wstring instead",
            )
        return _BASIC.get(descriptor)
    kind = descriptor[0]
    if kind in INDIRECT:
        meant = target(descriptor)
        for outer, cell in around:
            if outer is meant:
                return lambda value: value if cell[0] is None else cell[0](value)
        return _compile(meant, around)
    own: list[Convert | None] = [None]
    own[0] = _MAKERS[kind](descriptor, (*around, (descriptor, own))) if kind in _MAKERS else None
    return own[0]


def _reference(value: Any) -> str | None:
    """Through the parser, so that the text is the same on machines of either byte order."""
    return None if value is None else stringify(parse(omniORB.orb.object_to_string(value)))


_BASIC: dict[int, Convert] = {
    8: bool,
    11: any_from_orb,
    12: lambda type_code: type_of(type_code._d),
}


def _record(descriptor: Any, around: _Around) -> Convert:
    """Struct or exception."""
    names = []
    attributes = []
    converts = []
    for index, (name, inner) in enumerate(members(descriptor)):
        names.append(member_name(name, index))
        attributes.append(name)
        converts.append(_compile(inner, around))
    read = _reader(descriptor, attributes)
    if not any(converts):
        return lambda value: dict(zip(names, read(value), strict=True))
    plan = tuple((name, convert) for name, convert in zip(names, converts, strict=True) if convert is not None)

    def convert_record(value: Any) -> dict[str, Any]:
        """All members at once, then those that need more."""
        record = dict(zip(names, read(value), strict=True))
        for name, convert in plan:
            record[name] = convert(record[name])
        return record

    return convert_record


def _reader(descriptor: Any, attributes: list[str]) -> Convert:
    """From a struct or exception to its members in order."""
    made = descriptor[1]
    if isinstance(made, type) and issubclass(made, tuple):
        return _as_it_is  # an unknown struct is the tuple of its members
    if hasattr(made, "_members"):
        return operator.attrgetter("_values")  # an unknown exception
    return lambda value: [getattr(value, attribute) for attribute in attributes]


def _as_it_is(value: Any) -> Any:
    return value


def _union(descriptor: Any, around: _Around) -> Convert:
    discriminator, default, arms = descriptor[4:7]
    spell = label_of(discriminator)
    by_label: dict[Any, Convert] = {}
    default_arm: Convert | None = None
    for index, (label, _, inner) in enumerate(arms):
        convert = _compile(inner, around) or _as_it_is
        if index == default:
            default_arm = convert
        else:
            by_label[spell(label)] = convert

    def read(value: Any) -> UnionValue:
        label = spell(value._d)
        arm = by_label.get(label, default_arm)
        return UnionValue(label, NO_ARM if arm is None else arm(value._v))

    return read


def _elements(descriptor: Any, around: _Around) -> Convert | None:
    """Sequence or array. The ORB has bytes and str only where the element itself is octet or char, not a typedef of it."""
    element = descriptor[1]
    if element == 10:
        return None
    if element == 9:
        return list
    if plain(element) == 10:
        return bytes
    convert = _compile(element, around)
    if convert is None:
        return None
    return lambda values: [convert(value) for value in values]


_EXACT = Context(prec=64)


def _fixed(descriptor: Any, _: _Around) -> Convert:
    last_digit = Decimal(1).scaleb(-descriptor[2])
    return lambda value: Decimal(str(value)).quantize(last_digit, context=_EXACT)


def _value(descriptor: Any, around: _Around) -> Convert:
    plan: list[tuple[str, str, Convert]] = []

    def add(valuetype: Any, around: _Around) -> None:
        if valuetype[6] != 0:
            base = valuetype[6]
            add(target(base) if base[0] in INDIRECT else base, around)
        for index, (name, inner) in enumerate(members(valuetype)):
            plan.append((member_name(name, index), name, _compile(inner, around) or _as_it_is))

    add(descriptor, around)

    def read(value: Any) -> dict[str, Any] | None:
        if value is None:
            return None
        return {name: convert(getattr(value, attribute)) for name, attribute, convert in plan}

    return read


def _box(descriptor: Any, around: _Around) -> Convert | None:
    convert = _compile(descriptor[4], around)
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


_MAKERS: dict[int, Callable[[Any, _Around], Convert | None]] = {
    14: lambda *_: _reference,
    15: _record,
    16: _union,
    17: lambda *_: operator.attrgetter("_n"),
    19: _elements,
    20: _elements,
    21: lambda descriptor, around: _compile(descriptor[3], around),
    22: _record,
    28: _fixed,
    29: _value,
    30: _box,
}
