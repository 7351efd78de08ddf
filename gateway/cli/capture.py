"""`isthmus capture ls|show|verify DIR`: look into a capture without Spark. All of them only read, also while a gateway runs."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.capture import inspection
from gateway.capture.keys import read_keys
from gateway.cli.exit_codes import ExitCode
from gateway.cli.showing import printable
from mappings.captures.errors import CaptureError
from mappings.captures.layout import SEALED
from mappings.captures.sealing import Opener
from mappings.errors import IsthmusError

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The capture's folder.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")]
KeyFile = Annotated[
    list[Path] | None,
    typer.Option("--key-file", help="A file with the key of an encrypted capture; may be repeated."),
]

capture = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look into a capture of traffic, without Spark. All of these only read, also while a gateway runs.",
)


@capture.command()
def ls(directory: Directory, as_json: AsJson = False) -> None:
    """Show the sealed files: rows, bytes, links."""
    total = 0
    for path in inspection.sealed_files(directory):
        seen = inspection.look(path)
        total += seen.rows
        _print_file(seen, directory, as_json)
    growing = inspection.open_files(directory)
    if not as_json:
        mappings = len(inspection.saved_mappings(directory))
        print(f"{total} rows; {len(growing)} files being written; {mappings} mappings", file=sys.stderr)


@capture.command()
def show(
    directory: Directory,
    link: Annotated[str | None, typer.Option("--link", help="Only of this link.", show_default=False)] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="Only what ended so: delivered, filtered …", show_default=False)
    ] = None,
    event: Annotated[
        str | None, typer.Option("--event", help="Only the event with this id.", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="So many rows at the most.")] = 20,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Show rows, oldest file first: one line each, or with --json the whole row. Exits with 1 when damage was met."""
    opener = Opener(read_keys(key_file or ()))
    wanted = {"link": link, "status": status, "event_id": event}
    trouble = False
    for path in inspection.sealed_files(directory):
        try:
            for row in inspection.rows(path):
                if any(value is not None and row[name] != value for name, value in wanted.items()):
                    continue
                if limit == 0:
                    print("isthmus: there are more (--limit)", file=sys.stderr)
                    raise typer.Exit(ExitCode.FAILED if trouble else ExitCode.OK)
                limit -= 1
                print(json.dumps(_row(row, opener), ensure_ascii=False) if as_json else _line(row))
        except CaptureError as damage:
            print(f"isthmus: {damage}", file=sys.stderr)
            trouble = True
    if trouble:
        raise typer.Exit(ExitCode.FAILED)


@capture.command()
def verify(directory: Directory, as_json: AsJson = False) -> None:
    """Read every byte of every sealed file, and every saved mapping. Exits with 1 when something is wrong."""
    findings: list[CaptureError] = []
    rows = files = 0
    for path in inspection.sealed_files(directory):
        seen = inspection.look(path, thorough=True)
        files += 1
        if seen.finding is None:
            rows += seen.rows
        else:
            findings.append(seen.finding)
    findings += [found for path in inspection.saved_mappings(directory) if (found := inspection.check_mapping(path))]
    for finding in findings:
        print(json.dumps(finding.to_json(), ensure_ascii=False) if as_json else finding)
    print(f"{files} files, {rows} rows, {len(findings)} findings", file=sys.stderr)
    if findings:
        raise typer.Exit(ExitCode.FAILED)


def _print_file(seen: inspection.FileLook, root: Path, as_json: bool) -> None:
    name = str(seen.path.relative_to(root))
    if as_json:
        finding = seen.finding.to_json() if seen.finding else None
        form = {"file": name, "rows": seen.rows, "bytes": seen.size, "links": seen.links, "finding": finding}
        print(json.dumps(form, ensure_ascii=False))
    elif seen.finding is not None:
        print(f"{name}  {seen.finding.code}: {seen.finding.message}")
    else:
        print(f"{name}  {seen.rows} rows  {seen.size} bytes  {' '.join(seen.links)}")


def _line(row: dict[str, Any]) -> str:
    when = row["settled_at"].isoformat() if row["settled_at"] else ""
    why = f"  {row['error_code']}: {row['error_message']}" if row["error_code"] else ""
    numbers = f"{row['seq']}-{row['seq_to']}" if row["seq_to"] is not None else row["seq"]
    line = f"{when}  {row['link']}  {numbers}  {row['status']}  {row['event_id'] or ''}  {row['type_name'] or ''}{why}"
    return printable(line)


def _row(row: dict[str, Any], opener: Opener) -> dict[str, Any]:
    shown = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
    for column in ("source", "sent"):
        if row[column] is not None:
            shown[column] = _cell(row, column, opener)
    return shown


def _cell(row: dict[str, Any], column: str, opener: Opener) -> Any:
    try:
        cell = row[column]
        if row["codec"] == SEALED:
            cell = opener.open(cell, f"{column} {row['event_id']}")
        return json.loads(cell)
    except ValueError as wrong:
        return {"error": {"code": "CAP-ROW", "message": str(wrong)}}
    except IsthmusError as wrong:
        return {"error": wrong.to_json()}
