"""What an operator sees of an inlet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.journal.status import JournalStatus
from gateway.links.observer import State
from mappings.errors import IsthmusError


@dataclass(frozen=True, slots=True)
class InletStatus:
    channel: str
    state: State
    error: IsthmusError | None  # why it is down, or has stopped
    received: int  # events that the journal took from the source, since this process started
    unsafe: int  # of these: not safe yet, so not acknowledged
    journal: JournalStatus  # `held` says why the source is held back
    changes: Mapping[State, int] = field(default_factory=dict)  # how often the source came into each state
