"""Hypothesis strategies for events and ETCL expressions about them, as the tuples of `etcl_interpreter`, and their text.

An expression is drawn together with its event: components follow the event's own structure most of the time, so that they
find something.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from mappings.idl_types import (
    ANY,
    BOOLEAN,
    CHAR,
    DOUBLE,
    LONG,
    OCTET,
    SHORT,
    STRING,
    ULONGLONG,
    Alias,
    Array,
    Enum,
    Fixed,
    IdlType,
    Sequence,
)
from mappings.known_types import OCTET_SEQ, PROPERTY_SEQ, UTC_T
from mappings.model import Any_, Event, Property, StructuredEvent, UntypedEvent
from tests.properties.strategies import idl_types, values
from tests.unit.filters.etcl_interpreter import Node, NoResult, evaluate, node_of, resolve, take

COLOUR = Enum("IDL:Colour:1.0", "Colour", ("RED", "GREEN"))
TYPEDEF = Alias("IDL:Severity:1.0", "Severity", Alias("IDL:in:1.0", "in", COLOUR))
names = st.sampled_from(["a", "b", "c", "type_name", "curtime", "header", "filterable_data", "in", "Severity"])
field_names = st.sampled_from(["a", "a", "b", "in", "Severity", "header", "type_name"])  # few: they shall repeat
words = st.sampled_from(["", "a", "b", "ab", "RED", "x'y", "\\", "Severity"])
some_types: st.SearchStrategy[IdlType] = (
    st.sampled_from(
        [BOOLEAN, SHORT, LONG, ULONGLONG, DOUBLE, OCTET, CHAR, STRING, ANY, COLOUR, PROPERTY_SEQ, UTC_T, Fixed(4, 2)]
    )
    | st.sampled_from(
        [
            Sequence(LONG),
            Sequence(STRING),
            Sequence(ANY),
            Sequence(COLOUR),
            Array(CHAR, 2),
            Sequence(BOOLEAN),
            TYPEDEF,
            OCTET_SEQ,
        ]
    )
    | idl_types
)


def some_values(type_: IdlType) -> st.SearchStrategy[Any]:
    """Values that the literals of the expressions have a chance to meet."""
    if type_ == STRING:
        return words
    if type_ in (SHORT, LONG, ULONGLONG, OCTET):
        return st.integers(0, 4) | values(type_)
    if type_ == DOUBLE:
        return st.sampled_from([0.0, 0.5, 1.0, 2.0]) | values(type_)
    return values(type_)


some_anys = some_types.flatmap(lambda type_: st.builds(Any_, st.just(type_), some_values(type_)))
some_fields = st.builds(lambda name, any_: Property(name, any_.type, any_.value), field_names, some_anys)
some_structured = st.builds(
    StructuredEvent,
    words,
    words,
    words,
    st.lists(some_fields, max_size=2).map(tuple),
    st.lists(some_fields, max_size=3).map(tuple),
    some_anys,
)
some_events: st.SearchStrategy[Event] = some_structured | st.builds(UntypedEvent, some_anys)


@st.composite
def expressions(draw: st.DrawFn, event: Event, size: int = 3) -> Any:
    """A condition about the event."""
    return _Drawing(draw, event).condition(size)


def conditions_in(expression: Any, event: Event) -> list[Any]:
    """The expression, every part of it that could stand alone, and each sum and product against the number that it should be."""
    found = [expression]
    match expression:
        case ("not", operand):
            found += conditions_in(operand, event)
        case ("and" | "or", operands):
            found += [each for operand in operands for each in conditions_in(operand, event)]
        case ("compare", _, left, right):
            found += [each for side in (left, right) if side[0] == "arithmetic" for each in conditions_in(side, event)]
        case ("arithmetic", first, rest):
            sides = [side for side in (first, *(operand for _, operand in rest)) if side[0] == "arithmetic"]
            found += [each for side in sides for each in conditions_in(side, event)]
            found += [("compare", "==", expression, ("literal", result)) for result in _results(expression, event)]
    return found


def _results(expression: Any, event: Event) -> list[float | int]:
    try:
        _, result = evaluate(expression, event)
    except NoResult:
        return []
    return [result] if abs(result) < 2**64 else []


class _Drawing:
    def __init__(self, draw: st.DrawFn, event: Event) -> None:
        self.draw = draw
        self.event = event
        self.reachable = reachable(event)

    def choose(self, *choices: Callable[[], Any]) -> Any:
        return self.draw(st.sampled_from(choices))()

    def condition(self, size: int) -> Any:
        simple = (
            lambda: ("literal", self.draw(st.booleans())),
            lambda: ("exist", self.component()),
            lambda: ("default", self.component("union")),
            lambda: self.component("boolean"),
            lambda: ("compare", self.draw(st.sampled_from(["==", "!="])), self.component("label"), self.label()),
            lambda: ("substring", self.text(), self.text()),
            self.membership,
            lambda: self.comparison(0),
        )
        if size <= 0:
            return self.choose(*simple)
        return self.choose(
            *simple,
            lambda: ("not", self.condition(size - 1)),
            lambda: ("and", [self.condition(size - 1) for _ in range(self.draw(st.integers(2, 4)))]),
            lambda: ("or", [self.condition(size - 1) for _ in range(self.draw(st.integers(2, 4)))]),
            lambda: self.comparison(size - 1),
            lambda: self.number(size - 1),
        )

    def comparison(self, size: int) -> Any:
        symbol = self.draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        left, right = self.choose(
            lambda: (self.number(size), self.number(size)),
            lambda: (self.component(), self.element()),
            lambda: (self.text(), self.text()),
            lambda: (self.component(), self.component()),
            lambda: (self.component("number", "char", "boolean"), self.number(size)),
            lambda: (self.component("char"), self.text()),
            lambda: (self.component("label"), self.component("label")),
        )
        return "compare", symbol, left, right

    def membership(self) -> Any:
        """Half of the time with an element that is there."""
        sequence = self.component("sequence")
        elements = []
        with suppress(NoResult):
            node = resolve(sequence, self.event)
            elements = (
                [each for each in node.value if each.kind in ("number", "boolean", "string")]
                if node.kind == "sequence"
                else []
            )
        literals = [("literal", each.value) for each in elements if each.kind != "number" or abs(each.value) < 2**64]
        if literals and self.draw(st.booleans()):
            return "in", self.draw(st.sampled_from(literals)), sequence
        return "in", self.element(), sequence

    def number(self, size: int) -> Any:
        if size <= 0:
            return self.choose(
                self.number_literal, lambda: self.component("number", "boolean", "char"), self.letter, self.boolean
            )
        operators = self.draw(st.sampled_from(["+-", "*/%"]))
        rest = [
            (self.draw(st.sampled_from(operators)), self.number(size - 1)) for _ in range(self.draw(st.integers(1, 3)))
        ]
        return "arithmetic", self.number(size - 1), rest

    def number_literal(self) -> Any:
        value = self.draw(st.integers(-3, 4) | st.sampled_from([0.0, 0.5, 2.0, 1e30, 2**63, 2**64 - 1, -1.5]))
        return "literal", value

    def letter(self) -> Any:
        return "literal", self.draw(st.sampled_from("aH"))

    def boolean(self) -> Any:
        return "literal", self.draw(st.booleans())

    def text(self) -> Any:
        return self.choose(lambda: ("literal", self.draw(words)), lambda: self.component("string", "char"))

    def label(self) -> Any:
        return "label", self.draw(st.sampled_from(["RED", "GREEN", "a", "Bc"]))

    def element(self) -> Any:
        return self.choose(self.number_literal, self.text, self.boolean, self.label_or_component, self.component)

    def label_or_component(self) -> Any:
        return self.component("label")

    def component(self, *kinds: str) -> Any:
        """Four times out of five one that leads to a value of such a kind, if there is any."""
        fitting = [component for component, kind in self.reachable if not kinds or kind in kinds]
        if fitting and self.draw(st.integers(0, 4)):
            return self.draw(st.sampled_from(fitting))
        name = self.draw(st.none() | names)
        steps: list[Any] = []
        for _ in range(self.draw(st.integers(0, 4))):
            here = self._here(name, steps)
            steps.append(self._a_step(here, last_wins=name is None and not steps))
        last = self.draw(st.sampled_from([None, None, None, "_length", "_d", "_type_id", "_repos_id"]))
        return "component", name, steps, last

    def _here(self, name: str | None, steps: list[Any]) -> Node | None:
        with suppress(NoResult):
            return resolve(("component", name, steps, None), self.event)
        return None

    def _a_step(self, here: Node | None, last_wins: bool) -> Any:
        fitting = _fitting_steps(here)
        if last_wins and isinstance(self.event, StructuredEvent):
            remainder = self.event.remainder_of_body
            fitting += _fitting_steps(node_of(remainder.type, remainder.value, {}))
        if fitting and self.draw(st.integers(0, 5)):
            return self.draw(st.sampled_from(fitting))
        return self.draw(
            st.tuples(st.just("member"), names)
            | st.tuples(st.just("position"), st.integers(0, 3))
            | st.tuples(st.just("index"), st.integers(0, 3))
            | st.tuples(st.just("pair"), names)
            | st.tuples(st.just("arm"), st.none() | st.integers(-2, 3) | st.booleans() | words)
        )


def reachable(event: Event, limit: int = 80) -> list[tuple[Any, str]]:
    """Components of the event's own values, nearest first, with the kinds of what they lead to."""
    roots: list[str | None] = [None, "type_name"]
    if isinstance(event, StructuredEvent):
        roots += [field.name for field in (*event.variable_header, *event.filterable_data)]
        remainder = node_of(event.remainder_of_body.type, event.remainder_of_body.value, {})
        roots += [step[1] for step in _fitting_steps(remainder) if step[0] == "member"]
    found: list[tuple[Any, str]] = []
    ahead: list[tuple[Any, Node]] = []
    for root in roots:
        with suppress(NoResult):
            ahead.append((("component", root, [], None), resolve(("component", root, [], None), event)))
    while ahead and len(found) < limit:
        component, node = ahead.pop(0)
        found.append((component, node.kind))
        _, name, steps, _ = component
        found += [(("component", name, steps, last), _kind_of_last(node, last)) for last in _fitting_lasts(node)]
        for step in _fitting_steps(node):
            below = ("component", name, [*steps, step], None)
            with suppress(NoResult):
                ahead.append((below, take(node, step) if name is not None or steps else resolve(below, event)))
    return found


def _kind_of_last(node: Node, last: str) -> str:
    return {"_length": "number", "_d": node.value.discriminator.kind if node.kind == "union" else ""}.get(
        last, "string"
    )


def _fitting_lasts(node: Node) -> list[str]:
    lasts = {"sequence": ["_length"], "union": ["_d"]}.get(node.kind, [])
    return lasts + (["_type_id", "_repos_id"] if node.name else [])


def _fitting_steps(node: Node | None) -> list[Any]:
    if node is None:
        return []
    steps: list[Any] = [("member", name) for name in node.typedefs]
    if node.kind == "struct":
        steps += [("member", name) for name, _ in node.value]
        steps += [("position", number) for number in range(len(node.value))]
        if len(node.value) == 2 and isinstance(node.value[0][1].value, str) and node.value[0][1].value.isalpha():
            steps.append(("member", node.value[0][1].value))
    if node.kind == "sequence":
        steps += [("index", number) for number in range(len(node.value))]
        steps += [("pair", name) for name in ("a", "b", "c", "in", "Severity") if _resolves(node, ("pair", name))]
    if node.kind == "union":
        steps += [("member", name) for name in node.value.names]
        steps += [("position", number) for number in range(len(node.value.names))]
        steps += [("arm", label) for label, _ in node.value.by_label]
        steps.append(("arm", None))
    return [step for step in steps if step[0] != "arm" or not isinstance(step[1], int) or abs(step[1]) < 2**63]


def _resolves(node: Node, step: Any) -> bool:
    with suppress(NoResult):
        take(node, step)
        return True
    return False


# Text ---------------------------------------------------------------------------------------------------------------------

KEYWORDS = ("or", "and", "in", "not", "exist", "default", "TRUE", "FALSE")


def text_of(expression: Any) -> str:
    """Every operand in parentheses: precedence is not what is tested with these."""
    match expression:
        case ("literal", value):
            return _literal(value)
        case ("label", name):
            return _name(name)
        case ("component", name, steps, last):
            return f"${_name(name or '')}{''.join(map(_step, steps))}{'.' + last if last else ''}"
        case ("exist", component):
            return f"exist {text_of(component)}"
        case ("default", component):
            return f"default {text_of(component)}"
        case ("not", operand):
            return f"not ({text_of(operand)})"
        case ("and" | "or" as word, operands):
            return f" {word} ".join(f"({text_of(operand)})" for operand in operands)
        case ("compare", symbol, left, right):
            return f"({text_of(left)}) {symbol} ({text_of(right)})"
        case ("in", element, sequence):
            return f"({text_of(element)}) in {text_of(sequence)}"
        case ("substring", part, whole):
            return f"({text_of(part)}) ~ ({text_of(whole)})"
        case ("arithmetic", first, rest):
            return f"({text_of(first)})" + "".join(f" {symbol} ({text_of(operand)})" for symbol, operand in rest)
    raise AssertionError(expression)


def _literal(value: bool | int | float | str) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(value)


def _name(name: str) -> str:
    return f"\\{name}" if name in KEYWORDS else name


def _step(step: Any) -> str:
    match step:
        case ("member", name):
            return f".{_name(name)}"
        case ("position", number):
            return f".{number}"
        case ("index", number):
            return f"[{number}]"
        case ("pair", name):
            return f"({_name(name)})"
        case ("arm", None):
            return ".()"
        case ("arm", label):
            return f".({_literal(label)})"
    raise AssertionError(step)
