"""`isthmus domain list|show|add|remove|connect|cycles|diamonds|draw`: any event domain, by its reference.

REFERENCE is that of a domain, or of a factory (then `--id` names the domain): IOR:…, corbaloc:…, corbaname:…, or a file that
holds one.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.graph import Format
from gateway.domain.drawing import Drawing, Edge, Group, Vertex, to_dot, to_mermaid

if TYPE_CHECKING:
    from gateway.domain.corba.client import DomainClient, MemberView


class Events(StrEnum):
    any = "any"
    structured = "structured"
    sequence = "sequence"


class Style(StrEnum):
    push = "push"
    pull = "pull"


Reference = Annotated[
    str, typer.Argument(metavar="REFERENCE", help="Of a domain, or of a factory of domains.", show_default=False)
]
Id = Annotated[
    int | None, typer.Option("--id", help="The domain, where the reference is a factory's.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")]

domain = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="See and change event domains over CORBA, of whatever vendor.",
)


def _client(reference: str, id_: int | None) -> DomainClient:
    from gateway.domain.corba.client import DomainClient

    return DomainClient(reference, id_)


@domain.command("list")
def list_(reference: Reference) -> None:
    """Print the ids of a factory's domains."""
    with _client(reference, None) as client:
        for id_ in client.all_domains():
            print(id_)


@domain.command()
def show(reference: Reference, id_: Id = None, as_json: AsJson = False) -> None:
    """Show a domain's rules, channels and connections. A channel answers, is gone, or cannot be reached (away)."""
    with _client(reference, id_) as client:
        qos, members, connections = client.qos(), client.members(), client.connections()
    if as_json:
        print(json.dumps({"qos": qos}))
        for member in members:
            print(json.dumps({"channel": member._asdict()}))
        for number, its in connections.items():
            form = {
                "id": number,
                "supplier": its.supplier_id,
                "consumer": its.consumer_id,
                "events": _events(its.ctype.name, its.interface),
                "style": its.notification_style.name.lower(),
                "interface": its.interface,
            }
            print(json.dumps({"connection": form}))
        return
    rules = ("allowed", "forbidden")
    print(", ".join(f"{name.removesuffix('Detection').lower()}s {rules[value]}" for name, value in qos.items()))
    for member in members:
        print(f"channel {member.id}: {', '.join(_lines(member))}")
    for number, its in connections.items():
        what = f"{_events(its.ctype.name, its.interface)} {its.notification_style.name.lower()}"
        print(f"connection {number}: {its.supplier_id} -> {its.consumer_id}, {what}")


@domain.command()
def add(
    reference: Reference,
    channel: Annotated[str, typer.Argument(metavar="CHANNEL", help="The channel's reference.", show_default=False)],
    id_: Id = None,
) -> None:
    """Make a channel a member, and print its id."""
    with _client(reference, id_) as client:
        print(client.add(channel))


@domain.command()
def remove(
    reference: Reference,
    channel: Annotated[
        int | None, typer.Option("--channel", help="With all its connections.", show_default=False)
    ] = None,
    connection: Annotated[int | None, typer.Option("--connection", help="This one alone.", show_default=False)] = None,
    id_: Id = None,
) -> None:
    """Remove a channel, which lives on, or a connection."""
    if (channel is None) == (connection is None):
        raise typer.BadParameter("say either --channel or --connection")
    with _client(reference, id_) as client:
        if channel is not None:
            client.remove_channel(channel)
        elif connection is not None:
            client.remove_connection(connection)


@domain.command()
def connect(
    reference: Reference,
    supplier: Annotated[
        int, typer.Argument(metavar="SUPPLIER", help="The channel that events leave.", show_default=False)
    ],
    consumer: Annotated[
        int, typer.Argument(metavar="CONSUMER", help="The channel that they reach.", show_default=False)
    ],
    events: Annotated[Events, typer.Option(help="The form of events on the way.")] = Events.structured,
    style: Annotated[
        Style, typer.Option(help="Who acts: the supplier channel pushes, or the other pulls.")
    ] = Style.push,
    id_: Id = None,
) -> None:
    """Connect two channels, and print the connection's id."""
    from gateway.domain.corba.client import connection_of

    with _client(reference, id_) as client:
        print(client.connect(connection_of(supplier, consumer, events.value, style.value)))


@domain.command()
def cycles(reference: Reference, id_: Id = None, as_json: AsJson = False) -> None:
    """Print every cycle, as channel ids in the order in which events pass."""
    with _client(reference, id_) as client:
        for cycle in client.cycles():
            print(json.dumps(cycle) if as_json else " -> ".join(map(str, [*cycle, cycle[0]])))


@domain.command()
def diamonds(reference: Reference, id_: Id = None, as_json: AsJson = False) -> None:
    """Print every diamond: the ways from one channel to another, where there are several."""
    with _client(reference, id_) as client:
        for routes in client.diamonds():
            print(json.dumps(routes) if as_json else "; ".join(" -> ".join(map(str, route)) for route in routes))


@domain.command()
def draw(
    reference: Reference,
    id_: Id = None,
    format_: Annotated[Format, typer.Option("--format", help="The language of the drawing.")] = Format.mermaid,
) -> None:
    """Draw a domain as Mermaid or DOT text."""
    with _client(reference, id_) as client:
        members, connections = client.members(), client.connections()
    vertices = tuple(Vertex(str(member.id), _lines(member)) for member in members)
    edges = [
        Edge(
            str(its.supplier_id),
            str(its.consumer_id),
            (f"{number}: {_events(its.ctype.name, its.interface)} {its.notification_style.name.lower()}",),
        )
        for number, its in connections.items()
    ]
    drawing = Drawing((Group("", vertices),), edges)
    print(to_dot(drawing) if format_ is Format.dot else to_mermaid(drawing), end="")


def _events(client_type: str, interface: str) -> str:
    return f"typed {interface}" if interface else client_type.removesuffix("_EVENT").lower()


def _lines(member: MemberView) -> tuple[str, ...]:
    """A destination or queue is known by its names, a channel by where it is."""
    facts = (member.type.replace("_", " "), member.state, member.names or member.address)
    return tuple(fact for fact in facts if fact)
