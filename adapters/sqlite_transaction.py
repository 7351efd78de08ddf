"""One transaction on an SQLite connection that threads share and that is otherwise in autocommit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


@contextmanager
def together(database: sqlite3.Connection, lock: AbstractContextManager[object]) -> Iterator[None]:
    """All changes inside, or none; `lock` is held meanwhile. Not to be nested."""
    with lock:
        database.execute("begin immediate")
        try:
            yield
        except BaseException:
            database.execute("rollback")
            raise
        database.execute("commit")
