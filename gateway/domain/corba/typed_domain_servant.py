"""CosTypedEventDomainAdmin::TypedEventDomain: what a domain can besides, with typed channels and their clients (RULES.md 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateway.domain.connection import ChannelType
from gateway.domain.corba.domain_servant import EventDomainServant
from gateway.domain.corba.kinds import TYPED, Place
from gateway.domain.corba.stubs import (
    CORBA,
    CosTypedEventDomainAdmin__POA,
    CosTypedNotifyChannelAdmin,
)
from gateway.domain.corba.translation import spoken, typed_connection_from_orb, typed_connection_to_orb
from gateway.domain.errors import ConnectionNotFound


class TypedEventDomainServant(EventDomainServant, CosTypedEventDomainAdmin__POA.TypedEventDomain):  # type: ignore[misc]
    def add_typed_channel(self, channel: Any) -> int:
        return self._add(channel, CosTypedNotifyChannelAdmin.TypedEventChannel, ChannelType.TYPED_CHANNEL)

    def get_typed_channel(self, id_: int) -> Any:
        with spoken():
            return self.live.channel(id_, (ChannelType.TYPED_CHANNEL,))

    def add_typed_connection(self, conn: Any) -> int:
        """Without a key there is no interface to talk through: BAD_PARAM."""
        if not conn.key:
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        with spoken():
            return self.live.add_connection(typed_connection_from_orb(conn))

    def get_typed_connection(self, id_: int) -> Any:
        """The operation that the specification forgot (RULES.md 4.6 #6)."""
        with spoken():
            found = self.live.read(lambda core: core.get_connection(id_))
            if not found.interface:
                raise ConnectionNotFound(id_)
            return typed_connection_to_orb(found)

    def set_default_typed_consumer_channel(self, id_: int) -> None:
        with spoken():
            self.live.set_typed_default("consumer", id_)

    def set_default_typed_supplier_channel(self, id_: int) -> None:
        with spoken():
            self.live.set_typed_default("supplier", id_)


def _connect_operation(place: Place) -> Callable[[Any, Any, str], Any]:
    def connect(self: TypedEventDomainServant, client: Any, key: str) -> Any:
        with spoken():
            return self.live.connect(place, client, None, key)

    return connect


def _connect_with_id_operation(place: Place) -> Callable[[Any, Any, str, int], Any]:
    def connect_with_id(self: TypedEventDomainServant, client: Any, key: str, id_: int) -> Any:
        with spoken():
            return self.live.connect(place, client, id_, key)

    return connect_with_id


for _style in ("push", "pull"):
    for _client in ("consumer", "supplier"):
        _name = f"connect_typed_{_style}_{_client}"
        setattr(TypedEventDomainServant, _name, _connect_operation(Place(TYPED, _style, _client)))
        setattr(TypedEventDomainServant, f"{_name}_with_id", _connect_with_id_operation(Place(TYPED, _style, _client)))
