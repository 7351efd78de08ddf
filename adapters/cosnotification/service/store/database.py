"""The store's file (SQLite), and the thread that writes it.

Whoever has something to write adds it to the batch that is open, and may wait for it. The thread takes the batch, writes it in one
transaction with one sync, and opens the next: so any number of clients share a commit.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from adapters.base import StopError

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (place TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, channel TEXT NOT NULL, head BLOB NOT NULL, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS owed (number INTEGER PRIMARY KEY, routes BLOB NOT NULL);
"""
_VERSION: Final = 1
BUSY_SECS: Final = 5.0  # the process before us may be on its way out
GATHER_SECS: Final = 0.02  # what nobody waits for is written together
RETRY_SECS: Final = 1.0  # after a failed write, when nobody asks sooner
SECRET_BYTES: Final = 32

RouteId = tuple[int, int]
"""Ids of the consumer admin and of its proxy, within their channel."""


class StoreFailed(Exception):
    """It could not be written: the disk is full, or fails."""


class Kept(Protocol):
    """An object of the service. Asked on the store's thread, and always for what it is then."""

    place: str

    @property
    def kept(self) -> bool: ...

    def kind_name(self) -> str: ...

    def state(self) -> dict[str, Any]: ...


class Debt(Protocol):
    number: int
    owing: set[RouteId]


class SavedObject(NamedTuple):
    place: str
    kind: str
    state: dict[str, Any]


class SavedEvent(NamedTuple):
    number: int
    channel: str  # its place
    head: bytes
    content: bytes
    owing: set[RouteId]


class _Batch:
    def __init__(self) -> None:
        self.objects: dict[Kept, None] = {}
        self.events: list[SavedEvent] = []
        self.debts: dict[int, Debt] = {}
        self.awaited = False
        self.over = threading.Event()
        self.error = ""

    def __bool__(self) -> bool:
        return self.awaited or bool(self.objects or self.events or self.debts)


class Store:
    """Any thread may call. After `close` nothing is written any more, and nobody is told."""

    def __init__(self, path: Path, code_set: str, changed: Callable[[str], None] = lambda reason: None) -> None:
        """`changed` is told, on the store's thread, why it cannot be written, and "" when it can be again. Raises StopError."""
        self.path = path
        self._changed_to = changed
        try:
            self._database = sqlite3.connect(path, BUSY_SECS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._trouble(error) from None
        try:
            self._open(code_set)
        except (sqlite3.Error, ValueError) as error:
            self._database.close()  # it would stay locked
            raise self._trouble(error) from None
        self.secret = self._fact("secret")
        self._failing = ""
        self._reading = threading.Lock()  # held while the database is used
        self._changed = threading.Condition()
        self._batch = _Batch()
        self._closing = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="service-store", daemon=True)
        self._thread.start()

    def _trouble(self, error: Exception) -> StopError:
        return StopError(
            "COR-STORE",
            f"the Notification Service's store cannot be opened: {error}",
            path=str(self.path),
            hint="check file and rights, and that no other gateway uses it",
        )

    def _open(self, code_set: str) -> None:
        execute = self._database.execute
        execute("PRAGMA locking_mode=EXCLUSIVE")  # two services on one file would deliver everything twice
        version = execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise ValueError(f"it was written by another version of Isthmus ({version})")
        execute("PRAGMA journal_mode=WAL")
        execute("PRAGMA synchronous=FULL")
        self._database.executescript(_SCHEMA)
        execute(f"PRAGMA user_version={_VERSION}")
        execute("INSERT OR IGNORE INTO facts VALUES ('secret', ?)", (secrets.token_bytes(SECRET_BYTES),))
        if execute("SELECT 1 FROM events").fetchone() is None:
            execute("INSERT OR REPLACE INTO facts VALUES ('code set', ?)", (code_set.encode(),))
        written = self._fact("code set").decode()
        if written != code_set:
            raise ValueError(f"it holds events whose strings are in {written}, and orb.code_set is {code_set}")

    def _fact(self, name: str) -> bytes:
        return bytes(self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0])

    # At the start

    def objects(self) -> list[SavedObject]:
        rows = self._ask(lambda database: database.execute("SELECT place, kind, state FROM objects").fetchall())
        return [SavedObject(place, kind, json.loads(state)) for place, kind, state in rows]

    def events(self, after: int, most: int, channel: str | None) -> list[SavedEvent]:
        """In the order in which they were accepted; of all channels, or of this one."""
        rows = self._ask(
            lambda database: database.execute(
                "SELECT number, channel, head, content, routes FROM events NATURAL JOIN owed WHERE number > ?"
                " AND (? IS NULL OR channel = ?) ORDER BY number LIMIT ?",
                (after, channel, channel, most),
            ).fetchall()
        )
        return [SavedEvent(row[0], row[1], row[2], row[3], _routes(row[4])) for row in rows]

    # What happens

    def touch(self, objects: Iterable[Kept]) -> None:
        """They have changed, or ended: at the next commit each is written as it is then, or removed."""
        with self._changed:
            for each in objects:
                self._batch.objects[each] = None
            self._changed.notify_all()

    def sync(self) -> None:
        """Returns when all that was noted before is on disk. Raises StoreFailed."""
        with self._changed:
            batch = self._await()
        self._wait(batch)

    def accept(self, events: list[SavedEvent]) -> None:
        """Returns when they are on disk. Raises StoreFailed: then none of them is."""
        with self._changed:
            batch = self._await()
            batch.events += events
        self._wait(batch)

    def settled(self, debts: Iterable[Debt]) -> None:
        """Somebody has got these events, or never will."""
        with self._changed:
            self._batch.debts.update((debt.number, debt) for debt in debts)
            self._changed.notify_all()

    def close(self) -> None:
        """Writes what is left. Twice is fine."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._database.close()

    @property
    def closed(self) -> bool:
        return self._closing

    def _await(self) -> _Batch:
        self._batch.awaited = True
        self._changed.notify_all()
        if self._ended:
            self._batch.over.set()
        return self._batch

    def _wait(self, batch: _Batch) -> None:
        batch.over.wait()
        if batch.error:
            raise StoreFailed(batch.error)

    def _ask(self, question: Callable[[sqlite3.Connection], Any]) -> Any:
        """Between two commits."""
        with self._reading:
            return question(self._database)

    # The store's thread

    def _run(self) -> None:
        while (batch := self._next()) is not None:
            try:
                with self._reading:
                    self._write(batch)
                self._fails("")
            except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
                batch.error = str(error) or type(error).__name__
                self._put_back(batch)
                self._fails(batch.error)
            batch.over.set()

    def _fails(self, reason: str) -> None:
        """One line for a disk that is full, not one for each event that it refuses."""
        before, self._failing = self._failing, reason
        if bool(before) != bool(reason):
            self._changed_to(reason)

    def _next(self) -> _Batch | None:
        with self._changed:
            while not self._batch and not self._closing:
                self._changed.wait()
            if not self._batch:
                self._ended = True
                return None
            if not self._batch.awaited:
                pause_secs = RETRY_SECS if self._failing else GATHER_SECS
                self._changed.wait_for(lambda: self._batch.awaited or self._closing, pause_secs)
            batch, self._batch = self._batch, _Batch()
            return batch

    def _write(self, batch: _Batch) -> None:
        execute, executemany = self._database.execute, self._database.executemany
        execute("BEGIN IMMEDIATE")
        try:
            for each in batch.objects:
                if each.kept:
                    row = (each.place, each.kind_name(), json.dumps(each.state(), ensure_ascii=False))
                    execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?)", row)
                else:
                    execute("DELETE FROM objects WHERE place = ?", (each.place,))
            executemany("INSERT INTO events VALUES (?, ?, ?, ?)", [event[:4] for event in batch.events])
            executemany(
                "INSERT INTO owed VALUES (?, ?)", [(event.number, _packed(event.owing)) for event in batch.events]
            )
            left = [(number, tuple(debt.owing)) for number, debt in batch.debts.items()]
            paid = [(number,) for number, owing in left if not owing]
            executemany("DELETE FROM events WHERE number = ?", paid)
            executemany("DELETE FROM owed WHERE number = ?", paid)
            executemany(
                "UPDATE owed SET routes = ? WHERE number = ?",
                [(_packed(owing), number) for number, owing in left if owing],
            )
            execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                execute("ROLLBACK")
            raise

    def _put_back(self, batch: _Batch) -> None:
        """What is true all the same is tried again with the next batch; events that were refused are not."""
        with self._changed:
            if not self._closing:
                self._batch.objects = {**batch.objects, **self._batch.objects}
                self._batch.debts = {**batch.debts, **self._batch.debts}


_ROUTE: Final = struct.Struct("<II")


def _packed(owing: Iterable[RouteId]) -> bytes:
    return b"".join([_ROUTE.pack(*route) for route in owing])


def _routes(packed: bytes) -> set[RouteId]:
    return {(admin, proxy) for admin, proxy in _ROUTE.iter_unpack(packed)}
