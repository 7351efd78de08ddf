"""From a job to its result: takes the inventory, gives out the work, puts the parts together."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from mappings.captures.errors import CaptureError
from mappings.captures.sealing import key_from_text
from mappings.captures.specification import Specification, specification_from_json, specification_from_text
from spark import catalogue, compare, validate
from spark.facts import DDL, write_facts
from spark.job import Job
from spark.tallies import Tally
from spark.units import Inventory, Unit, read_text, take_inventory
from spark.work import Worker, tally

FACTS: Final = "facts"
_ID_PROPERTIES: Final = ("$gid", "_sgid")


class Work:
    """What a job does with units; the same for a capture that is whole, and for each part of one that grows."""

    def __init__(self, job: Job) -> None:
        """Raises CaptureError for keys that are none, and FilterError for selectors."""
        self.job = job
        self.keys = tuple(key_from_text(_read(path)) for path in job.key_files)
        for one in job.selectors:
            compare.matcher(one)

    def tally(self, spark: Any, units: Sequence[Unit], mappings: Mapping[str, str]) -> Tally:
        """For every job but the audit and the replay."""
        job = self.job
        columns: tuple[str, ...]
        make: Callable[[], Worker]
        samples = job.samples
        if job.command == "validate":
            columns, make = validate.COLUMNS, partial(validate.Validation, dict(mappings), self.keys, job.samples)
        elif job.command == "compare":
            columns = compare.COLUMNS
            make = partial(compare.Comparison, job.old, job.new, job.selectors, self.keys, job.samples)
        else:
            columns, make = catalogue.COLUMNS, partial(catalogue.Catalogue, job.since_split, self.keys)
            samples = catalogue.ALL
        return tally(spark, units, columns, job.selection, make, samples)

    def result(self, merged: Tally) -> dict[str, Any]:
        if self.job.command == "validate":
            return validate.result(merged)
        if self.job.command == "compare":
            return compare.result(merged, self.job.old, self.job.new)
        return catalogue.result(merged)

    def audit(
        self, spark: Any, parts: str, mappings: Mapping[str, str], findings: Sequence[CaptureError]
    ) -> dict[str, Any]:
        """Over the facts that have been written so far."""
        from spark.audit import audit, hops_of

        job = self.job
        facts = spark.read.schema(DDL).parquet(parts) if Path(parts).is_dir() else spark.createDataFrame([], DDL)
        hops = hops_of(specifications(mappings), job.hops)
        exports = {where: _export(spark, path) for where, path in job.exports}
        told = [{**one.to_json(), "hint": one.hint, "count": 1} for one in findings]
        return audit(facts, hops, exports, since=job.selection.since, until=job.selection.until, findings=told)


def once(spark: Any, job: Job, inventory: Inventory, out: Path) -> dict[str, Any]:
    """A capture as it is now."""
    work = Work(job)
    if job.command == "audit":
        return _audited(spark, work, inventory, out / FACTS)
    merged = work.tally(spark, inventory.units, inventory.mappings)
    for finding in inventory.findings:
        validate.add_finding(merged, finding)
    return work.result(merged)


def inventory_of(job: Job) -> Inventory:
    """What a job has to read. An audit reads what is around its selection too. Raises CaptureError where a folder is not there."""
    selection = job.selection
    if job.command == "audit":
        selection = selection.with_neighbours
    return take_inventory(job.captures, selection)


def _audited(spark: Any, work: Work, inventory: Inventory, folder: Path) -> dict[str, Any]:
    """What seems to be missing may have come to its end long before or after the selected time, and is then in files of other
    hours. They are read only where something seems to be missing, and without their payloads."""
    job = work.job
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier audit that had more parts
    write_facts(spark, inventory.units, job.selection, str(folder / "batch=0"), work.keys)
    result = work.audit(spark, str(folder), inventory.mappings, inventory.findings)
    if not (result["missing"]["count"] or result["problems"]["lost_between_gateways"]):
        return result
    all_of_it = take_inventory(job.captures, replace(job.selection, since=None, until=None))
    others = sorted({*all_of_it.units} - {*inventory.units})
    if not others:
        return result
    write_facts(spark, others, job.selection, str(folder / "batch=1"), payloads=False)
    return work.audit(spark, str(folder), inventory.mappings, inventory.findings)


def specifications(mappings: Mapping[str, str]) -> list[Specification]:
    """Those that can be read; the others are findings of whoever needs them."""
    found = []
    for text in mappings.values():
        try:
            found.append(specification_from_text(text))
        except CaptureError:
            continue
    return found


def specification_forms(forms: Mapping[str, Any]) -> dict[str, Specification]:
    return {link: specification_from_json(form) for link, form in forms.items()}


def _export(spark: Any, path: str) -> Any:
    """What a broker holds: JSON Lines in the form of messages (docs/forms.md). Raises CaptureError."""
    ids = []
    for number, line in enumerate(_read(path).splitlines(), 1):
        if not line.strip():
            continue
        id_ = _id_of(line)
        if id_ is None:
            raise CaptureError(
                "CAP-EXPORT",
                "a line of an export is no message with an id",
                path=f"{path}, line {number}",
                hint="each line is a message in the form of docs/forms.md, with its $gid property or a JMSMessageID",
            )
        ids.append((id_,))
    return spark.createDataFrame(ids, "event_id string")


def _id_of(line: str) -> str | None:
    try:
        message = json.loads(line)
        for one in message.get("properties", ()):
            if one["name"] in _ID_PROPERTIES:
                return str(one["value"])
        found = (message.get("headers") or {}).get("JMSMessageID")
        return None if found is None else re.sub("^ID:", "", str(found))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(path: str) -> str:
    try:
        return read_text(path)
    except OSError as trouble:
        raise CaptureError("CAP-FILE", f"this file cannot be read: {trouble.strerror or trouble}", path=path) from None
