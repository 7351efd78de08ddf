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
    "Events that came to an end: delivered, filtered, expired, duplicate or dead_lettered. Their sum and the pending events"
    " are the received events at every moment.",
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
LINK_STOPPED: Final = MetricDef(
    "isthmus_link_stopped", "gauge", ("link",), "1 when the link has stopped for a reason that only a person can mend."
)

ALL: Final = (RECEIVED, SETTLED, PENDING, OLDEST_PENDING, SIDE_READY, LINK_STOPPED)
