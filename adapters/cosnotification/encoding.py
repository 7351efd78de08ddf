"""From values of the model to values of the ORB, by type. The reverse of `decoding`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from adapters.base import DeadLetterError
from adapters.cosnotification.descriptors import INDIRECT, descriptor_of, kind_of, members, sent_name, target, type_code
from adapters.cosnotification.stubs import CORBA, omniORB
from mappings.idl_types import IdlType
from mappings.model import NO_ARM, Any_

KEPT_ENCODERS = 4096

Convert = Callable[[Any], Any]


class Encoder(NamedTuple):
    type: IdlType  # kept, so that its id() stays its own
    type_code: Any
    convert: Convert | None


_encoders: dict[int, Encoder] = {}  # by id(): hashing a type costs more than converting most values


def encoder_of(type_: IdlType) -> Encoder:
    """Raises DeadLetterError for what cannot be carried."""
    found = _encoders.get(id(type_))
    if found is None:
        descriptor = descriptor_of(type_)
        found = Encoder(type_, type_code(descriptor), _compile(descriptor, ()))
        if len(_encoders) >= KEPT_ENCODERS:
            _encoders.clear()
        _encoders[id(type_)] = found
    return found


def any_to_orb(any_: Any_) -> Any:
    return property_to_orb(any_.type, any_.value)


def property_to_orb(type_: IdlType, value: Any) -> Any:
    """A type and a value as a CORBA.Any."""
    _, code, convert = _encoders.get(id(type_)) or encoder_of(type_)
    return CORBA.Any(code, value if convert is None else convert(value))


_Around = tuple[tuple[Any, list[Convert | None]], ...]


def _compile(descriptor: Any, around: _Around) -> Convert | None:
    if isinstance(descriptor, int):
        if descriptor == 25:
            raise DeadLetterError("COR-LONGDOUBLE", "the ORB library cannot send a long double")
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


def _as_it_is(value: Any) -> Any:
    return value


def _reference(value: str | None) -> Any:
    return None if value is None else omniORB.orb.string_to_object(value)


_BASIC: dict[int, Convert] = {
    11: any_to_orb,
    12: lambda type_: type_code(descriptor_of(type_)),
}


def _record(descriptor: Any, around: _Around) -> Convert:
    """Struct or exception."""
    made = descriptor[1]
    plan = tuple((sent_name(name), _compile(inner, around) or _as_it_is) for name, inner in members(descriptor))
    return lambda value: made(*[convert(value[name]) for name, convert in plan])


def _union(descriptor: Any, around: _Around) -> Convert:
    made = descriptor[1]
    discriminator, default, arms = descriptor[4:7]
    label_to_orb = _compile(discriminator, ()) or _as_it_is
    by_label: dict[Any, Convert] = {}
    default_arm: Convert = _as_it_is
    for index, (label, _, inner) in enumerate(arms):
        convert = _compile(inner, around) or _as_it_is
        if index == default:
            default_arm = convert
        else:
            by_label[label] = convert

    def write(value: Any) -> Any:
        label = label_to_orb(value.d)
        return made(label, None if value.v is NO_ARM else by_label.get(label, default_arm)(value.v))

    return write


def _enum(descriptor: Any, _: _Around) -> Convert:
    return {item._n: item for item in descriptor[3]}.__getitem__


def _elements(descriptor: Any, around: _Around) -> Convert | None:
    element = descriptor[1]
    if element == 10:
        return None
    if element == 9:
        return "".join
    if element == 24:
        return _without_the_largest
    plain = element
    while kind_of(plain) == 21:
        plain = plain[3]
    if plain == 10:
        return list
    convert = _compile(element, around)
    if convert is None:
        return None
    return lambda values: [convert(value) for value in values]


def _without_the_largest(values: list[int]) -> list[int]:
    """The library sends another number than this, and no error, for the upper half of unsigned long long in a sequence or array."""
    if values and max(values) >= 2**63:
        raise DeadLetterError(
            "COR-VALUE", "the ORB library cannot send a sequence of unsigned long long of 2**63 or more"
        )
    return values


def _fixed(descriptor: Any, _: _Around) -> Convert:
    digits, scale = descriptor[1:3]

    def write(value: Decimal) -> Any:
        return omniORB.fixed(digits, scale, format(value, "f"))

    return write


def _value(descriptor: Any, around: _Around) -> Convert:
    made = descriptor[1]
    plan: list[tuple[str, str, Convert]] = []

    def add(valuetype: Any) -> None:
        if valuetype[6] != 0:
            add(valuetype[6])
        for name, inner in members(valuetype):
            plan.append((name, sent_name(name), _compile(inner, around) or _as_it_is))

    add(descriptor)

    def write(value: Any) -> Any:
        if value is None:
            return None
        instance = made()
        for attribute, name, convert in plan:
            setattr(instance, attribute, convert(value[name]))
        return instance

    return write


def _box(descriptor: Any, around: _Around) -> Convert | None:
    convert = _compile(descriptor[4], around)
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


_MAKERS: dict[int, Callable[[Any, _Around], Convert | None]] = {
    14: lambda *_: _reference,
    15: _record,
    16: _union,
    17: _enum,
    19: _elements,
    20: _elements,
    21: lambda descriptor, around: _compile(descriptor[3], around),
    22: _record,
    28: _fixed,
    29: _value,
    30: _box,
}
