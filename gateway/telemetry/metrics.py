"""Metrics for Prometheus, read off the links at each scrape: links do nothing for them while events pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from gateway.inlet.status import InletStatus
from gateway.links.link import LinkStatus
from gateway.telemetry import metric_defs as defs
from gateway.telemetry.metric_defs import MetricDef

Family = CounterMetricFamily | GaugeMetricFamily

OUTCOMES: Final = ("delivered", "filtered", "expired", "duplicate", "dead_lettered", "looped")
JOURNAL_OUTCOMES: Final = ("dropped", "lost")


class LinkCollector(Collector):
    def __init__(self, statuses: Callable[[], list[LinkStatus]]) -> None:
        self._statuses = statuses

    def collect(self) -> Iterable[Family]:
        families = {definition: _family(definition) for definition in defs.ALL}
        inlets: dict[str, InletStatus] = {}
        for status in self._statuses():
            balance = status.balance
            families[defs.RECEIVED].add_metric([status.id], balance.received)
            outcomes = (*OUTCOMES, *JOURNAL_OUTCOMES) if status.inlet is not None else OUTCOMES
            for outcome in outcomes:
                families[defs.SETTLED].add_metric([status.id, outcome], getattr(balance, outcome))
            families[defs.PENDING].add_metric([status.id], balance.pending)
            families[defs.OLDEST_PENDING].add_metric([status.id], status.oldest_pending_secs or 0.0)
            families[defs.SIDE_READY].add_metric([status.id, "source"], status.source == "ready")
            families[defs.SIDE_READY].add_metric([status.id, "sink"], status.sink == "ready")
            for side, changes in (("source", status.source_changes), ("sink", status.sink_changes)):
                for state, count in changes.items():
                    families[defs.SIDE_CHANGES].add_metric([status.id, side, state], count)
            if status.missing is not None:
                families[defs.MISSING].add_metric([status.id], status.missing)
            families[defs.LINK_STOPPED].add_metric([status.id], status.state == "stopped" and status.error is not None)
            if status.capture is not None:
                families[defs.CAPTURED].add_metric([status.id], status.capture.captured)
                families[defs.UNCAPTURED].add_metric([status.id], status.capture.uncaptured)
            if status.inlet is not None:
                inlets[status.inlet.channel] = status.inlet
        for channel, inlet in inlets.items():
            families[defs.INLET_READY].add_metric([channel], inlet.state == "ready")
            for state, count in inlet.changes.items():
                families[defs.INLET_CHANGES].add_metric([channel, state], count)
            families[defs.INLET_HELD].add_metric([channel], inlet.journal.held is not None)
            families[defs.INLET_RECEIVED].add_metric([channel], inlet.received)
            families[defs.JOURNAL_BYTES].add_metric([channel], inlet.journal.size_bytes)
        return families.values()


def exposition(statuses: Callable[[], list[LinkStatus]]) -> bytes:
    """The text that Prometheus scrapes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(LinkCollector(statuses))
    return generate_latest(registry)


def _family(definition: MetricDef) -> Family:
    kind = CounterMetricFamily if definition.kind == "counter" else GaugeMetricFamily
    name = definition.name.removesuffix("_total")
    return kind(name, definition.meaning, labels=definition.labels)
