"""A small, slow, obviously right interpreter of ETCL, to hold the compiled one against (RULES.md 3.2 to 3.5).

It shares nothing with `mappings.filters`: expressions are nested tuples that the tests draw at random, and an event is first
turned, whole, into a tree of plain nodes without typedefs, anys, boxes and recursive types. Components then walk that tree.

    ("literal", v)  ("label", name)  ("component", name, steps, last)  ("exist", c)  ("default", c)  ("not", e)
    ("and", [e…])  ("or", [e…])  ("compare", op, a, b)  ("in", a, c)  ("substring", a, b)  ("arithmetic", a, [(op, b)…])

Steps: ("member", name)  ("position", n)  ("arm", label)  ("index", n)  ("pair", name)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from mappings import idl_types as idl
from mappings.event_forms import structured_value
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import NO_ARM, Any_, Event, StructuredEvent, UntypedEvent

NOW = 139_000_000_000_000_000


class NoResult(Exception):
    pass


@dataclass
class Node:
    kind: str  # boolean number string char label struct sequence union nil other
    value: Any  # struct: list of (name, Node); sequence: list of Node; union: Arms
    name: str = ""  # of its type, where that has one
    id: str = ""
    typedefs: dict[str, Node] = field(default_factory=dict)
    from_any: bool = False


@dataclass
class Arms:
    discriminator: Node
    names: list[str]  # declared, in order
    by_label: list[tuple[Any, str]]
    default: str | None
    active: str | None
    node: Node | None


# From a typed value to plain nodes ----------------------------------------------------------------------------------------


def node_of(type_: Any, value: Any, enclosing: dict[str, Any]) -> Node:
    if isinstance(value, Any_):
        outer = type_
        node = node_of(value.type, value.value, {})
        node.from_any = True
        while isinstance(outer, idl.Alias):
            node.typedefs.setdefault(outer.name, node)
            outer = outer.type
        return node
    if isinstance(type_, idl.Recursive):
        return node_of(enclosing[type_.id], value, enclosing)
    enclosing = {**enclosing, **_named_by(type_)}
    if isinstance(type_, idl.Alias | idl.ValueBox):
        if isinstance(type_, idl.ValueBox) and value is None:
            return Node("nil", None, type_.name, type_.id)
        node = node_of(type_.type, value, enclosing)
        if isinstance(type_, idl.Alias):
            named = Node(node.kind, node.value, type_.name, type_.id, dict(node.typedefs))
            named.typedefs[type_.name] = named
            return named
        return Node(node.kind, node.value, type_.name, type_.id)
    name, id_ = getattr(type_, "name", ""), getattr(type_, "id", "")
    return Node(*_plain(type_, value, enclosing), name, id_)


def _named_by(type_: Any) -> dict[str, Any]:
    """What a recursive type inside this one may stand for: the type itself, and a valuetype's bases."""
    named = {type_.id: type_} if hasattr(type_, "id") else {}
    base = getattr(type_, "base", None)
    return {**_named_by(base), **named} if base is not None else named


def _plain(type_: Any, value: Any, enclosing: dict[str, Any]) -> tuple[str, Any]:
    match type_.kind:
        case "boolean":
            return "boolean", value
        case (
            "octet"
            | "short"
            | "ushort"
            | "long"
            | "ulong"
            | "longlong"
            | "ulonglong"
            | "float"
            | "double"
            | "longdouble"
        ):
            return "number", value
        case "fixed":
            return "number", float(value) if isinstance(value, Decimal) else value
        case "string" | "wstring":
            return "string", value
        case "char" | "wchar":
            return "char", value
        case "enum":
            return "label", value
        case "sequence" | "array":
            return "sequence", [node_of(type_.element, each, enclosing) for each in value]
        case "struct" | "exception" | "value":
            if value is None:
                return "nil", None
            members = _members(type_)
            return "struct", [(name, node_of(member, value[name], enclosing)) for name, member in members]
        case "union":
            return "union", _arms(type_, value, enclosing)
        case _:
            return "other", value


def _members(type_: Any) -> list[tuple[str, Any]]:
    inherited = _members(type_.base) if getattr(type_, "base", None) is not None else []
    return inherited + [(member.name, member.type) for member in type_.members]


def _arms(type_: Any, value: Any, enclosing: dict[str, Any]) -> Arms:
    by_label = [(member.label, member.name) for member in type_.members if member.label is not None]
    default = next((member.name for member in type_.members if member.label is None), None)
    active = next((name for label, name in by_label if label == value.d), default)
    types = {member.name: member.type for member in type_.members}
    node = None if active is None or value.v is NO_ARM else node_of(types[active], value.v, enclosing)
    return Arms(
        discriminator=node_of(type_.discriminator, value.d, enclosing),
        names=list(dict.fromkeys(member.name for member in type_.members)),
        by_label=by_label,
        default=default,
        active=active,
        node=node,
    )


# Components ---------------------------------------------------------------------------------------------------------------


def resolve(component: Any, event: Event) -> Node:
    _, name, steps, last = component
    node, steps = _beginning(name, steps, last, event)
    for step in steps:
        node = take(node, step)
    if last is not None:
        return _last(node, last)
    return node


def _beginning(name: str | None, steps: list[Any], last: str | None, event: Event) -> tuple[Node, list[Any]]:
    if name == "curtime":
        members = [("time", NOW), ("inacclo", 0), ("inacchi", 0), ("tdf", 0)]
        time = [(member, Node("number", value)) for member, value in members]
        time[0][1].name, time[0][1].id = "TimeT", "IDL:omg.org/TimeBase/TimeT:1.0"
        time[3][1].name, time[3][1].id = "TdfT", "IDL:omg.org/TimeBase/TdfT:1.0"
        return Node("struct", time, "UtcT", "IDL:omg.org/TimeBase/UtcT:1.0"), steps
    if isinstance(event, UntypedEvent):
        return _beginning_of_any(name, steps, node_of(event.any.type, event.any.value, {}))
    assert isinstance(event, StructuredEvent)
    if name in ("domain_name", "type_name", "event_name"):
        return Node("string", getattr(event, name)), steps
    if name is not None:
        for field_ in (*event.variable_header, *event.filterable_data):
            if field_.name == name:
                return node_of(field_.type, field_.value, {}), steps
        return _member_of_event(event, name), steps
    rest = node_of(event.remainder_of_body.type, event.remainder_of_body.value, {})
    if not steps:
        simple = rest.kind in ("boolean", "number", "string", "char", "label")
        return (rest if last in ("_length", "_d") or (last is None and simple) else _whole(event)), steps
    if steps[0][0] == "member":
        return _member_of_event(event, steps[0][1]), steps[1:]
    return (_whole(event) if steps[0][0] == "position" else rest), steps


def _whole(event: StructuredEvent) -> Node:
    return node_of(STRUCTURED_EVENT, structured_value(event), {})


def _member_of_event(event: StructuredEvent, name: str) -> Node:
    if name in ("header", "filterable_data", "remainder_of_body"):
        return dict(_whole(event).value)[name]  # type: ignore[no-any-return]
    return inside(node_of(event.remainder_of_body.type, event.remainder_of_body.value, {}), name)


def _beginning_of_any(name: str | None, steps: list[Any], node: Node) -> tuple[Node, list[Any]]:
    if name is None:
        if steps and steps[0][0] == "member":
            return inside(node, steps[0][1]), steps[1:]
        return node, steps
    try:
        return inside(node, name), steps
    except NoResult:
        fixed = {"domain_name": "", "type_name": "%ANY", "event_name": ""}
        if name not in fixed:
            raise
        return Node("string", fixed[name]), steps


def inside(node: Node, name: str) -> Node:
    for attempt in (("member", name), ("pair", name)):
        try:
            return take(node, attempt)
        except NoResult:
            pass
    found = _pair(node, name)
    if found is not None:
        return found
    if node.kind != "nil" and name in node.typedefs:
        return node.typedefs[name]
    raise NoResult


def _pair(node: Node, name: str) -> Node | None:
    if node.kind == "struct" and len(node.value) == 2:
        (_, first), (_, second) = node.value
        if first.kind == "string" and first.value == name:
            return second  # type: ignore[no-any-return]
    return None


def take(node: Node, step: tuple[Any, ...]) -> Node:
    match step, node.kind:
        case ("member", name), "struct":
            found = [member for member_name, member in node.value if member_name == name]
            return _first(found)
        case ("position", number), "struct":
            return _first([member for _, member in node.value][number : number + 1])
        case ("member", name), "union":
            return _active(node.value, name)
        case ("position", number), "union":
            return _active(node.value, _first(node.value.names[number : number + 1]))
        case ("arm", label), "union":
            return _active(node.value, _arm_for(node.value, label))
        case ("index", number), "sequence":
            return _first(node.value[number : number + 1])
        case ("pair", name), "sequence":
            return _first([found for found in (_pair(each, name) for each in node.value) if found is not None])
    raise NoResult


def _first(found: list[Any]) -> Any:
    if not found:
        raise NoResult
    return found[0]


def _active(arms: Arms, wanted: str | None) -> Node:
    if wanted is None or arms.active != wanted or arms.node is None:
        raise NoResult
    return arms.node


def _arm_for(arms: Arms, label: Any) -> str | None:
    if label is None:
        return arms.default
    for declared, name in arms.by_label:
        if type(declared) is type(label) and declared == label:
            return name
    if label in arms.names:
        return str(label)
    return arms.default


def _last(node: Node, last: str) -> Node:
    if last == "_length" and node.kind == "sequence":
        return Node("number", len(node.value))
    if last == "_d" and node.kind == "union":
        return node.value.discriminator  # type: ignore[no-any-return]
    if last == "_type_id" and node.name:
        return Node("string", node.name)
    if last == "_repos_id" and node.id:
        return Node("string", node.id)
    raise NoResult


# Expressions --------------------------------------------------------------------------------------------------------------


def matches(expression: Any, event: Event) -> bool | None:
    """True, False, or None where there is no result."""
    try:
        return condition(expression, event)
    except NoResult:
        return None


def condition(expression: Any, event: Event) -> bool:
    kind, value = evaluate(expression, event)
    if kind != "boolean":
        raise NoResult
    return bool(value)


def evaluate(expression: Any, event: Event) -> tuple[str, Any]:
    match expression:
        case ("literal", bool(value)):
            return "boolean", value
        case ("literal", str(value)):
            return "string", value
        case ("literal", value):
            return "number", value
        case ("label", name):
            return "label", name
        case ("component", *_):
            node = resolve(expression, event)
            if node.kind == "nil":
                raise NoResult
            return node.kind, node.value
        case ("exist", component):
            try:
                resolve(component, event)
            except NoResult:
                return "boolean", False
            return "boolean", True
        case ("default", ("component", name, steps, last)):
            node = resolve(("component", name, steps, None if last == "_d" else last), event)
            if node.kind != "union" or last not in (None, "_d"):
                raise NoResult
            arms = node.value
            return "boolean", arms.active is not None and all(name != arms.active for _, name in arms.by_label)
        case ("not", operand):
            return "boolean", not condition(operand, event)
        case ("and", operands):
            return "boolean", all(condition(operand, event) for operand in operands)
        case ("or", operands):
            return "boolean", any(condition(operand, event) for operand in operands)
        case ("compare", symbol, left, right):
            return "boolean", _compare(symbol, evaluate(left, event), evaluate(right, event))
        case ("in", element, sequence):
            return "boolean", _in(evaluate(element, event), resolve(sequence, event))
        case ("substring", part, whole):
            sides = evaluate(part, event), evaluate(whole, event)
            if any(kind not in ("string", "char") for kind, _ in sides):
                raise NoResult
            return "boolean", sides[0][1] in sides[1][1]
        case ("arithmetic", first, rest):
            result = _number(first, event)
            for symbol, operand in rest:
                result = _calculate(symbol, result, _number(operand, event))
            return "number", result
    raise AssertionError(expression)


def _compare(symbol: str, left: tuple[str, Any], right: tuple[str, Any]) -> bool:
    kinds = {left[0], right[0]}
    a, b = left[1], right[1]
    if kinds <= {"number", "boolean"} or kinds <= {"string", "char"}:
        pass
    elif kinds == {"number", "char"}:
        a, b = (ord(each) if isinstance(each, str) else each for each in (a, b))
    elif not (kinds == {"label"} and symbol in ("==", "!=")):
        raise NoResult
    if symbol == "==":
        return bool(a == b)
    if symbol == "!=":
        return bool(a != b)
    if symbol in ("<", "<="):
        return bool(a < b or (symbol == "<=" and a == b))
    return bool(a > b or (symbol == ">=" and a == b))


def _in(element: tuple[str, Any], sequence: Node) -> bool:
    kind, value = element
    kind = {"char": "string"}.get(kind, kind)
    if kind not in ("number", "boolean", "string", "label") or sequence.kind != "sequence":
        raise NoResult
    for each in sequence.value:
        if {"char": "string"}.get(each.kind, each.kind) == kind:
            if (float(each.value) == float(value)) if kind == "number" else (each.value == value):
                return True
        elif not each.from_any:
            raise NoResult
    return False


def _number(expression: Any, event: Event) -> Any:
    if expression[0] == "literal" and isinstance(expression[1], str) and len(expression[1]) == 1:
        return ord(expression[1])
    kind, value = evaluate(expression, event)
    if kind == "char":
        return ord(value)
    if kind not in ("number", "boolean"):
        raise NoResult
    return int(value) if kind == "boolean" else value


def _calculate(symbol: str, left: Any, right: Any) -> Any:
    if symbol == "+":
        return left + right
    if symbol == "-":
        return left - right
    if symbol == "*":
        product = left * right
        if isinstance(product, int) and abs(product) >= 2**1000:
            raise NoResult
        return product
    if right == 0:
        raise NoResult
    if isinstance(left, float) or isinstance(right, float):
        if symbol == "/":
            return left / right
        if math.isinf(left):
            raise NoResult
        return math.fmod(left, right)
    quotient = math.trunc(Fraction(left, right))
    return quotient if symbol == "/" else left - right * quotient
