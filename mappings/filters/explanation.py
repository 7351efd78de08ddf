"""Why an event or a message passes, or does not: each condition that `and`, `or` and `not` join, with what it looked at.

All of them are evaluated, also those that the filter itself would not come to: this is for people, and one event at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mappings.errors import FilterRuntimeError, MappingError
from mappings.filters import etcl_text, etcl_tree, selector_text, selector_tree
from mappings.filters.etcl_closures import compile_condition as compile_etcl_condition
from mappings.filters.etcl_components import Clock, Form, Test, compile_read, missing
from mappings.filters.etcl_values import Located, Unresolved, describe
from mappings.filters.selector_closures import Source
from mappings.filters.selector_closures import compile_condition as compile_selector_condition
from mappings.forms.value_writers import write_value

MOST_TEXT: Final = 200  # of a value that is a string


class Part(NamedTuple):
    """One condition. `result` is None where there is none: an error in ETCL, UNKNOWN in a selector."""

    text: str
    result: bool | None
    values: dict[str, Any]  # by component or name: what stood there; without those that lead nowhere
    error: FilterRuntimeError | None = None

    def to_json(self) -> dict[str, Any]:
        form: dict[str, Any] = {"part": self.text, "result": self.result}
        if self.values:
            form["values"] = self.values
        if self.error is not None:
            form["error"] = self.error.to_json()
        return form


def explain_etcl(tree: etcl_tree.Expression, form: Form, clock: Clock, event: Any) -> list[Part]:
    parts = []
    for leaf in _leaves(tree, etcl_tree.And | etcl_tree.Or, etcl_tree.Not):
        values = {}
        for component in _inside(leaf, etcl_tree.Component):
            try:
                values[etcl_text.write(component)] = _shown(compile_read(component, form, clock)(event))
            except (Unresolved, FilterRuntimeError):
                continue
        result, error = _etcl_result(compile_etcl_condition(leaf, form, clock), event)
        parts.append(Part(etcl_text.write(leaf), result, values, error))
    return parts


def explain_selector(tree: selector_tree.Expression, source: Source, *, converting: bool, message: Any) -> list[Part]:
    parts = []
    for leaf in _leaves(tree, selector_tree.And | selector_tree.Or, selector_tree.Not):
        values = {
            selector_text.write(name): _shown(value)
            for name in _inside(leaf, selector_tree.Name)
            if (value := source.loader(name.name)(message)) is not None
        }
        result = compile_selector_condition(leaf, source, converting=converting)(message)
        parts.append(Part(selector_text.write(leaf), result, values))
    return parts


def _etcl_result(condition: Test, event: Any) -> tuple[bool | None, FilterRuntimeError | None]:
    try:
        return condition(event), None
    except Unresolved as why:
        return None, missing(why)
    except FilterRuntimeError as error:
        return None, error


def _leaves(node: Any, joins: Any, negation: Any) -> Iterator[Any]:
    if isinstance(node, joins):
        for operand in node.operands:
            yield from _leaves(operand, joins, negation)
    elif isinstance(node, negation):
        yield from _leaves(node.operand, joins, negation)
    else:
        yield node


def _inside(node: Any, wanted: type) -> Iterator[Any]:
    """The nodes of a kind in a condition, from left to right."""
    if isinstance(node, wanted):
        yield node
        return
    if isinstance(node, tuple):
        for each in node:
            yield from _inside(each, wanted)
        return
    for name in getattr(node, "__dataclass_fields__", ()):
        yield from _inside(getattr(node, name), wanted)


def _shown(value: Any) -> Any:
    """As JSON can have it."""
    if isinstance(value, Located):
        return _shown_whole(value)
    if isinstance(value, str):
        return value if len(value) <= MOST_TEXT else f"{value[:MOST_TEXT]}…"
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def _shown_whole(located: Located) -> Any:
    """In the form of FORMS.md, where that is short."""
    try:
        form = write_value(located.type, located.value)
        if len(json.dumps(form, allow_nan=False)) <= MOST_TEXT:
            return form
    except (MappingError, ValueError, RecursionError):
        pass
    return f"({describe(located)})"
