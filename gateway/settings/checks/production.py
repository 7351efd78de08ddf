"""What is for trials only has no place in a configuration that says `production: true`."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.memory.settings import MemoryEndpoint
from adapters.mq.settings import MqEndpoint
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings

_HINT = "put the real system in its place, or leave `production` out while you try things"


def check_production(settings: Settings, report: Report) -> None:
    if settings.production:
        for path, what in _trials(settings):
            report.error(
                "CFG-PRODUCTION", path, f"{what}, and this configuration is for production", _HINT, at=report.key(path)
            )


def _trials(settings: Settings) -> Iterator[tuple[Path, str]]:
    if settings.services.broker is not None:
        yield ("services", "broker"), "the embedded broker is for trying things"
    for id_, endpoint in settings.endpoints.items():
        if isinstance(endpoint, MqEndpoint) and endpoint.stand_in is not None:
            yield ("endpoints", id_, "stand_in"), "a stand-in is no queue manager"
        elif isinstance(endpoint, MemoryEndpoint):
            yield ("endpoints", id_), "what is in memory does not survive the process"
