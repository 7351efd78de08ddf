"""What an event domain refuses, under the names of CosEventDomainAdmin; each with a stable code (docs/errors.md, DOM).

DomainError
├── ChannelNotFound, ConnectionNotFound, DomainNotFound
├── AlreadyExists                 .connection_id
├── CycleCreationForbidden        .cycle
├── DiamondCreationForbidden      .diamond
├── LimitExceeded                 more channels or connections than configured; over CORBA: IMP_LIMIT
├── UnsupportedQoS                .faults (qos.py)
├── UnsupportedAdmin              .names
└── DomainFormError               JSON data that is no event domain
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.domain.graph import Route
from mappings.errors import IsthmusError


class DomainError(IsthmusError):
    """An operation that left the domain as it was."""


class ChannelNotFound(DomainError):
    """No member has this id; None: there is no default channel, since the domain is empty."""

    def __init__(self, member: int | None) -> None:
        what = "the domain has no channel yet" if member is None else f"the domain has no channel {member}"
        super().__init__("DOM-NO-CHANNEL", what, hint="add the channel first; get_all_channels lists the ids")


class ConnectionNotFound(DomainError):
    def __init__(self, connection: int) -> None:
        super().__init__(
            "DOM-NO-CONNECTION", f"the domain has no connection {connection}", hint="get_all_connections lists the ids"
        )


class DomainNotFound(DomainError):
    def __init__(self, domain: int) -> None:
        super().__init__("DOM-NO-DOMAIN", f"there is no event domain {domain}", hint="get_all_domains lists the ids")


class AlreadyExists(DomainError):
    """The pair counts, whatever the client type and the style."""

    def __init__(self, supplier: int, consumer: int, connection: int) -> None:
        super().__init__(
            "DOM-EXISTS",
            f"channel {supplier} is joined to channel {consumer} already, by connection {connection}",
            hint="remove that one first",
        )
        self.connection_id = connection


class CycleCreationForbidden(DomainError):
    """`cycle` is the existing path from the consumer channel back to the supplier channel; (v, v) where both are one."""

    def __init__(self, cycle: Route) -> None:
        closed = cycle if cycle[0] == cycle[-1] else (*cycle, cycle[0])
        super().__init__(
            "DOM-CYCLE",
            f"the connection closes a cycle: {_shown(closed)}",
            hint="remove one of its connections, or make the domain with AuthorizeCycles",
        )
        self.cycle = cycle


class DiamondCreationForbidden(DomainError):
    """`diamond` holds the routes in conflict, all with the same first and last channel, the shortest first."""

    def __init__(self, diamond: tuple[Route, ...]) -> None:
        super().__init__(
            "DOM-DIAMOND",
            f"the connection makes a second way between two channels: {', and '.join(map(_shown, diamond))}",
            hint="remove one of their connections, or set DiamondDetection to AuthorizeDiamonds",
        )
        self.diamond = diamond


class LimitExceeded(DomainError):
    def __init__(self, what: str, most: int) -> None:
        super().__init__(
            "DOM-LIMIT", f"the domain may have {most} {what} and has them", hint=f"remove one, or allow more {what}"
        )


class UnsupportedAdmin(DomainError):
    """A domain has no admin properties."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            "DOM-ADMIN", f"an event domain has no admin properties, not {', '.join(names)}", hint="leave them out"
        )
        self.names = tuple(names)


class DomainFormError(DomainError):
    """Data that was not written by `to_json`, or was changed since."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(
            "DOM-FORM",
            message,
            path=path,
            hint="take the file back from a copy, or remove it and build the domain anew",
        )


_MOST_SHOWN = 12


def _shown(route: Route) -> str:
    shown = [str(member) for member in route]
    if len(shown) > _MOST_SHOWN:
        half = _MOST_SHOWN // 2
        shown[half:-half] = [f"… ({len(shown) - 2 * half} more)"]
    return " → ".join(shown)
