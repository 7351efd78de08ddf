"""A selector tree as closures of one source of values, in three-valued logic: each gives True, False or None (UNKNOWN).

A source is a message, or any function from a name to a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

from mappings.filters import selector_tree as tree
from mappings.filters.selector_checks import kind_of
from mappings.filters.selector_operators import (
    COMPARISONS,
    NUMBERS,
    Compared,
    Value,
    calculate,
    compare,
    compare_converting,
    compile_like,
    number,
    number_converting,
    truth,
)
from mappings.model import Message

Load: TypeAlias = Callable[[Any], Value]
Condition: TypeAlias = Callable[[Any], bool | None]


@dataclass(frozen=True, slots=True)
class Source:
    """What a selector is evaluated on."""

    loader: Callable[[str], Load]  # for a name, the function that reads its value
    has_properties: Callable[
        [str], bool
    ]  # whether the name is one of the `properties` that the source has as a message has them


def compile_condition(expression: tree.Expression, source: Source, *, converting: bool) -> Condition:
    return _Compiler(source, converting).condition(expression)


class _Compiler:
    def __init__(self, source: Source, converting: bool) -> None:
        self._source = source
        self._compare: Compared = compare_converting if converting else compare
        self._as_number = number_converting if converting else number

    def condition(self, node: tree.Expression) -> Condition:
        """The node where a truth value belongs."""
        run = self.operand(node)
        if kind_of(node) == "boolean":
            return run  # type: ignore[return-value]
        return lambda source: truth(run(source))

    def operand(self, node: tree.Expression) -> Load:
        match node:
            case tree.Literal(value=value):
                return lambda source: value
            case tree.Name(name=name):
                return self._source.loader(name)
            case tree.Not(operand=operand):
                return _negation(self.condition(operand))
            case tree.And(operands=operands):
                return _all([self.condition(operand) for operand in operands])
            case tree.Or(operands=operands):
                return _any([self.condition(operand) for operand in operands])
            case tree.Compare():
                return self._comparison(node)
            case tree.IsNull(operand=operand, negated=negated):
                run = self.operand(operand)
                return (lambda source: run(source) is not None) if negated else (lambda source: run(source) is None)
            case tree.Like(operand=operand, pattern=pattern, escape=escape, negated=negated):
                return _text_test(self.operand(operand), compile_like(pattern, escape), negated)
            case tree.InList(operand=operand, values=values, negated=negated):
                return _text_test(self.operand(operand), frozenset(values).__contains__, negated)
            case tree.Between():
                return self._between(node)
            case tree.Sign(operator=operator, operand=operand):
                signed = self._number(operand)
                return (lambda source: calculate("-", 0, signed(source))) if operator == "-" else signed
            case tree.Arithmetic():
                return self._arithmetic(node)

    def _comparison(self, node: tree.Compare) -> Condition:
        symbol, compared, left = node.operator, self._compare, self.operand(node.left)
        if isinstance(node.right, tree.Literal):
            if isinstance(node.left, tree.Name) and self._source.has_properties(node.left.name):
                return _property_against_literal(symbol, compared, node.left.name, node.right.value)
            return _against_literal(symbol, compared, left, node.right.value)
        right = self.operand(node.right)
        return lambda source: compared(symbol, left(source), right(source))

    def _between(self, node: tree.Between) -> Condition:
        compared, run = self._compare, self.operand(node.operand)
        low, high = self.operand(node.low), self.operand(node.high)

        def between(source: Any) -> bool | None:
            value = run(source)
            above, below = compared(">=", value, low(source)), compared("<=", value, high(source))
            if above is False or below is False:
                return False
            return None if above is None or below is None else True

        return _negation(between) if node.negated else between

    def _arithmetic(self, node: tree.Arithmetic) -> Load:
        first = self._number(node.first)
        rest = [(step.operator, self._number(step.operand)) for step in node.rest]

        def run(source: Any) -> int | float | None:
            result = first(source)
            for symbol, operand in rest:
                result = calculate(symbol, result, operand(source))
            return result

        return run

    def _number(self, node: tree.Expression) -> Callable[[Any], int | float | None]:
        run, as_number = self.operand(node), self._as_number
        return lambda source: as_number(run(source))


def _negation(condition: Condition) -> Condition:
    def run(source: Any) -> bool | None:
        value = condition(source)
        return None if value is None else not value

    return run


def _all(conditions: list[Condition]) -> Condition:
    def run(source: Any) -> bool | None:
        result: bool | None = True
        for condition in conditions:
            value = condition(source)
            if value is False:
                return False
            if value is None:
                result = None
        return result

    return run


def _any(conditions: list[Condition]) -> Condition:
    def run(source: Any) -> bool | None:
        result: bool | None = False
        for condition in conditions:
            value = condition(source)
            if value:
                return True
            if value is None:
                result = None
        return result

    return run


def _text_test(run: Load, test: Callable[[str], bool], negated: bool) -> Condition:
    """LIKE and IN: UNKNOWN for NULL, FALSE before NOT for what is no string."""

    def condition(source: Any) -> bool | None:
        value = run(source)
        if value is None:
            return None
        return (isinstance(value, str) and test(value)) is not negated

    return condition


def _against_literal(symbol: str, compared: Compared, left: Load, literal: bool | int | float | str) -> Condition:
    """A comparison whose right side is a literal: where the left is of the literal's own sort, there is nothing to decide."""
    direct, plain = COMPARISONS[symbol], _classes_of(literal)

    def run(source: Any) -> bool | None:
        value = left(source)
        if value.__class__ in plain:
            return direct(value, literal)
        return compared(symbol, value, literal)

    return run


def _property_against_literal(
    symbol: str, compared: Compared, name: str, literal: bool | int | float | str
) -> Condition:
    """The same for a property of a message, in one closure: it is what most selectors are made of."""
    direct, plain = COMPARISONS[symbol], _classes_of(literal)

    def run(message: Message) -> bool | None:
        for property_ in message.properties:
            if property_[0] == name:  # by number: the quickest way into a NamedTuple
                value = property_[2]
                return direct(value, literal) if value.__class__ in plain else compared(symbol, value, literal)
        return None

    return run


def _classes_of(literal: bool | int | float | str) -> Collection[type]:
    return NUMBERS if literal.__class__ in NUMBERS else (literal.__class__,)
