"""Event domains over CORBA, as the gateway's own process sees them: hosted in the ORB's process, and again in the next one.

References, ids and the topology are kept in the store, so they survive a crash of that process and a restart of the gateway.
"""

from __future__ import annotations

from typing import Any, Protocol

from adapters.cosnotification.hosted import HostedPart
from adapters.cosnotification.orb import Orb
from gateway.domain.corba.part_settings import PartSettings
from gateway.settings.services import EventDomainsServiceSettings

Form = dict[str, Any]
"""The topology of a configuration (gateway.domain.configured_form)."""

PLACE = "gateway.domain.corba.part:EventDomainsPart"


class DomainListener(Protocol):
    def domain_connection_changed(self, domain: str, connection: int, state: str, trouble: str) -> None: ...

    def domain_answer_cut(self, domain: str, operation: str, answers: int) -> None: ...


class EventDomainsService:
    """`start` and `stop` pair up."""

    def __init__(
        self, orb: Orb, settings: EventDomainsServiceSettings, store: str, listener: DomainListener, configured: Form
    ) -> None:
        self._listener = listener
        its = settings.model_dump(exclude={"factory_ior", "typed_factory_ior", "log_factory_ior", "store"})
        self._settings = PartSettings(store=store, configured=configured, **its)
        self._part = HostedPart(orb, "event_domains", PLACE, self._settings.model_dump_json(), self._heard)

    def start(self) -> dict[str, str]:
        """The references of the factories, by kind. Raises StopError or ReconnectError."""
        found: dict[str, str] = self._part.start()
        return found

    def configure(self, configured: Form) -> None:
        """The gateway has taken over another configuration. Raises AdapterErrors; a later process has it in any case."""
        self._settings = self._settings.model_copy(update={"configured": configured})
        self._part.resettle(self._settings.model_dump_json())
        self._part.ask("configure", configured)

    def stop(self) -> None:
        self._part.stop()

    def _heard(self, what: str, *facts: Any) -> None:
        if what == "connection":
            self._listener.domain_connection_changed(*facts)
        elif what == "cut":
            self._listener.domain_answer_cut(*facts)
