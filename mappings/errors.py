"""The root of every error that Isthmus raises on purpose.

    IsthmusError                    code, message, path, hint
    ├── MappingError                a value, event or message that cannot be read or translated   (MAP-…)
    │   ├── Expired                 not a fault: the event's time is over, it must not be sent    (MAP-EXPIRED)
    │   └── Looped                  not a fault: it has been here before, it must not be sent     (MAP-LOOPED)
    ├── FilterError                 an ETCL or selector text that does not parse                  (FLT-…)
    ├── FilterRuntimeError          a filter that has no result for this one event: no match      (FLT-…)
    ├── adapters.base.AdapterError  told apart by what the caller must do: ReconnectError,
    │                               RetryLaterError, DeadLetterError, StopError
    └── gateway.settings.SettingsError    a configuration with findings                           (CFG-…)

Codes are stable, and each has a line in docs/errors.md (a test checks both ways).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class IsthmusError(Exception):
    """An error with a stable code, the place it is about, and what to do next; and the rule of the mapping that could not be
    followed, where there is one: its id, as in `explain`."""

    def __init__(self, code: str, message: str, *, path: str = "", hint: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path
        self.hint = hint
        self.rule = rule

    def __str__(self) -> str:
        place = f" at {self.path}" if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}: {self.message}{place}{hint}"

    def to_json(self) -> dict[str, str]:
        """The form of FORMS.md section 5: `hint` only where there is one."""
        form = {"code": self.code, "message": self.message, "path": self.path}
        if self.hint:
            form["hint"] = self.hint
        return form


class MappingError(IsthmusError):
    """A value, event or message that cannot be read or translated; the caller dead-letters it."""


@contextmanager
def following(rule: str) -> Iterator[None]:
    """What goes wrong here goes wrong under this rule, unless it names another."""
    try:
        yield
    except MappingError as error:
        error.rule = error.rule or rule
        raise


class Expired(MappingError):
    """The event's time to live is over (OC-VAR-2, OC-VAR-3): count it as expired, send nothing."""

    def __init__(self, message: str, *, path: str = "", rule: str = "") -> None:
        super().__init__("MAP-EXPIRED", message, path=path, rule=rule)


class Looped(MappingError):
    """The event has been in this channel before (`avoid_loopback`): count it as looped, send nothing."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__("MAP-LOOPED", message, path=path)


class FilterError(IsthmusError):
    """A filter text that does not parse; `position` is the offset of the offending character."""

    def __init__(self, code: str, message: str, *, position: int, hint: str = "") -> None:
        super().__init__(code, message, path=f"character {position + 1}", hint=hint)
        self.position = position


class FilterRuntimeError(IsthmusError):
    """A filter that has no result for one event, which counts as no match (RULES.md 3.5). `position` is where in its text."""

    def __init__(self, code: str, message: str, *, position: int, path: str = "", hint: str = "") -> None:
        super().__init__(code, message, path=path or f"character {position + 1}", hint=hint)
        self.position = position
