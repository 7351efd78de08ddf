"""Values of every kind that an Any can hold, with their edges: what the adapter must carry, and what it must refuse."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, NamedTuple

from mappings import idl_types as idl
from mappings.cdr.references import Reference, stringify
from mappings.known_types import EVENT_TYPE, KNOWN, PROPERTY_SEQ, STRUCTURED_EVENT, UTC_T
from mappings.model import NO_ARM, NULL_ANY, Any_, UnionValue

M, U = idl.Member, idl.UnionMember


def struct(name: str, **members: idl.IdlType) -> idl.Struct:
    return idl.Struct(f"IDL:Corpus/{name}:1.0", name, tuple(M(*each) for each in members.items()))


POINT: Final = struct("Point", x=idl.LONG, y=idl.DOUBLE)
COLOUR: Final = idl.Enum("IDL:Corpus/Colour:1.0", "Colour", ("red", "green", "blue"))
BY_COLOUR: Final = idl.Union(
    "IDL:Corpus/ByColour:1.0", "ByColour", COLOUR, (U("red", "n", idl.LONG), U("green", "s", idl.STRING), U(None, "p", POINT))
)  # fmt: skip
BY_LONG: Final = idl.Union(
    "IDL:Corpus/ByLong:1.0", "ByLong", idl.LONG, (U(1, "a", idl.LONG), U(-4, "a", idl.LONG), U(9, "b", idl.STRING))
)  # fmt: skip
BY_BOOLEAN: Final = idl.Union(
    "IDL:Corpus/ByBoolean:1.0", "ByBoolean", idl.BOOLEAN, (U(True, "t", idl.ANY), U(False, "f", idl.Sequence(POINT)))
)
BY_CHAR: Final = idl.Union(
    "IDL:Corpus/ByChar:1.0", "ByChar", idl.CHAR, (U("x", "x", idl.OCTET), U(None, "z", idl.SHORT))
)
BY_HUGE: Final = idl.Union(
    "IDL:Corpus/ByHuge:1.0", "ByHuge", idl.LONGLONG, (U(-(2**63), "least", idl.LONG), U(0, "o", idl.LONG))
)
NODE: Final = struct("Node", label=idl.STRING, children=idl.Sequence(idl.Recursive("IDL:Corpus/Node:1.0")))
EXPRESSION: Final = idl.Union(
    "IDL:Corpus/Expr:1.0", "Expr", idl.LONG,
    (U(0, "number", idl.LONG), U(1, "parts", idl.Sequence(idl.Recursive("IDL:Corpus/Expr:1.0")))),
)  # fmt: skip
BASE: Final = idl.Value("IDL:Corpus/Base:1.0", "Base", None, (M("a", idl.LONG), M("s", idl.STRING, "private")))
DERIVED: Final = idl.Value("IDL:Corpus/Derived:1.0", "Derived", BASE, (M("b", idl.Sequence(POINT)),), "truncatable")
LINKED: Final = idl.Value(
    "IDL:Corpus/Linked:1.0", "Linked", None, (M("n", idl.LONG), M("next", idl.Recursive("IDL:Corpus/Linked:1.0")))
)
FAULT: Final = idl.Exception_("IDL:Corpus/Fault:1.0", "Fault", (M("colour", COLOUR), M("why", idl.STRING)))
PRICE: Final = idl.Alias("IDL:Corpus/Price:1.0", "Price", idl.Fixed(5, 2))
DEEP_ALIAS: Final = idl.Alias(
    "IDL:Corpus/Outer:1.0", "Outer", idl.Alias("IDL:Corpus/Inner:1.0", "Inner", idl.Sequence(PRICE, 4))
)
GRID: Final = idl.Alias("IDL:Corpus/Grid:1.0", "Grid", idl.Array(idl.Array(idl.LONG, 3), 2))
MIXED: Final = struct(
    "Mixed", b=idl.BOOLEAN, o=idl.OCTET, c=idl.CHAR, s=idl.SHORT, us=idl.USHORT, n=idl.LONG, un=idl.ULONG, ll=idl.LONGLONG,
    ull=idl.ULONGLONG, f=idl.FLOAT, d=idl.DOUBLE, t=idl.STRING, w=idl.WSTRING, e=COLOUR, u=BY_COLOUR, p=POINT, g=GRID, x=idl.ANY,
    q=idl.Sequence(idl.Sequence(idl.STRING)), fx=PRICE, r=idl.OBJECT,
)  # fmt: skip
KEYWORDS: Final = struct("Keywords", **dict.fromkeys(("class", "def", "None", "print", "self"), idl.LONG))
_IIOP: Final = b"\0\1\2\0" + b"\0\0\0\5host\0\0" + b"\x30\x39" + b"\0\0\0\3key\0" + b"\0\0\0\0"
IOR: Final = stringify(Reference(b"IDL:Corpus/Thing:1.0", ((0, _IIOP),)))

INTEGERS: Final = {
    idl.OCTET: (0, 255), idl.SHORT: (-(2**15), 2**15 - 1), idl.USHORT: (0, 2**16 - 1), idl.LONG: (-(2**31), 2**31 - 1),
    idl.ULONG: (0, 2**32 - 1), idl.LONGLONG: (-(2**63), 2**63 - 1), idl.ULONGLONG: (0, 2**63, 2**64 - 1),
}  # fmt: skip


def nested(value: Any_, layers: int) -> Any_:
    for _ in range(layers):
        value = Any_(idl.ANY, value)
    return value


def branch(depth: int) -> dict[str, Any]:
    return {"label": f"d{depth}", "children": [branch(depth - 1)] * 2 if depth else []}


def chain(length: int) -> dict[str, Any] | None:
    return {"n": length, "next": chain(length - 1)} if length else None


MIXED_VALUE: Final = {
    "b": True, "o": 255, "c": "\xff", "s": -1, "us": 1, "n": -1, "un": 1, "ll": -1, "ull": 2**64 - 1, "f": 0.5, "d": 0.1,
    "t": "ä€😀", "w": "ä€😀", "e": "blue", "u": UnionValue("blue", {"x": 1, "y": 2.5}),
    "p": {"x": 0, "y": -0.0}, "g": [[1, 2, 3], [4, 5, 6]],
    "x": Any_(idl.SHORT, 3), "q": [[], ["", "a"], []], "fx": Decimal("-123.45"), "r": None,
}  # fmt: skip

CARRIED: Final[dict[str, Any_]] = {
    "null": NULL_ANY,
    "void": Any_(idl.VOID, None),
    **{f"{type_.kind} {value}": Any_(type_, value) for type_, values in INTEGERS.items() for value in values},
    "boolean true": Any_(idl.BOOLEAN, True),
    "boolean false": Any_(idl.BOOLEAN, False),
    "char": Any_(idl.CHAR, "x"),
    "char nul": Any_(idl.CHAR, "\0"),
    "char beyond ascii": Any_(idl.CHAR, "\xe9"),
    "float": Any_(idl.FLOAT, 0.5),
    "float largest": Any_(idl.FLOAT, 3.4028234663852886e38),
    "float least": Any_(idl.FLOAT, 1.401298464324817e-45),
    "float infinity": Any_(idl.FLOAT, float("inf")),
    "double": Any_(idl.DOUBLE, 0.1),
    "double largest": Any_(idl.DOUBLE, 1.7976931348623157e308),
    "double least": Any_(idl.DOUBLE, 5e-324),
    "double minus zero": Any_(idl.DOUBLE, -0.0),
    "double minus infinity": Any_(idl.DOUBLE, float("-inf")),
    "string": Any_(idl.STRING, "text"),
    "string empty": Any_(idl.STRING, ""),
    "string beyond latin 1": Any_(idl.STRING, "Zürich → 東京 😀"),
    "string bounded, full": Any_(idl.String(4), "four"),
    "wstring": Any_(idl.WSTRING, "wide"),
    "wstring empty": Any_(idl.WSTRING, ""),
    "wstring beyond the basic plane": Any_(idl.WSTRING, "東京 😀"),
    "wstring bounded": Any_(idl.WString(8), "東京"),
    "fixed": Any_(idl.Fixed(5, 2), Decimal("123.45")),
    "fixed with zeros": Any_(idl.Fixed(5, 2), Decimal("0.50")),
    "fixed negative": Any_(idl.Fixed(31, 0), Decimal("-" + "9" * 31)),
    "fixed all behind the point": Any_(idl.Fixed(3, 3), Decimal("0.007")),
    "enum first": Any_(COLOUR, "red"),
    "enum last": Any_(COLOUR, "blue"),
    "struct": Any_(POINT, {"x": -1, "y": 2.5}),
    "struct with everything": Any_(MIXED, MIXED_VALUE),
    "struct without members": Any_(struct("Empty"), {}),
    "struct with keywords": Any_(KEYWORDS, {name: n for n, name in enumerate(("class", "def", "None", "print", "self"))}),
    "struct without a name": Any_(idl.Struct("IDL:Corpus/Nameless:1.0", "", (M("a", idl.LONG),)), {"a": 1}),
    "struct recursive": Any_(NODE, branch(5)),
    "struct of structs": Any_(struct("Pair", one=POINT, other=struct("Wrap", inner=POINT)),
                              {"one": {"x": 1, "y": 1.0}, "other": {"inner": {"x": 2, "y": 2.0}}}),
    "exception": Any_(FAULT, {"colour": "green", "why": "because"}),
    "exception without members": Any_(idl.Exception_("IDL:Corpus/Nothing:1.0", "Nothing", ()), {}),
    "union first arm": Any_(BY_COLOUR, UnionValue("red", -7)),
    "union default arm": Any_(BY_COLOUR, UnionValue("blue", {"x": 1, "y": 1.0})),
    "union second label": Any_(BY_LONG, UnionValue(-4, 5)),
    "union no arm": Any_(BY_LONG, UnionValue(100, NO_ARM)),
    "union by boolean": Any_(BY_BOOLEAN, UnionValue(True, Any_(POINT, {"x": 1, "y": 0.0}))),
    "union by boolean, empty": Any_(BY_BOOLEAN, UnionValue(False, [])),
    "union by char": Any_(BY_CHAR, UnionValue("x", 255)),
    "union by char, default": Any_(BY_CHAR, UnionValue("\xff", -1)),
    "union by long long": Any_(BY_HUGE, UnionValue(-(2**63), 1)),
    "union recursive": Any_(EXPRESSION, UnionValue(1, [UnionValue(0, 4), UnionValue(1, [UnionValue(0, 5)]), UnionValue(1, [])])),
    "sequence empty": Any_(idl.Sequence(idl.LONG), []),
    "sequence of long": Any_(idl.Sequence(idl.LONG), [-1, 0, 1]),
    "sequence of octet": Any_(idl.Sequence(idl.OCTET), bytes(range(256))),
    "sequence of octet, empty": Any_(idl.Sequence(idl.OCTET), b""),
    "sequence of char": Any_(idl.Sequence(idl.CHAR), ["a", "\xff"]),
    "sequence of boolean": Any_(idl.Sequence(idl.BOOLEAN), [True, False]),
    "sequence of string": Any_(idl.Sequence(idl.STRING), ["", "a", "ß"]),
    "sequence of sequence": Any_(idl.Sequence(idl.Sequence(idl.SHORT)), [[], [1], [1, 2]]),
    "sequence of struct": Any_(idl.Sequence(POINT), [{"x": n, "y": n / 2} for n in range(5)]),
    "sequence of any": Any_(idl.Sequence(idl.ANY), [NULL_ANY, Any_(idl.LONG, 1), Any_(idl.STRING, "s"), Any_(COLOUR, "red")]),
    "sequence of union": Any_(idl.Sequence(BY_LONG), [UnionValue(1, 2), UnionValue(9, "nine"), UnionValue(0, NO_ARM)]),
    "sequence of unsigned long long": Any_(idl.Sequence(idl.ULONGLONG), [0, 2**63 - 1]),
    "sequence bounded, full": Any_(idl.Sequence(idl.LONG, 2), [1, 2]),
    "array": Any_(idl.Array(idl.LONG, 3), [1, 2, 3]),
    "array of array": Any_(GRID, [[1, 2, 3], [4, 5, 6]]),
    "array of octet": Any_(idl.Array(idl.OCTET, 4), b"\0\1\2\xff"),
    "array of string": Any_(idl.Array(idl.STRING, 2), ["", "x"]),
    "array of struct": Any_(idl.Array(POINT, 2), [{"x": 1, "y": 1.0}, {"x": 2, "y": 2.0}]),
    "alias": Any_(PRICE, Decimal("1.00")),
    "alias of alias": Any_(DEEP_ALIAS, [Decimal("0.01"), Decimal("-999.99")]),
    "any in any": nested(Any_(idl.LONG, 1), 1),
    "any nested 20 times": nested(Any_(POINT, {"x": 1, "y": 0.0}), 20),
    "object nil": Any_(idl.OBJECT, None),
    "object": Any_(idl.OBJECT, IOR),
    "object of an interface": Any_(idl.ObjRef("IDL:Corpus/Thing:1.0", "Thing"), IOR),
    "object of an interface, nil": Any_(idl.ObjRef("IDL:Corpus/Thing:1.0", "Thing"), None),
    "type code": Any_(idl.TYPECODE, idl.LONG),
    "type code of a struct": Any_(idl.TYPECODE, MIXED),
    "type code recursive": Any_(idl.TYPECODE, NODE),
    "valuetype": Any_(BASE, {"a": 1, "s": "private"}),
    "valuetype nil": Any_(BASE, None),
    "valuetype derived": Any_(DERIVED, {"a": 1, "s": "s", "b": [{"x": 1, "y": 1.0}]}),
    "valuetype that links to another": Any_(LINKED, chain(6)),
    "value box of string": Any_(KNOWN["IDL:omg.org/CORBA/StringValue:1.0"], "boxed"),
    "value box of wstring": Any_(KNOWN["IDL:omg.org/CORBA/WStringValue:1.0"], "東京"),
    "value box nil": Any_(KNOWN["IDL:omg.org/CORBA/StringValue:1.0"], None),
    "known struct": Any_(UTC_T, {"time": 2**60, "inacclo": 0, "inacchi": 0, "tdf": -60}),
    "known alias": Any_(PROPERTY_SEQ, [{"name": "n", "value": Any_(idl.LONG, 1)}]),
    "known event type": Any_(EVENT_TYPE, {"domain_name": "d", "type_name": "t"}),
    "structured event": Any_(STRUCTURED_EVENT, {
        "header": {
            "fixed_header": {"event_type": {"domain_name": "d", "type_name": "t"}, "event_name": "e"}, "variable_header": []
        },
        "filterable_data": [{"name": "n", "value": Any_(POINT, {"x": 1, "y": 1.0})}],
        "remainder_of_body": Any_(NODE, branch(1)),
    }),
    "1 MB of octets": Any_(idl.Sequence(idl.OCTET), bytes(range(256)) * 4096),
    "1 MB of text": Any_(idl.STRING, "0123456789abcdef" * 65536),
    "100 000 numbers": Any_(idl.Sequence(idl.DOUBLE), [n / 7 for n in range(100_000)]),
    "10 000 structs": Any_(idl.Sequence(POINT), [{"x": n, "y": float(n)} for n in range(10_000)]),
    "struct of 300 members": Any_(
        struct("Wide", **{f"m{n}": idl.LONG for n in range(300)}), {f"m{n}": n for n in range(300)}
    ),
}  # fmt: skip


class Refused(NamedTuple):
    value: Any_
    code: str


REFUSED: Final[dict[str, Refused]] = {
    "long double": Refused(Any_(idl.LONGDOUBLE, 0.1), "COR-LONGDOUBLE"),
    "long double in a struct": Refused(Any_(struct("Long", d=idl.LONGDOUBLE), {"d": 0.1}), "COR-LONGDOUBLE"),
    "sequence of unsigned long long from 2^63": Refused(Any_(idl.Sequence(idl.ULONGLONG), [1, 2**63]), "COR-VALUE"),
    "array of unsigned long long from 2^63": Refused(Any_(idl.Array(idl.ULONGLONG, 1), [2**64 - 1]), "COR-VALUE"),
    "union with its default arm first": Refused(
        Any_(
            idl.Union("IDL:Corpus/First:1.0", "First", idl.LONG, (U(None, "d", idl.LONG), U(1, "a", idl.STRING))),
            UnionValue(2, 3),
        ),
        "COR-TYPE",
    ),
    "empty exception in a valuetype": Refused(
        Any_(
            idl.Value("IDL:Corpus/V:1.0", "V", None, (M("e", idl.Exception_("IDL:Corpus/E:1.0", "E", ())),)), {"e": {}}
        ),
        "COR-TYPE",
    ),
    "struct without a repository id": Refused(Any_(idl.Struct("", "S", (M("a", idl.LONG),)), {"a": 1}), "COR-TYPE"),
    "string with a nul": Refused(Any_(idl.STRING, "a\0b"), "COR-MARSHAL"),
    "string longer than its bound": Refused(Any_(idl.String(3), "four"), "COR-MARSHAL"),
    "sequence longer than its bound": Refused(Any_(idl.Sequence(idl.LONG, 1), [1, 2]), "COR-MARSHAL"),
    "array of another length": Refused(Any_(idl.Array(idl.LONG, 2), [1]), "COR-MARSHAL"),
    "number beyond its type": Refused(Any_(idl.SHORT, 2**15), "COR-MARSHAL"),
    "text where a number belongs": Refused(Any_(idl.LONG, "seven"), "COR-MARSHAL"),
    "unknown label": Refused(Any_(COLOUR, "mauve"), "COR-VALUE"),
    "struct that lacks a member": Refused(Any_(POINT, {"x": 1}), "COR-VALUE"),
    "object reference that is none": Refused(Any_(idl.OBJECT, "IOR:00"), "COR-VALUE"),
    "half of a surrogate pair": Refused(Any_(idl.WSTRING, "\ud800"), "COR-MARSHAL"),
}
