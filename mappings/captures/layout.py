"""The layout of a capture: its columns, what their values mean, and where its files lie.

    CAPTURE/date=2026-11-18/hour=20/20261118T201502-nms-bridge-4711-000001.parquet    sealed: whole, and never changed again
    CAPTURE/.open/…arrows                                                             being written; Spark skips `.` and `_`
    CAPTURE/_mappings/3f9c02a1b7de.json                                               a mapping that was in force

One row for every event that a link took from its source, when it came to its end. A row is in the hour in which it was written.
`seq` counts what a link took, from 1 on in each `run`; a gap is an event that nothing is known of, and that is a finding.
"""

from __future__ import annotations

import time
from typing import Final, Literal, NamedTuple

LAYOUT_VERSION: Final = 1
LAYOUT_KEY: Final = "isthmus.layout"
"""In the metadata of every file: the version of the layout."""

OPEN_FOLDER: Final = ".open"
MAPPINGS_FOLDER: Final = "_mappings"
SUFFIX: Final = ".parquet"
OPEN_SUFFIX: Final = ".arrows"

ColumnType = Literal["string", "int", "bigint", "boolean", "timestamp", "binary"]
"""As Spark's DDL spells them; timestamps are microseconds in UTC."""


class Column(NamedTuple):
    name: str
    type: ColumnType
    meaning: str
    repeats: bool = False  # few different values: worth a dictionary


COLUMNS: Final = (
    Column("gateway", "string", "Name of the gateway.", True),
    Column("link", "string", "Id of the link.", True),
    Column("run", "string", "One life of the link: `seq` counts from 1 in each.", True),
    Column("seq", "bigint", "Number of the event in its run, in the order in which the link took it."),
    Column("seq_to", "bigint", "In `uncaptured` rows: the last of the numbers; else null."),
    Column("event_id", "string", "The stable id: the same at every gateway that the event passes."),
    Column("source_id", "string", "The id under which the source delivered it."),
    Column("redelivered", "boolean", "The source said that it delivers this one again."),
    Column("persistent", "boolean", "The event asks to survive a restart."),
    Column("received_at", "timestamp", "When the source of the gateway took it."),
    Column("made_at", "timestamp", "The time by which it was translated, in whole milliseconds."),
    Column("elapsed_ms", "bigint", "How long it had been in the gateway by then, as the translation counted it."),
    Column("settled_at", "timestamp", "When it came to its end: confirmed by the far side, or dropped with a reason."),
    Column("status", "string", "How it ended: one of the statuses below.", True),
    Column("error_code", "string", "Of a dead letter.", True),
    Column("error_message", "string", "Of a dead letter."),
    Column("error_path", "string", "Of a dead letter: the place in the event."),
    Column("domain_name", "string", "Of an event; null for a message.", True),
    Column("type_name", "string", "Of an event; JMSType of a message.", True),
    Column("destination", "string", "Where it was sent, where a rule of the link chose; else null: the channel's own.", True),
    Column("mapping_version", "string", "Which mapping was in force: a file in `_mappings`.", True),
    Column("source_form", "string", "`event` or `message`; null where the source's bytes could not be decoded.", True),
    Column("source", "binary", "What the source delivered, as canonical JSON (docs/forms.md)."),
    Column("sent_form", "string", "`event` or `message`; null where nothing was made.", True),
    Column("sent", "binary", "What it became, as canonical JSON."),
    Column("codec", "string", "How `source` and `sent` are written: `json`, or `sealed`.", True),
    Column("checksum", "bigint", "CRC-32 of `source` and `sent`, one after the other; null where an older gateway wrote."),
)  # fmt: skip

NAMES: Final = tuple(column.name for column in COLUMNS)
ADDED: Final = frozenset({"checksum"})
"""Columns that older captures of this layout do not have: they are read as nulls."""

Status = Literal[
    "delivered", "filtered", "expired", "duplicate", "looped", "dropped", "dead_lettered", "left", "uncaptured"
]

ENDS: Final = ("delivered", "filtered", "expired", "duplicate", "looped", "dropped", "dead_lettered")
"""Statuses of events that came to their end."""
LEFT: Final = "left"
"""The link ended first: the event stays with the source, and comes again."""
UNCAPTURED: Final = "uncaptured"
"""These events went their way, and the capture could not keep up with them (its disk was full, or slow)."""

JSON: Final = "json"
SEALED: Final = "sealed"


def folder_of(seconds: float) -> str:
    """The partition of a time since 1970, as a relative path."""
    return time.strftime("date=%Y-%m-%d/hour=%H", time.gmtime(seconds))


def ddl() -> str:
    """The columns as Spark spells a schema."""
    return ", ".join(f"{column.name} {column.type}" for column in COLUMNS)
