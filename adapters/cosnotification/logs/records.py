"""The records of logs, in one SQLite file: ids from 1 in the order of arrival, never used again.

Values are kept as CDR, as they came. A write is in the file when it returns; after a loss of power the last ones may be missing,
unless the log was flushed.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple

from adapters.base import StopError
from adapters.sqlite_transaction import together

_TABLES: Final = """
create table if not exists facts (name text primary key, value text not null) without rowid;
create table if not exists logs (kind text, id integer, settings text not null, primary key (kind, id)) without rowid;
create table if not exists records (
  log text not null, id integer not null, time integer not null, size integer not null,
  attributes blob not null, info blob not null,
  primary key (log, id)
) without rowid;
create index if not exists by_time on records (log, time);
"""


class Record(NamedTuple):
    id: int
    time: int  # TimeT
    attributes: bytes  # CDR of an NVList
    info: bytes  # CDR of an any


class LogFile:
    """All logs of a service. Raises StopError where the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self.lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=5.0)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise StopError(
                "COR-LOG-STORE",
                f"the file cannot be used: {error}",
                path=str(path),
                hint="take it back from a copy, or move it away and begin with empty logs",
            ) from error

    def close(self) -> None:
        with self.lock:
            self._db.close()

    def flush(self) -> None:
        """To the disk."""
        with self.lock:
            self._db.execute("pragma synchronous = full")
            self._db.execute("insert or replace into facts values ('flushed', '')")
            self._db.execute("pragma synchronous = normal")

    def fact(self, name: str, default: str) -> str:
        with self.lock:
            self._db.execute("insert or ignore into facts values (?, ?)", (name, default))
            return str(self._db.execute("select value from facts where name = ?", (name,)).fetchone()[0])

    def set_fact(self, name: str, value: str) -> None:
        with self.lock:
            self._db.execute("insert or replace into facts values (?, ?)", (name, value))

    # Logs

    def logs(self, kind: str) -> list[tuple[int, dict[str, Any]]]:
        with self.lock:
            rows = self._db.execute("select id, settings from logs where kind = ? order by id", (kind,)).fetchall()
        return [(id_, json.loads(settings)) for id_, settings in rows]

    def put_log(self, kind: str, id_: int, settings: dict[str, Any]) -> None:
        with self.lock:
            self._db.execute("insert or replace into logs values (?, ?, ?)", (kind, id_, json.dumps(settings)))

    def remove_log(self, kind: str, id_: int) -> None:
        with self.together():
            self._db.execute("delete from logs where kind = ? and id = ?", (kind, id_))
            self._db.execute("delete from records where log = ?", (f"{kind}/{id_}",))

    def together(self) -> AbstractContextManager[None]:
        """All of it, or nothing."""
        return together(self._db, self.lock)

    # For Records

    def run(self, statement: str, *values: Any) -> int:
        """How many rows it changed."""
        with self.lock:
            return self._db.execute(statement, values).rowcount

    def rows(self, statement: str, *values: Any) -> list[Any]:
        with self.lock:
            return self._db.execute(statement, values).fetchall()

    def walk(self, statement: str, *values: Any) -> Iterator[Any]:
        """Row by row, with the lock held by who walks."""
        return iter(self._db.execute(statement, values))


class Records:
    """Those of one log. How many there are and how large they are is counted along: a log that is full and wraps costs no more for
    each event than one that is empty."""

    def __init__(self, file: LogFile, log: str) -> None:
        self.file = file
        self._log = log
        self.count: int
        self.size: int
        ((self.count, self.size),) = file.rows(
            "select count(*), coalesce(sum(size), 0) from records where log = ?", log
        )
        self._next = int(file.fact(f"next/{log}", "1"))

    def add(self, contents: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Each with its time, attributes and info."""
        with self.file.lock:
            rows = [
                (self._log, self._next + index, time, len(attributes) + len(info), attributes, info)
                for index, (time, attributes, info) in enumerate(contents)
            ]
            with self.file.together():
                for row in rows:
                    self.file.run("insert into records values (?, ?, ?, ?, ?, ?)", *row)
                self.file.set_fact(f"next/{self._log}", str(self._next + len(rows)))
            self._next += len(rows)
            self.count += len(rows)
            self.size += sum(row[3] for row in rows)

    def all(self, after: int = 0, most: int = 1000) -> list[Record]:
        """The next ones with an id greater than this."""
        return self._found("id > ? order by id limit ?", after, most)

    def by_id(self, ids: Sequence[int]) -> list[Record]:
        """In the order of the ids; those that have gone meanwhile are left out."""
        found = {record.id: record for id_ in ids for record in self._found("id = ?", id_)}
        return [found[id_] for id_ in ids if id_ in found]

    def ids_from(self, time: int, most: int) -> list[int]:
        rows = self.file.rows(
            "select id from records where log = ? and time >= ? order by time, id limit ?", self._log, time, most
        )
        return [row[0] for row in rows]

    def ids_before(self, time: int, most: int) -> list[int]:
        """The youngest first."""
        rows = self.file.rows(
            "select id from records where log = ? and time < ? order by time desc, id desc limit ?",
            self._log,
            time,
            most,
        )
        return [row[0] for row in rows]

    def set_attributes(self, id_: int, attributes: bytes) -> None:
        with self.file.lock:
            for (before,) in self.file.rows("select size from records where log = ? and id = ?", self._log, id_):
                statement = (
                    "update records set attributes = ?, size = ? + length(info) where log = ? and id = ? returning size"
                )
                ((after,),) = self.file.rows(statement, attributes, len(attributes), self._log, id_)
                self.size += after - before

    def remove(self, ids: Sequence[int]) -> int:
        """How many there were of these."""
        statement = "delete from records where log = ? and id = ? returning size"
        with self.file.lock:
            with self.file.together():
                removed = [row for id_ in ids for row in self.file.rows(statement, self._log, id_)]
            return self._gone(removed)

    def remove_before(self, time: int) -> None:
        statement = "delete from records where log = ? and time < ? returning size"
        with self.file.lock:
            self._gone(self.file.rows(statement, self._log, time))

    def remove_oldest(self, size: int) -> None:
        """Until at least so many octets are free."""
        with self.file.lock:
            freed, ids = 0, []
            for id_, its in self.file.walk("select id, size from records where log = ? order by id", self._log):
                if freed >= size:
                    break
                freed += its
                ids.append(id_)
            self.remove(ids)

    def _gone(self, sizes: Sequence[tuple[int]]) -> int:
        """With the lock held."""
        self.count -= len(sizes)
        self.size -= sum(size for (size,) in sizes)
        return len(sizes)

    def _found(self, where: str, *values: Any) -> list[Record]:
        rows = self.file.rows(
            f"select id, time, attributes, info from records where log = ? and {where}", self._log, *values
        )
        return [Record(*row) for row in rows]
