"""What we have at peers, on disk: so that what a crash of the gateway leaves there is found and removed at the next start.

One small file for each connected end. An end that closes in order removes its file; a file that is there when the gateway starts is
of an end that did not.
"""

from __future__ import annotations

import contextlib
import json
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

Trace = tuple[str, str]
"""What we have at a peer: an operation without arguments that ends it, and the reference of the object to call it on. By its
reference, never by its id: after a restart of the peer the id may be somebody else's."""

MOST_AT_ONCE: Final = 50  # traces that one connect removes


class LeftBehind:
    """Kept for one gateway, for all its ends. Without a folder: in memory, which outlives the ORB's process but not ours."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._orphans: dict[str, list[tuple[Trace, Path | None]]] = {}  # by peer
        if folder is not None:
            for file in sorted(folder.glob("*.json")):
                self._adopt(file)

    def _adopt(self, file: Path) -> None:
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            traces = [(str(operation), str(reference)) for operation, reference in found["traces"]]
            peer = str(found["peer"])
        except (OSError, ValueError, TypeError, KeyError):
            _unlink(file)  # half a file: we died before the peer could have heard of us
            return
        self._orphans.setdefault(peer, []).extend((trace, file) for trace in traces)

    def at(self, peer: str) -> list[Trace]:
        """What nobody uses any more at this peer: to be removed now, and then told to `removed`."""
        with self._lock:
            return [trace for trace, _ in self._orphans.get(peer, [])[:MOST_AT_ONCE]]

    def removed(self, peer: str, traces: Sequence[Trace]) -> None:
        gone = set(traces)
        with self._lock:
            kept = [entry for entry in self._orphans.get(peer, []) if entry[0] not in gone]
            files = {file for trace, file in self._orphans.get(peer, []) if trace in gone and file is not None}
            self._orphans[peer] = kept
        for file in files - {file for _, file in kept}:
            _unlink(file)

    def leave(self, peer: str, traces: Sequence[Trace], file: Path | None) -> None:
        """An end could not remove these: the next to connect to this peer will."""
        with self._lock:
            self._orphans.setdefault(peer, []).extend((trace, file) for trace in traces)

    def record(self) -> Path | None:
        """The file of one connection."""
        return None if self._folder is None else self._folder / f"{uuid.uuid4().hex}.json"

    def write(self, peer: str, traces: Sequence[Trace], file: Path | None) -> None:
        """Survives us, though perhaps not a power cut. A disk that is full costs a trace, and no connection."""
        if file is None:
            return
        part = file.with_suffix(".part")
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps({"peer": peer, "traces": traces}), encoding="utf-8")
            part.replace(file)


class Traces:
    """What one end has at its peer."""

    def __init__(self, left_behind: LeftBehind, peer: str) -> None:
        self._left_behind = left_behind
        self._peer = peer
        self._traces: list[Trace] = []
        self._file: Path | None = None
        self._asked: list[Trace] = []

    def of_others(self) -> list[Trace]:
        """What a connect must remove first, as far as it comes with it."""
        self._asked = self._left_behind.at(self._peer)
        return self._asked

    def removed(self, count: int) -> None:
        """We are connected, and so many of these are no more."""
        self._left_behind.removed(self._peer, self._asked[:count])
        self._asked = []

    def remember(self, traces: list[Trace]) -> None:
        self._traces = traces
        self._file = self._file or self._left_behind.record()
        self._left_behind.write(self._peer, traces, self._file)

    def gone(self, *, removed: bool) -> None:
        """The connection is over; `removed`: in order."""
        traces, self._traces = self._traces, []
        file, self._file = self._file, None
        if removed and file is not None:
            _unlink(file)
        elif not removed and traces:
            self._left_behind.leave(self._peer, traces, file)


def _unlink(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
