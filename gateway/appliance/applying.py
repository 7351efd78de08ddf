"""What `isthmus apply` asks of a running gateway besides taking a configuration over, in a file of its run folder."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from gateway.appliance.run_dir import write_whole

NAME: Final = "apply.json"


class Removal(NamedTuple):
    """What became of a durable subscription that nobody needs any more."""

    channel: str
    topic: str
    name: str
    trouble: str = ""  # why it is still there


def ask_to_remove(run_dir: Path, text: str) -> None:
    """Durable subscriptions that the configuration of this text leaves behind, when it is taken over."""
    write_whole(run_dir / NAME, json.dumps({"remove_subscriptions_of": text}) + "\n")


def asked_to_remove(run_dir: Path, text: str) -> bool:
    """Once: whatever stands there is gone afterwards."""
    asked = None
    with suppress(OSError, ValueError, KeyError, TypeError):
        asked = json.loads((run_dir / NAME).read_text(encoding="utf-8"))["remove_subscriptions_of"]
    (run_dir / NAME).unlink(missing_ok=True)
    return asked == text
