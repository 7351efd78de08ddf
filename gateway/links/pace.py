"""What may be chosen about how a link works."""

from __future__ import annotations

from dataclasses import dataclass, field

from adapters.settings_base import BackOff


@dataclass(frozen=True, slots=True)
class Pace:
    """How much a link takes on at once, and how patient it is."""

    window: int = 1000  # events in flight at the most
    batch: int = 100  # events in one send at the most
    drain_secs: float = 10.0  # how long a stopping link waits for confirmations
    source_back_off: BackOff = field(default_factory=BackOff)
    sink_back_off: BackOff = field(default_factory=BackOff)
    retry: BackOff = field(default_factory=BackOff)  # pauses after "retry later", and while dead letters cannot be kept
    breaker: int = 10  # failures in a row after which the sink is left alone for a while; 0: never
    dead_letter_expired: bool = False  # keep what has expired, with the reason
    stop_at_ratio: float | None = None  # of dead letters among the last `stop_after` events
    stop_after: int = 100
    max_age_secs: float | None = None  # an event that waits longer than this to be sent is dead-lettered; None: never
