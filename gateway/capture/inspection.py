"""Looking into a capture without Spark: its files, its rows, and whether each file can be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mappings.captures.arrow import check_schema, damaged
from mappings.captures.checksum import checksum
from mappings.captures.errors import CaptureError
from mappings.captures.layout import MAPPINGS_FOLDER, OPEN_FOLDER, OPEN_SUFFIX, SUFFIX
from mappings.captures.specification import specification_from_text


@dataclass(slots=True)
class FileLook:
    """One sealed file. `finding` says why it cannot be read."""

    path: Path
    size: int = 0
    rows: int = 0
    links: list[str] = field(default_factory=list)
    finding: CaptureError | None = None


def sealed_files(root: Path) -> list[Path]:
    """In the order of time. Raises CaptureError where there is no capture."""
    if not root.is_dir():
        raise CaptureError("CAP-NOT-FOUND", "there is no such folder", path=str(root))
    found = [
        path for path in root.rglob(f"*{SUFFIX}") if not any(part[0] in "._" for part in path.relative_to(root).parts)
    ]
    return sorted(found)


def open_files(root: Path) -> list[Path]:
    return sorted((root / OPEN_FOLDER).glob(f"*{OPEN_SUFFIX}"))


def saved_mappings(root: Path) -> list[Path]:
    return sorted((root / MAPPINGS_FOLDER).glob("*.json"))


def look(path: Path, *, thorough: bool = False) -> FileLook:
    """Of a file: how many rows, of which links; with `thorough` every page of it is read. Never raises for what is in the file."""
    seen = FileLook(path)
    try:
        seen.size = path.stat().st_size
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            check_schema(file.schema_arrow, str(path))
            seen.rows = file.metadata.num_rows
            columns = None if thorough else ["link"]
            links: set[str] = set()
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=columns)
                table.validate(full=thorough)
                if thorough:
                    _check_payloads(table, path)
                links.update(link for link in table.column("link").unique().to_pylist() if link is not None)
            seen.links = sorted(links)
    except CaptureError as error:
        seen.finding = error
    except (OSError, pa.ArrowException, ValueError) as trouble:
        seen.finding = damaged(str(path), trouble)
    return seen


def _check_payloads(table: pa.Table, path: Path) -> None:
    """Raises CaptureError (CAP-CHECKSUM). Captures of older gateways have no checksums."""
    if "checksum" not in table.schema.names:
        return
    for batch in table.select(["seq", "link", "source", "sent", "checksum"]).to_batches(2000):
        for row in batch.to_pylist():
            if row["checksum"] is not None and row["checksum"] != checksum(row["source"], row["sent"]):
                raise CaptureError(
                    "CAP-CHECKSUM",
                    f"a payload is not what was written: that of number {row['seq']} of link {row['link']}, at least",
                    path=str(path),
                    hint="`isthmus spark audit` names every one; look after the disk or the memory of that machine",
                )


def check_mapping(path: Path) -> CaptureError | None:
    """Why a saved mapping cannot be read; None where it can."""
    try:
        specification_from_text(path.read_bytes())
    except CaptureError as error:
        error.path = str(path)
        return error
    except OSError as trouble:
        return damaged(str(path), trouble)
    return None


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Raises CaptureError in the middle of a file that is damaged there."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            check_schema(file.schema_arrow, str(path))
            for batch in file.iter_batches(2000):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException, ValueError, OverflowError) as trouble:  # the last one: a time that is none
        raise damaged(str(path), trouble) from None
