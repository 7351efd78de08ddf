"""Which files there are, and which parts of them can be read: the units of work, a row group each.

Only the end of each file is read here. Folders and files may be paths, or URIs that pyarrow knows (file, hdfs, s3, gs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from mappings.captures.arrow import check_schema, damaged
from mappings.captures.errors import CaptureError
from mappings.captures.layout import MAPPINGS_FOLDER, SUFFIX
from spark.job import HOUR_MICROS, Selection

_PARTITION: Final = re.compile(r"date=(\d{4})-(\d\d)-(\d\d)/hour=(\d\d)/")


class Unit(NamedTuple):
    """One row group of one file."""

    path: str
    group: int
    rows: int


class Inventory(NamedTuple):
    units: list[Unit]
    findings: list[CaptureError]
    files: int
    mappings: dict[str, str]  # texts of the saved mappings, by version


def open_path(path: str) -> tuple[pafs.FileSystem, str]:
    """Raises CaptureError."""
    try:
        filesystem, inner = pafs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError, ValueError):
        return pafs.LocalFileSystem(), path
    return filesystem, inner


def take_inventory(captures: Iterable[str], selection: Selection) -> Inventory:
    """Raises CaptureError where a folder is not there."""
    units: list[Unit] = []
    findings: list[CaptureError] = []
    captures = tuple(captures)
    files = 0
    for capture in captures:
        paths = files_of(capture)
        for path in paths:
            if not in_time(path, selection):
                continue
            files += 1
            try:
                units += units_of(path)
            except CaptureError as finding:
                findings.append(finding)
    return Inventory(units, findings, files, mappings_of(captures))


def mappings_of(captures: Iterable[str]) -> dict[str, str]:
    """Texts of the saved mappings, by version."""
    return dict(saved for capture in captures for saved in _mappings_of(capture))


def files_of(capture: str) -> list[str]:
    """The sealed files of a capture, in the order of time. Raises CaptureError where it is not there."""
    filesystem, folder = open_path(capture)
    info = filesystem.get_file_info(folder)
    if info.type == pafs.FileType.File:
        return [capture]
    if info.type == pafs.FileType.NotFound:
        raise CaptureError("CAP-NOT-FOUND", "there is no such folder", path=capture)
    found = filesystem.get_file_info(pafs.FileSelector(folder, recursive=True))
    prefix = capture[: len(capture) - len(folder)] if capture.endswith(folder) else ""
    inside = ((one.path, one.path[len(folder) :]) for one in found if one.type == pafs.FileType.File)
    return sorted(prefix + path for path, rest in inside if path.endswith(SUFFIX) and not _is_hidden(rest))


def _is_hidden(path: str) -> bool:
    return any(part[:1] in "._" for part in path.split("/") if part)


def units_of(path: str) -> list[Unit]:
    """Raises CaptureError for a file that is cut, empty, damaged, or none of ours."""
    try:
        with open_parquet(path) as file:
            check_schema(file.schema_arrow, path)
            groups = range(file.metadata.num_row_groups)
            return [Unit(path, group, file.metadata.row_group(group).num_rows) for group in groups]
    except (pa.ArrowException, OSError, ValueError) as trouble:
        raise damaged(path, trouble) from None


def open_parquet(path: str) -> pq.ParquetFile:
    filesystem, inner = open_path(path)
    return pq.ParquetFile(filesystem.open_input_file(inner), page_checksum_verification=True)


def read_text(path: str) -> str:
    """Raises OSError."""
    filesystem, inner = open_path(path)
    with filesystem.open_input_file(inner) as file:
        return bytes(file.readall()).decode("utf-8", "replace")


def _mappings_of(capture: str) -> Iterator[tuple[str, str]]:
    filesystem, folder = open_path(capture)
    if not capture.endswith(folder):
        return
    selector = pafs.FileSelector(f"{folder.rstrip('/')}/{MAPPINGS_FOLDER}", allow_not_found=True)
    for one in filesystem.get_file_info(selector):
        if one.path.endswith(".json"):
            with filesystem.open_input_file(one.path) as file:
                text = bytes(file.readall()).decode("utf-8", "replace")
            yield one.base_name.removesuffix(".json"), text


def in_time(path: str, selection: Selection) -> bool:
    """By the folder's name; rows are looked at one by one later. An event may have been settled a while before it was written."""
    found = _PARTITION.search(path)
    if found is None:
        return True
    year, month, day, hour = map(int, found.groups())
    begin = _micros(year, month, day, hour)
    if selection.since is not None and begin + HOUR_MICROS <= selection.since:
        return False
    return selection.until is None or begin < selection.until + HOUR_MICROS


def _micros(year: int, month: int, day: int, hour: int) -> int:
    from calendar import timegm

    return timegm((year, month, day, hour, 0, 0)) * 1_000_000


def as_unit(row: Any) -> Unit:
    return Unit(str(row["path"]), int(row["unit"]), int(row["rows"]))
