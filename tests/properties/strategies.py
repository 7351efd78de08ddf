"""Hypothesis strategies for the canonical model: IDL types, values that fit them, properties, events, messages.

Every value is one that CORBA can carry (no NUL and no surrogates in text, a `float` that fits in 32 bits, and so on), and
that survives a round trip exactly. Types are closed: a `Recursive` always stands inside the type that it names, below a
sequence or a valuetype's member, so that finite values exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

from hypothesis import strategies as st

from mappings.idl_types import (
    BASIC_KINDS,
    Alias,
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Member,
    ObjRef,
    Recursive,
    Sequence,
    String,
    Struct,
    Union,
    UnionMember,
    Value,
    ValueBox,
    WString,
    unalias,
)  # fmt: skip
from mappings.model import (
    BODY_TYPES,
    ELEMENT_TYPES,
    NO_ARM,
    PROPERTY_TYPES,
    Any_,
    Body,
    Headers,
    Message,
    MessageProperty,
    Property,
    StreamElement,
    StructuredEvent,
    TypedEvent,
    UnionValue,
    UntypedEvent,
)  # fmt: skip

INTEGER_RANGES: Mapping[str, tuple[int, int]] = {
    "octet": (0, 2**8 - 1),
    "short": (-(2**15), 2**15 - 1),
    "ushort": (0, 2**16 - 1),
    "long": (-(2**31), 2**31 - 1),
    "ulong": (0, 2**32 - 1),
    "longlong": (-(2**63), 2**63 - 1),
    "ulonglong": (0, 2**64 - 1),
}

# A real object reference: type id "IDL:X:1.0", one IIOP profile. It is spelt as omniORB spells it, little-endian: a reference
# that has been through CDR comes back in that spelling.
SAMPLE_IOR = (
    "IOR:010000000a00000049444c3a583a312e30000000010000000000000024000000000102000000000a"
    "3132372e302e302e310015b3000000086f626a656374696400000000"
)

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
identifiers = st.sampled_from([a + b for a in ("a", "Bc", "x_1", "Severity", "d") for b in ("", "2", "Z", "_t")])
repository_ids = identifiers.map(lambda name: f"IDL:Test/{name}:1.0")
chars = st.characters(max_codepoint=0xFF)
wide_chars = st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])

basic_types = st.sampled_from([Basic(kind) for kind in BASIC_KINDS])
string_types = st.builds(String, st.sampled_from([0, 0, 1, 32]))
wide_string_types = st.builds(WString, st.sampled_from([0, 0, 1, 32]))
fixed_types = st.integers(1, 31).flatmap(lambda digits: st.builds(Fixed, st.just(digits), st.integers(0, digits)))
enum_types = st.builds(
    Enum, repository_ids, identifiers, st.lists(identifiers, min_size=1, max_size=5, unique=True).map(tuple)
)
object_types = st.builds(ObjRef, repository_ids, identifiers)
leaf_types = st.one_of(
    basic_types, string_types, wide_string_types, fixed_types, enum_types, object_types
)  # each at most one level deep


def _members(types: st.SearchStrategy[IdlType], min_size: int = 0) -> st.SearchStrategy[tuple[Member, ...]]:
    lists = st.lists(st.builds(Member, identifiers, types), min_size=min_size, max_size=4, unique_by=lambda m: m.name)
    return lists.map(tuple)


@st.composite
def union_types(draw: st.DrawFn, arms: st.SearchStrategy[IdlType]) -> Union:
    discriminator = draw(
        st.sampled_from(
            [Basic(kind) for kind in ("boolean", "char", "short", "ushort", "long", "ulong", "longlong", "ulonglong")]
        )
        | enum_types
    )
    names = draw(st.lists(identifiers, min_size=1, max_size=3, unique=True))
    labels = iter(draw(st.lists(values(discriminator), min_size=1, max_size=6, unique=True)))
    members = []
    for name in names:
        type_ = draw(arms)
        members += [UnionMember(label, name, type_) for label in islice(labels, draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        members.insert(draw(st.integers(0, len(members))), UnionMember(None, "otherwise", draw(arms)))
    return Union(draw(repository_ids), draw(identifiers), discriminator, tuple(members))


@st.composite
def recursive_structs(draw: st.DrawFn, members: st.SearchStrategy[IdlType]) -> Struct:
    struct = draw(st.builds(Struct, repository_ids, identifiers, _members(members)))
    children = Member("children_", Sequence(Recursive(struct.id)))
    return Struct(struct.id, struct.name, (*struct.members, children))


@st.composite
def value_types(draw: st.DrawFn, members: st.SearchStrategy[IdlType]) -> Value:
    """A valuetype, half of the time with a base whose member names differ from its own, or with itself as a member; so its base."""
    id_ = draw(repository_ids)
    own = [
        Member(member.name, member.type, draw(st.sampled_from(["public", "private"])))
        for member in draw(_members(members))
    ]
    base = None
    modifier = "none"
    if draw(st.booleans()):
        base_id = draw(repository_ids.filter(lambda other: other != id_))
        inherited = [Member(f"base_{member.name}", member.type) for member in draw(_members(members))]
        if draw(st.booleans()):
            inherited.append(Member("base_next_", Recursive(base_id)))
        base = Value(base_id, "Base", None, tuple(inherited))
        modifier = draw(st.sampled_from(["none", "truncatable"]))
    if draw(st.booleans()):
        own.append(Member("next_", Recursive(id_)))
    return Value(id_, draw(identifiers), base, tuple(own), modifier)


def _constructed(inner: st.SearchStrategy[IdlType]) -> st.SearchStrategy[IdlType]:
    return st.one_of(
        st.builds(Struct, repository_ids, identifiers, _members(inner)),
        st.builds(Exception_, repository_ids, identifiers, _members(inner)),
        union_types(inner),
        st.builds(Sequence, inner, st.sampled_from([0, 0, 4])),
        st.builds(Array, inner, st.integers(1, 3)),
        st.builds(Alias, repository_ids, identifiers, inner),
        st.builds(ValueBox, repository_ids, identifiers, inner.filter(lambda type_: not _is_value(type_))),
        value_types(inner),
        recursive_structs(inner),
    )


def _is_value(type_: IdlType) -> bool:
    return isinstance(unalias(type_), Value | ValueBox | Recursive)  # a box of a value is no IDL


idl_types: st.SearchStrategy[IdlType] = st.recursive(leaf_types, _constructed, max_leaves=5)
"""Any closed IDL type, of every kind."""


@st.composite
def values(draw: st.DrawFn, type_: IdlType) -> Any:
    """A Python value that fits the type, as `mappings.idl_types` describes it."""
    return _draw_value(draw, type_, {}, 0)


def _draw_value(draw: st.DrawFn, type_: IdlType, enclosing: Mapping[str, IdlType], depth: int) -> Any:
    """Draws as it walks the type: composing a strategy for each type would take most of the tests' time."""
    while isinstance(type_, Alias | Recursive):
        if isinstance(type_, Alias):
            enclosing = {**enclosing, type_.id: type_}
            type_ = type_.type
        else:
            type_ = enclosing[type_.id]
    if hasattr(type_, "id"):
        enclosing = {**enclosing, type_.id: type_}
    deep = depth > 3

    def inner(sub: IdlType) -> Any:
        return _draw_value(draw, sub, enclosing, depth + 1)

    match type_:
        case Basic("any"):
            return draw(anys) if depth < 2 else Any_(Basic("long"), 7)
        case Basic(kind):
            return draw(_BASIC_VALUES[kind])
        case String(bound):  # a bound counts octets
            return draw(text).encode()[: bound or None].decode(errors="ignore")
        case WString(bound):  # and here characters
            return draw(text)[: bound or None]
        case Fixed(digits, scale):
            number = draw(st.integers(0, 10**digits - 1))
            sign = int(number != 0 and draw(st.booleans()))
            return Decimal((sign, tuple(map(int, str(number))), -scale))  # exact, whatever the decimal context
        case Enum():
            return draw(st.sampled_from(type_.members))
        case Struct() | Exception_():
            return {member.name: inner(member.type) for member in type_.members}
        case Union():
            label, arm = draw(st.sampled_from(_choices(type_)))
            return UnionValue(label, inner(arm.type) if arm else NO_ARM)
        case Sequence(element, bound):
            size = 0 if deep else draw(st.integers(0, min(bound or 3, 3)))
            return _draw_elements(draw, inner, element, size)
        case Array(element, length):
            return _draw_elements(draw, inner, element, length)
        case ObjRef():
            return draw(_BASIC_VALUES["Object"])
        case ValueBox():
            return inner(type_.type) if draw(st.booleans()) else None
        case Value():
            if deep or draw(st.booleans()):
                return None
            value: dict[str, Any] = {}
            for level in (type_.base, type_):
                if isinstance(level, Value):
                    around = {**enclosing, level.id: level}
                    for member in level.members:
                        value[member.name] = _draw_value(draw, member.type, around, depth + 1)
            return value
    raise AssertionError(type_)


def _draw_elements(draw: st.DrawFn, inner: Callable[[IdlType], Any], element: IdlType, size: int) -> Any:
    if unalias(element) == Basic("octet"):
        return draw(st.binary(min_size=size, max_size=size))
    return [inner(element) for _ in range(size)]


def _choices(type_: Union) -> list[tuple[Any, UnionMember | None]]:
    """Discriminators with the arm that each selects (None: no arm): every label, and some that are not labels."""
    arms = {member.label: member for member in type_.members}
    default = arms.pop(None, None)
    discriminator = type_.discriminator
    some = (
        discriminator.members if isinstance(discriminator, Enum) else _SOME_LABELS.get(discriminator.kind, (0, 1, 17))
    )
    return [*arms.items(), *((label, default) for label in some if label not in arms)]


_SOME_LABELS: Mapping[str, tuple[Any, ...]] = {"boolean": (False, True), "char": ("a", "\xff")}

_BASIC_VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    **{kind: st.integers(low, high) | st.sampled_from([low, high]) for kind, (low, high) in INTEGER_RANGES.items()},
    "null": st.none(),
    "void": st.none(),
    "boolean": st.booleans(),
    "char": chars,
    "wchar": wide_chars,
    "float": st.floats(width=32, allow_nan=False),  # NaN is unequal to itself: tests name it
    "double": st.floats(allow_nan=False),
    "longdouble": st.floats(allow_nan=False),
    "TypeCode": idl_types,
    "Object": st.sampled_from([None, SAMPLE_IOR]),
}

anys: st.SearchStrategy[Any_] = idl_types.flatmap(lambda type_: st.builds(Any_, st.just(type_), values(type_)))
"""An any of any type."""

properties: st.SearchStrategy[Property] = st.builds(
    lambda name, any_: Property(name, any_.type, any_.value), text, anys
)
"""A field of a StructuredEvent: any name (also empty, also repeated), any value."""

structured_events: st.SearchStrategy[StructuredEvent] = st.builds(
    StructuredEvent,
    text,
    text,
    text,
    st.lists(properties, max_size=2).map(tuple),
    st.lists(properties, max_size=3).map(tuple),
    anys,
)

untyped_events = st.builds(UntypedEvent, anys)
typed_events = st.builds(TypedEvent, repository_ids, identifiers, st.lists(properties, max_size=3).map(tuple))
events = structured_events | untyped_events | typed_events


# Messages -----------------------------------------------------------------------------------------------------------------

java_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)  # NUL included: Java has no quarrel with it
_message_values: Mapping[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "byte": st.integers(-(2**7), 2**7 - 1),
    "short": st.integers(-(2**15), 2**15 - 1),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "String": java_text,
    "char": wide_chars,
    "bytes": st.binary(max_size=12),
}


def _typed(types: tuple[str, ...], build: Any, *names: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.sampled_from(types).flatmap(
        lambda type_: st.builds(build, *names, st.just(type_), _message_values[type_])
    )


message_properties: st.SearchStrategy[MessageProperty] = _typed(PROPERTY_TYPES, MessageProperty, java_text)
map_elements: st.SearchStrategy[MessageProperty] = _typed(ELEMENT_TYPES, MessageProperty, java_text)
stream_elements: st.SearchStrategy[StreamElement] = _typed(ELEMENT_TYPES, StreamElement)

_body_values: Mapping[str, st.SearchStrategy[Any]] = {
    "Message": st.none(),
    "TextMessage": st.none() | java_text,
    "BytesMessage": st.binary(max_size=20),
    "ObjectMessage": st.binary(max_size=20),
    "StreamMessage": st.lists(stream_elements, max_size=4).map(tuple),
    "MapMessage": st.lists(map_elements, max_size=4).map(tuple),
}
bodies = st.sampled_from(BODY_TYPES).flatmap(lambda type_: st.builds(Body, st.just(type_), _body_values[type_]))

_instants = st.none() | st.integers(0, 2**53)
headers = st.builds(
    Headers,
    JMSType=st.none() | java_text,
    JMSDeliveryMode=st.sampled_from(["PERSISTENT", "NON_PERSISTENT"]),
    JMSPriority=st.integers(0, 9),
    JMSTimeToLive=st.integers(0, 2**53),
    JMSMessageID=st.none() | java_text.map("ID:{}".format),
    JMSTimestamp=_instants,
    JMSExpiration=_instants,
    JMSDestination=st.none() | identifiers.map("topic://{}".format),
    JMSCorrelationID=st.none() | java_text,
    JMSReplyTo=st.none() | identifiers.map("queue://{}".format),
    JMSRedelivered=st.none() | st.booleans(),
)
messages: st.SearchStrategy[Message] = st.builds(
    Message, headers, st.lists(message_properties, max_size=4).map(tuple), bodies
)
