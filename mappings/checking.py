"""Whether a Python value fits its IDL type, and if not, where (`mappings.idl_types` says how values look).

Adapters hand over values that fit; the JSON forms, the rules of a configuration and messages from outside may not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, Final, TypeAlias

from mappings.errors import MappingError
from mappings.fixed_point import fits
from mappings.idl_types import (
    Array,
    Basic,
    Enum,
    Exception_,
    Fixed,
    IdlType,
    Sequence,
    String,
    Struct,
    Union,
    Value,
    ValueBox,
    WString,
    unalias,
)
from mappings.limits import MAX_DEPTH, too_deep
from mappings.model import NO_ARM, Any_, UnionValue
from mappings.type_compiler import Arms, Cell, Fields, TypeCompiler, height, is_octets

Check: TypeAlias = Callable[[Any, int], None]
"""Takes a value and its depth; raises MappingError with the path from this value downwards."""

INTEGER_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "octet": (0, 2**8 - 1),
    "short": (-(2**15), 2**15 - 1),
    "ushort": (0, 2**16 - 1),
    "long": (-(2**31), 2**31 - 1),
    "ulong": (0, 2**32 - 1),
    "longlong": (-(2**63), 2**63 - 1),
    "ulonglong": (0, 2**64 - 1),
}

FLOAT_LIMIT: Final = 2.0**128 - 2.0**103
"""Finite numbers from here on round to infinity in 32 bits."""


def check_value(type_: IdlType, value: Any, path: str = "value") -> None:
    """Returns where the value fits the type; raises MappingError with the exact path of the first part that does not."""
    try:
        value_check(type_)(value, 0)
    except MappingError as error:
        error.path = path + error.path
        raise


def describe(value: Any) -> str:
    """A few words for error messages, short whatever the value is."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() if value.bit_length() > 128:
            return f"a number of {value.bit_length()} bits"
        case str() if len(value) > 40:
            return f"{value[:40]!r}… ({len(value)} characters)"
        case int() | float() | str() | Decimal():
            return repr(value)[:60]
        case bytes():
            return f"{len(value)} octets"
        case list() | tuple():
            return f"a list of {len(value)}"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def wrong_type(expected: str, value: Any, hint: str = "") -> MappingError:
    return MappingError("MAP-VALUE-TYPE", f"expected {expected}, found {describe(value)}", hint=hint)


def out_of_range(kind: str, value: Any) -> MappingError:
    return MappingError("MAP-VALUE-RANGE", f"{describe(value)} is outside the range of {kind}")


def too_long(what: str, length: int, bound: int) -> MappingError:
    return MappingError("MAP-VALUE-LENGTH", f"{what} of length {length} where the bound is {bound}")


def check_text(value: Any, what: str = "string") -> None:
    """Text that CORBA can carry."""
    if type(value) is not str:
        raise wrong_type(f"a {what}", value)
    if not value.isascii():
        check_unicode(value)
    if "\0" in value:
        raise MappingError("MAP-VALUE-TEXT", f"a CORBA {what} cannot hold the character NUL")


def check_unicode(value: str) -> None:
    """Text that any wire can carry: surrogates come in pairs only, and pairs are one character in Python."""
    try:
        value.encode()
    except UnicodeEncodeError as error:
        surrogate = f"U+{ord(value[error.start]):04X}"
        raise MappingError("MAP-VALUE-TEXT", f"text holds the lone surrogate {surrogate}") from None


def _boolean(value: Any, _depth: int) -> None:
    if value is not True and value is not False:
        raise wrong_type("a boolean", value)


def _nothing(value: Any, _depth: int) -> None:
    if value is not None:
        raise wrong_type("null", value)


def _char(value: Any, _depth: int) -> None:
    if type(value) is not str:
        raise wrong_type("a char", value)
    if len(value) != 1 or value > "\xff":
        raise MappingError("MAP-VALUE-TEXT", f"a char is one character up to U+00FF, found {describe(value)}")


def check_wide_char(value: Any, _depth: int = 0) -> None:
    """One UTF-16 code unit that is a character by itself: an IDL wchar, a Java char."""
    if type(value) is not str:
        raise wrong_type("a character", value)
    if len(value) != 1 or value > "\uffff" or "\ud800" <= value <= "\udfff":
        raise MappingError("MAP-VALUE-TEXT", f"expected one character up to U+FFFF, found {describe(value)}")


def _float(value: Any, _depth: int) -> None:
    if type(value) is not float:
        raise wrong_type("a float", value)
    if not -FLOAT_LIMIT < value < FLOAT_LIMIT and isfinite(value):
        raise out_of_range("float", value)


def _double(value: Any, _depth: int) -> None:
    if type(value) is not float:
        raise wrong_type("a double", value)


def _string(value: Any, _depth: int) -> None:
    check_text(value)


def _wstring(value: Any, _depth: int) -> None:
    check_text(value, "wstring")


def _reference(value: Any, _depth: int) -> None:
    """Only the spelling is judged; whether the octets make sense is for those who use the reference."""
    if value is None:
        return
    if type(value) is not str:
        raise wrong_type("a stringified object reference", value)
    digits = value[4:]
    if value[:4].upper() != "IOR:" or len(digits) % 2 or not digits.isascii() or not _is_hexadecimal(digits):
        raise MappingError(
            "MAP-VALUE-REFERENCE", f"expected IOR: and hexadecimal digits, found {describe(value)}",
            hint="nil is null; corbaloc and corbaname addresses are resolved by the adapters, not stored in events",
        )  # fmt: skip


def _is_hexadecimal(digits: str) -> bool:
    try:
        bytes.fromhex(digits)
    except ValueError:
        return False
    return " " not in digits


def _type(value: Any, _depth: int) -> None:
    if not isinstance(value, IdlType):
        raise wrong_type("an IDL type", value)
    height(value)


def _any(value: Any, depth: int) -> None:
    if type(value) is not Any_:
        raise wrong_type("an any", value)
    if depth >= MAX_DEPTH:
        raise too_deep()
    try:
        check = value_check(value.type)
    except MappingError as error:
        error.path = f".type{error.path}"
        raise
    try:
        check(value.value, depth + 1)
    except MappingError as error:
        error.path = f".value{error.path}"
        raise


def _integer(kind: str) -> Check:
    low, high = INTEGER_RANGES[kind]

    def check(value: Any, _depth: int) -> None:
        if type(value) is not int:
            raise wrong_type(f"a {kind}", value)
        if not low <= value <= high:
            raise out_of_range(kind, value)

    return check


BASIC_CHECKS: Final[Mapping[str, Check]] = {
    **{kind: _integer(kind) for kind in INTEGER_RANGES},
    "null": _nothing,
    "void": _nothing,
    "boolean": _boolean,
    "char": _char,
    "wchar": check_wide_char,
    "float": _float,
    "double": _double,
    "longdouble": _double,
    "any": _any,
    "TypeCode": _type,
    "Object": _reference,
}


class _Checks(TypeCompiler[Check]):
    def basic(self, kind: str) -> Check:
        return BASIC_CHECKS[kind]

    def string(self, type_: String) -> Check:
        return _bounded(_string, "string", type_.bound, lambda text: len(text.encode())) if type_.bound else _string

    def wstring(self, type_: WString) -> Check:
        return _bounded(_wstring, "wstring", type_.bound, len) if type_.bound else _wstring

    def fixed(self, type_: Fixed) -> Check:
        def check(value: Any, _depth: int) -> None:
            if type(value) is not Decimal:
                raise wrong_type("a Decimal", value)
            check_fixed(type_, value)

        return check

    def enum(self, type_: Enum) -> Check:
        labels = frozenset(type_.members)

        def check(value: Any, _depth: int) -> None:
            if type(value) is not str:
                raise wrong_type(f"a label of {type_.name}", value)
            if value not in labels:
                raise MappingError("MAP-VALUE-LABEL", f"{describe(value)} is no label of {type_.name}")

        return check

    def struct(self, type_: Struct | Exception_ | Value, fields: Fields[Check]) -> Check:
        names = frozenset(name for name, _ in fields)

        def check(value: Any, depth: int) -> None:
            if type(value) is not dict:
                raise wrong_type(f"the members of {type_.name}", value)
            if value.keys() != names:
                raise wrong_members(type_.name, names, value)
            depth += 1
            name = ""
            try:
                for name, field in fields:
                    field(value[name], depth)
            except MappingError as error:
                error.path = f".{name}{error.path}"
                raise

        return check

    def union(self, type_: Union, discriminator: Check, arms: Arms[Check]) -> Check:
        def check(value: Any, depth: int) -> None:
            if type(value) is not UnionValue:
                raise wrong_type(f"a value of union {type_.name}", value)
            place = ".d"
            try:
                discriminator(value.d, depth + 1)
                place = ".v"
                arm = arms.selected_by(value.d)
                if arm is None:
                    if value.v is not NO_ARM:
                        raise no_such_arm(type_.name, value.d)
                elif value.v is NO_ARM:
                    raise missing_arm(type_.name, value.d, arm.name)
                else:
                    arm.function(value.v, depth + 1)
            except MappingError as error:
                error.path = place + error.path
                raise

        return check

    def sequence(self, type_: Sequence, element: Check) -> Check:
        return self._elements(type_, element, "sequence", lambda length: not type_.bound or length <= type_.bound)

    def array(self, type_: Array, element: Check) -> Check:
        return self._elements(type_, element, "array", lambda length: length == type_.length)

    def _elements(self, type_: Sequence | Array, element: Check, what: str, fits: Callable[[int], bool]) -> Check:
        bound = type_.bound if isinstance(type_, Sequence) else type_.length
        container, expected = (bytes, "octets") if is_octets(type_) else (list, "a list")
        inner = None if container is bytes else check_all(type_.element, element)

        def check(value: Any, depth: int) -> None:
            if type(value) is not container:
                raise wrong_type(expected, value)
            if not fits(len(value)):
                raise too_long(what, len(value), bound)
            if inner is not None:
                inner(value, depth)

        return check

    def box(self, type_: ValueBox, content: Check) -> Check:
        def check(value: Any, depth: int) -> None:
            if value is not None:
                content(value, depth + 1)

        return check

    def value(self, type_: Value, fields: Fields[Check]) -> Check:
        members = self.struct(type_, fields)

        def check(value: Any, depth: int) -> None:
            if value is not None:
                members(value, depth)

        return check

    def recurse(self, cell: Cell[Check]) -> Check:
        def check(value: Any, depth: int) -> None:
            if depth >= MAX_DEPTH:
                raise too_deep()
            cell.function(value, depth)

        return check


def _bounded(check: Check, what: str, bound: int, measure: Callable[[str], int]) -> Check:
    """A bound counts as omniORB does: the octets of a string in UTF-8, the characters of a wstring."""

    def bounded(value: Any, depth: int) -> None:
        check(value, depth)
        if measure(value) > bound:
            raise too_long(what, measure(value), bound)

    return bounded


def check_fixed(type_: Fixed, value: Decimal) -> None:
    if not fits(type_, value):
        raise out_of_range(f"fixed<{type_.digits},{type_.scale}>", value)


def wrong_members(name: str, expected: frozenset[str], value: dict[str, Any]) -> MappingError:
    """The first member that is missing, else the first that is too many; its path names it."""
    missing = sorted(expected - value.keys())
    if missing:
        return MappingError("MAP-VALUE-MEMBER", f"{name} lacks the member {missing[0]}", path=f".{missing[0]}")
    unknown = next(key for key in value if key not in expected)
    return MappingError("MAP-VALUE-MEMBER", f"{name} has no member {describe(unknown)}", path=f".{unknown!s:.60}")


def no_such_arm(name: str, label: Any) -> MappingError:
    return MappingError("MAP-VALUE-ARM", f"{describe(label)} selects no arm of {name}, but there is a value")


def missing_arm(name: str, label: Any, arm: str) -> MappingError:
    return MappingError("MAP-VALUE-ARM", f"{describe(label)} selects the arm {arm} of {name}, but there is no value")


def check_all(element_type: IdlType, element: Check) -> Check:
    """A check for a list. Numbers and booleans are judged in bulk, and one by one only where something is wrong."""

    def one_by_one(values: list[Any], depth: int) -> None:
        depth += 1
        index = 0
        try:
            for index, value in enumerate(values):  # noqa: B007 - the handler needs the last
                element(value, depth)
        except MappingError as error:
            error.path = f"[{index}]{error.path}"
            raise

    match unalias(element_type):
        case Basic(kind) if kind in INTEGER_RANGES:
            low, high = INTEGER_RANGES[kind]

            def integers(values: list[Any], depth: int) -> None:
                if values and not (set(map(type, values)) == {int} and low <= min(values) and max(values) <= high):
                    one_by_one(values, depth)

            return integers
        case Basic("boolean" | "double" | "longdouble" as kind):
            expected = {bool} if kind == "boolean" else {float}

            def numbers(values: list[Any], depth: int) -> None:
                if not set(map(type, values)) <= expected:
                    one_by_one(values, depth)

            return numbers
    return one_by_one


value_check = _Checks()
"""The check of a type: `value_check(type_)(value, 0)` raises with the path from the value downwards."""
