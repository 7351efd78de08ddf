"""The same on a capture that grows: a structured stream of new files, with a checkpoint in the output folder.

The stream carries names of files only. Each batch of them is worked on as a capture that is whole would be, and its part of the
result is kept under the batch's number: a batch that is done again after a crash counts once. Then the report is written anew.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from mappings.captures.errors import CaptureError
from spark.catalogue import ALL
from spark.facts import write_facts
from spark.job import Job
from spark.running import FACTS, Work
from spark.tallies import Tally
from spark.units import Unit, files_of, in_time, mappings_of, units_of
from spark.validate import add_finding

CHECKPOINT: Final = "checkpoint"
PARTS: Final = "parts"
FILES: Final = "path string, modificationTime timestamp, length bigint, content binary"

Told = Callable[[Mapping[str, Any]], None]
"""Hears the result so far, after each batch."""


class Following:
    def __init__(self, spark: Any, job: Job, out: Path, told: Told) -> None:
        self._spark = spark
        self._job = job
        self._out = out
        self._told = told
        self._work = Work(job)
        self._samples = ALL if job.command == "catalogue" else job.samples
        self._failure: Exception | None = None
        self._one_at_a_time = threading.Lock()

    def run(self) -> None:
        """Until the time of the job is over, or for ever. Raises what a batch raised."""
        for capture in self._job.captures:
            files_of(capture)  # raises CaptureError where it is not there
        queries = [self._query(number, capture) for number, capture in enumerate(self._job.captures)]
        try:
            for query in queries:
                if self._job.once or self._job.follow_secs is None:
                    query.awaitTermination()
                else:
                    query.awaitTermination(int(self._job.follow_secs))
        except Exception:
            if self._failure is not None:
                raise self._failure from None
            raise
        finally:
            for query in queries:
                query.stop()

    def _query(self, number: int, capture: str) -> Any:
        """Only the names: the content of the files is not read by the stream."""
        names = (
            self._spark.readStream.format("binaryFile")
            .schema(FILES)
            .option("pathGlobFilter", "*.parquet")
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", self._job.files_per_batch)
            .load(capture)
            .select("path")
        )
        writer = names.writeStream.foreachBatch(lambda batch, id_: self._batch(number, batch, id_)).option(
            "checkpointLocation", str(self._out / CHECKPOINT / str(number))
        )
        return (
            writer.trigger(availableNow=True) if self._job.once else writer.trigger(processingTime="2 seconds")
        ).start()

    def _batch(self, number: int, batch: Any, id_: int) -> None:
        with self._one_at_a_time:  # each capture has a thread of its own, and there is one report
            self._taken(number, batch, id_)

    def _taken(self, number: int, batch: Any, id_: int) -> None:
        try:
            self._take(f"{number}-{id_}", sorted(_local(row["path"]) for row in batch.collect()))
        except Exception as trouble:
            self._failure = trouble
            raise

    def _take(self, name: str, paths: list[str]) -> None:
        units: list[Unit] = []
        findings: list[CaptureError] = []
        for path in paths:
            if not in_time(path, self._job.selection.with_neighbours):
                continue
            try:
                units += units_of(path)
            except CaptureError as finding:
                findings.append(finding)
        mappings = mappings_of(self._job.captures)
        part = self._out / PARTS / f"{name}.json"
        part.parent.mkdir(parents=True, exist_ok=True)
        tally = Tally(self._samples)
        if self._job.command == "audit":
            if units:
                folder = str(self._out / FACTS / f"batch={name}")
                write_facts(self._spark, units, self._job.selection, folder, self._work.keys)
        else:
            tally = self._work.tally(self._spark, units, mappings)
        for one in findings:
            add_finding(tally, one)
        whole = part.with_suffix(".part")
        whole.write_text(json.dumps(tally.to_json()), encoding="utf-8")
        whole.replace(part)
        self._told(self._result(mappings))

    def _result(self, mappings: Mapping[str, str]) -> dict[str, Any]:
        merged = Tally(self._samples)
        for part in sorted((self._out / PARTS).glob("*.json")):
            merged.take_rows(json.loads(part.read_text(encoding="utf-8")))
        if self._job.command != "audit":
            return self._work.result(merged)
        told = [
            CaptureError(str(code), str(message), path=str(path), hint=str(hint))
            for (code, path, message, hint), _, _ in merged.items("finding")
        ]
        return self._work.audit(self._spark, str(self._out / FACTS), mappings, told)


def _local(path: str) -> str:
    """Spark names local files by URI; everything else stays as it is."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path
