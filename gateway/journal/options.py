"""What may be chosen about a journal. The defaults suit a gateway with one disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from gateway.journal.cursor_state import LARGEST_WINDOW
from gateway.journal.envelope import Compression

MIB: Final = 1024 * 1024

Policy = Literal["block", "drop_oldest", "dead_letter"]
"""What happens to a link that is so far behind that the journal is full: hold back the source (block), give up the link's oldest
records (drop_oldest), or have the link dead-letter them (dead_letter)."""


@dataclass(frozen=True, slots=True)
class Options:
    """Sizes in bytes, times in seconds."""

    segment_bytes: int = (
        64 * MIB
    )  # a new segment is begun when the newest one is larger; never more than a quarter of max_bytes
    max_bytes: int | None = 4096 * MIB  # of all segments together; None: as large as the disk
    keep_secs: float = 0.0  # how long segments stay, for export and replay, after every link has settled them
    keep_bytes: int | None = None  # … and no longer than all segments together are smaller than this

    queue_bytes: int = 32 * MIB  # what may wait in memory to be written; beyond it `append` raises JournalHeld
    group_records: int = 5000  # records in one write, at the most (one append is never split)
    group_bytes: int = 8 * MIB
    relaxed_sync_secs: float = 0.2  # records that need no sync of their own are synced at least this often
    cursor_write_secs: float = (
        0.02  # how often changed cursors are written: what a killed process delivers again at the most
    )
    cursor_sync_secs: float = 1.0  # how often they are synced: what is delivered again after a power cut
    hold_first_secs: float = (
        0.05  # pauses between attempts while the disk cannot take a write: doubled up to the longest
    )
    hold_longest_secs: float = 5.0

    window: int = LARGEST_WINDOW  # how far ahead of its oldest unsettled record a link may be
    tail_records: int = 10_000  # newest records that are kept in memory: a link that keeps up reads and decodes nothing
    tail_bytes: int = 32 * MIB

    compression: Compression = "none"
    keys: tuple[bytes, ...] = field(default=(), repr=False)  # AES-256: the first one seals, all of them open

    @property
    def usual_segment_bytes(self) -> int:
        return self.segment_bytes if self.max_bytes is None else min(self.segment_bytes, self.max_bytes // 4)

    @property
    def usual_group_bytes(self) -> int:
        """A write is taken as a whole: one that is larger than a segment would carry a small journal far beyond its bound."""
        return min(self.group_bytes, self.usual_segment_bytes)
