"""Captures as gateways make them: a whole configuration on the in-memory wire, run in this process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from adapters.base import Payload
from gateway.appliance.appliance import Appliance
from gateway.settings import Source, read
from gateway.settings.settings import Settings
from mappings.idl_types import BOOLEAN, DOUBLE, LONG, STRING, Member, Struct
from mappings.known_types import UTC_T
from mappings.model import Any_, Property, StructuredEvent

PATIENCE_SECS = 60.0
POINT = Struct("IDL:Test/Point:1.0", "Point", (Member("x", LONG), Member("y", DOUBLE)))
LONG_AGO = {"time": 1, "inacclo": 0, "inacchi": 0, "tdf": 0}


class Deaf:
    """Hears everything and says nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def alarm(number: int, **changed: Any) -> StructuredEvent:
    """Different for each number, and the same for the same one."""
    its: dict[str, Any] = {
        "Number": (LONG, number),
        "Severity": (LONG, number % 6),
        "Element": (STRING, f"ManagedElement=Zürich-{number % 7}"),
        "Ratio": (DOUBLE, number / 8),
        "Cleared": (BOOLEAN, number % 2 == 0),
        "Place": (POINT, {"x": number, "y": float("inf") if number % 50 == 7 else number / 4}),
        **changed,
    }
    fields = tuple(Property(name, type_, value) for name, (type_, value) in its.items())
    kind = "Alarm" if number % 3 else "Clear"
    return StructuredEvent("Telecom", kind, f"n{number}", (), fields, Any_(STRING, f"loss of signal on port {number}"))


def expired(number: int) -> StructuredEvent:
    its = alarm(number)
    header = (Property("StopTime", UTC_T, LONG_AGO),)
    return StructuredEvent(its.domain_name, its.type_name, its.event_name, header, its.filterable_data)


def configuration(
    folder: Path, name: str = "gw", link: Mapping[str, Any] | None = None, **changed: Any
) -> dict[str, Any]:
    """One link from events to messages in memory, captured."""
    return {
        "name": name,
        "environment": "test",
        "run_dir": str(folder / "run"),
        "capture": {"roll_rows": 400},
        "endpoints": {"memory": {"type": "memory"}},
        "channels": {
            "events": {"endpoint": "memory", "name": "events"},
            "messages": {"endpoint": "memory", "name": "messages", "form": "message"},
        },
        "links": {"alarms": {"from": "events", "to": "messages", **(link or {})}},
        **changed,
    }


def write_configuration(folder: Path, config: Mapping[str, Any], name: str = "isthmus.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def settings_of(config: Mapping[str, Any], folder: Path) -> Settings:
    reading = read(Source("test", yaml.safe_dump(dict(config)).encode(), folder))
    assert reading.settings is not None, reading.findings
    return reading.settings


def capture(folder: Path, config: Mapping[str, Any], events: Sequence[Payload], queue: str = "events") -> Path:
    """Runs the gateway until all of these have come to their end; the folder of the capture."""
    settings = settings_of(config, folder)
    links = [link for link, its in settings.links.items() if settings.channels[its.source].name == queue]  # type: ignore[union-attr]
    appliance = Appliance(settings, Deaf())
    appliance.start()
    try:
        appliance.wiring.memory_peer("memory").put(queue, events)
        deadline = time.monotonic() + PATIENCE_SECS
        while not all(_is_done(appliance, link, len(events)) for link in links):
            assert time.monotonic() < deadline, appliance.statuses()
            time.sleep(0.01)
    finally:
        assert appliance.stop()
    return settings.capture_path()


def _is_done(appliance: Appliance, link: str, count: int) -> bool:
    balance = next(status.balance for status in appliance.statuses() if status.id == link)
    return balance.received >= count and balance.pending == 0
