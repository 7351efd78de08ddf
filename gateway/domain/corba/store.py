"""Where domains are kept over a restart: an SQLite file, written with every change, before the client has its answer.

What is read back goes through `gateway.domain.persistence`, which refuses data that breaks the rules of its own domain.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from adapters.base import StopError
from adapters.sqlite_transaction import together

VERSION: Final = 1
_TABLES: Final = """
create table if not exists facts (name text primary key, value text not null) without rowid;
create table if not exists domains (kind text, id integer, head text not null, primary key (kind, id)) without rowid;
create table if not exists members (
  kind text, domain integer, id integer, place integer not null, body text not null, primary key (kind, domain, id)
) without rowid;
create table if not exists connections (
  kind text, domain integer, id integer, place integer not null, body text not null, primary key (kind, domain, id)
) without rowid;
create table if not exists farewells (id integer primary key, body text not null);
"""

Json = dict[str, Any]


class DomainStore:
    """One owner at a time. Raises StopError where the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=5.0)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = full")
            self._db.executescript(_TABLES)
            version = self._fact("version", str(VERSION))
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(str(error)) from error
        if version != str(VERSION):
            raise self._unusable(f"it is of version {version}, {VERSION} is known here")

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def secret(self) -> bytes:
        """What object keys are made of: references stay the same over a restart, and nobody else can guess them."""
        return bytes.fromhex(self._fact("secret", secrets.token_hex(32)))

    def note(self, name: str, default: str) -> str:
        return self._fact(f"note/{name}", default)

    def set_note(self, name: str, value: str) -> None:
        self._run("insert or replace into facts values (?, ?)", f"note/{name}", value)

    # What changes

    def next_domain(self, kind: str, id_: int) -> None:
        self._run("insert or replace into facts values (?, ?)", f"next_domain/{kind}", str(id_))

    def put_domain(self, kind: str, domain: int, head: Json) -> None:
        self._run("insert or replace into domains values (?, ?, ?)", kind, domain, json.dumps(head))

    def put_member(self, kind: str, domain: int, member: int, body: Json) -> None:
        self._put("members", kind, domain, member, body)

    def put_connection(self, kind: str, domain: int, connection: int, body: Json) -> None:
        self._put("connections", kind, domain, connection, body)

    def remove_member(self, kind: str, domain: int, member: int) -> None:
        self._run("delete from members where kind = ? and domain = ? and id = ?", kind, domain, member)

    def remove_connection(self, kind: str, domain: int, connection: int) -> None:
        self._run("delete from connections where kind = ? and domain = ? and id = ?", kind, domain, connection)

    def remove_domain(self, kind: str, domain: int) -> None:
        with self.together():
            for table in ("members", "connections"):
                self._db.execute(f"delete from {table} where kind = ? and domain = ?", (kind, domain))
            self._db.execute("delete from domains where kind = ? and id = ?", (kind, domain))

    def add_farewell(self, body: Json) -> int:
        with self._lock:
            added = self._db.execute("insert into farewells (body) values (?)", (json.dumps(body),))
        assert added.lastrowid is not None
        return added.lastrowid

    def remove_farewell(self, farewell: int) -> None:
        self._run("delete from farewells where id = ?", farewell)

    def together(self) -> AbstractContextManager[None]:
        """All changes inside, or none. Not to be nested."""
        return together(self._db, self._lock)

    # What was kept

    def farewells(self) -> list[tuple[int, Json]]:
        with self._lock:
            return [
                (id_, json.loads(body)) for id_, body in self._db.execute("select id, body from farewells order by id")
            ]

    def read(self, kind: str) -> Json:
        """In the form of `gateway.domain.persistence`, with `wire` in each connection."""
        try:
            with self._lock:
                domains = {id_: json.loads(head) for id_, head in self._rows("domains", "id, head", kind)}
                for domain, head in domains.items():
                    head.update(id=domain, members=[], connections=[])
                for table in ("members", "connections"):
                    for domain, id_, body in self._rows(table, "domain, id, body", kind, "order by place"):
                        domains[domain][table].append({"id": id_, **json.loads(body)})
                next_domain = int(self._fact_or(f"next_domain/{kind}", "0"))
        except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
            raise self._unusable(str(error)) from error
        return {"version": 1, "next_domain": next_domain, "domains": list(domains.values())}

    # Inside

    def _put(self, table: str, kind: str, domain: int, id_: int, body: Json) -> None:
        """Members and connections are read back in the order in which they first came."""
        self._run(
            f"insert into {table} values (?1, ?2, ?3, (select coalesce(max(place), 0) + 1 from {table}), ?4) "
            "on conflict do update set body = ?4",
            kind,
            domain,
            id_,
            json.dumps(body),
        )

    def _run(self, statement: str, *values: Any) -> None:
        """A store that fails says so to the client whose change it was: sqlite3.Error."""
        with self._lock:
            self._db.execute(statement, values)

    def _rows(self, table: str, columns: str, kind: str, order: str = "") -> list[Any]:
        return self._db.execute(f"select {columns} from {table} where kind = ? {order}", (kind,)).fetchall()

    def _fact(self, name: str, default: str) -> str:
        with self._lock:
            self._db.execute("insert or ignore into facts values (?, ?)", (name, default))
            return self._fact_or(name, default)

    def _fact_or(self, name: str, default: str) -> str:
        row = self._db.execute("select value from facts where name = ?", (name,)).fetchone()
        return str(row[0]) if row else default

    def _unusable(self, why: str) -> StopError:
        return StopError(
            "DOM-STORE",
            f"the file cannot be used: {why}",
            path=str(self._path),
            hint="take it back from a copy, or move it away and build the domains anew",
        )
