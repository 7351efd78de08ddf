"""`isthmus top`: how fast the links of a running gateway are, as they go; asked over its admin interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import typer

from gateway.cli.links import DEFAULT_ADMIN, ask
from mappings.errors import IsthmusError

if TYPE_CHECKING:
    from rich.console import RenderableType

DONE: Final = ("delivered", "filtered", "looped", "expired", "duplicate", "dead_lettered", "dropped", "lost")
SLOW: Final = ("down", "stopped")


class Row(NamedTuple):
    """One link, now and since the last look. None where there was none, or where the gateway began anew in between."""

    link: str
    state: str
    in_per_sec: float | None
    out_per_sec: float | None
    done_per_sec: float | None  # delivered, filtered and all other ends
    pending: int
    oldest_pending_secs: float | None
    drained_in_secs: float | None  # at this rate; None where it does not get less
    dead_lettered: int
    trouble: str | None  # the code of the error that holds it up


def rows(before: Mapping[str, Any] | None, now: Mapping[str, Any], elapsed_secs: float) -> list[Row]:
    """`before` and `now` are the links by id, as `/links` tells of them."""
    return [_row((before or {}).get(link), status, elapsed_secs) for link, status in now.items()]


def _row(before: dict[str, Any] | None, status: dict[str, Any], elapsed_secs: float) -> Row:
    accounts = status["accounts"]
    per_sec: list[float | None] = [None, None, None]
    if before is not None and elapsed_secs > 0:
        earlier = before["accounts"]
        counted = [
            accounts["received"] - earlier["received"],
            accounts["delivered"] - earlier["delivered"],
            sum(accounts[name] - earlier[name] for name in DONE),
        ]
        if min(counted) >= 0:
            per_sec = [count / elapsed_secs for count in counted]
    received, delivered, done = per_sec
    shrinks = done - received if done is not None and received is not None else 0.0
    errors = (status["error"], status["source"]["error"], status["sink"]["error"])
    return Row(
        status["link"],
        status["state"],
        received,
        delivered,
        done,
        accounts["pending"],
        status["oldest_pending_secs"],
        accounts["pending"] / shrinks if shrinks > 0 and accounts["pending"] else None,
        accounts["dead_lettered"],
        next((error["code"] for error in errors if error), None),
    )


ORDERS: Final = {
    "link": lambda row: row.link,
    "rate": lambda row: -(row.in_per_sec or 0.0),
    "pending": lambda row: -row.pending,
    "oldest": lambda row: -(row.oldest_pending_secs or 0.0),
}


def top(
    interval_secs: Annotated[float, typer.Option(min=0.1, help="How often to look.")] = 2.0,
    count: Annotated[int | None, typer.Option(min=1, help="End after so many looks; else with Ctrl-C.")] = None,
    sort: Annotated[
        Literal["link", "rate", "pending", "oldest"], typer.Option(help="Which links come first.")
    ] = "link",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object for each link and look, for scripts.")
    ] = False,
    admin: Annotated[
        str, typer.Option(envvar="ISTHMUS_ADMIN", help="host:port of the gateway's admin interface (`admin.listen`).")
    ] = DEFAULT_ADMIN,
) -> None:
    """Show how fast the links of a running gateway are, every few seconds, until Ctrl-C. A gateway that goes away meanwhile is
    waited for."""
    looks = _looks(admin, interval_secs, count)
    if as_json:
        for found in looks:
            for row in sorted(found, key=ORDERS[sort]) if isinstance(found, list) else ():
                print(json.dumps(_rounded(row), ensure_ascii=False), flush=True)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    with Live(console=console, screen=True, auto_refresh=False) if console.is_terminal else nullcontext() as live:
        for found in looks:
            shown = _table(sorted(found, key=ORDERS[sort])) if isinstance(found, list) else str(found)
            if live is not None:
                live.update(shown, refresh=True)
            else:
                console.print(shown)


def _looks(admin: str, interval_secs: float, count: int | None) -> Iterator[list[Row] | IsthmusError]:
    """What there is to show, one look after the other. The first must succeed; later ones may say why they did not."""
    before: dict[str, Any] | None = None
    looked_at = 0.0
    number = 0
    while True:
        try:
            now = {status["link"]: status for status in ask(admin)}
        except IsthmusError as trouble:
            if number == 0:
                raise
            before = None
            yield trouble
        else:
            at = monotonic()
            yield rows(before, now, at - looked_at)
            before, looked_at = now, at
        number += 1
        if number == count:
            return
        sleep(interval_secs)


def _rounded(row: Row) -> dict[str, Any]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row._asdict().items()}


def _table(found: Sequence[Row]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "link", "state", "in/s", "out/s", "pending", "oldest", "empty in", "dead-lettered", "because of", box=None
    )
    table.columns[0].no_wrap = True  # whole, whatever else must be folded
    for column in table.columns[2:8]:
        column.justify = "right"
    for row in found:
        table.add_row(
            Text(row.link, style="bold"),
            Text(row.state, style="red" if row.state in SLOW else ""),
            _rate(row.in_per_sec),
            _rate(row.out_per_sec),
            f"{row.pending}",
            _span(row.oldest_pending_secs),
            _span(row.drained_in_secs),
            f"{row.dead_lettered}",
            Text(row.trouble or "", style="red"),
        )
    if not found:
        table.add_row("no link runs")
    return table


def _rate(per_sec: float | None) -> str:
    if per_sec is None:
        return "-"
    return f"{per_sec:.1f}" if 0 < per_sec < 10 else f"{per_sec:.0f}"


def _span(secs: float | None) -> str:
    """For people: 0.4 s, 12 s, 3 min, 5 h, 2 d."""
    if secs is None:
        return ""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if secs >= 2 * length:
            return f"{secs / length:.0f} {unit}"
    return f"{secs:.1f} s" if secs < 10 else f"{secs:.0f} s"
