"""An interface `<I>` of a typed channel, as its IDL file describes it, and what is derived from it (RULES.md section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mappings.idl_types import IdlType

TRY: Final = "try_"
PULL: Final = "pull_"


@dataclass(frozen=True)
class Operation:
    """`void name(in T1 p1, in T2 p2 …)`, which raises nothing."""

    name: str
    scoped_name: str  # ::Module::Interface::name, of the interface that declares it
    parameters: tuple[tuple[str, IdlType], ...]


@dataclass(frozen=True)
class TypedInterface:
    id: str  # repository id
    scoped_name: str  # ::Module::Interface
    operations: tuple[Operation, ...]  # inherited ones first
    troubles: tuple[str, ...] = field(default=(), compare=False)
    """Why it cannot carry events, each with `file:line`; empty where it can."""

    @cached_property
    def by_name(self) -> Mapping[str, Operation]:
        return {operation.name: operation for operation in self.operations}

    @property
    def pull_id(self) -> str:
        """The repository id of Pull<I>: `Pull` stands before the last name."""
        scheme, _, rest = self.id.partition(":")
        path, colon, version = rest.rpartition(":")
        scope, slash, name = path.rpartition("/")
        return f"{scheme}:{scope}{slash}Pull{name}{colon}{version}"

    def is_called(self, key: str) -> bool:
        """A Key is the repository id, or the scoped name with or without the first `::`."""
        return key in (self.id, self.scoped_name, self.scoped_name.removeprefix("::"))
