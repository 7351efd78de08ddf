"""ETCL filters: the Extended Trader Constraint Language of the Notification Service, compiled to closures (RULES.md 3).

    filter_ = compile_etcl("$type_name == 'Alarm' and $Severity > 2")
    filter_.matches(event)      True or False
    filter_.evaluate(event)     (False, the error) where the expression has no result for this event

An error is no match, and there is no third truth value: `not ($.missing == 1)` does not match (3.5).
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from mappings.errors import FilterRuntimeError
from mappings.event_forms import to_structured
from mappings.filters.etcl_checks import check
from mappings.filters.etcl_closures import compile_condition
from mappings.filters.etcl_components import Clock, Form, Test, missing
from mappings.filters.etcl_forms import STRUCTURED, UNTYPED
from mappings.filters.etcl_tree import Expression, parse_etcl
from mappings.filters.etcl_values import Unresolved
from mappings.model import Event, StructuredEvent, UntypedEvent

if TYPE_CHECKING:
    from mappings.filters.explanation import Part

UNIX_EPOCH: Final = 0x01B21DD213814000
"""1970 as a TimeBase::TimeT."""

CACHED_FILTERS: Final = 1024


def system_clock() -> int:
    """What `$curtime.time` is unless a caller says otherwise."""
    return UNIX_EPOCH + time.time_ns() // 100


class EtclFilter:
    """A compiled filter. It holds no state of its own and may be shared by threads."""

    __slots__ = ("_clock", "_structured", "_untyped", "text", "tree")

    def __init__(self, text: str, tree: Expression | None, clock: Clock) -> None:
        self.text = text
        self.tree = tree
        self._clock = clock
        self._structured = self._compile(STRUCTURED)
        self._untyped: Test | None = None  # rare: made when the first such event comes

    def matches(self, event: Event) -> bool:
        """Whether the filter passes the event; raises nothing."""
        try:
            if event.__class__ is StructuredEvent:
                return self._structured(event)
            return self._of_other_form(event)
        except (Unresolved, FilterRuntimeError):
            return False

    def evaluate(self, event: Event) -> tuple[bool, FilterRuntimeError | None]:
        """Whether it passes, and why there was no result where there was none."""
        try:
            if event.__class__ is StructuredEvent:
                return self._structured(event), None
            return self._of_other_form(event), None
        except Unresolved as why:
            return False, missing(why)
        except FilterRuntimeError as error:
            return False, error

    def explain(self, event: Event) -> list[Part]:
        """What each of its conditions makes of the event, for people. Raises nothing."""
        from mappings.filters.explanation import explain_etcl

        if self.tree is None:
            return []
        if isinstance(event, UntypedEvent):
            return explain_etcl(self.tree, UNTYPED, self._clock, event)
        return explain_etcl(self.tree, STRUCTURED, self._clock, to_structured(event))

    def _of_other_form(self, event: Event) -> bool:
        if isinstance(event, UntypedEvent):
            if self._untyped is None:
                self._untyped = self._compile(UNTYPED)
            return self._untyped(event)
        return self._structured(to_structured(event))

    def _compile(self, form: Form) -> Test:
        return compile_condition(self.tree, form, self._clock) if self.tree is not None else _always

    def __repr__(self) -> str:
        return f"EtclFilter({self.text!r})"


def compile_etcl(text: str, *, now: Clock = system_clock) -> EtclFilter:
    """The filter of a text; equal texts give the same filter while it is remembered.

    `now` gives `$curtime.time`. Raises FilterError (FLT-SYNTAX, FLT-TYPE, FLT-LIMIT) with the position in the text.
    """
    return _compiled(text, now)


@lru_cache(maxsize=CACHED_FILTERS)
def _compiled(text: str, now: Clock) -> EtclFilter:
    tree = parse_etcl(text)
    if tree is not None:
        check(tree)
    return EtclFilter(text, tree, now)


def _always(event: Any) -> bool:
    return True
