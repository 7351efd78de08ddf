"""Python source of a plan, as it is written: lines, and the objects that they speak of.

A plan is a function made for one shape of event or message. Its source comes from templates of our own; names and texts out of
events enter it as constants or by `repr`, never as code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

MAX_SOURCE: Final = 150_000  # characters


class PlanSource:
    def __init__(self, **names: Any) -> None:
        """`names`: what the source calls by a name of our choice."""
        self._lines: list[str] = []
        self._indent = 1
        self._namespace: dict[str, Any] = dict(names)
        self._constants: dict[int, str] = {}
        self._variables = 0

    def constant(self, value: Any) -> str:
        """The name under which the source finds this object."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = f"K{len(self._constants)}"
            self._namespace[name] = value
        return name

    def variable(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self._indent += 1
        yield
        self._indent -= 1

    def function(self, signature: str) -> Callable[..., Any] | None:
        """The function with these lines as its body; None where that would be too long to be kept."""
        if sum(map(len, self._lines)) > MAX_SOURCE:
            return None
        source = "\n".join([f"def plan({signature}):", *self._lines, ""])
        namespace = self._namespace
        exec(compile(source, "<plan>", "exec"), namespace)
        plan: Callable[..., Any] = namespace["plan"]
        return plan


class Text(NamedTuple):
    """A text that the plan knows but for its beginning, which may be in a variable: names and paths inside loops."""

    variable: str
    rest: str

    def __add__(self, more: object) -> Text:
        return Text(self.variable, self.rest + str(more))

    def __str__(self) -> str:
        """As an expression."""
        if not self.variable:
            return repr(self.rest)
        return f"{self.variable} + {self.rest!r}" if self.rest else self.variable
