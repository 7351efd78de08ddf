"""Truncated, empty, foreign and corrupt files are findings; everything else is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gateway.capture.inspection import look
from gateway.cli import run
from mappings.captures.arrow import SCHEMA
from mappings.captures.errors import CaptureError
from spark.job import Selection
from spark.units import take_inventory
from tests.unit.spark.in_process import validated


def damage(traffic: Path, copy: Path) -> dict[str, str]:
    """Four broken files beside the three good ones; the code of the finding on each."""
    shutil.copytree(traffic, copy)
    good = sorted(copy.rglob("*.parquet"))
    folder = good[0].parent
    data = good[0].read_bytes()
    (folder / "x-truncated.parquet").write_bytes(data[: len(data) // 2])
    (folder / "x-empty.parquet").write_bytes(b"")
    pq.write_table(pa.table({"a": [1, 2]}), folder / "x-foreign.parquet")
    later = SCHEMA.with_metadata({"isthmus.layout": "99"})
    pq.write_table(later.empty_table(), folder / "x-later.parquet")
    corrupt = bytearray(data)
    pages = pq.ParquetFile(good[0]).metadata.row_group(0)
    sources = next(pages.column(n) for n in range(pages.num_columns) if pages.column(n).path_in_schema == "source")
    corrupt[sources.data_page_offset + 2000] ^= 0x20
    (folder / "x-corrupt.parquet").write_bytes(bytes(corrupt))
    return {
        "x-truncated.parquet": "CAP-FILE",
        "x-empty.parquet": "CAP-FILE",
        "x-foreign.parquet": "CAP-SCHEMA",
        "x-later.parquet": "CAP-SCHEMA",
        "x-corrupt.parquet": "CAP-FILE",
    }


def test_what_is_broken_is_a_finding_and_the_rest_is_read(traffic: Path, tmp_path: Path) -> None:
    broken = damage(traffic, tmp_path / "copy")
    result = validated(tmp_path / "copy")
    assert {Path(one["path"]).name: one["code"] for one in result["findings"]} == broken
    assert all(one["hint"] for one in result["findings"])
    assert not result["agrees"]
    assert result["verdicts"] == {"agrees": 901, "differs": 0, "not-checked": 0, "unreadable": 0}


def test_verify_finds_the_same_without_spark(traffic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = damage(traffic, tmp_path / "copy")
    assert run(["capture", "verify", str(tmp_path / "copy")]) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == len(broken)
    for name, code in broken.items():
        assert any(name in line and code in line for line in printed.out.splitlines())
        assert look(next((tmp_path / "copy").rglob(name)), thorough=True).finding is not None
    assert "901 rows" in printed.err
    assert run(["capture", "ls", str(tmp_path / "copy")]) == 0
    assert "x-foreign.parquet  CAP-SCHEMA" in capsys.readouterr().out
    assert run(["capture", "show", str(traffic), "--status", "expired", "--json"]) == 0
    assert '"event_name": "n905"' in capsys.readouterr().out


@pytest.mark.parametrize("position", range(0, 4000, 211))
def test_no_single_bit_makes_a_wrong_result_right(position: int, traffic: Path, tmp_path: Path) -> None:
    """Checksums: a flipped bit is a finding, or is in a place that carries nothing."""
    path = tmp_path / "date=2026-01-01" / "hour=00" / "one.parquet"
    path.parent.mkdir(parents=True)
    whole = sorted(traffic.rglob("*.parquet"))[0].read_bytes()
    flipped = bytearray(whole)
    at = position * len(whole) // 4000
    flipped[at] ^= 1
    path.write_bytes(bytes(flipped))
    shutil.copytree(traffic / "_mappings", tmp_path / "_mappings")
    result = validated(tmp_path)
    rows = pq.read_metadata(sorted(traffic.rglob("*.parquet"))[0]).num_rows
    assert result["findings"] or result["verdicts"]["agrees"] == rows


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="CAP-NOT-FOUND"):
        take_inventory([str(tmp_path / "none")], Selection())


def test_a_payload_that_was_changed_before_its_page_was_written_fails_verification(
    traffic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's own checksum is right; that of the row is not."""
    copy = tmp_path / "copy"
    shutil.copytree(traffic, copy)
    path = sorted(copy.rglob("*.parquet"))[0]
    rows = pq.read_table(path).to_pylist()
    rows[5]["source"] = rows[5]["source"].replace(b"Telecom", b"Telekom")
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, write_page_checksum=True)
    assert run(["capture", "verify", str(copy)]) == 1
    printed = capsys.readouterr()
    assert "CAP-CHECKSUM" in printed.out
    assert f"number {rows[5]['seq']} " in printed.out
    assert path.name in printed.out
