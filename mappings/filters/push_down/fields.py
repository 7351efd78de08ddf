"""Which part of an event a property of profile strict shows, as ETCL: the way back from `places`."""

from __future__ import annotations

from typing import Final, TypeAlias

from mappings.errors import MappingError
from mappings.filters import etcl_tree as etcl
from mappings.filters import selector_tree as sql
from mappings.filters.etcl_text import is_name
from mappings.filters.push_down.etcl_nodes import any_of, equality, literal, negated_if
from mappings.filters.push_down.places import FIXED_HEADER, RESERVED, is_short
from mappings.translate.names import STRICT

STRUCTURED_EVENT: Final = "Structured Event"
"""JMSType of every message of a bridge (SE-HDR-4)."""

FIXED_NAMES: Final = {STRICT.root(property_): name for name, property_ in FIXED_HEADER.items()}

Constraint: TypeAlias = etcl.Expression | None


def field_of(name: str) -> str | None:
    """The field that a property is made of; None for what is not made of a field, or cannot be named in ETCL."""
    if name in FIXED_NAMES or name in RESERVED:
        return None
    try:
        field = STRICT.decode(name)[0]
    except MappingError:
        return None
    return field if is_name(field) and field not in FIXED_HEADER and field != "curtime" else None


def component_of(name: str) -> etcl.Component | None:
    """The component of a property's path; ordinals count from 1 there (SE-PROP-4)."""
    if name in FIXED_NAMES:
        return fixed(name)
    field = field_of(name)
    if field is None:
        return None
    steps: list[etcl.Step] = []
    last = None
    for part in STRICT.decode(name)[1:]:
        if last is not None:
            return None
        if part in ("_length", "_d"):
            last = part
        elif part.isdecimal() and part.isascii() and 0 < int(part[:10]) == int(part[:11]):
            steps.append(etcl.Index(int(part) - 1))
        elif is_name(part):
            steps.append(etcl.Member(part))
        else:
            return None
    return etcl.Component(0, 1, field, tuple(steps), last)


def fixed(name: str) -> etcl.Component:
    return etcl.Component(0, 1, FIXED_NAMES[name])


def fixed_test(node: sql.Expression) -> Constraint:
    """A test of the fixed header, or of JMSType, as ETCL that never fails and says the same."""
    match node:
        case sql.Compare(operator="=" | "<>", left=sql.Literal(value=str()) as left, right=sql.Name() as right):
            return fixed_test(sql.Compare(node.position, node.depth, node.operator, right, left))
        case sql.Compare(
            operator="=" | "<>" as operator, left=sql.Name(name=name), right=sql.Literal(value=str() as value)
        ):
            if name == "JMSType":
                return literal((value == STRUCTURED_EVENT) is (operator == "="))
            return equality(operator, fixed(name), value) if name in FIXED_NAMES and is_short(value) else None
        case sql.InList(operand=sql.Name(name=name), values=values, negated=negated):
            if name not in FIXED_NAMES or not all(map(is_short, values)):
                return None
            return negated_if(any_of([equality("=", fixed(name), value) for value in values]), negated)
        case _:
            return None
