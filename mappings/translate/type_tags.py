"""IDL types as short JSON, for `$se` (OC-META-1): a tag for what needs no more, else an entry of a table of types.

    boolean b     char c    wchar wc     octet o     short s        unsigned short us    long l       unsigned long ul
    long long ll  unsigned long long ull  float f    double d       long double ld       string st    wstring ws
    any any       TypeCode tc             Object ior                null null            void void
    string<32> st<32>       wstring<32> ws<32>       fixed<8,2> fixed<8,2>
    a type that is always known (mappings.known_types): its repository id
    everything else: the number of its entry in the table, an array that begins with its kind:

    ["S", id, name, member, type, …]   struct        ["X", …]  exception         ["E", id, name, label, …]      enum
    ["U", id, name, discriminator, [label, arm, type], …]  union; the default arm is [arm, type]
    ["Q", element, bound]  sequence    ["A", element, length]  array             ["T", id, name, type]         typedef
    ["O", id, name]  interface         ["B", id, name, type]   value box         ["R", id]                     recursion
    ["V", id, name, base, modifier, [member, type, visibility], …]               valuetype

An entry speaks of earlier entries only. Types that are told by id in the event's JSON form are marked by a `*` after their kind.
Depth and size are bounded both ways: nobody's message may unfold into a type that fills the memory.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from mappings.errors import MappingError
from mappings.idl_types import (
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
)
from mappings.known_types import KNOWN

MAX_DEPTH: Final = 64
MAX_NODES: Final = 10_000  # of a type written out in full

_TAGS: Final = {
    "boolean": "b", "char": "c", "wchar": "wc", "octet": "o", "short": "s", "ushort": "us", "long": "l", "ulong": "ul",
    "longlong": "ll", "ulonglong": "ull", "float": "f", "double": "d", "longdouble": "ld", "any": "any", "TypeCode": "tc",
    "Object": "ior", "null": "null", "void": "void",
}  # fmt: skip
_BASIC: Final[dict[str, IdlType]] = {tag: Basic(kind) for kind, tag in _TAGS.items()}
_BASIC["st"] = String()
_BASIC["ws"] = WString()
_PARAMETERS: Final = re.compile(r"(st|ws|fixed)<(\d{1,10})(?:,(\d{1,3}))?>")
_LETTERS: Final = {
    Struct: "S", Exception_: "X", Union: "U", Enum: "E", Sequence: "Q", Array: "A", Alias: "T", ObjRef: "O", ValueBox: "B",
    Value: "V", Recursive: "R",
}  # fmt: skip


class TooLargeType(Exception):
    """A type deeper or larger than we would read back."""


class TypeWriter:
    """Collects the table of one `$se`."""

    def __init__(self) -> None:
        self.table: list[list[Any]] = []
        self._numbers: dict[IdlType, int] = {}
        self._named: dict[int, bool] = {}
        self._nodes: list[int] = []

    def continued(self) -> TypeWriter:
        """One that goes on where this one stands, and leaves this one as it is."""
        other = TypeWriter()
        other.table = self.table[:]
        other._numbers = dict(self._numbers)
        other._named = dict(self._named)
        other._nodes = self._nodes[:]
        return other

    def tag(self, type_: IdlType) -> str | int:
        """Raises TooLargeType."""
        tag, nodes = self._tag(type_, 0)
        if nodes > MAX_NODES:
            raise TooLargeType
        return tag

    def _tag(self, type_: IdlType, depth: int) -> tuple[str | int, int]:
        match type_:
            case Basic(kind):
                return _TAGS[kind], 1
            case String(bound):
                return f"st<{bound}>" if bound else "st", 1
            case WString(bound):
                return f"ws<{bound}>" if bound else "ws", 1
            case Fixed(digits, scale):
                return f"fixed<{digits},{scale}>", 1
        if depth >= MAX_DEPTH:
            raise TooLargeType
        id_ = getattr(type_, "id", None)
        if id_ is not None and type(type_) is not Recursive and KNOWN.get(id_) == type_:
            return id_ + "*" if type_.named else id_, 1  # type: ignore[union-attr]
        number = self._numbers.get(type_)
        if number is None or self._named[number] != getattr(type_, "named", False):
            entry, nodes = self._entry(type_, depth + 1)
            if nodes > MAX_NODES:
                raise TooLargeType
            number = len(self.table)
            self.table.append(entry)
            self._nodes.append(nodes)
            self._numbers[type_] = number
            self._named[number] = getattr(type_, "named", False)
        return number, self._nodes[number]

    def _entry(self, type_: IdlType, depth: int) -> tuple[list[Any], int]:
        total = 1

        def sub(inner: IdlType) -> str | int:
            nonlocal total
            tag, nodes = self._tag(inner, depth)
            total += nodes
            return tag

        entry: list[Any] = [_LETTERS[type(type_)] + ("*" if getattr(type_, "named", False) else "")]
        match type_:
            case Sequence(element, bound):
                entry += [sub(element), bound] if bound else [sub(element)]
            case Array(element, length):
                entry += [sub(element), length]
            case Recursive(id_):
                entry.append(id_)
            case Struct() | Exception_():
                entry += [type_.id, type_.name]
                for member in type_.members:
                    entry += [member.name, sub(member.type)]
            case Union():
                entry += [type_.id, type_.name, sub(type_.discriminator)]
                for arm in type_.members:
                    label = [] if arm.label is None else [arm.label]
                    entry.append([*label, arm.name, sub(arm.type)])
            case Enum():
                entry += [type_.id, type_.name, *type_.members]
            case Alias() | ValueBox():
                entry += [type_.id, type_.name, sub(type_.type)]
            case ObjRef():
                entry += [type_.id, type_.name]
            case Value():
                base = None if type_.base is None else sub(type_.base)
                entry += [type_.id, type_.name, base, type_.modifier]
                entry += [[member.name, sub(member.type), member.visibility] for member in type_.members]
        return entry, total


class TypeReader:
    """Reads the table of one `$se`. Raises MappingError for anything that TypeWriter would not have written."""

    def __init__(self, table: object, before: TypeReader | None = None) -> None:
        self._types: list[IdlType] = [] if before is None else before._types[:]
        self._measures: list[tuple[int, int]] = [] if before is None else before._measures[:]  # depth and nodes of each
        self._depth = self._nodes = 0
        if not isinstance(table, list):
            raise bad_metadata("its types are no list")
        for entry in table:
            self._depth, self._nodes = 0, 1
            try:
                type_ = self._read(entry)
            except (TypeError, ValueError, IndexError, KeyError) as error:
                raise bad_metadata("one of its types is malformed") from error
            if self._depth >= MAX_DEPTH or self._nodes > MAX_NODES:
                raise bad_metadata("one of its types is too large")
            self._types.append(type_)
            self._measures.append((self._depth + 1, self._nodes))

    def extended(self, table: object) -> TypeReader:
        """One that knows further types too."""
        return TypeReader(table, self)

    def type(self, tag: object) -> IdlType:
        if type(tag) is int and 0 <= tag < len(self._types):
            depth, nodes = self._measures[tag]
            self._depth = max(self._depth, depth)
            self._nodes += nodes
            return self._types[tag]
        self._nodes += 1
        if isinstance(tag, str):
            if (basic := _BASIC.get(tag)) is not None:
                return basic
            if (known := KNOWN.get(tag.removesuffix("*"))) is not None:
                return _by_name(known) if tag.endswith("*") else known
            if parameters := _PARAMETERS.fullmatch(tag):
                first, second = int(parameters[2]), parameters[3]
                if parameters[1] == "fixed":
                    return Fixed(first, int(second or 0))
                return String(first) if parameters[1] == "st" else WString(first)
        raise bad_metadata(f"it has no type {str(tag)[:40]!r}")

    def _read(self, entry: list[Any]) -> IdlType:
        letter = entry[0]
        type_ = self._constructed(letter.removesuffix("*"), entry)
        return _by_name(type_) if letter.endswith("*") else type_

    def _constructed(self, letter: str, entry: list[Any]) -> IdlType:
        match letter:
            case "Q":
                return Sequence(self.type(entry[1]), _count(entry[2]) if len(entry) > 2 else 0)
            case "A":
                return Array(self.type(entry[1]), _count(entry[2]))
            case "R":
                return Recursive(_text(entry[1]))
        id_, name, rest = _text(entry[1]), _text(entry[2]), entry[3:]
        match letter:
            case "S" | "X":
                pairs = zip(rest[::2], rest[1::2], strict=True)
                members = tuple(Member(_text(member), self.type(tag)) for member, tag in pairs)
                return Struct(id_, name, members) if letter == "S" else Exception_(id_, name, members)
            case "U":
                return Union(id_, name, self.type(rest[0]), tuple(self._arm(arm) for arm in rest[1:]))
            case "E":
                return Enum(id_, name, tuple(map(_text, rest)))
            case "T":
                return Alias(id_, name, self.type(rest[0]))
            case "B":
                return ValueBox(id_, name, self.type(rest[0]))
            case "O":
                return ObjRef(id_, name)
            case "V":
                base = None if rest[0] is None else self.type(rest[0])
                own = tuple(
                    Member(_text(member), self.type(tag), _text(visibility)) for member, tag, visibility in rest[2:]
                )
                return Value(id_, name, base, own, _text(rest[1]))
        raise ValueError(letter)

    def _arm(self, arm: list[Any]) -> UnionMember:
        label = None if len(arm) == 2 else arm[0]
        if not isinstance(label, bool | int | str | None):
            raise TypeError(label)
        return UnionMember(label, _text(arm[-2]), self.type(arm[-1]))


def _by_name(type_: IdlType) -> IdlType:
    """The type as one that the JSON form spoke of by its id alone."""
    return (
        type_
        if isinstance(type_, Basic | String | WString | Fixed | Sequence | Array | Recursive)
        else replace(type_, named=True)
    )


def bad_metadata(reason: str) -> MappingError:
    return MappingError(
        "MAP-METADATA",
        f"the $se property cannot be read: {reason}",
        path="properties.$se",
        hint="it was changed on its way, or made by a newer version; without $se the message is read as a native one",
        rule="OC-META-1",
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


def _count(value: object) -> int:
    if type(value) is int and value >= 0:
        return value
    raise TypeError(value)
