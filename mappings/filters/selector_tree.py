"""The tree of a JMS selector, and the builder that the parser calls for each rule of selector.lark.

`position` is the offset in the text of what an error about the node should point at; `depth` counts what is nested below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mappings.errors import FilterError
from mappings.filters.parsing import Language, depth_of, parse

LARGEST_WHOLE: Final = 2**63 - 1
"""Exact literals have the range of a Java long."""


@dataclass(frozen=True, slots=True)
class Node:
    position: int = field(compare=False)
    depth: int = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Node):
    value: bool | int | float | str


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A property, or one of the header fields that a selector may refer to."""

    name: str


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Expression


@dataclass(frozen=True, slots=True)
class And(Node):
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Compare(Node):
    operator: str  # = <> < <= > >=
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    operand: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class Like(Node):
    operand: Expression
    pattern: str
    escape: str | None
    negated: bool


@dataclass(frozen=True, slots=True)
class Between(Node):
    operand: Expression
    low: Expression
    high: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class InList(Node):
    operand: Expression
    values: tuple[str, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a chain of additions or of multiplications, which is worked from left to right."""

    operator: str  # + - * /
    position: int = field(compare=False)
    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    first: Expression
    rest: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Sign(Node):
    operator: str  # + -
    operand: Expression


Expression: TypeAlias = Literal | Name | Not | And | Or | Compare | IsNull | Like | Between | InList | Arithmetic | Sign


def parse_selector(text: str) -> Expression | None:
    """The tree, or None for the empty selector. Raises FilterError."""
    tree: Expression | None = parse(_LANGUAGE, text)
    return tree


class _Builder:
    """One method for each rule; children are tokens and the results of other methods."""

    def start(self, children: list[Any]) -> Any:
        return children[0] if children else None

    def or_(self, children: list[Any]) -> Or:
        return Or(children[0].position, depth_of(children[0].position, *children), tuple(children))

    def and_(self, children: list[Any]) -> And:
        return And(children[0].position, depth_of(children[0].position, *children), tuple(children))

    def not_(self, children: list[Any]) -> Not:
        keyword, operand = children
        return Not(keyword.start_pos, depth_of(keyword.start_pos, operand), operand)

    def compare(self, children: list[Any]) -> Compare:
        left, operator, right = children
        return Compare(operator.start_pos, depth_of(operator.start_pos, left, right), str(operator), left, right)

    def is_null(self, children: list[Any]) -> IsNull:
        operand, keyword, *negation = children
        return IsNull(keyword.start_pos, depth_of(keyword.start_pos, operand), operand, bool(negation))

    def like(self, children: list[Any]) -> Like:
        operand, negated, keyword, (pattern, *escapes) = _test(children, "LIKE")
        escape = _unquoted(escapes[0]) if escapes else None
        if escape is not None and len(escape) != 1:
            raise FilterError("FLT-SYNTAX", "ESCAPE takes one character", position=escapes[0].start_pos)
        position = keyword.start_pos
        return Like(position, depth_of(position, operand), operand, _unquoted(pattern), escape, negated)

    def between(self, children: list[Any]) -> Between:
        operand, negated, keyword, (low, high) = _test(children, "BETWEEN")
        position = keyword.start_pos
        return Between(position, depth_of(position, operand, low, high), operand, low, high, negated)

    def in_(self, children: list[Any]) -> InList:
        operand, negated, keyword, values = _test(children, "IN")
        position = keyword.start_pos
        return InList(position, depth_of(position, operand), operand, tuple(map(_unquoted, values)), negated)

    def sum_(self, children: list[Any]) -> Arithmetic:
        rest = tuple(
            Operation(str(children[at]), children[at].start_pos, children[at + 1]) for at in range(1, len(children), 2)
        )
        first = children[0]
        return Arithmetic(rest[0].position, depth_of(first.position, *children[::2]), first, rest)

    product = sum_

    def sign(self, children: list[Any]) -> Literal | Sign:
        sign, operand = children
        if isinstance(operand, Literal) and operand.value.__class__ in (int, float) and operand.value >= 0:
            value = -operand.value if sign == "-" else operand.value
            return Literal(sign.start_pos, operand.depth, value)
        return Sign(sign.start_pos, depth_of(sign.start_pos, operand), str(sign), operand)

    def group(self, children: list[Any]) -> Any:
        """Parentheses make no node, but count: a text of nothing else must not get through."""
        parenthesis, inner = children
        object.__setattr__(inner, "depth", depth_of(parenthesis.start_pos, inner))  # nobody else has seen it yet
        return inner

    def whole(self, children: list[Any]) -> Literal:
        """Decimal, hexadecimal or octal. 2**63 has a meaning only under a minus; the checks refuse it elsewhere."""
        (token,) = children
        digits = token.rstrip("Ll").lower()
        base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
        if len(digits) > 40 or int(digits, base) > LARGEST_WHOLE + 1:
            raise too_large(token.start_pos)
        return Literal(token.start_pos, 1, int(digits, base))

    def decimal(self, children: list[Any]) -> Literal:
        (token,) = children
        value = float(token)
        if value == float("inf"):
            raise FilterError("FLT-LIMIT", "this number is larger than any double", position=token.start_pos)
        return Literal(token.start_pos, 1, value)

    def string(self, children: list[Any]) -> Literal:
        return Literal(children[0].start_pos, 1, _unquoted(children[0]))

    def true(self, children: list[Any]) -> Literal:
        return Literal(children[0].start_pos, 1, True)

    def false(self, children: list[Any]) -> Literal:
        return Literal(children[0].start_pos, 1, False)

    def name(self, children: list[Any]) -> Name:
        return Name(children[0].start_pos, 1, str(children[0]))

    def quoted_name(self, children: list[Any]) -> Name:
        return Name(children[0].start_pos, 1, children[0][1:-1].replace('""', '"'))


def too_large(position: int) -> FilterError:
    return FilterError(
        "FLT-LIMIT",
        "this number is larger than a Java long",
        position=position,
        hint="write it with a `.` or an exponent to make it approximate",
    )


def _test(children: list[Any], keyword: str) -> tuple[Any, bool, Any, list[Any]]:
    """The operand, whether NOT stands before the keyword, the keyword, and what follows it."""
    operand, token, *rest = children
    if token.type != keyword:
        return operand, True, rest[0], rest[1:]
    return operand, False, token, rest


def _unquoted(quoted: str) -> str:
    return quoted[1:-1].replace("''", "'")


_LANGUAGE: Final = Language(
    "selector",
    "selector.lark",
    _Builder,
    hints={
        "==": "for equality write one =",
        "!": "write NOT",
        "!=": "for inequality write <>",
        "&": "write AND",
        "&&": "write AND",
        "|": "write OR",
        "||": "write OR",
        "'": "strings stand in single quotes; inside, write '' for a quote",
        '"': 'a name in double quotes must end with one; inside, write "" for a double quote',
        ".": "a name with a dot in it stands in double quotes, which only newer Artemis takes; profile strict has no such names",
        "-": "a name with a hyphen in it stands in double quotes",
        ":": "of the prefixes, only convert_string_expressions: is known",
        "%": "there is no remainder in JMS selectors",
        "~": "~ is of ETCL; in a selector write name LIKE '%part%'",
        "exist": "exist is of ETCL; in a selector write name IS NOT NULL",
        "NULL": "write IS NULL or IS NOT NULL",
        "null": "write IS NULL or IS NOT NULL",
    },
)
