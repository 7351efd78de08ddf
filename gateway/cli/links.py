"""`isthmus links`: what the links of a running gateway are doing, asked over its admin interface."""

from __future__ import annotations

import http.client
import json
import sys
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

from gateway.cli.account_columns import shown
from gateway.cli.exit_codes import ExitCode
from gateway.cli.tables import print_whole
from gateway.settings.addresses import AddressError, parse_address
from mappings.errors import IsthmusError

if TYPE_CHECKING:
    from rich.table import Table

DEFAULT_ADMIN: Final = "127.0.0.1:8161"
TIMEOUT_SECS: Final = 4.0
LARGEST_ANSWER_BYTES: Final = 64 * 1024 * 1024
COLUMNS: Final = (
    "received", "delivered", "filtered", "looped", "expired", "duplicate", "dead_lettered", "dropped", "lost", "pending",
)  # fmt: skip


def links(
    admin: Annotated[
        str, typer.Option(envvar="ISTHMUS_ADMIN", help="host:port of the gateway's admin interface (`admin.listen`).")
    ] = DEFAULT_ADMIN,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")] = False,
) -> None:
    """Show the links of a running gateway and their accounts. Exits with 1 when one has stopped for good, 69 without an answer."""
    statuses = ask(admin)
    if as_json:
        for status in statuses:
            print(json.dumps(status, ensure_ascii=False))
    else:
        _show(statuses)
    if any(status["state"] == "stopped" and status["error"] for status in statuses):
        raise typer.Exit(ExitCode.FAILED)


def ask(admin: str) -> list[dict[str, Any]]:
    """What the gateway tells of its links. Raises IsthmusError (LNK-NO-ANSWER)."""
    try:
        address = parse_address(admin)
    except AddressError as wrong:
        print(f"isthmus: --admin: {wrong}", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE) from None
    try:
        with closing(http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_SECS)) as connection:
            connection.request("GET", "/links")
            answer = connection.getresponse()
            body = answer.read(LARGEST_ANSWER_BYTES)
        statuses = json.loads(body) if answer.status == http.HTTPStatus.OK else None
    except (OSError, http.client.HTTPException, ValueError) as trouble:
        unavailable(address, str(trouble) or type(trouble).__name__)
    if not isinstance(statuses, list):
        unavailable(address, f"the answer is not that of a gateway (HTTP {answer.status})")
    return statuses


def unavailable(address: object, reason: str) -> NoReturn:
    raise IsthmusError(
        "LNK-NO-ANSWER",
        f"no gateway answers at {address}: {reason}",
        hint="is it running, and is `admin.listen` configured?",
    )


def _show(statuses: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = shown(COLUMNS, (status["accounts"] for status in statuses))
    table = Table(
        "link", "state", *(column.replace("_", "-") for column in columns), "oldest", box=None, pad_edge=False
    )
    for column in table.columns[2:]:
        column.justify = "right"
    console = Console(highlight=False)
    for status in statuses:
        oldest = status["oldest_pending_secs"]
        counts = [f"{status['accounts'][column]}" for column in columns]
        table.add_row(Text(status["link"]), status["state"], *counts, "" if oldest is None else f"{oldest:.1f} s")
    print_whole(console, table)
    inlets = {status["inlet"]["channel"]: status["inlet"] for status in statuses if status.get("inlet")}
    if inlets:
        print_whole(console, _inlet_table(inlets.values()))
    for status in statuses:
        for part, trouble in (
            ("", status["error"]),
            (" source", status["source"]["error"]),
            (" sink", status["sink"]["error"]),
        ):
            if trouble:
                hint = f" ({trouble['hint']})" if trouble.get("hint") else ""
                console.print(
                    Text(f"{status['link']}{part}: {trouble['code']}: {trouble['message']}{hint}"), soft_wrap=True
                )


def _inlet_table(inlets: Iterable[dict[str, Any]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("channel", "state", "received", "unsafe", "journal", box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for inlet in inlets:
        size = f"{inlet['journal']['size_bytes'] / 1e6:.1f} MB"
        state = f"{inlet['state']}, held" if inlet["held"] else inlet["state"]
        table.add_row(Text(inlet["channel"]), state, f"{inlet['received']}", f"{inlet['unsafe']}", size)
    return table
