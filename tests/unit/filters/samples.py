"""The IDL types and events that RULES.md 3.6 speaks of, and short ways to build events."""

from __future__ import annotations

from typing import Any

from mappings.idl_types import (
    LONG,
    SHORT,
    STRING,
    Alias,
    Array,
    Enum,
    IdlType,
    Member,
    Sequence,
    Struct,
    Union,
    UnionMember,
)
from mappings.known_types import PROPERTY, PROPERTY_SEQ
from mappings.model import NULL_ANY, Any_, Property, StructuredEvent, UnionValue, UntypedEvent


def structured(
    domain: str = "",
    type_: str = "",
    name: str = "",
    vh: tuple[Property, ...] = (),
    fd: tuple[Property, ...] = (),
    rem: Any_ = NULL_ANY,
) -> StructuredEvent:
    return StructuredEvent(domain, type_, name, vh, fd, rem)


def untyped(type_: IdlType, value: Any) -> UntypedEvent:
    return UntypedEvent(Any_(type_, value))


def struct(name: str, /, **members: IdlType) -> Struct:
    return Struct(f"IDL:{name}:1.0", name, tuple(Member(*member) for member in members.items()))


def property_seq(**values: tuple[IdlType, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": Any_(*any_)} for name, any_ in values.items()]


# Erlang's notify_test_server.idl

DATA = struct("data", score=SHORT, name=STRING)
UNI1 = Union(
    "IDL:uni1:1.0",
    "uni1",
    LONG,
    (
        UnionMember(1, "lo", LONG),
        UnionMember(2, "lo", LONG),
        UnionMember(3, "sh", SHORT),
        UnionMember(None, "defvalue", SHORT),
    ),
)
UNI2 = Union("IDL:uni2:1.0", "uni2", LONG, UNI1.members[:3])
X = struct("X", A=LONG, B=STRING, C=SHORT)
K = Union(
    "IDL:K:1.0",
    "K",
    SHORT,
    (
        UnionMember(-1, "neg", SHORT),
        UnionMember(0, "K", STRING),
        UnionMember(2, "K", STRING),
        UnionMember(3, "L", X),
        UnionMember(5, "M", LONG),
        UnionMember(None, "N", SHORT),
    ),
)
STUDIES = struct("studies", uni1=UNI1, tests=PROPERTY_SEQ, monthly_attendance=Array(SHORT, 4), gpa=SHORT)
POSSESSION = Enum("IDL:possession:1.0", "possession", ("HOUSE", "CAR", "GARAGE"))
IN = Alias("IDL:in:1.0", "in", POSSESSION)


def studies(gpa: int, midterm: int, final: int, last_month: int, uni1: UnionValue | None = None) -> UntypedEvent:
    value = {
        "uni1": uni1 or UnionValue(1, 10),
        "tests": property_seq(midterm=(SHORT, midterm), final=(SHORT, final)),
        "monthly_attendance": [0, 1, 2, last_month],
        "gpa": gpa,
    }
    return untyped(STUDIES, value)


def single_property(name: str, type_: IdlType, value: Any) -> Any_:
    return Any_(PROPERTY, {"name": name, "value": Any_(type_, value)})


# JacORB's test Notification.idl

ADDRESS = struct("Address", street=STRING, city=STRING, number=SHORT)
NAMED_VALUE = struct("NamedValue", name=STRING, value=STRING)
PROFESSION = Enum("IDL:Profession:1.0", "Profession", ("STUDENT", "MINER", "PROGRAMMER", "BEGGAR"))
PERSON = struct(
    "Person",
    first_name=STRING,
    last_name=STRING,
    age=SHORT,
    home_address=ADDRESS,
    phone_numbers=Array(STRING, 2),
    nv=Array(NAMED_VALUE, 2),
    person_profession=PROFESSION,
    aliases=Sequence(STRING),
    numbers=Sequence(LONG),
)
PERSON_VALUE = {
    "first_name": "Firstname",
    "last_name": "Lastname",
    "age": 29,
    "home_address": {"street": "Takustr.", "city": "Berlin", "number": 9},
    "phone_numbers": ["32132132", ""],
    "nv": [{"name": "priority", "value": "Very High"}, {"name": "stuff", "value": "not important"}],
    "person_profession": "STUDENT",
    "aliases": ["Alias0", "Alias1", "Alias2"],
    "numbers": [10, 20, 30, 40, 50],
}
person = untyped(PERSON, PERSON_VALUE)
TEST_UNION = Union(
    "IDL:TestUnion:1.0",
    "TestUnion",
    SHORT,
    (
        UnionMember(0, "long_", LONG),
        UnionMember(1, "long_", LONG),
        UnionMember(2, "string_", STRING),
        UnionMember(3, "named_value_", NAMED_VALUE),
        UnionMember(4, "person_", PERSON),
        UnionMember(5, "named_value_array", Array(NAMED_VALUE, 1)),
        UnionMember(None, "default_person", PERSON),
    ),
)
