"""What is to be done, as data: made from a command line and configurations by somebody else, so that nothing here reads YAML."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from mappings.captures.errors import CaptureError

HOUR_MICROS: Final = 3_600_000_000

Command = Literal["validate", "compare", "audit", "catalogue", "replay"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows. Times are microseconds since 1970; `until` is not included. Empty lists select everything."""

    since: int | None = None
    until: int | None = None
    links: tuple[str, ...] = ()
    gateways: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    etcl: str | None = None  # over events

    @property
    def whole_links(self) -> Selection:
        """All events of these links, whatever their time and type: numbers tell what is missing only where none is left out."""
        return Selection(links=self.links, gateways=self.gateways)

    @property
    def with_neighbours(self) -> Selection:
        """From an hour earlier on: an event that was settled there may have a number of after that."""
        return self if self.since is None else replace(self, since=self.since - HOUR_MICROS)


@dataclass(frozen=True, slots=True)
class Job:
    command: Command
    captures: tuple[str, ...]
    out: str
    selection: Selection = field(default_factory=Selection)
    key_files: tuple[str, ...] = ()
    old: dict[str, Any] = field(default_factory=dict)  # compare: specifications by link
    new: dict[str, Any] = field(default_factory=dict)
    selectors: tuple[dict[str, str], ...] = ()  # compare: name, link, and `selector` (messages) or `etcl` (events)
    hops: tuple[tuple[str, str], ...] = ()  # audit: what GATEWAY/LINK sends, GATEWAY/LINK takes
    exports: tuple[tuple[str, str], ...] = ()  # audit: GATEWAY/LINK, file of messages that a broker holds
    since_split: int | None = None  # catalogue: drift between what is before and after
    accept_compatible: bool = False  # compare: exit well where consumers only see more than before
    samples: int = 5
    follow: bool = False
    once: bool = False  # follow: what is there now, and then end
    follow_secs: float | None = None
    files_per_batch: int = 100
    master: str | None = None
    conf: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


def job_from_json(text: str) -> Job:
    """Raises CaptureError (CAP-JOB)."""
    try:
        form = json.loads(text)
        selection = form.pop("selection", {})
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in selection.items()
        }
        its = Selection(**fields)
        for pairs in ("hops", "exports"):
            form[pairs] = [tuple(pair) for pair in form.get(pairs, ())]
        rest: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in form.items()
        }
        return Job(**rest, selection=its)
    except (ValueError, TypeError, AttributeError) as wrong:
        raise CaptureError("CAP-JOB", f"this is no job: {wrong}", hint="`isthmus spark …` writes jobs") from None
