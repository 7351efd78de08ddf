"""The tree of an ETCL expression, and the builder that the parser calls for each rule of etcl.lark.

`position` is the offset in the text of what an error about the node should point at; `depth` counts what is nested below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mappings.errors import FilterError
from mappings.filters.parsing import Language, depth_of, parse

LARGEST_WHOLE: Final = 2**64 - 1
"""No IDL integer type holds more."""


@dataclass(frozen=True, slots=True)
class Node:
    position: int = field(compare=False)
    depth: int = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Node):
    value: bool | int | float | str


@dataclass(frozen=True, slots=True)
class Label(Node):
    """A bare word: the label of an enum."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """`.name`"""

    name: str


@dataclass(frozen=True, slots=True)
class Position:
    """`.N`: the N-th member, from 0."""

    number: int


@dataclass(frozen=True, slots=True)
class Arm:
    """`.(label)`: the arm of a union that a label selects, without one the default arm; an enum's label or an arm's name is str."""

    label: bool | int | str | None


@dataclass(frozen=True, slots=True)
class Index:
    """`[N]`: the N-th element, from 0."""

    number: int


@dataclass(frozen=True, slots=True)
class Pair:
    """`(name)`: the value of the first name-value pair of that name."""

    name: str


Step: TypeAlias = Member | Position | Arm | Index | Pair


@dataclass(frozen=True, slots=True)
class Component(Node):
    """`$`, perhaps a run-time variable, steps down, perhaps `_length`, `_d`, `_type_id` or `_repos_id`."""

    name: str | None
    steps: tuple[Step, ...] = ()
    last: str | None = None


@dataclass(frozen=True, slots=True)
class Exist(Node):
    component: Component


@dataclass(frozen=True, slots=True)
class Default(Node):
    component: Component


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
    operator: str  # == != < <= > >=
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class In(Node):
    element: Expression
    sequence: Component | Label


@dataclass(frozen=True, slots=True)
class Substring(Node):
    part: Expression
    whole: Expression


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a chain of additions or of multiplications, which is worked from left to right."""

    operator: str  # + - * / %
    position: int = field(compare=False)
    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    first: Expression
    rest: tuple[Operation, ...]


Expression: TypeAlias = (
    Literal | Label | Component | Exist | Default | Not | And | Or | Compare | In | Substring | Arithmetic
)


def parse_etcl(text: str) -> Expression | None:
    """The tree, or None for the empty expression. Raises FilterError."""
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

    def compare(self, children: list[Any]) -> Compare:
        left, operator, right = children
        return Compare(operator.start_pos, depth_of(operator.start_pos, left, right), str(operator), left, right)

    def in_(self, children: list[Any]) -> In:
        element, operator, sequence = children
        return In(operator.start_pos, depth_of(operator.start_pos, element, sequence), element, sequence)

    def substring(self, children: list[Any]) -> Substring:
        part, operator, whole = children
        return Substring(operator.start_pos, depth_of(operator.start_pos, part, whole), part, whole)

    def sum_(self, children: list[Any]) -> Arithmetic:
        rest = tuple(
            Operation(str(children[at]), children[at].start_pos, children[at + 1]) for at in range(1, len(children), 2)
        )
        first = children[0]
        return Arithmetic(rest[0].position, depth_of(first.position, *children[::2]), first, rest)

    product = sum_

    def not_(self, children: list[Any]) -> Not:
        keyword, operand = children
        return Not(keyword.start_pos, depth_of(keyword.start_pos, operand), operand)

    def group(self, children: list[Any]) -> Any:
        """Parentheses make no node, but count: a text of nothing else must not get through."""
        parenthesis, inner = children
        return _deeper(inner, depth_of(parenthesis.start_pos, inner))

    def whole(self, children: list[Any]) -> Literal:
        digits = children[-1]
        if len(digits) > 40 or int(digits) > LARGEST_WHOLE:
            raise FilterError(
                "FLT-LIMIT",
                "this number is larger than any IDL integer",
                position=digits.start_pos,
                hint="write it with a `.` or an exponent to make it a double",
            )
        return Literal(children[0].start_pos, 1, int("".join(children)))

    def decimal(self, children: list[Any]) -> Literal:
        value = float("".join(children))
        if value in (float("inf"), float("-inf")):
            raise FilterError("FLT-LIMIT", "this number is larger than any double", position=children[-1].start_pos)
        return Literal(children[0].start_pos, 1, value)

    def string(self, children: list[Any]) -> Literal:
        (quoted,) = children
        return Literal(quoted.start_pos, 1, _unquoted(quoted))

    def true(self, children: list[Any]) -> Literal:
        return Literal(children[0].start_pos, 1, True)

    def false(self, children: list[Any]) -> Literal:
        return Literal(children[0].start_pos, 1, False)

    def label(self, children: list[Any]) -> Label:
        return Label(children[0].start_pos, 1, _name(children[0]))

    def exist_name(self, children: list[Any]) -> Exist:
        """`exist x` is the trader's spelling of `exist $x`."""
        keyword, name = children
        return Exist(keyword.start_pos, 2, Component(name.start_pos, 1, _name(name)))

    def exist(self, children: list[Any]) -> Exist:
        keyword, component = children
        return Exist(keyword.start_pos, 2, component)

    def default(self, children: list[Any]) -> Default:
        keyword, component = children
        return Default(keyword.start_pos, 2, component)

    def component(self, children: list[Any]) -> Component:
        dollar, *rest = children
        name = _name(rest.pop(0)) if rest and getattr(rest[0], "type", None) == "IDENT" else None
        last = rest.pop() if rest and isinstance(rest[-1], str) else None
        return Component(dollar.start_pos, 1, name, tuple(rest), last)

    def member(self, children: list[Any]) -> Member:
        return Member(_name(children[0]))

    def position(self, children: list[Any]) -> Position:
        return Position(_ordinal(children[0]))

    def index(self, children: list[Any]) -> Index:
        return Index(_ordinal(children[0]))

    def arm(self, children: list[Any]) -> Arm:
        if not children:
            return Arm(None)
        tag = children[0]
        return Arm(tag.name if isinstance(tag, Label) else tag.value)

    def pair(self, children: list[Any]) -> Pair:
        return Pair(_name(children[0]))

    def last(self, children: list[Any]) -> str:
        return str(children[0])


def _deeper(node: Any, depth: int) -> Any:
    object.__setattr__(node, "depth", depth)  # nobody else has seen the node yet
    return node


def _name(token: str) -> str:
    return token[1:] if token.startswith("\\") else str(token)


def _ordinal(digits: Any) -> int:
    if len(digits) > 10:
        raise FilterError("FLT-LIMIT", "no sequence is that long", position=digits.start_pos)
    return int(digits)


def _unquoted(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])


_CHAINED: Final = "comparisons do not chain: write $a < $b and $b < $c"

_LANGUAGE: Final = Language(
    "ETCL",
    "etcl.lark",
    _Builder,
    hints={
        **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _CHAINED),
        "=": "for equality write ==",
        "<>": "for inequality write !=",
        "!": "write `not`",
        "&": "write `and`",
        "&&": "write `and`",
        "|": "write `or`",
        "||": "write `or`",
        "^": "there is no such operator in ETCL",
        '"': "strings stand in single quotes",
        "'": "strings stand in single quotes; inside, write \\' for a quote and \\\\ for a backslash",
        "\\": "a backslash stands only before a name, or before a quote or backslash inside a string",
        "AND": "keywords are lower case: and",
        "OR": "keywords are lower case: or",
        "NOT": "keywords are lower case: not",
        "IN": "keywords are lower case: in",
        "EXIST": "keywords are lower case: exist",
        "true": "write TRUE",
        "false": "write FALSE",
        "and": "as a name write \\and",
        "or": "as a name write \\or",
        "in": "as a name write \\in",
        "not": "not binds tighter than any operator: write not (…); as a name write \\not",
        "exist": "as a name write \\exist",
        "default": "as a name write \\default",
        "TRUE": "as a name write \\TRUE",
        "FALSE": "as a name write \\FALSE",
        "LIKE": "LIKE is of JMS selectors; in ETCL write 'part' ~ $name",
        "BETWEEN": "BETWEEN is of JMS selectors; in ETCL write $name >= 1 and $name <= 5",
        "IS": "IS NULL is of JMS selectors; in ETCL write not exist $name",
    },
)
