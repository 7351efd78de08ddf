"""The records of logs: what is counted along is what is there, and a full log costs no more than an empty one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.cosnotification.logs.records import LogFile, Records

STEPS_AT_ONCE = 10


def work(file: LogFile, records: Records) -> int:
    """What SQLite does for one event of a full log that wraps, in tens of its instructions: the same on any machine."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    file._db.set_progress_handler(step, STEPS_AT_ONCE)
    records.remove_oldest(1)
    records.remove_before(1)
    records.add([(10_000, b"", b"x" * 100)])
    records.set_attributes(50, b"abc")
    file._db.set_progress_handler(None, 0)
    return count


def test_a_full_log_that_wraps_costs_the_same_whatever_its_size(tmp_path: Path) -> None:
    costs = []
    for size in (100, 10_000):
        file = LogFile(tmp_path / f"{size}.db")
        records = Records(file, "log/0")
        records.add([(1 + n, b"", b"x" * 100) for n in range(size)])
        costs.append(work(file, records))
        file.close()
    assert 0 < costs[1] < 3 * costs[0], costs


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 5)),
        st.tuples(st.just("remove"), st.integers(0, 12)),
        st.tuples(st.just("remove_before"), st.integers(0, 20)),
        st.tuples(st.just("remove_oldest"), st.integers(0, 60)),
        st.tuples(st.just("set_attributes"), st.integers(0, 12)),
    ),
    max_size=25,
)


@settings(max_examples=100)
@given(CHANGES)
def test_what_is_counted_along_is_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]]
) -> None:
    file = LogFile(Path(tmp_path_factory.mktemp("records")) / "logs.db")
    records, other = Records(file, "log/0"), Records(file, "log/1")
    other.add([(0, b"", b"of another log")])
    time = 0
    for change, value in changes:
        before = records.all()
        match change:
            case "add":
                records.add([(time + n, b"", b"x" * n) for n in range(value)])
                time += value
            case "remove":
                assert records.remove([value, value + 1]) == len([r for r in before if r.id in (value, value + 1)])
            case "remove_oldest":
                records.remove_oldest(value)
                kept = records.all()
                gone = before[: len(before) - len(kept)]
                assert before == [*gone, *kept], "the oldest, and none in between"
                assert not gone or sum(map(size_of, gone[:-1])) < value, "and no more than that takes"
            case "remove_before":
                records.remove_before(value)
                assert records.all() == [record for record in before if record.time >= value]
            case "set_attributes":
                records.set_attributes(value, b"y" * value)
        found = records.all()
        assert (records.count, records.size) == (len(found), sum(map(size_of, found)))
    again = Records(file, "log/0")
    assert (again.count, again.size) == (records.count, records.size)
    assert (other.count, other.size) == (1, 14)
    file.close()


def size_of(record: object) -> int:
    return len(record.attributes) + len(record.info)  # type: ignore[attr-defined]


def test_what_the_file_does_not_take_is_not_counted(tmp_path: Path) -> None:
    file = LogFile(tmp_path / "logs.db")
    file._db.execute("pragma busy_timeout = 10")
    records = Records(file, "log/0")
    records.add([(0, b"", b"abc"), (1, b"", b"defg")])
    other = sqlite3.connect(tmp_path / "logs.db", isolation_level=None)
    other.execute("begin immediate")
    for change in (
        lambda: records.add([(2, b"", b"h")]),
        lambda: records.remove([1]),
        lambda: records.remove_before(1),
        lambda: records.remove_oldest(1),
        lambda: records.set_attributes(1, b"i"),
    ):
        with pytest.raises(sqlite3.OperationalError):
            change()
    other.execute("rollback")
    other.close()
    assert (records.count, records.size) == (2, 7)
    records.add([(2, b"", b"h")])
    assert [record.id for record in records.all()] == [1, 2, 3]
    file.close()
