"""`isthmus journal ls|show|verify|repair|export DIR`: look into a journal, check it, mend it, export from it.

All but `repair` only read, and work while a gateway writes to the journal. DIR is the folder of one journal, or (for `ls` and
`verify`) a folder of several.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gateway.cli.account_columns import shown
from gateway.cli.exit_codes import ExitCode
from gateway.cli.showing import minding_disks, print_json, printable, utc
from gateway.cli.tables import print_whole
from gateway.journal.cursor_state import OUTCOMES, CursorState
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.envelope import key_from_text
from gateway.journal.errors import JournalError
from gateway.journal.inspection import Inspection, Stored, Totals, find_journals
from gateway.journal.record_form import headline, payload_to_json, record_to_json
from gateway.journal.repair import repair as repair_journal
from gateway.journal.scan import Record
from mappings.errors import IsthmusError

LARGEST_KEY_FILE: Final = 4096

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The journal's folder.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")]
KeyFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--key-file", help="A file with the key of an encrypted journal, as 64 hexadecimal digits; may be repeated."
    ),
]
First = Annotated[int, typer.Option("--from", min=0, help="The first sequence.")]
Last = Annotated[int | None, typer.Option("--to", min=0, help="The last sequence.", show_default=False)]
Link = Annotated[str | None, typer.Option("--link", help="Only what is pending for this link.", show_default=False)]

journal = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look into a journal, check it, mend it, export from it. All but `repair` only read, also while a gateway runs.",
)


@minding_disks
def _command(trouble: OSError) -> IsthmusError:
    return JournalError(
        "JNL-IO",
        f"the journal cannot be read or written: {trouble.strerror or trouble}",
        path=str(trouble.filename or ""),
        hint="see to the rights of the folder and to the room on the disk; what a repair has mended stays mended",
    )


@journal.command()
@_command
def ls(directory: Directory, as_json: AsJson = False) -> None:
    """Show the segments and the cursors of a journal, or of every journal in a folder."""
    for path in find_journals(directory):
        look = Inspection(path)
        if as_json:
            print_json(_summary(look))
        else:
            _show_summary(look)


@journal.command()
@_command
def show(
    directory: Directory,
    first: First = 0,
    last: Last = None,
    limit: Annotated[int, typer.Option(min=1, help="So many records at the most.")] = 20,
    link: Link = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Show records, oldest first: one line each, or with --json the whole record. Exits with 1 when damage was met."""
    codec = DeliveryCodec()
    trouble = False
    for found in _records(_look(directory, key_file), first, last, link):
        if isinstance(found, JournalError):
            _complain(found)
            trouble = True
            continue
        if limit == 0:
            print("isthmus: there are more (--limit, --from)", file=sys.stderr)
            break
        limit -= 1
        delivery = codec.decode(found.payload)
        if as_json:
            print_json(record_to_json(found.sequence, delivery, original=True))
        else:
            when = utc(delivery.received_at)
            print(f"{found.sequence:>12}  {when}  {printable(delivery.id)}  {printable(headline(delivery))}")
    if trouble:
        raise typer.Exit(ExitCode.FAILED)


@journal.command()
@_command
def verify(directory: Directory, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """Read every byte and check it. Exits with 1 when something is wrong."""
    wrong = False
    for path in find_journals(directory):
        totals = Totals()
        for finding in _look(path, key_file).verify(totals):
            wrong = True
            _show_finding(finding, as_json=as_json)
        if as_json:
            print_json({"journal": str(path), **_totals(totals)})
        else:
            counts = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in _totals(totals).items() if count)
            print(f"{path}: {counts or 'empty'}", file=sys.stderr)
    if wrong:
        raise typer.Exit(ExitCode.FAILED)


@journal.command()
@_command
def repair(directory: Directory, as_json: AsJson = False) -> None:
    """Write damaged segments anew without the damage; what was taken out stays beside them as .cut. The gateway must be stopped."""
    Inspection(directory)  # raises where there is no journal, before a lock file is made
    mended = 0
    for finding in repair_journal(directory):
        mended += 1
        _show_finding(finding, as_json=as_json)
    if not as_json:
        print("nothing to mend" if not mended else f"mended: {mended} findings", file=sys.stderr)


@journal.command()
@_command
def export(
    directory: Directory,
    first: First = 0,
    last: Last = None,
    link: Link = None,
    bare: Annotated[
        bool, typer.Option("--bare", help="Only the event or message of each, as `isthmus translate` reads them.")
    ] = False,
    key_file: KeyFile = None,
) -> None:
    """Write records as JSON Lines, in the forms of events and messages, on standard output. Exits with 1 when damage was met."""
    codec = DeliveryCodec()
    trouble = False
    for found in _records(_look(directory, key_file), first, last, link):
        if isinstance(found, JournalError):
            _complain(found)
            trouble = True
            continue
        delivery = codec.decode(found.payload)
        if bare:
            form = payload_to_json(delivery)
            line = form.get("event") or form.get("message")
            if line is None:
                error = form.get("error") or (delivery.error.to_json() if delivery.error else {})
                print(f"isthmus: record {found.sequence} holds no event: {error.get('message')}", file=sys.stderr)
                trouble = True
                continue
        else:
            line = record_to_json(found.sequence, delivery, original=True)
        print_json(line)
    if trouble:
        raise typer.Exit(ExitCode.FAILED)


def _look(directory: Path, key_files: list[Path] | None) -> Inspection:
    return Inspection(directory, tuple(_key(path) for path in key_files or ()))


def _key(path: Path) -> bytes:
    with path.open("rb") as file:
        return key_from_text(file.read(LARGEST_KEY_FILE).decode("ascii", "replace"))


def _records(look: Inspection, first: int, last: int | None, link: str | None) -> Iterator[Stored | JournalError]:
    state = None if link is None else _cursor(look, link)
    if state is not None:
        first = max(first, state.position + 1)
    for found in look.records(first, last):
        if not isinstance(found, Stored) or state is None or not state.is_settled(found.sequence):
            yield found


def _cursor(look: Inspection, link: str) -> CursorState:
    """Of a damaged cursor: everything is pending, as it will be when the gateway starts."""
    for cursor in look.cursors:
        if cursor.link == link:
            return cursor.state or CursorState(max(look.first - 1, 0))
    known = ", ".join(cursor.link for cursor in look.cursors) or "none"
    raise JournalError(
        "JNL-LINK", f"no link {link!r} has a cursor here", path=str(look.directory), hint=f"there are: {known}"
    )


def _summary(look: Inspection) -> dict[str, Any]:
    """Of the newest segment only the size is known without reading it, so the last sequence is that of a scan of it."""
    last = _last(look)
    segments = []
    for index, segment in enumerate(look.segments):
        end = look.segments[index + 1].first - 1 if index + 1 < len(look.segments) else last
        segments.append(
            {
                "file": segment.path.name,
                "first": segment.first,
                "last": end,
                "bytes": segment.size,
                "created_at": segment.created_ms / 1000,
                "header": "ok" if segment.journal_id is not None else "damaged",
            }
        )
    return {
        "journal": str(look.directory),
        "in_use": look.is_alive,
        "first": look.first,
        "last": last,
        "bytes": sum(segment.size for segment in look.segments),
        "segments": segments,
        "links": [_link_summary(cursor.link, cursor.state, last) for cursor in look.cursors],
        "strangers": [stranger.path for stranger in look.listing.strangers],
    }


def _link_summary(link: str, state: CursorState | None, last: int) -> dict[str, Any]:
    if state is None:
        return {"link": link, "cursor": "damaged"}
    return {
        "link": link,
        "cursor": "ok",
        "position": state.position,
        "pending": state.pending(max(last, state.highest)),
        "settled": dict(zip(OUTCOMES, state.settled, strict=True)),
    }


def _last(look: Inspection) -> int:
    """The newest whole record: only the newest segment is read for it, and older ones while that is empty."""
    for index in reversed(range(len(look.segments))):
        last = max((found.sequence for found in look.scan(index) if isinstance(found, Record)), default=0)
        if last:
            return last
    return max(look.first - 1, 0)


def _show_summary(look: Inspection) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    summary = _summary(look)
    console = Console(highlight=False, soft_wrap=True)
    state = "in use" if look.is_alive else "not in use"
    console.print(
        Text(f"{look.directory}: {state}, sequences {summary['first']} to {summary['last']}, {summary['bytes']} bytes")
    )
    segments = Table("segment", "first", "last", "bytes", "begun", "", box=None)
    for row in summary["segments"]:
        note = "" if row["header"] == "ok" else "header damaged"
        segments.add_row(
            row["file"], str(row["first"]), str(row["last"]), str(row["bytes"]), utc(row["created_at"]), note
        )
    outcomes = shown(OUTCOMES, (row["settled"] for row in summary["links"] if row["cursor"] != "damaged"))
    links = Table("link", "position", "pending", *(outcome.replace("_", "-") for outcome in outcomes), box=None)
    for row in summary["links"]:
        if row["cursor"] == "damaged":
            links.add_row(Text(printable(row["link"])), "damaged")
        else:
            counts = [str(row["settled"][outcome]) for outcome in outcomes]
            links.add_row(Text(printable(row["link"])), str(row["position"]), str(row["pending"]), *counts)
    for table in (segments, links):
        for column in table.columns[1:]:
            column.justify = "right"
        if table.row_count:
            print_whole(console, table)
    for stranger in look.listing.strangers:
        console.print(Text(str(stranger)))


def _totals(totals: Totals) -> dict[str, int]:
    return {
        "records": totals.records,
        "sealed": totals.sealed,
        "missing": totals.missing,
        "known_missing": totals.known_missing,
        "damaged_bytes": totals.damaged_bytes,
        "torn_bytes": totals.torn_bytes,
        "last": totals.last,
    }


def _show_finding(finding: JournalError, *, as_json: bool) -> None:
    if as_json:
        print_json(finding.to_json())
    else:
        print(finding)


def _complain(finding: JournalError) -> None:
    print(f"isthmus: {finding}", file=sys.stderr)
