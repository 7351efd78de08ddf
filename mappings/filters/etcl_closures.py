"""An ETCL tree as closures of one event: each node becomes a function that has its operands, literals and positions bound.

Every operator goes through `etcl_operators`; what most filters are made of has a quicker way first (`etcl_quick`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mappings.filters import etcl_tree as tree
from mappings.filters.etcl_checks import kind_of
from mappings.filters.etcl_components import (
    Clock,
    Form,
    Read,
    Test,
    compile_default,
    compile_exist,
    compile_read,
)
from mappings.filters.etcl_operators import (
    calculate,
    compare,
    member_of,
    number,
    substring,
    truth,
)
from mappings.filters.etcl_quick import quick_comparison
from mappings.filters.etcl_values import EnumLabel, Operand


def compile_condition(expression: tree.Expression, form: Form, clock: Clock) -> Test:
    """A function of an event of that form: True or False; or Unresolved, or FilterRuntimeError."""
    return _Compiler(form, clock).condition(expression)


class _Compiler:
    def __init__(self, form: Form, clock: Clock) -> None:
        self._form = form
        self._clock = clock

    def condition(self, node: tree.Expression) -> Test:
        """The node where a truth value belongs."""
        run = self.operand(node)
        if kind_of(node) == "boolean":
            return run  # type: ignore[return-value]
        position = node.position
        return lambda event: truth(run(event), position)

    def operand(self, node: tree.Expression) -> Read:
        match node:
            case tree.Literal(value=value):
                return _constant(value)
            case tree.Label(name=name):
                return _constant(EnumLabel(name))
            case tree.Component():
                return compile_read(node, self._form, self._clock)
            case tree.Exist(component=component):
                return compile_exist(component, self._form, self._clock)
            case tree.Default(component=component):
                return compile_default(component, self._form, self._clock)
            case tree.Not(operand=operand):
                condition = self.condition(operand)
                return lambda event: not condition(event)
            case tree.And(operands=operands):
                return _all([self.condition(operand) for operand in operands])
            case tree.Or(operands=operands):
                return _any([self.condition(operand) for operand in operands])
            case tree.Compare():
                return self._comparison(node)
            case tree.In(element=element, sequence=sequence):
                return _joined(member_of, self.operand(element), self.operand(sequence), node.position)
            case tree.Substring(part=part, whole=whole):
                return _joined(substring, self.operand(part), self.operand(whole), node.position)
            case tree.Arithmetic():
                return self._arithmetic(node)

    def _comparison(self, node: tree.Compare) -> Test:
        symbol, position = node.operator, node.position
        left, right = self.operand(node.left), self.operand(node.right)

        def general(event: Any) -> bool:
            return compare(symbol, left(event), right(event), position)

        return quick_comparison(node, self._form, general)

    def _arithmetic(self, node: tree.Arithmetic) -> Read:
        first = self._number(node.first)
        if len(node.rest) == 1:
            (only,) = node.rest
            symbol, position, second = only.operator, only.position, self._number(only.operand)
            return lambda event: calculate(symbol, first(event), second(event), position)
        rest = [(each.operator, self._number(each.operand), each.position) for each in node.rest]

        def run(event: Any) -> Operand:
            result = first(event)
            for symbol, operand, position in rest:
                result = calculate(symbol, result, operand(event), position)
            return result

        return run

    def _number(self, node: tree.Expression) -> Callable[[Any], int | float]:
        """The node where arithmetic takes a number: a literal of one character is its code point (RULES.md 3.4)."""
        if isinstance(node, tree.Literal):
            return _constant(ord(node.value) if isinstance(node.value, str) else node.value)
        run, position = self.operand(node), node.position
        if kind_of(node) == "number":
            return run  # type: ignore[return-value]
        return lambda event: number(run(event), position)


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda event: value


def _joined(
    join: Callable[[Operand, Operand, int], bool], left: Read, right: Read, position: int
) -> Callable[[Any], bool]:
    return lambda event: join(left(event), right(event), position)


def _all(conditions: list[Test]) -> Test:
    if len(conditions) == 2:
        first, second = conditions
        return lambda event: first(event) and second(event)
    if len(conditions) == 3:
        first, second, third = conditions
        return lambda event: first(event) and second(event) and third(event)

    def run(event: Any) -> bool:
        for condition in conditions:  # noqa: SIM110  all() over a generator costs twice as much
            if not condition(event):
                return False
        return True

    return run


def _any(conditions: list[Test]) -> Test:
    if len(conditions) == 2:
        first, second = conditions
        return lambda event: first(event) or second(event)

    def run(event: Any) -> bool:
        for condition in conditions:  # noqa: SIM110  any() over a generator costs twice as much
            if condition(event):
                return True
        return False

    return run
