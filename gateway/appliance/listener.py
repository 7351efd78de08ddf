"""What the appliance tells the world about itself; what its links and inlets tell is in
`gateway.links.observer` and `gateway.inlet.observer`."""

from __future__ import annotations

from typing import Protocol

from adapters.base import EventTypes
from gateway.capture.observer import CaptureObserver
from gateway.inlet.observer import InletObserver
from gateway.links.observer import LinkObserver
from mappings.errors import IsthmusError


class Listener(LinkObserver, InletObserver, CaptureObserver, Protocol):
    """Calls come on changes of state only, and must not block."""

    def letters_expired(self, link: str, count: int) -> None:
        """So many dead letters were older than the link keeps them, and are gone."""

    def service_changed(self, service: str, state: str, error: IsthmusError | None = None, **facts: object) -> None:
        """A service that this process hosts is ready, or has stopped, or an ORB has died; `facts` name its address or the file of
        its reference."""

    def service_found(self, service: str, error: IsthmusError) -> None:
        """Something about a service that its owner should know."""

    def service_store_changed(self, service: str, error: IsthmusError | None) -> None:
        """The store of a service cannot be written, or can be again (None)."""

    def demand_changed(self, link: str, types: EventTypes) -> None:
        """Other types than before are wanted behind a link that is on demand."""

    def bridge_refused(self, operation: str, error: IsthmusError) -> None:
        """A CORBA client asked for a bridge that cannot be."""

    def domain_connection_changed(self, domain: str, connection: int, state: str, trouble: str) -> None:
        """A connection of an event domain over CORBA is joined, broken, or removed."""

    def domain_answer_cut(self, domain: str, operation: str, answers: int) -> None:
        """A domain has more cycles or diamonds than one answer holds."""
