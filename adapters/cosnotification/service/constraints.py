"""The constraints of a filter: numbered, compiled when they are added, replaced as a whole (RULES.md 1.3)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from adapters.base import DeadLetterError
from adapters.cosnotification.service.engine.carried_event import CarriedEvent, CarriedStructured
from adapters.cosnotification.service.event_types import Types, normalised
from adapters.cosnotification.service.store.kept import any_from, any_text
from adapters.cosnotification.service.stubs import CORBA, CosNotification, CosNotifyFilter
from mappings.errors import FilterError
from mappings.event_forms import TYPED_TYPE_NAME
from mappings.filters.etcl import EtclFilter, compile_etcl
from mappings.filters.event_types import EventTypes

GRAMMAR: Final = "EXTENDED_TCL"


class Constraint(NamedTuple):
    id: int
    expression: Any  # CosNotifyFilter.ConstraintExp
    types: EventTypes
    filter: EtclFilter | None  # None: everything of these types
    value: Any = None  # of a mapping filter


def compiled(id_: int, expression: Any, value: Any = None) -> Constraint:
    """Raises InvalidConstraint."""
    text = expression.constraint_expr
    try:
        filter_ = compile_etcl(text) if text.strip() else None
    except FilterError as error:
        raise CosNotifyFilter.InvalidConstraint(expression) from error
    types = EventTypes((type_.domain_name, type_.type_name) for type_ in expression.event_types)
    return Constraint(id_, expression, types, filter_, value)


class Constraints:
    """`find` may run at any time: it sees all of a change or nothing of it."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._constraints: tuple[Constraint, ...] = ()
        self._next_id = 1
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._constraints)

    def find(self, event: CarriedEvent) -> Constraint | None:
        """The first that matches, in the order of their addition. Raises DeadLetterError for an event that cannot be read."""
        domain_name, type_name = event.type_key
        for constraint in self._constraints:
            if constraint.types.covers(domain_name, type_name):
                filter_ = constraint.filter
                if filter_ is None or filter_.matches(event.model):
                    return constraint
        return None

    def add(self, items: list[tuple[Any, Any]]) -> list[Constraint]:
        """Expressions, with the values of a mapping filter. All, or none: raises InvalidConstraint."""
        with self._lock:
            added = [
                compiled(self._next_id + index, expression, value) for index, (expression, value) in enumerate(items)
            ]
            self._next_id += len(added)
            self._constraints += tuple(added)
        self._changed()
        return added

    def modify(self, deleted: list[int], changed: list[tuple[int, Any, Any]]) -> None:
        """All, or nothing: raises ConstraintNotFound, InvalidConstraint."""
        with self._lock:
            known = {constraint.id for constraint in self._constraints}
            for id_ in [*deleted, *(id_ for id_, _, _ in changed)]:
                if id_ not in known:
                    raise CosNotifyFilter.ConstraintNotFound(id_)
            new = {id_: compiled(id_, expression, value) for id_, expression, value in changed}
            self._constraints = tuple(
                new.get(constraint.id, constraint)
                for constraint in self._constraints
                if constraint.id not in deleted or constraint.id in new
            )
        self._changed()

    def state(self) -> dict[str, Any]:
        return {
            "next": self._next_id,
            "all": [
                [
                    constraint.id,
                    constraint.expression.constraint_expr,
                    [[type_.domain_name, type_.type_name] for type_ in constraint.expression.event_types],
                    None if constraint.value is None else any_text(constraint.value),
                ]
                for constraint in self._constraints
            ],
        }

    def restore(self, state: dict[str, Any]) -> None:
        restored = []
        for id_, text, types, value in state["all"]:
            expression = CosNotifyFilter.ConstraintExp([CosNotification.EventType(*type_) for type_ in types], text)
            restored.append(compiled(id_, expression, None if value is None else any_from(value)))
        self._constraints = tuple(restored)
        self._next_id = state["next"]
        self._changed()

    def get(self, ids: list[int]) -> list[Constraint]:
        by_id = {constraint.id: constraint for constraint in self._constraints}
        for id_ in ids:
            if id_ not in by_id:
                raise CosNotifyFilter.ConstraintNotFound(id_)
        return [by_id[id_] for id_ in ids]

    def all(self) -> list[Constraint]:
        return list(self._constraints)

    def clear(self) -> None:
        with self._lock:
            self._constraints = ()
        self._changed()

    @property
    def types(self) -> Types:
        """The event types that can match."""
        everything: Types = frozenset()
        for constraint in self._constraints:
            everything |= normalised(constraint.types.types)
        return everything or normalised(())


def event_of_typed(properties: Any) -> CarriedEvent:
    """What match_typed is given: the event's type or operation first, then the parameters (RULES.md 2).

    Raises UnsupportedFilterableData.
    """
    if not properties or properties[0].name not in ("event_type", "operation"):
        raise CosNotifyFilter.UnsupportedFilterableData
    return CarriedStructured("", TYPED_TYPE_NAME, "", [], properties, CORBA.Any(CORBA.TC_null, None))


def found_in(constraints: Constraints, event: CarriedEvent) -> Constraint | None:
    """For the match operations. Raises UnsupportedFilterableData."""
    try:
        return constraints.find(event)
    except DeadLetterError as error:
        raise CosNotifyFilter.UnsupportedFilterableData from error
