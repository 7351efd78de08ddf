"""JMS message selectors, compiled to closures, in three-valued logic (RULES.md 8).

    selector = compile_selector("$type_name = 'Alarm' AND $Severity > 2")
    selector.matches(message)                 True or False; UNKNOWN is no match
    selector.evaluate(message)                True, False, or None for UNKNOWN
    selector.matches_values(headers.get)      the same for any function from a name to a value, None where there is none

The prefix `convert_string_expressions:` makes strings count as numbers and booleans where they are compared with such, as
ActiveMQ does; over STOMP every property is a string.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mappings.filters.selector_checks import HEADERS, check
from mappings.filters.selector_closures import Condition, Load, Source, compile_condition
from mappings.filters.selector_operators import Value
from mappings.filters.selector_tree import Expression, parse_selector
from mappings.model import Message

if TYPE_CHECKING:
    from mappings.filters.explanation import Part

CONVERT_PREFIX: Final = "convert_string_expressions:"
CACHED_SELECTORS: Final = 1024

Values: TypeAlias = Callable[[str], Value]
"""The value of a property, or of a header field by its JMS name; None where there is none."""


class Selector:
    """A compiled selector. It holds no state of its own and may be shared by threads."""

    __slots__ = ("_condition", "_of_values", "converting", "text", "tree")

    def __init__(self, text: str, tree: Expression | None, *, converting: bool) -> None:
        self.text = text
        self.tree = tree
        self.converting = converting
        self._condition = self._compile(_MESSAGES)
        self._of_values: Condition | None = None

    def matches(self, message: Message) -> bool:
        """Whether the selector accepts the message; raises nothing."""
        return self._condition(message) is True

    def evaluate(self, message: Message) -> bool | None:
        """None is UNKNOWN: a property is missing, or NULL, on which the result depends."""
        return self._condition(message)

    def explain(self, message: Message) -> list[Part]:
        """What each of its conditions makes of the message, for people. Raises nothing."""
        from mappings.filters.explanation import explain_selector

        return (
            []
            if self.tree is None
            else explain_selector(self.tree, _MESSAGES, converting=self.converting, message=message)
        )

    def matches_values(self, values: Values) -> bool:
        return self.evaluate_values(values) is True

    def evaluate_values(self, values: Values) -> bool | None:
        if self._of_values is None:
            self._of_values = self._compile(_VALUES)
        return self._of_values(values)

    def _compile(self, source: Source) -> Condition:
        if self.tree is None:
            return _always
        return compile_condition(self.tree, source, converting=self.converting)

    def __repr__(self) -> str:
        return f"Selector({self.text!r})"


@lru_cache(maxsize=CACHED_SELECTORS)
def compile_selector(text: str) -> Selector:
    """The selector of a text; equal texts give the same selector while it is remembered.

    Raises FilterError (FLT-SYNTAX, FLT-TYPE, FLT-NAME, FLT-LIMIT) with the position in the text.
    """
    converting = text.lstrip().startswith(CONVERT_PREFIX)
    tree = parse_selector(text.replace(CONVERT_PREFIX, " " * len(CONVERT_PREFIX), 1) if converting else text)
    if tree is not None:
        check(tree)
    return Selector(text, tree, converting=converting)


def _always(source: Any) -> bool:
    return True


def _message_loader(name: str) -> Load:
    if name in HEADERS:
        return lambda message: getattr(message.headers, name)

    def load(message: Message) -> Any:
        for property_ in message.properties:
            if property_[0] == name:
                return property_[2]
        return None

    return load


def _values_loader(name: str) -> Load:
    return lambda values: values(name)


_MESSAGES: Final = Source(_message_loader, lambda name: name not in HEADERS)
_VALUES: Final = Source(_values_loader, lambda name: False)
