"""The comparisons that most filters are made of, each as one closure: a field, or a name of the fixed header, against a literal.

They look for nothing but the plain case, a number against a number, a string against a string, an enum against a label, and
leave every other to the general closure, which decides it in full. So they can be quick, and never decide differently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeAlias

from mappings.filters import etcl_tree as tree
from mappings.filters.etcl_components import Form, Test
from mappings.filters.etcl_forms import STRUCTURED
from mappings.filters.etcl_operators import COMPARISONS
from mappings.filters.etcl_values import NUMBERS
from mappings.idl_types import Enum, String, WString
from mappings.model import Property, StructuredEvent

Compared: TypeAlias = Callable[[Any, Any], bool]


def quick_comparison(node: tree.Compare, form: Form, general: Test) -> Test:
    """The same as the general closure, sooner."""
    left, right, compared = node.left, node.right, COMPARISONS[node.operator]
    if form is not STRUCTURED or not isinstance(left, tree.Component) or left.name is None or left.steps or left.last:
        return general
    if left.name in form.always_there:
        if isinstance(right, tree.Literal) and isinstance(right.value, str):
            return _fixed_header(left.name, compared, right.value)
    elif left.name != "curtime":
        if isinstance(right, tree.Label):
            return _field_of_type(left.name, compared, right.name, (Enum,), general)
        if isinstance(right, tree.Literal):
            if isinstance(right.value, str):
                return _field_of_type(left.name, compared, right.value, (String, WString), general)
            return _field_of_numbers(left.name, compared, right.value, general)
    return general


def _fixed_header(name: str, compared: Compared, literal: str) -> Test:
    if name == "type_name":
        return lambda event: compared(event.type_name, literal)
    if name == "domain_name":
        return lambda event: compared(event.domain_name, literal)
    return lambda event: compared(event.event_name, literal)


def _field_of_numbers(name: str, compared: Compared, literal: float | int, general: Test) -> Test:
    def test(event: StructuredEvent) -> bool:
        for field in event.variable_header:
            if field[0] == name:
                break
        else:
            for field in event.filterable_data:
                if field[0] == name:
                    break
            else:
                return general(event)
        value = field[2]
        return compared(value, literal) if value.__class__ in NUMBERS else general(event)

    return test


def _field_of_type(name: str, compared: Compared, literal: str, types: Collection[type], general: Test) -> Test:
    def test(event: StructuredEvent) -> bool:
        field: Property
        for field in event.variable_header:
            if field[0] == name:
                break
        else:
            for field in event.filterable_data:
                if field[0] == name:
                    break
            else:
                return general(event)
        return compared(field[2], literal) if field[1].__class__ in types else general(event)

    return test
