"""An EventDomain somewhere, of whatever vendor, as `isthmus domain` sees it: its answers as plain data, its refusals as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from adapters.cosnotification.faults import on_connect
from adapters.cosnotification.ior import BadReference, decode_ior, shorten
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.references import resolve
from adapters.cosnotification.settings import OrbSettings
from gateway.domain import errors
from gateway.domain.connection import ChannelType, ClientType, Connection, NotificationStyle
from gateway.domain.corba.configured import NAME_FOLLOWS
from gateway.domain.corba.stubs import (
    CORBA,
    CosEventDomainAdmin,
    CosEventLogDomainAdmin,
    CosNotifyChannelAdmin,
    CosTypedEventDomainAdmin,
)
from gateway.domain.corba.translation import connection_from_orb, connection_to_orb, typed_connection_from_orb

TIMEOUT_MS: Final = 15_000
_FACTORIES: Final = (
    (CosEventDomainAdmin.EventDomainFactory, "get_event_domain", "get_all_domains"),
    (CosTypedEventDomainAdmin.TypedEventDomainFactory, "get_typed_event_domain", "get_all_typed_domains"),
    (CosEventLogDomainAdmin.EventLogDomainFactory, "get_event_log_domain", "get_all_event_log_domains"),
)


class MemberView(NamedTuple):
    id: int
    type: str  # of ChannelType, in lower case
    state: str  # answers, gone, or away
    address: str  # of its process; empty where that is not known
    names: str  # in the configuration of a gateway of ours, of a destination or queue; else empty
    reference: str


class DomainClient:
    """A context manager: calls are made inside. Raises AdapterErrors and DomainErrors."""

    def __init__(self, reference: str, domain: int | None = None) -> None:
        """The reference of a domain, or of a factory and the id of one of its domains."""
        self._reference = reference
        self._id = domain
        self._orb = LocalOrb(OrbSettings())
        self._domain: Any = None

    def __enter__(self) -> DomainClient:
        self._orb.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._orb.stop()

    def all_domains(self) -> list[int]:
        """Of a factory."""
        with _refusals("asking for the domains"):
            found = self._resolved()
            for interface, _, operation in _FACTORIES:
                factory = found._narrow(interface)
                if factory is not None:
                    return list(getattr(_bounded(factory), operation)())
        raise self._no("is no factory of event domains")

    def members(self) -> list[MemberView]:
        with _refusals("asking for the channels"):
            log_domain = self.domain._narrow(CosEventLogDomainAdmin.EventLogDomain)
            return [self._member(id_, log_domain) for id_ in sorted(self.domain.get_all_channels())]

    def connections(self) -> dict[int, Connection]:
        with _refusals("asking for the connections"):
            return {id_: self._connection(id_) for id_ in sorted(self.domain.get_all_connections())}

    def qos(self) -> dict[str, int]:
        with _refusals("asking for its QoS"):
            return {item.name: item.value.value() for item in self.domain.get_qos()}

    def cycles(self) -> list[list[int]]:
        with _refusals("asking for the cycles"):
            return [list(cycle) for cycle in self.domain.get_cycles()]

    def diamonds(self) -> list[list[list[int]]]:
        with _refusals("asking for the diamonds"):
            return [[list(route) for route in diamond] for diamond in self.domain.get_diamonds()]

    def add(self, channel: str) -> int:
        """A channel, by its reference."""
        found = resolve(self._orb, channel, CosNotifyChannelAdmin.EventChannel, TIMEOUT_MS)
        with _refusals("adding the channel"):
            return int(self.domain.add_channel(found))

    def remove_channel(self, member: int) -> None:
        with _refusals("removing the channel", member=member):
            self.domain.remove_channel(member)

    def remove_connection(self, connection: int) -> None:
        with _refusals("removing the connection", connection=connection):
            self.domain.remove_connection(connection)

    def connect(self, connection: Connection) -> int:
        with _refusals("connecting the channels", wanted=connection):
            return int(self.domain.add_connection(connection_to_orb(connection)))

    @property
    def domain(self) -> Any:
        if self._domain is None:
            with _refusals("looking for the domain", domain=self._id):
                self._domain = _bounded(self._find())
        return self._domain

    # Inside

    def _find(self) -> Any:
        found = self._resolved()
        domain = found._narrow(CosEventDomainAdmin.EventDomain)
        if domain is not None:
            return domain
        for interface, one, all_ in _FACTORIES:
            factory = found._narrow(interface)
            if factory is None:
                continue
            _bounded(factory)
            if self._id is not None:
                return getattr(factory, one)(self._id)
            ids = getattr(factory, all_)()
            if len(ids) == 1:
                return getattr(factory, one)(ids[0])
            raise self._no(
                f"is a factory with {len(ids)} domains", "say which one with --id; `isthmus domain list` names them"
            )
        raise self._no("is neither an event domain nor a factory of such")

    def _resolved(self) -> Any:
        return resolve(self._orb, self._reference, CORBA.Object, TIMEOUT_MS)

    def _member(self, id_: int, log_domain: Any) -> MemberView:
        type_ = ChannelType.CHANNEL
        if log_domain is not None:
            type_ = ChannelType(_bounded(log_domain).get_channel_type(id_)._v)
        try:
            channel = self._channel(id_)
        except CORBA.INTERNAL:  # a domain of a gateway's configuration looks for its channels, and its factory is away
            return MemberView(id_, type_.name.lower(), "away", "", "", "")
        if channel is None:
            return MemberView(id_, type_.name.lower(), "unknown", "", "", "")
        reference = self._orb.to_string(channel)
        return MemberView(id_, type_.name.lower(), _state_of(_bounded(channel)), *_place_in(reference), reference)

    def _channel(self, id_: int) -> Any:
        """A typed domain gives a typed channel by an operation of its own."""
        try:
            return self.domain.get_channel(id_)
        except CosNotifyChannelAdmin.ChannelNotFound:
            typed = self.domain._narrow(CosTypedEventDomainAdmin.TypedEventDomain)
            if typed is None:
                return None
            try:
                return _bounded(typed).get_typed_channel(id_)
            except CosNotifyChannelAdmin.ChannelNotFound:
                return None

    def _connection(self, id_: int) -> Connection:
        try:
            return connection_from_orb(self.domain.get_connection(id_))
        except CosEventDomainAdmin.ConnectionNotFound:
            typed = self.domain._narrow(CosTypedEventDomainAdmin.TypedEventDomain)
            if typed is None:
                raise
            return typed_connection_from_orb(_bounded(typed).get_typed_connection(id_))

    def _no(self, what: str, hint: str = "") -> errors.DomainError:
        return errors.DomainError("DOM-REFERENCE", f"the object {what}", path=shorten(self._reference), hint=hint)


def connection_of(supplier: int, consumer: int, events: str, style: str) -> Connection:
    """`events` is any, structured or sequence; `style` is push or pull."""
    return Connection(supplier, consumer, ClientType[f"{events.upper()}_EVENT"], NotificationStyle[style.capitalize()])


@contextmanager
def _refusals(
    doing: str,
    *,
    member: int = 0,
    connection: int = 0,
    domain: int | None = None,
    wanted: Connection | None = None,
) -> Iterator[None]:
    try:
        yield
    except CosNotifyChannelAdmin.ChannelNotFound:
        named = f"{wanted.supplier_id} or no channel {wanted.consumer_id}" if wanted is not None else str(member)
        raise errors.DomainError(
            "DOM-NO-CHANNEL", f"the domain has no channel {named}", hint="`isthmus domain show` lists them"
        ) from None
    except CosEventDomainAdmin.ConnectionNotFound:
        raise errors.ConnectionNotFound(connection) from None
    except CosEventDomainAdmin.DomainNotFound:
        raise errors.DomainNotFound(domain if domain is not None else 0) from None
    except CosEventDomainAdmin.AlreadyExists:
        raise errors.DomainError("DOM-EXISTS", "the channels are connected already, in this direction") from None
    except CosEventDomainAdmin.CycleCreationForbidden as refused:
        raise errors.CycleCreationForbidden(tuple(refused.cyc)) from None
    except CosEventDomainAdmin.DiamondCreationForbidden as refused:
        raise errors.DiamondCreationForbidden(tuple(tuple(route) for route in refused.diam)) from None
    except CORBA.NO_PERMISSION:
        raise errors.DomainError(
            "DOM-CONFIGURED",
            f"{doing}: this is not to be changed over CORBA",
            hint="change the gateway's configuration",
        ) from None
    except CORBA.Exception as error:
        raise on_connect(error, doing) from error


def _bounded(reference: Any) -> Any:
    set_time_out(reference, TIMEOUT_MS)
    return reference


def _place_in(reference: str) -> tuple[str, str]:
    """Of an object reference: the address, and the names that stand in the key."""
    try:
        profiles = decode_ior(reference).profiles
    except BadReference:
        return "", ""
    if not profiles:
        return "", ""
    names = profiles[0].key.partition(NAME_FOLLOWS)[2].decode("utf-8", "replace")
    return str(profiles[0].addresses[0]), names if names.isprintable() else ""


def _state_of(channel: Any) -> str:
    try:
        return "gone" if channel._non_existent() else "answers"
    except (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF):
        return "gone"
    except CORBA.SystemException:
        return "away"
