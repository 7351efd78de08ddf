"""Counts with samples: what workers send back instead of rows, and what reports are made of.

A key is a tuple of text and numbers; each has a count, and a few samples as plain data. The samples that stay are the smallest ones
as text, so that the result does not depend on who counted what.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Any, Final, TypeAlias

import pyarrow as pa

Key: TypeAlias = tuple[str | int | None, ...]

DDL: Final = "key string, count bigint, samples string"
_SCHEMA: Final = pa.schema([("key", pa.string()), ("count", pa.int64()), ("samples", pa.string())])
_ROOM: Final = 4  # so many times the samples that are wanted are held before they are thinned out


class Tally:
    def __init__(self, samples: int = 5) -> None:
        self.counts: Counter[Key] = Counter()
        self._wanted = samples
        self._samples: dict[Key, list[str]] = {}

    def add(self, key: Key, sample: Any = None, count: int = 1) -> None:
        self.counts[key] += count
        if sample is not None and self._wanted:
            self._hold(key, json.dumps(sample, ensure_ascii=False, sort_keys=True))

    def _hold(self, key: Key, text: str) -> None:
        held = self._samples.setdefault(key, [])
        held.append(text)
        if len(held) > self._wanted * _ROOM:
            held[:] = nsmallest(self._wanted, held)

    def merge(self, other: Tally) -> None:
        self.counts.update(other.counts)
        for key, samples in other._samples.items():
            for text in samples:
                self._hold(key, text)

    def samples(self, key: Key) -> list[Any]:
        return [json.loads(text) for text in nsmallest(self._wanted, self._samples.get(key, ()))]

    def items(self, kind: str) -> Iterator[tuple[Key, int, list[Any]]]:
        """What begins with this kind, most frequent first: the rest of the key, the count, samples."""
        found = [(key, count) for key, count in self.counts.items() if key[0] == kind]
        for key, count in sorted(found, key=lambda item: (-item[1], json.dumps(item[0]))):
            yield key[1:], count, self.samples(key)

    def total(self, kind: str) -> int:
        return sum(count for key, count in self.counts.items() if key[0] == kind)

    def to_batch(self) -> pa.RecordBatch:
        keys = list(self.counts)
        return pa.RecordBatch.from_arrays(
            [
                pa.array([json.dumps(key, ensure_ascii=False) for key in keys], pa.string()),
                pa.array([self.counts[key] for key in keys], pa.int64()),
                pa.array(
                    [json.dumps(nsmallest(self._wanted, self._samples.get(key, ()))) for key in keys], pa.string()
                ),
            ],
            schema=_SCHEMA,
        )

    def take_rows(self, rows: Iterable[Any]) -> Tally:
        """Rows with key, count and samples, as `to_batch` makes them."""
        for row in rows:
            key: Key = tuple(json.loads(row["key"]))
            self.counts[key] += row["count"]
            for text in json.loads(row["samples"]):
                self._hold(key, text)
        return self

    def to_json(self) -> list[dict[str, Any]]:
        return [row for batch in (self.to_batch(),) for row in batch.to_pylist()]
