"""Days that are too old go, and the oldest files where all are too large; the newest stays, and so does what is none of ours."""

from __future__ import annotations

import time
from pathlib import Path

from gateway.capture import sweeper
from gateway.capture.sweeper import DAY_SECS, Sweeper
from mappings.captures.layout import folder_of


def sealed(root: Path, days_ago: float, size: int = 1000, name: str = "a") -> Path:
    path = root / folder_of(time.time() - days_ago * DAY_SECS) / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    return path


def test_days_that_are_too_old_go_and_their_folders_with_them(tmp_path: Path) -> None:
    old, older = sealed(tmp_path, 3.5), sealed(tmp_path, 40)
    kept = [sealed(tmp_path, 2), sealed(tmp_path, 1), sealed(tmp_path, 0)]
    (tmp_path / "_mappings").mkdir()
    Sweeper(tmp_path, 2, None).look(0)
    assert sorted(tmp_path.rglob("*.parquet")) == kept
    assert not old.parent.parent.exists()
    assert not older.parent.parent.exists()
    assert (tmp_path / "_mappings").exists()


def test_the_oldest_go_until_the_others_fit(tmp_path: Path) -> None:
    files = [sealed(tmp_path, days) for days in (5, 4, 3, 2)]
    files += [sealed(tmp_path, 1, name=name) for name in ("a", "b")]
    Sweeper(tmp_path, None, 3000).look(0)
    assert sorted(tmp_path.rglob("*.parquet")) == files[3:]


def test_the_newest_stays_however_large_it_is(tmp_path: Path) -> None:
    sealed(tmp_path, 1)
    newest = sealed(tmp_path, 0, 10_000)
    Sweeper(tmp_path, None, 3000).look(0)
    assert list(tmp_path.rglob("*.parquet")) == [newest]


def test_without_bounds_everything_stays(tmp_path: Path) -> None:
    ancient = sealed(tmp_path, 4000)
    Sweeper(tmp_path, None, None).look(10**12)
    assert ancient.exists()


def test_it_looks_when_what_was_added_is_too_much_and_else_now_and_then(tmp_path: Path) -> None:
    first, second = sealed(tmp_path, 2), sealed(tmp_path, 1)
    swept = Sweeper(tmp_path, None, 2500)
    swept.look(2000)
    third = sealed(tmp_path, 0)
    swept.look(400)
    assert first.exists(), "2400 bytes, as far as it knows"
    swept.look(600)
    assert [path.exists() for path in (first, second, third)] == [False, True, True]


def test_what_others_seal_in_the_same_folder_counts_when_it_is_time(tmp_path: Path) -> None:
    first, _ = sealed(tmp_path, 2), sealed(tmp_path, 1)
    swept = Sweeper(tmp_path, None, 2500)
    swept.look(0)
    sealed(tmp_path, 0)
    swept.look(0)
    assert first.exists()
    assert swept._swept_at is not None
    swept._swept_at -= sweeper.OFTEN_SECS
    swept.look(0)
    assert not first.exists()
