"""Where the value of an ETCL component is in a message of profile strict (SE-PROP-4, OC-NAME-2), and which literals go there."""

from __future__ import annotations

from typing import Final, NamedTuple

from mappings.filters import etcl_tree as etcl
from mappings.filters import selector_tree as sql
from mappings.filters.push_down.selector_nodes import compared
from mappings.translate.names import DOMAIN, EVENT, STRICT, TYPE, reserved_names

FIXED_HEADER: Final = {"domain_name": DOMAIN, "type_name": TYPE, "event_name": EVENT}
"""How the names of the fixed header are called in a message (SE-FIX-1 … SE-FIX-3)."""

CONSUMED: Final = ("Priority", "Timeout", "EventReliability")
"""Header fields that become JMS headers (SE-VAR-1 … SE-VAR-3): a property of that name is another field's."""

RESERVED: Final = reserved_names(STRICT)
"""Properties of the bridge's own: never a field's."""

OPERATORS: Final = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""Comparisons of ETCL, and of SQL."""

_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


class Place(NamedTuple):
    """Where a component's value is in a message: the properties of its path, from the field itself to the value."""

    path: tuple[str, ...]
    section: str  # "fixed", "either", "header" or "body"

    @property
    def name(self) -> str:
        return STRICT.encode(self.path)


def place_of(component: etcl.Component) -> Place | None:
    """The place by the rules for names (SE-PROP-4, OC-NAME-2); sequences count from 1 there, and are taken to be anonymous."""
    if component.last in ("_type_id", "_repos_id") or component.name == "curtime":
        return None
    section, name, steps = _field(component)
    if name is None:
        return None
    if section == "fixed":
        return Place((FIXED_HEADER[name],), section) if not steps and component.last is None else None
    path = [name]
    for step in steps:
        if isinstance(step, etcl.Member):
            path.append(step.name)
        elif isinstance(step, etcl.Index):
            path.append(str(step.number + 1))
        else:
            return None
    if component.last is not None:
        path.append(component.last)
    place = Place(tuple(path), section)
    return None if STRICT.root(name) in RESERVED or place.name in RESERVED else place


def _field(component: etcl.Component) -> tuple[str, str | None, tuple[etcl.Step, ...]]:
    """The section of the event, the name of the field, and what leads on from it."""
    if component.name is not None:
        return ("fixed" if component.name in FIXED_HEADER else "either"), component.name, component.steps
    match component.steps:
        case (etcl.Member("filterable_data"), etcl.Pair(name), *rest):
            return "body", name, tuple(rest)
        case (etcl.Member("header"), etcl.Member("variable_header"), etcl.Pair(name), *rest):
            return "header", name, tuple(rest)
        case (etcl.Member("header"), etcl.Member("fixed_header"), etcl.Member("event_name"), *rest):
            return "fixed", "event_name", tuple(rest)
        case (etcl.Member("header"), etcl.Member("fixed_header"), etcl.Member("event_type"), etcl.Member(name), *rest):
            return ("fixed", name, tuple(rest)) if name in ("domain_name", "type_name") else ("", None, ())
        case _:
            return "", None, ()


def component_first(
    node: etcl.Compare,
) -> tuple[str, etcl.Component | None, bool | int | float | str | None]:
    """The comparison as operator of SQL, component and literal or label, whichever side they stand on."""
    left, right, operator = node.left, node.right, node.operator
    if isinstance(right, etcl.Component) and not isinstance(left, etcl.Component):
        left, right, operator = right, left, _MIRRORED[operator]
    component = left if isinstance(left, etcl.Component) else None
    if isinstance(right, etcl.Literal):
        return OPERATORS[operator], component, right.value if fits(right.value) else None
    return OPERATORS[operator], component, right.name if isinstance(right, etcl.Label) else None


def is_short(text: str) -> bool:
    """Whether no text that is cut off or encoded for its length (64 KiB; OC-TYPE-21, OC-EVT-1) can be mistaken for this one."""
    return len(text) <= 1000


def fits(value: bool | int | float | str) -> bool:
    """Whether a selector can hold the literal: its integers have the range of a Java long."""
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def is_priority(component: etcl.Component) -> bool:
    section, name, steps = _field(component)
    return name == "Priority" and section in ("either", "header") and not steps and component.last is None


def is_priority_of_header(component: etcl.Component) -> bool:
    return is_priority(component) and component.name is None


def jms_priority(operator: str, value: bool | int | float | str) -> sql.Expression | None:
    """A comparison of Priority as one of JMSPriority = clamp(4 + Priority, 0, 9), where they say the same (OC-VAR-1)."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    at_an_end = {5: ("<", ">="), -4: (">", "<=")}
    if -4 < value < 5 or operator in at_an_end.get(value, ()):
        return compared(operator, "JMSPriority", 4 + value)
    return None
