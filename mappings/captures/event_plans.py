"""Straight code that reads the JSON forms of events of one shape: the same fields, of the same types, in the same order.

A plan sees that a form is of its shape by its names and the forms of its types, takes the values as they are where they are spelt
as the model has them, and leaves every other spelling to the reader of that type, which converts and checks it. Half the cost of
the general reader, which looks up each type by its form and walks each value.

For forms that nobody else holds: values may be parts of the form.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeAlias

from mappings.checking import INTEGER_RANGES, check_text
from mappings.forms.value_readers import value_reader
from mappings.idl_types import Exception_, IdlType, Sequence, String, Struct, WString, unalias
from mappings.known_types import KNOWN
from mappings.makers import maker
from mappings.model import Any_, Property, StructuredEvent
from mappings.plan_source import PlanSource
from mappings.translate.plan_cache import PlanCache

EventPlan: TypeAlias = Callable[[dict[str, Any]], "StructuredEvent | None"]
"""None for a form of another shape. Raises MappingError; for no form at all KeyError, TypeError, ValueError or AttributeError."""

MAX_FIELDS: Final = 1000
_MAX_TESTS: Final = 40  # of one field
_TEXTS: Final = ("domain_name", "type_name", "event_name")
_TEXT: Final = "type({0}) is str and '\\0' not in {1}"  # orjson lets no lone surrogate pass
_readers: Final = value_reader(KNOWN)
_make_event: Final = maker(StructuredEvent)
_make_any: Final = maker(Any_)


class EventPlans:
    """Belongs to one thread."""

    def __init__(self) -> None:
        self._plans: PlanCache[EventPlan] = PlanCache()

    def read(self, form: dict[str, Any]) -> StructuredEvent | None:
        """None where there is no plan. Raises what a plan raises."""
        key = _key(form)
        for index, plan in enumerate(self._plans.get(key, ())):
            event = plan(form)
            if event is not None:
                if index:
                    self._plans.served(key, index)
                return event
        return None

    def learn(self, form: dict[str, Any], event: StructuredEvent) -> None:
        """From a form that the general reader had to read, and what it made of it."""
        if len(event.variable_header) + len(event.filterable_data) > MAX_FIELDS:
            return
        key = _key(form)
        if self._plans.is_worth_a_plan(key, lambda: _shape(event)):
            plan = event_plan(form, event)
            if plan is not None:
                self._plans.add(key, plan)


def _key(form: dict[str, Any]) -> Hashable:
    """One for all events of a shape; what is no part of the shape, such as the type's name, may not be in it."""
    data, header = form["filterable_data"], len(form["variable_header"])
    return (header, len(data), data[0]["name"], data[-1]["name"]) if data else header


def _shape(event: StructuredEvent) -> Hashable:
    header = tuple(field[:2] for field in event.variable_header)
    return header, tuple(field[:2] for field in event.filterable_data), event.remainder_of_body.type


def event_plan(form: dict[str, Any], event: StructuredEvent) -> EventPlan | None:
    """A plan for forms of this one's shape; None where it would be too long."""
    source = PlanSource(
        new=tuple.__new__, Property=Property, make_any=_make_any, make_event=_make_event, check_text=check_text
    )
    _guard(source, form)
    for name in _TEXTS:
        source.line(f"{name} = form[{name!r}]")
        source.line(f"if not ({_TEXT.format(name, name)}): check_text({name})")
    sections = []
    for section, letter in (("variable_header", "h"), ("filterable_data", "f")):
        fields: tuple[Property, ...] = getattr(event, section)
        made = []
        for at, field in enumerate(fields):
            _value(source, f"{letter}{at}", field.type)
            made.append(f"new(Property, ({field.name!r}, {source.constant(field.type)}, {letter}{at}))")
        sections.append(f"({', '.join(made)}{',' if made else ''})")
    type_ = event.remainder_of_body.type
    _value(source, "body", type_)
    source.line(f"body = make_any({source.constant(type_)}, body)")
    source.line(f"return make_event({', '.join((*_TEXTS, *sections, 'body'))})")
    return source.function("form")


def _guard(source: PlanSource, form: dict[str, Any]) -> None:
    tests = []
    for section, letter in (("variable_header", "h"), ("filterable_data", "f")):
        items = form[section]
        if items:
            source.line(f"{', '.join(f'{letter}{at}' for at in range(len(items)))}, = form[{section!r}]")
        else:
            tests.append(f"form[{section!r}] == []")
        for at, item in enumerate(items):
            tests += [f"{letter}{at}['name'] == {item['name']!r}", _is_type(source, f"{letter}{at}", item["type"])]
    source.line("body = form['remainder_of_body']")
    tests.append(_is_type(source, "body", form["remainder_of_body"]["type"]))
    with source.block(f"if not ({' and '.join(tests)}):"):
        source.line("return None")


def _is_type(source: PlanSource, variable: str, form: Any) -> str:
    return f"{variable}['type'] == {repr(form) if type(form) is str else source.constant(form)}"


def _value(source: PlanSource, variable: str, type_: IdlType) -> None:
    """Leaves the value in the variable that holds the field."""
    line = source.line
    reader = source.constant(_readers(type_))
    line(f"{variable} = {variable}['value']")
    plain = unalias(type_)
    if isinstance(plain, Sequence) and not plain.bound and isinstance(unalias(plain.element), Struct | Exception_):
        tests = _tests("item", plain.element)
        if tests is not None:
            items = f"{variable} if type({variable}) is list else (None,)"
            with source.block(f"for item in {items}:"), source.block(f"if not ({tests}):"):
                line(f"{variable} = {reader}({variable}, 0)")
                line("break")
            return
    tests = _tests(variable, type_)
    line(f"{'' if tests is None else f'if not ({tests}): '}{variable} = {reader}({variable}, 0)")


def _tests(variable: str, type_: IdlType) -> str | None:
    """The expression that is true where the form is the value as it is; None where there is none, or it would be long."""
    tests: list[str] = []
    return " and ".join(tests) if _add_tests(tests, variable, variable, type_) and len(tests) <= _MAX_TESTS else None


def _add_tests(tests: list[str], first: str, variable: str, type_: IdlType) -> bool:
    """`first`: what the value is called where it is first spoken of, which may put it into the variable."""
    plain = unalias(type_)
    if plain.kind in INTEGER_RANGES:
        low, high = INTEGER_RANGES[plain.kind]
        tests.append(f"type({first}) is int and {low} <= {variable} <= {high}")
    elif plain.kind == "boolean":
        tests.append(f"type({first}) is bool")
    elif plain.kind == "double":
        tests.append(f"type({first}) is float")
    elif isinstance(plain, String | WString) and not plain.bound:
        tests.append(_TEXT.format(first, variable))
    elif isinstance(plain, Struct | Exception_) and plain.members:
        tests.append(f"type({first}) is dict and len({variable}) == {len(plain.members)}")
        for member in plain.members:
            inner = f"m{len(tests)}"
            if not _add_tests(tests, f"({inner} := {variable}[{member.name!r}])", inner, member.type):
                return False
    else:
        return False
    return True
