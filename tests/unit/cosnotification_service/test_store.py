"""The store's file: who may open it, and who hears when it cannot be written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adapters.base import StopError
from adapters.cosnotification.service.store import database
from adapters.cosnotification.service.store.database import SavedEvent, Store, StoreFailed

UTF_8, LATIN = "UTF-8", "ISO-8859-1"


def event(number: int) -> SavedEvent:
    return SavedEvent(number, "channel/0", b"head", b"content", {(0, 1), (2, 3)})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notify.db"


def test_what_was_accepted_is_there_in_its_order(path: Path) -> None:
    with closing(Store(path, UTF_8)) as store:
        store.accept([event(1), event(2)])
        store.accept([event(3)])
    with closing(Store(path, UTF_8)) as store:
        assert store.events(0, 10, None) == [event(1), event(2), event(3)]
        assert store.events(1, 1, "channel/0") == [event(2)]
        assert store.events(0, 10, "channel/1") == []


def refused(path: Path, code_set: str = UTF_8) -> StopError:
    with pytest.raises(StopError) as caught:
        Store(path, code_set)
    assert (caught.value.code, caught.value.path) == ("COR-STORE", str(path))
    return caught.value


def test_strings_of_another_code_set_are_not_misread(path: Path) -> None:
    with closing(Store(path, LATIN)):
        pass
    with closing(Store(path, UTF_8)) as store:  # it had no events
        store.accept([event(1)])
    assert "strings are in UTF-8" in refused(path, LATIN).message
    with closing(Store(path, UTF_8)) as store:
        assert store.events(0, 10, None) == [event(1)]


def test_two_services_do_not_share_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECS", 0.1)
    with closing(Store(path, UTF_8)) as store:
        assert "locked" in refused(path).message
        store.accept([event(1)])


def test_a_file_of_another_version_or_of_somebody_else_is_left_alone(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version=99")
    assert "another version of Isthmus (99)" in refused(path).message
    text = tmp_path / "notes.txt"
    text.write_text("milk, bread\n" * 100)
    refused(text)
    assert text.read_text().startswith("milk")


def test_a_disk_that_is_full_is_told_once_and_so_is_its_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    failing = [sqlite3.OperationalError("database or disk is full")] * 3
    write = Store._write

    def maybe(store: Store, batch: Any) -> None:
        if failing:
            raise failing.pop()
        write(store, batch)

    monkeypatch.setattr(Store, "_write", maybe)
    with closing(Store(path, UTF_8, told.append)) as store:
        for _ in range(3):
            with pytest.raises(StoreFailed, match="disk is full"):
                store.accept([event(1)])
        store.accept([event(2)])
        store.sync()
        assert told == ["database or disk is full", ""]
        assert store.events(0, 10, None) == [event(2)], "what was refused is not there"
