"""What was done before the files were left, so that the tests know what must be in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from gateway.settings.settings import Settings
from mappings.forms.events import event_from_json
from mappings.model import StructuredEvent

DATA: Final = Path(__file__).parents[1] / "data"
KEPT: Final = DATA / "kept"
KEY: Final = "0123456789abcdef" * 4
REFUSED: Final = 3
"""The place of the event that the sink of link `main` refuses."""

JOURNALS: Final[dict[str, dict[str, Any]]] = {
    "plain": {},
    "compressed": {"compression": "zlib"},
    "zstd": {"compression": "zstd"},
    "encrypted": {"secret_key": KEY},
}
QUICK: Final = {"back_off": {"first_ms": 5, "longest_ms": 20}}


def events(version: Path) -> list[StructuredEvent]:
    """Of the kinds that the model has; they lie beside the files that were made of them."""
    lines = (version / "events.jsonl").read_text(encoding="utf-8").splitlines()
    found = [event_from_json(json.loads(line)) for line in lines]
    return [event for event in found if isinstance(event, StructuredEvent)]


def settings(run_dir: Path, journal: str) -> Settings:
    """`main` delivers, `copies` waits for a sink that is away."""
    return Settings.model_validate(
        {
            "name": "kept",
            "run_dir": str(run_dir),
            "journal": JOURNALS[journal],
            "capture": {"compression": "zstd"},
            "endpoints": {name: {"type": "memory", **QUICK} for name in ("in", "out", "away")},
            "channels": {
                "events": {"endpoint": "in", "name": "events"},
                "messages": {"endpoint": "out", "name": "messages", "form": "message"},
                "copies": {"endpoint": "away", "name": "copies"},
            },
            "links": {"main": {"from": "events", "to": "messages"}, "copies": {"from": "events", "to": "copies"}},
        }
    )
