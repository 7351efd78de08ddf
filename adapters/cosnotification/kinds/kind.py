"""What a kind of client is: where it stands at a channel, in each role and style, and how its events travel.

Everything else (workers, buffers, life cycle) is the same for all kinds. A further kind is one more file in this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, Protocol

from adapters.base import DeadLetterError
from adapters.cosnotification.received_octets import Form
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from mappings.model import Event, StructuredEvent

Role = Literal["consumer", "supplier"]  # which of the two we are
Style = Literal["push", "pull"]


class Place(NamedTuple):
    """Where we stand at a channel in one role and style: an admin, a proxy of it, and how that proxy is spoken to."""

    new_admin: Callable[[Any], Any]  # from the channel
    obtain: Callable[[Any], Any]  # the proxy, from the admin
    proxy: Any  # its interface
    connect: str  # operations of the proxy
    disconnect: str
    own_admin: bool = True  # the admin is ours alone, and ends with us


Wanted = Callable[[Any], bool]


class Intake(Protocol):
    """Where a consumer leaves what it gets (`worker/intake.py`)."""

    def structured(self, *events: Any) -> None:
        """Returns when they are safe. Raises TRANSIENT where they are not taken."""

    def untyped(self, any_: Any) -> None: ...

    def headless(self, event: Event) -> None:
        """An event of another form, as the model has it."""

    def unreadable(self, error: DeadLetterError, original: bytes | None) -> None: ...

    def disconnected(self) -> None: ...


class Shelf(Protocol):
    """Where a supplier that is pulled finds what it has on offer (`worker/shelf.py`)."""

    def wait(self, most: int, wanted: Wanted | None = None) -> list[Any]:
        """At least one event. Raises TRANSIENT where there is none in time, Disconnected where there will be none."""

    def look(self, most: int, wanted: Wanted | None = None) -> list[Any]:
        """What is there now. Where the next event is not `wanted`, nothing is: events leave in order."""

    def disconnected(self) -> None: ...


class Kind(NamedTuple):
    channel: Any  # interface of its channels
    places: Mapping[tuple[Role, Style], Place]

    # as a consumer
    push_consumer: Callable[[Intake], Any]  # the servant that the peer pushes to
    pull_consumer: Callable[[Intake], Any]  # the servant that only hears of the end
    pull: Callable[
        [Any, int, Intake], bool
    ]  # what the proxy has now, up to so many, into the intake; whether it had any

    # as a supplier
    encode: Callable[[StructuredEvent], Any]
    type_code: Any  # of what is encoded; None where that is no value of the ORB's
    push_supplier: Callable[[Callable[[], None]], Any]  # the servant that only hears of the end
    push: Callable[[Any, list[Any]], None]
    pull_supplier: Callable[[Shelf], Any]  # the servant that the peer pulls from
    together: bool = False  # many events in one call
    octets: tuple[str, Form] | None = (
        None  # the operation by which a peer pushes to us, and what its arguments are, where they are read without the ORB
    )

    # where other objects than channel, proxy and servant take part
    factory: Any = CosNotifyChannelAdmin.EventChannelFactory
    get_channel: str = "get_event_channel"  # operation of the factory
    companion: Callable[[Any], Any] | None = None  # the object that our servant hands out as its `companion`, if any
    partner: Callable[[Any, int], Any] | None = None  # from the proxy to the object that is spoken to in its place


_ADMIN_OPERATOR: Final = CosNotifyChannelAdmin.AND_OP  # with OR, a filter of the admin would undo those of the proxy


def notification_places(kind: str, prefix: str, client_type: Any) -> Mapping[tuple[Role, Style], Place]:
    """The four places of a Notification Service's channel. The names of its operations follow a rule, except that those that an
    Any client inherits from the Event Service do not name the kind."""
    farewell = "" if kind == "any" else f"{kind}_"

    def interface(style: str, role: str) -> Any:
        return getattr(CosNotifyChannelAdmin, f"{prefix}Proxy{style.title()}{role.title()}")

    def place(role: Role, style: Style) -> Place:
        theirs = "supplier" if role == "consumer" else "consumer"
        admin = f"new_for_{role}s"
        obtain = f"obtain_notification_{style}_{theirs}"
        return Place(
            lambda channel: getattr(channel, admin)(_ADMIN_OPERATOR)[0],
            lambda admin: getattr(admin, obtain)(client_type)[0],
            interface(style, theirs),
            f"connect_{kind}_{style}_{role}",
            f"disconnect_{farewell}{style}_{theirs}",
        )

    return _everywhere(place)


def event_service_places(typed: str, interface: Callable[[str], Any], *key: str) -> Mapping[tuple[Role, Style], Place]:
    """The four places of a plain Event Service's channel. Its admins are everybody's, and outlive us.

    `typed` stands in the names of the operations that obtain a proxy, `key` is what they get, `interface` finds that of a proxy.
    """

    def place(role: Role, style: Style) -> Place:
        theirs = "supplier" if role == "consumer" else "consumer"
        return Place(
            lambda channel: getattr(channel, f"for_{role}s")(),
            lambda admin: getattr(admin, f"obtain_{typed}{style}_{theirs}")(*key),
            interface(f"Proxy{style.title()}{theirs.title()}"),
            f"connect_{style}_{role}",
            f"disconnect_{style}_{theirs}",
            own_admin=False,
        )

    return _everywhere(place)


def _everywhere(place: Callable[[Role, Style], Place]) -> Mapping[tuple[Role, Style], Place]:
    return {
        ("consumer", "push"): place("consumer", "push"),
        ("consumer", "pull"): place("consumer", "pull"),
        ("supplier", "push"): place("supplier", "push"),
        ("supplier", "pull"): place("supplier", "pull"),
    }


class Hearing:
    """What the servants of a Notification Service's clients hear besides events and their end: that suppliers offer, or consumers
    want, other types than before."""

    types_changed: Callable[[], None] | None = None
    """Who wants to know that there is something to ask the proxy about (`worker/types_talk.py`); must not block."""

    def offer_change(self, added: Any, removed: Any) -> None:
        if self.types_changed is not None:
            self.types_changed()

    subscription_change = offer_change
