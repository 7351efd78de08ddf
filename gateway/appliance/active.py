"""What a gateway runs with, for commands that ask: its process, the file of its configuration, and the text that it took over.

The text is the file's, so secrets in it are references.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gateway.appliance.run_dir import write_whole
from mappings.errors import IsthmusError

NAME: Final = "active.json"


class Active(NamedTuple):
    process: int
    config: str
    text: str
    reloads: int = 0  # that it was asked for
    refused: str | None = None  # a text that it did not take over
    removals: Sequence[Sequence[str]] = ()  # durable subscriptions that it removed, or could not (`applying.Removal`)

    def write(self, run_dir: Path) -> None:
        write_whole(run_dir / NAME, json.dumps(self._asdict()) + "\n")


def read_active(run_dir: Path) -> Active:
    """Raises IsthmusError where no gateway runs there."""
    try:
        form = json.loads((run_dir / NAME).read_text(encoding="utf-8"))
        active = Active(**form)
        alive = Path(f"/proc/{active.process}").exists()
    except (OSError, ValueError, TypeError):
        alive = False
    if not alive:
        raise IsthmusError(
            "LNK-NO-GATEWAY",
            "no gateway runs with this run_dir",
            path=str(run_dir),
            hint="start it, and run this command in the folder that it was started in",
        )
    return active


def forget_active(run_dir: Path) -> None:
    (run_dir / NAME).unlink(missing_ok=True)
