"""Components (`$x`, `$.header.variable_header(x)`, `$.u._d` …) as functions of an event: of its operand, of whether it exists.

Where a component begins in an event, the event's form says (`etcl_forms`); from there every step is a component operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

from mappings.errors import FilterRuntimeError
from mappings.filters import etcl_tree as tree
from mappings.filters.etcl_steps import LASTS, compile_step, is_default
from mappings.filters.etcl_text import write
from mappings.filters.etcl_values import Located, Operand, Unresolved, operand
from mappings.model import StructuredEvent, UntypedEvent

Clock: TypeAlias = Callable[[], int]
"""TimeBase::TimeT: hundreds of nanoseconds since 15 October 1582."""

Root: TypeAlias = Callable[..., Located]  # of a StructuredEvent or an UntypedEvent, by form
Read: TypeAlias = Callable[..., Operand]
Test: TypeAlias = Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Form:
    """How a component finds its beginning in one form of event."""

    root: Callable[[tree.Component, Clock], Root]
    shortcut: Callable[[tree.Component], Read | None]
    always_there: tuple[str, ...]  # names of strings that every event of this form has, as attributes


def compile_read(component: tree.Component, form: Form, clock: Clock) -> Read:
    """The component's operand; the function raises Unresolved, with the component, where it does not resolve."""
    if component.name in form.always_there and not component.steps and component.last is None:
        return attrgetter(component.name or "")
    read = form.shortcut(component) or _long_way(component, form, clock)

    def checked(event: StructuredEvent | UntypedEvent) -> Operand:
        try:
            return read(event)
        except Unresolved as why:
            why.component = component
            raise

    return checked


def compile_exist(component: tree.Component, form: Form, clock: Clock) -> Test:
    """Whether the component resolves; the function never fails."""
    resolve: Callable[..., object] = _walk(component, form, clock)
    if component.last is not None:
        resolve = _long_way(component, form, clock)

    def exists(event: StructuredEvent | UntypedEvent) -> bool:
        try:
            resolve(event)
        except Unresolved:
            return False
        return True

    return exists


def compile_default(component: tree.Component, form: Form, clock: Clock) -> Test:
    """Whether the default arm of a union is active; the component is the union, or its `_d`."""
    walk = _walk(component, form, clock)
    is_union = component.last in (None, "_d")

    def default(event: StructuredEvent | UntypedEvent) -> bool:
        try:
            located = walk(event)
            if not is_union:
                raise Unresolved(f"{component.last} is no union")
            return is_default(located)
        except Unresolved as why:
            why.component = component
            raise

    return default


def missing(why: Unresolved) -> FilterRuntimeError:
    """The error for those who look at it."""
    component = why.component
    assert component is not None
    text = write(component)
    return FilterRuntimeError(
        "FLT-MISSING", str(why), position=component.position, path=text, hint=f"guard it with: exist {text} and …"
    )


def _long_way(component: tree.Component, form: Form, clock: Clock) -> Read:
    walk = _walk(component, form, clock)
    finish = operand if component.last is None else LASTS[component.last]
    return lambda event: finish(walk(event))


def _walk(component: tree.Component, form: Form, clock: Clock) -> Root:
    """The root and every step but the last; raises Unresolved."""
    root = form.root(component, clock)
    steps = [compile_step(step) for step in component.steps[steps_of_root(component) :]]
    if not steps:
        return root

    def walk(event: StructuredEvent | UntypedEvent) -> Located:
        located = root(event)
        for step in steps:
            located = step(located)
        return located

    return walk


def steps_of_root(component: tree.Component) -> int:
    """How many steps the root takes itself: the member of `$.x`, whose lookup is not that of a struct."""
    if component.name is None and component.steps and isinstance(component.steps[0], tree.Member):
        return 1
    return 0
