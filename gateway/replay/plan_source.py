"""A plan as the source of a link: hands out events when they are due, and remembers how far all of them are settled.

The position is the number of events from the beginning that are settled without a gap. It is on disk at the latest after half a
second; after a crash the replay goes on from there, so an event may be played twice, and none is left out.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from adapters.base import Capabilities, DeadLetterError, Delivery, Form, Payload, Source
from mappings.captures.errors import CaptureError
from mappings.captures.layout import SEALED
from mappings.captures.payloads import PayloadReader
from mappings.captures.sealing import Opener
from mappings.errors import IsthmusError

PROGRESS_FILE: Final = "progress.json"
SAVE_SECS: Final = 0.5
READ_ROWS: Final = 500


class Pacing(NamedTuple):
    """`rate`: events a second. `factor`: the captured distances, divided by it. Neither: as fast as it goes."""

    rate: float | None = None
    factor: float | None = None

    def due(self, count: int, since_first_secs: float) -> float:
        """Seconds after the start."""
        if self.rate is not None:
            return count / self.rate
        return since_first_secs / self.factor if self.factor is not None else 0.0


class Progress:
    """How far a replay is, on disk."""

    def __init__(self, out: Path) -> None:
        self._path = out / PROGRESS_FILE

    def load(self) -> int:
        """0 where there is none. Raises CaptureError where it is damaged."""
        try:
            position = json.loads(self._path.read_text(encoding="utf-8"))["position"]
        except FileNotFoundError:
            return 0
        except (ValueError, KeyError, TypeError) as wrong:
            raise _no_progress(self._path) from wrong
        if type(position) is not int or position < 0:
            raise _no_progress(self._path)
        return position

    def save(self, position: int) -> None:
        part = self._path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            json.dump({"position": position}, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._path)


class PlanSource(Source):
    """`what`: the events as the source delivered them, or the messages as they were sent."""

    def __init__(
        self,
        plan: Path,
        form: Form,
        what: Literal["source", "sent"],
        pacing: Pacing,
        progress: Progress,
        keys: Sequence[bytes] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.capabilities = Capabilities(form, True, False, True, True, True)
        self.position = progress.load()
        self.total = sum(pq.ParquetFile(path).metadata.num_rows for path in plan_files(plan))
        self._form = form
        self.what = what
        self._pacing = pacing
        self._progress = progress
        self._opener = Opener(keys)
        self._reader = PayloadReader()
        self._clock = clock
        self._rows = self._read(plan, self.position)
        self._next: tuple[int, dict[str, object]] | None = None
        self._began: tuple[float, float, int] | None = (
            None  # the clock, the captured time and the number of the first event
        )
        self._settled: set[int] = set()  # beyond the position
        self._saved = 0.0
        self._woken = threading.Event()

    @property
    def finished(self) -> bool:
        return bool(self.position >= self.total)

    def connect(self) -> None:
        pass

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        self._save_now_and_then()
        deadline = self._clock() + timeout_secs
        deliveries: list[Delivery] = []
        while len(deliveries) < limit:
            if self._next is None:
                self._next = next(self._rows, None)
            wait = self._wait_secs() if self._next is not None else timeout_secs
            if self._next is not None and wait <= 0:
                deliveries.append(self._delivery(*self._next))
                self._next = None
            elif deliveries or self._clock() >= deadline or self._woken.wait(min(wait, deadline - self._clock())):
                break
        self._woken.clear()
        return deliveries

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        self._settled.update(delivery.token for delivery in deliveries)
        while self.position in self._settled:
            self._settled.remove(self.position)
            self.position += 1
        self._save_now_and_then()

    def release(self, deliveries: Sequence[Delivery]) -> None:
        """They are behind the position, and come again with the next run."""

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        self._progress.save(self.position)

    def _save_now_and_then(self) -> None:
        now = self._clock()
        if now - self._saved >= SAVE_SECS:
            self._saved = now
            self._progress.save(self.position)

    def _wait_secs(self) -> float:
        assert self._next is not None
        number, row = self._next
        captured = float(row["received_at"]) / 1_000_000  # type: ignore[arg-type]
        if self._began is None:
            self._began = self._clock(), captured, number
        began, first, first_number = self._began
        return began + self._pacing.due(number - first_number, captured - first) - self._clock()

    def _delivery(self, number: int, row: dict[str, object]) -> Delivery:
        payload: Payload | None = None
        error: DeadLetterError | None = None
        event_id = str(row["event_id"])
        try:
            payload = self._payload(row, event_id)
        except IsthmusError as wrong:
            error = DeadLetterError(wrong.code, wrong.message, path=wrong.path, hint=wrong.hint)
        return Delivery(payload, event_id, time.time(), bool(row["persistent"]), error=error, token=number)

    def _payload(self, row: dict[str, object], event_id: str) -> Payload:
        cell = row[self.what]
        form = row[f"{self.what}_form"]
        if form != self._form:
            raise CaptureError("CAP-FORM", f"it holds {form or 'nothing'}, and the link takes {self._form}s")
        assert isinstance(cell, bytes)
        if row["codec"] == SEALED:
            cell = self._opener.open(cell, f"{self.what} {event_id}")
        return self._reader.read(self._form, cell)

    def _read(self, plan: Path, skip: int) -> Iterator[tuple[int, dict[str, object]]]:
        number = 0
        for path in plan_files(plan):
            with pq.ParquetFile(path) as file:
                rows = file.metadata.num_rows
                if number + rows <= skip:
                    number += rows
                    continue
                for batch in file.iter_batches(READ_ROWS):
                    if number + batch.num_rows <= skip:
                        number += batch.num_rows
                        continue
                    for row in batch.to_pylist():
                        if number >= skip:
                            yield number, row
                        number += 1


def plan_files(plan: Path) -> list[Path]:
    """In the order in which they are played. Raises CaptureError where there is no plan."""
    if not (plan / "_SUCCESS").exists():
        raise CaptureError(
            "CAP-NO-PLAN", "there is no whole plan here", path=str(plan), hint="plan again, without --resume"
        )
    files = sorted(plan.glob("*.parquet"))
    try:
        for path in files:
            pq.read_metadata(path)
    except (OSError, pa.ArrowException) as trouble:
        raise CaptureError("CAP-NO-PLAN", f"the plan cannot be read: {trouble}", path=str(plan)) from None
    return files


def _no_progress(path: Path) -> CaptureError:
    return CaptureError(
        "CAP-PROGRESS",
        "how far the replay was cannot be read",
        path=str(path),
        hint="remove the file to begin anew",
    )
