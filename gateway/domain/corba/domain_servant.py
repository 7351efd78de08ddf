"""CosEventDomainAdmin::EventDomain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification import shims
from adapters.cosnotification.local_orb import LocalOrb
from gateway.domain.connection import ChannelType
from gateway.domain.corba.kinds import FORMS, Place
from gateway.domain.corba.live_domain import LiveDomain
from gateway.domain.corba.stubs import (
    CORBA,
    CosEventDomainAdmin__POA,
    CosNotification,
    CosNotifyChannelAdmin,
)
from gateway.domain.corba.translation import (
    connection_from_orb,
    connection_to_orb,
    properties_from_orb,
    properties_to_orb,
    range_to_orb,
    spoken,
)
from gateway.domain.errors import ConnectionNotFound, UnsupportedAdmin

UNTYPED_TYPES: Final = (ChannelType.CHANNEL, ChannelType.LOG_CHANNEL)


class EventDomainServant(CosEventDomainAdmin__POA.EventDomain):  # type: ignore[misc]
    """`destroyed` is called when a client destroys the domain."""

    def __init__(self, orb: LocalOrb, live: LiveDomain, key: bytes, destroyed: Callable[[], None]) -> None:
        self.live = live
        self._orb = orb
        self._key = key
        self._destroyed = destroyed
        self.reference = orb.activate(self, key)

    # Channels

    def add_channel(self, channel: Any) -> int:
        return self._add(channel, CosNotifyChannelAdmin.EventChannel, ChannelType.CHANNEL)

    def get_all_channels(self) -> list[int]:
        with spoken():
            return list(self.live.read(lambda core: core.get_all_channels()))

    def get_channel(self, channel: int) -> Any:
        with spoken():
            return self.live.channel(channel, UNTYPED_TYPES)

    def remove_channel(self, channel: int) -> None:
        with spoken():
            self.live.remove_channel(channel)

    def get_offer_channels(self, channel: int) -> list[int]:
        with spoken():
            return list(self.live.read(lambda core: core.get_offer_channels(channel)))

    def get_subscription_channels(self, channel: int) -> list[int]:
        with spoken():
            return list(self.live.read(lambda core: core.get_subscription_channels(channel)))

    # Connections

    def add_connection(self, conn: Any) -> int:
        with spoken():
            return self.live.add_connection(connection_from_orb(conn))

    def get_all_connections(self) -> list[int]:
        with spoken():
            return list(self.live.read(lambda core: core.get_all_connections()))

    def get_connection(self, id_: int) -> Any:
        """A typed connection has no ClientType that would be true: it is not found here."""
        with spoken():
            found = self.live.read(lambda core: core.get_connection(id_))
            if found.interface:
                raise ConnectionNotFound(id_)
            return connection_to_orb(found)

    def remove_connection(self, id_: int) -> None:
        with spoken():
            self.live.remove_connection(id_)

    def destroy(self) -> None:
        with spoken():
            self.live.destroy()
        self._destroyed()
        self.end()

    # Cycles, diamonds, defaults

    def get_cycles(self) -> Any:
        return self.live.get_cycles()

    def get_diamonds(self) -> Any:
        return self.live.get_diamonds()

    def set_default_consumer_channel(self, channel: int) -> None:
        with spoken():
            self.live.set_default("consumer", channel)

    def set_default_supplier_channel(self, channel: int) -> None:
        with spoken():
            self.live.set_default("supplier", channel)

    # Quality of service

    def get_qos(self) -> Any:
        return properties_to_orb(self.live.read(lambda core: core.get_qos()))

    def set_qos(self, qos: Any) -> None:
        with spoken():
            self.live.set_qos(properties_from_orb(qos))

    def validate_qos(self, required_qos: Any) -> Any:
        with spoken():
            wanted = properties_from_orb(required_qos)
            ranges = self.live.read(lambda core: core.validate_qos(wanted))
            return [CosNotification.NamedPropertyRange(name, range_to_orb(low, high)) for name, low, high in ranges]

    def get_admin(self) -> Any:
        """There are none (RULES.md 4.2)."""
        return []

    def set_admin(self, admin: Any) -> None:
        with spoken():
            if admin:
                raise UnsupportedAdmin([item.name for item in admin])

    # For the service

    def end(self) -> None:
        self._orb.deactivate(self._key)

    def _add(self, reference: Any, interface: Any, type_: ChannelType) -> int:
        """Nil, or no such channel: BAD_PARAM. One that cannot be asked is taken: it may be away for the moment."""
        if shims.is_nil(reference):
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        try:
            fits = reference._is_a(interface._NP_RepositoryId)
        except CORBA.OBJECT_NOT_EXIST:
            fits = False
        except CORBA.SystemException:
            fits = True
        if not fits:
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        with spoken():
            return self.live.add_channel(reference._unchecked_narrow(interface), type_)


def _connect_operation(place: Place) -> Callable[[Any, Any], Any]:
    def connect(self: EventDomainServant, client: Any) -> Any:
        with spoken():
            return self.live.connect(place, client, None)

    return connect


def _connect_with_id_operation(place: Place) -> Callable[[Any, Any, int], Any]:
    def connect_with_id(self: EventDomainServant, client: Any, channel: int) -> Any:
        with spoken():
            return self.live.connect(place, client, channel)

    return connect_with_id


# The 24 operations that connect a client differ in their names alone.
for _form in FORMS.values():
    for _style in ("push", "pull"):
        for _client in ("consumer", "supplier"):
            _place = Place(_form, _style, _client)
            _name = f"connect_{'' if _form == 'any' else _form + '_'}{_style}_{_client}"
            setattr(EventDomainServant, _name, _connect_operation(_place))
            setattr(EventDomainServant, f"{_name}_with_id", _connect_with_id_operation(_place))
