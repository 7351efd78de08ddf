"""Who a journal is: an id that every segment and cursor of it carries, kept in `journal.json`."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Final
from zlib import crc32

from gateway.journal.disk import Disk, write_whole
from gateway.journal.errors import JournalError
from gateway.journal.format import VERSION

NAME: Final = "journal.json"


def read_identity(directory: Path) -> bytes | None:
    """None where the file is missing or damaged. Raises JournalError where it is of a version that we cannot read."""
    path = directory / NAME
    try:
        form = json.loads(path.read_bytes())
        version, journal_id = form["format"], uuid.UUID(form["id"]).bytes
        if form["check"] != _check(version, journal_id):
            return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if version > VERSION:
        raise JournalError(
            "JNL-VERSION",
            f"this journal has format {version}; this version of Isthmus reads up to {VERSION}",
            path=str(path),
            hint="use the version of Isthmus that wrote it, or a later one",
        )
    return journal_id


def write_identity(directory: Path, journal_id: bytes, disk: Disk) -> None:
    form = {
        "format": VERSION,
        "id": str(uuid.UUID(bytes=journal_id)),
        "check": _check(VERSION, journal_id),
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    write_whole(disk, directory / NAME, (json.dumps(form) + "\n").encode("ascii"))


def _check(version: int, journal_id: bytes) -> str:
    """Without it one flipped bit would make every segment a stranger."""
    return f"{crc32(b'%d' % version + journal_id):08x}"


def new_identity() -> bytes:
    return uuid.uuid4().bytes


def identity_lost(directory: Path) -> JournalError:
    return JournalError(
        "JNL-IDENTITY-LOST",
        "there are segments, and nothing that says which journal this is: not the file, no header, no cursor",
        path=str(directory / NAME),
        hint="put that file back from a backup, or move the folder away to begin a new journal",
    )
