"""The proxies that take pushes as octets, past the ORB library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from adapters.cosnotification.service.engine.carried_octets import CarriedOctets
from adapters.cosnotification.service.engine.hub import Full
from adapters.cosnotification.service.proxy_consumer import ProxyConsumer
from adapters.cosnotification.service.store.database import StoreFailed
from mappings.errors import MappingError


class OctetConsumer(ProxyConsumer):
    """It takes what it would take in any case. Whatever is to be refused, saved or recorded comes once more by the library: its way
    is the one that decides."""

    PUSH: ClassVar[str]

    def read_octets(self, arguments: bytes, little: bool) -> Sequence[CarriedOctets] | None:
        """None: it is the library's to read. Raises MappingError likewise."""
        raise NotImplementedError

    def on_connect(self, client: Any) -> None:
        super().on_connect(client)
        self.orb.serve_octets(self.reference, self.PUSH, self.take_octets)

    def on_leave(self) -> None:
        self.orb.forget_octets(self.reference)
        super().on_leave()

    def take_octets(self, arguments: bytes, little: bool) -> bool:
        """Whether it has them. On the doorway's thread: nothing here may wait."""
        hub = self._hub
        if not hub.relays or hub.is_checked or not self._connected or not self.service.takes_calls:
            return False
        if not self.plain and (self.has_foreign_filters or self.admin.has_foreign_filters):
            return False
        try:
            events = self.read_octets(arguments, little)
        except MappingError:
            return False
        if events is None:
            return False
        if not self.plain:
            events = [event for event in events if self._fits(event)]
            for event in events:
                event.parted()
        try:
            if len(events) == 1:
                hub.send(events[0])
            else:
                hub.send_many(events)
        except (Full, StoreFailed):  # since a moment ago
            return False
        return True
