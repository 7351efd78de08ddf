"""Keeps persistent messages and durable subscriptions of a stand-in in a file, so that they outlive its process."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adapters.mq.standin.connections import Subscription
from adapters.mq.standin.properties import Properties
from adapters.mq.standin.queues import Queue, StoredMessage


class Store:
    """SQLite; every call is one transaction, on disk when it returns."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS messages (number INTEGER PRIMARY KEY, queue TEXT NOT NULL, md TEXT NOT NULL, "
            "data BLOB NOT NULL, topic TEXT, expires_at REAL, backout_count INTEGER NOT NULL, "
            "properties TEXT NOT NULL)"
        )

        self._database.execute(
            "CREATE TABLE IF NOT EXISTS subscriptions (name TEXT PRIMARY KEY, topic TEXT NOT NULL, queue TEXT NOT NULL, "
            "managed INTEGER NOT NULL, correlation_id BLOB NOT NULL, level INTEGER NOT NULL)"
        )

    def change(self, put: Sequence[tuple[Queue, StoredMessage]], gone: Iterable[StoredMessage]) -> None:
        removed = [(message.number,) for message in gone if message.is_persistent]
        added = [
            (m.number, queue.name, _text(m.md), m.data, m.topic, m.expires_at, m.backout_count, _written(m))
            for queue, m in put
            if m.is_persistent
        ]
        if not removed and not added:
            return
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany("INSERT OR REPLACE INTO messages VALUES (?,?,?,?,?,?,?,?)", added)
        self._database.executemany("DELETE FROM messages WHERE number=?", removed)
        self._database.execute("COMMIT")

    def load(self) -> list[tuple[str, StoredMessage]]:
        """Every message with the name of its queue, in the order in which they came."""
        rows = self._database.execute(
            "SELECT queue, md, data, topic, number, expires_at, backout_count, properties FROM messages ORDER BY number"
        )
        return [
            (
                queue,
                StoredMessage(
                    _fields(md), data, topic, number, expires_at, backout_count, properties=_read(properties)
                ),
            )
            for queue, md, data, topic, number, expires_at, backout_count, properties in rows
        ]

    def subscribe(self, subscription: Subscription) -> None:
        s = subscription
        row = (s.name, s.topic, s.queue.name, s.managed, s.correlation_id, s.level)
        self._database.execute("INSERT OR REPLACE INTO subscriptions VALUES (?,?,?,?,?,?)", row)

    def unsubscribe(self, name: str) -> None:
        self._database.execute("DELETE FROM subscriptions WHERE name=?", (name,))

    def subscriptions(self, queue: Callable[[str], Queue]) -> list[Subscription]:
        """Each on the queue that this finds by its name."""
        rows = self._database.execute("SELECT name, topic, queue, managed, correlation_id, level FROM subscriptions")
        return [
            Subscription(name, topic, queue(its), durable=True, managed=bool(managed), correlation_id=id_, level=level)
            for name, topic, its, managed, id_, level in rows.fetchall()
        ]

    def close(self) -> None:
        self._database.close()


def _text(md: dict[str, Any]) -> str:
    return json.dumps({k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in md.items()})


def _fields(text: str) -> dict[str, Any]:
    return {k: base64.b64decode(v) if isinstance(v, str) else v for k, v in json.loads(text).items()}


def _written(message: StoredMessage) -> str:
    return json.dumps([(name, type_, value.hex()) for name, (type_, value) in message.properties.items()])


def _read(text: str) -> Properties:
    return {name: (type_, bytes.fromhex(value)) for name, type_, value in json.loads(text)}
