"""Every metric that Isthmus shows, with the sentence that explains it. Documentation and tests read this file."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple


class MetricDef(NamedTuple):
    name: str
    kind: Literal["counter", "gauge"]
    labels: tuple[str, ...]
    meaning: str


RECEIVED: Final = MetricDef(
    "isthmus_link_received_total",
    "counter",
    ("link",),
    "Events that the link took from its source, redeliveries included.",
)
SETTLED: Final = MetricDef(
    "isthmus_link_settled_total",
    "counter",
    ("link", "outcome"),
    "Events that came to an end: delivered, filtered, looped, expired, duplicate, dead_lettered, or in a journal also dropped or"
    " lost. Their sum and the pending events are the received events at every moment.",
)
PENDING: Final = MetricDef(
    "isthmus_link_pending", "gauge", ("link",), "Events that were received and have not come to an end yet."
)
OLDEST_PENDING: Final = MetricDef(
    "isthmus_link_oldest_pending_seconds", "gauge", ("link",), "Age of the oldest pending event; 0 when there is none."
)
SIDE_READY: Final = MetricDef(
    "isthmus_link_side_ready", "gauge", ("link", "side"), "1 while this end of the link is connected, else 0."
)
SIDE_CHANGES: Final = MetricDef(
    "isthmus_link_side_changes_total",
    "counter",
    ("link", "side", "state"),
    "How often this end of the link came into a state: down, connecting, ready, draining; each is one line of the log.",
)
MISSING: Final = MetricDef(
    "isthmus_link_missing_total",
    "counter",
    ("link",),
    "Events that did not come, by the numbers that the source gives them (option `numbered`), since the link began.",
)
LINK_STOPPED: Final = MetricDef(
    "isthmus_link_stopped", "gauge", ("link",), "1 when the link has stopped for a reason that only a person can mend."
)
INLET_READY: Final = MetricDef(
    "isthmus_inlet_ready", "gauge", ("channel",), "1 while the source channel of a journal is connected, else 0."
)
INLET_CHANGES: Final = MetricDef(
    "isthmus_inlet_changes_total",
    "counter",
    ("channel", "state"),
    "How often the source channel of a journal came into a state: down, connecting, ready, draining.",
)
INLET_HELD: Final = MetricDef(
    "isthmus_inlet_held",
    "gauge",
    ("channel",),
    "1 while a source is held back because its journal is full or cannot be written.",
)
INLET_RECEIVED: Final = MetricDef(
    "isthmus_inlet_received_total",
    "counter",
    ("channel",),
    "Events that were taken from the source channel of a journal, redeliveries included.",
)
JOURNAL_BYTES: Final = MetricDef(
    "isthmus_journal_bytes", "gauge", ("channel",), "Size of the segments of the journal of a source channel."
)

CAPTURED: Final = MetricDef(
    "isthmus_capture_rows_total", "counter", ("link",), "Events whose traffic was captured, since the link began."
)
UNCAPTURED: Final = MetricDef(
    "isthmus_capture_missed_total",
    "counter",
    ("link",),
    "Events that passed and were not captured, because the disk was full or too slow.",
)

LINK_METRICS: Final = (RECEIVED, SETTLED, PENDING, OLDEST_PENDING, SIDE_READY, SIDE_CHANGES, MISSING, LINK_STOPPED)
INLET_METRICS: Final = (INLET_READY, INLET_CHANGES, INLET_HELD, INLET_RECEIVED, JOURNAL_BYTES)
CAPTURE_METRICS: Final = (CAPTURED, UNCAPTURED)
ALL: Final = (*LINK_METRICS, *INLET_METRICS, *CAPTURE_METRICS)
