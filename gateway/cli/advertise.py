"""`isthmus advertise`: event types that are offered and wanted in the channels of an Isthmus Notification Service, and by whom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.cli.tables import print_whole

if TYPE_CHECKING:
    from rich.console import Console

TIMEOUT_MS: Final = 5_000
COUNTS: Final = ("suppliers", "consumers", "accepted", "waiting")
LOSSES: Final = ("discarded", "expired", "refused", "abandoned")


def advertise(
    factory: Annotated[
        str, typer.Argument(help="The service: the file of its factory_ior, IOR:…, corbaloc:… or corbaname:….")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a channel and line, for scripts.")] = False,
) -> None:
    """Show the event types of every channel: offered and wanted, by whom, and how many events have passed."""
    channels = _ask(factory)
    if as_json:
        for channel in channels:
            print(json.dumps(channel, ensure_ascii=False))
    else:
        _show(channels)


def _ask(factory: str) -> list[dict[str, Any]]:
    """Raises ReconnectError or StopError."""
    from adapters.cosnotification.advertised import advertised
    from adapters.cosnotification.local_orb import LocalOrb

    orb = LocalOrb()
    orb.start()
    try:
        return advertised(orb, factory, TIMEOUT_MS)
    finally:
        orb.stop()


def _show(channels: list[dict[str, Any]]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    for channel in channels:
        _show_channel(console, channel)


def _show_channel(console: Console, channel: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    shown = [*COUNTS, *(name for name in LOSSES if channel[name])]
    counts = ", ".join(f"{channel[name]} {name}" for name in shown)
    console.print(Text(f"{channel['kind']} {channel['id']}: {counts}"))
    table = Table("domain", "type", "passed", "offers", "by", "subscriptions", "by", box=None)
    for column in (table.columns[2], table.columns[3], table.columns[5]):
        column.justify = "right"
    for type_ in channel["types"]:
        table.add_row(
            Text(type_["domain_name"]),
            Text(type_["type_name"]),
            f"{type_['passed']}",
            f"{type_['offers']}",
            Text(_names(type_["offered_by"])),
            f"{type_['subscriptions']}",
            Text(_names(type_["subscribed_by"])),
        )
    if channel["types"]:
        print_whole(console, table)


def _names(parties: list[dict[str, str]]) -> str:
    return "\n".join(f"{party['place']} {party['address']}".strip() for party in parties)
