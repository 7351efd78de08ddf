"""Persistent messages and durable subscriptions on disk, in SQLite.

The broker's loop notes what happens; a thread of the store's own writes it, everything that has gathered in one transaction and
one sync (group commit). What a receipt proves is on disk before the receipt goes out.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from adapters.base import StopError
from adapters.embedded_broker.messages import StoredMessage

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS messages (
    queue TEXT NOT NULL, sequence INTEGER NOT NULL, id BLOB NOT NULL, destination TEXT NOT NULL, lines BLOB NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (queue, sequence)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subscriptions (
    client_id TEXT NOT NULL, name TEXT NOT NULL, topic TEXT NOT NULL, PRIMARY KEY (client_id, name)) WITHOUT ROWID;
"""
_VERSION: Final = 1
BUSY_SECS: Final = 1.0  # for somebody who just looks into the file


class DurableSubscription(NamedTuple):
    client_id: str
    name: str
    topic: str


class Store:
    """All but `load` and `close` on the loop's thread. `on_failure` is called there once, when nothing can be written any more."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop, on_failure: Callable[[str], None]) -> None:
        self._path = path
        self._loop = loop
        self._on_failure = on_failure
        self._thread = ThreadPoolExecutor(1, "embedded-broker-store")
        self._notes: list[tuple[str, tuple[Any, ...]]] = []
        self._waiting: list[Callable[[], None]] = []
        self._writing: asyncio.Task[None] | None = None
        self._failed = False
        try:
            # One thread at a time uses it: at first the one that loads, then the store's own.
            self._database = sqlite3.connect(path, BUSY_SECS, isolation_level=None, check_same_thread=False)
            self._open()
        except sqlite3.Error as error:
            raise StopError(
                "STO-STORE",
                f"the embedded broker's store cannot be opened: {error}",
                path=str(path),
                hint="check file and rights",
            ) from None

    def _open(self) -> None:
        self._database.execute(
            "PRAGMA locking_mode=EXCLUSIVE"
        )  # two brokers on one file would deliver everything twice
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"it was written by another version ({version})")
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.executescript(_SCHEMA)
        self._database.execute(f"PRAGMA user_version={_VERSION}")

    # At the start

    def subscriptions(self) -> list[DurableSubscription]:
        rows = self._database.execute("SELECT client_id, name, topic FROM subscriptions ORDER BY client_id, name")
        return [DurableSubscription(*row) for row in rows]

    def messages(self) -> Iterator[tuple[str, StoredMessage]]:
        """Everything, in order, each with the key of its queue."""
        for queue, *fields in self._database.execute(
            "SELECT queue, sequence, id, destination, lines, body FROM messages ORDER BY sequence"
        ):
            yield queue, StoredMessage(*fields)

    # What happens

    def put(self, queue: str, message: StoredMessage) -> None:
        fields = (queue, message.sequence, message.id, message.destination, message.lines, message.body)
        self._note("INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?, ?)", fields)

    def remove(self, queue: str, message: StoredMessage) -> None:
        self._note("DELETE FROM messages WHERE queue = ? AND sequence = ?", (queue, message.sequence))

    def subscribe(self, subscription: DurableSubscription) -> None:
        self._note("INSERT OR REPLACE INTO subscriptions VALUES (?, ?, ?)", tuple(subscription))

    def unsubscribe(self, client_id: str, name: str, queue: str) -> None:
        self._note("DELETE FROM subscriptions WHERE client_id = ? AND name = ?", (client_id, name))
        self._note("DELETE FROM messages WHERE queue = ?", (queue,))

    def when_safe(self, action: Callable[[], None]) -> None:
        """Call it when all that was noted before is on disk; never, when that fails."""
        if self._failed:
            return
        if self._writing is None and not self._notes:
            action()
        else:
            self._waiting.append(action)
            self._write_soon()

    def close(self) -> None:
        """When the loop has ended: write what is left."""
        if not self._failed and self._notes:
            self._apply(self._notes)
        self._thread.shutdown()
        self._database.close()

    async def drained(self) -> None:
        while self._writing is not None:
            await self._writing

    def _note(self, statement: str, fields: tuple[Any, ...]) -> None:
        self._notes.append((statement, fields))
        self._write_soon()

    def _write_soon(self) -> None:
        if self._writing is None and not self._failed:
            self._writing = self._loop.create_task(self._write())

    async def _write(self) -> None:
        try:
            while self._notes or self._waiting:
                notes, self._notes = self._notes, []
                waiting, self._waiting = self._waiting, []
                if notes:
                    await self._loop.run_in_executor(self._thread, self._apply, notes)
                for action in waiting:
                    action()
        except sqlite3.Error as error:
            self._failed = True
            self._on_failure(str(error))
        finally:
            self._writing = None

    def _apply(self, notes: list[tuple[str, tuple[Any, ...]]]) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            for statement, fields in notes:
                self._database.execute(statement, fields)
            self._database.execute("COMMIT")
        except sqlite3.Error:
            self._database.execute("ROLLBACK")
            raise
