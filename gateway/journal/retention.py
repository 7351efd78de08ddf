"""Which segments may go, and what happens to links that are in the way when the journal is full."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from gateway.journal.board import Place
from gateway.journal.cursor_state import OUTCOMES
from gateway.journal.errors import JournalError
from gateway.journal.options import Options
from gateway.journal.segments import Segment

_DROPPED: Final = OUTCOMES.index("dropped")


def deletable(
    segments: Sequence[Segment], settled: int, options: Options, bytes_on_disk: int, now: float | None = None
) -> list[Segment]:
    """The oldest segments that every link has settled and that nobody wants kept any longer. Never the newest: it says which
    sequence comes next."""
    now = time.time() if now is None else now
    going: list[Segment] = []
    for segment, following in pairwise(segments):
        if following.first - 1 > settled:
            break
        # A segment is as old as its last record, and that was written when the next segment was begun.
        is_kept = now - following.created_ms / 1000 < options.keep_secs
        too_much = options.keep_bytes is not None and bytes_on_disk > options.keep_bytes
        if is_kept and not too_much:
            break
        going.append(segment)
        bytes_on_disk -= segment.size
    return going


class Verdict(NamedTuple):
    """May the oldest segment go, though some links have not settled it?"""

    blocked_by: list[str]  # links that must settle first; empty: it may go
    changed: list[Place]
    findings: list[JournalError]


def give_up_oldest(places: Iterable[Place], last: int) -> Verdict:
    """The journal is full: apply each link's policy to its pending records up to `last`, the end of the oldest segment.

    Nothing is dropped as long as that would not help, because another link still needs the segment.
    """
    behind = [place for place in places if place.state.position < last]
    blocking = [place.link for place in behind if place.policy != "drop_oldest"]
    for place in behind:
        if place.policy == "dead_letter":
            place.overdue = max(place.overdue, last)
    if blocking:
        return Verdict(blocking, [], [])
    findings = []
    for place in behind:
        first = place.state.position + 1
        count = place.state.settle_through(last, _DROPPED)
        findings.append(
            JournalError(
                "JNL-DROPPED",
                f"{count} records of link {place.link} were dropped, up to sequence {last}: the journal is full and the "
                "link's policy is drop_oldest",
                path=f"sequence {first}",
                hint="mend what keeps the link from sending, or give the journal more room",
            )
        )
    return Verdict([], behind, findings)


def full(blocked_by: Iterable[str], max_bytes: int) -> JournalError:
    return JournalError(
        "JNL-FULL",
        f"the journal has reached its {max_bytes} bytes; waiting for: {', '.join(sorted(blocked_by))}",
        hint="mend what keeps these links from sending, forget links that are no more, or give the journal more room",
    )


def cursors_unwritten(max_bytes: int) -> JournalError:
    return JournalError(
        "JNL-CURSOR-WRITE",
        f"the journal has reached its {max_bytes} bytes, and no segment can be deleted while cursors cannot be written",
        hint="make room on the disk, or mend it: it goes on by itself",
    )
