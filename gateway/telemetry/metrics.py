"""Metrics for Prometheus, read off the links at each scrape: links do nothing for them while events pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from gateway.links.link import LinkStatus
from gateway.telemetry import metric_defs as defs
from gateway.telemetry.metric_defs import MetricDef

Family = CounterMetricFamily | GaugeMetricFamily


class LinkCollector(Collector):
    def __init__(self, statuses: Callable[[], list[LinkStatus]]) -> None:
        self._statuses = statuses

    def collect(self) -> Iterable[Family]:
        families = {definition: _family(definition) for definition in defs.ALL}
        for status in self._statuses():
            balance = status.balance
            families[defs.RECEIVED].add_metric([status.id], balance.received)
            for outcome in ("delivered", "filtered", "expired", "duplicate", "dead_lettered"):
                families[defs.SETTLED].add_metric([status.id, outcome], getattr(balance, outcome))
            families[defs.PENDING].add_metric([status.id], balance.pending)
            families[defs.OLDEST_PENDING].add_metric([status.id], status.oldest_pending_secs or 0.0)
            families[defs.SIDE_READY].add_metric([status.id, "source"], status.source == "ready")
            families[defs.SIDE_READY].add_metric([status.id, "sink"], status.sink == "ready")
            families[defs.LINK_STOPPED].add_metric([status.id], status.state == "stopped" and status.error is not None)
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
