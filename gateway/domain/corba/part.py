"""The service of event domains, in the ORB's process (adapters/cosnotification/worker/part.py).

The gateway starts it and is told of every connection that breaks or is whole again.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from adapters.base import StopError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.worker.frames import Closed
from gateway.domain.corba.factories import EventDomainFactory, EventLogDomainFactory, Factory, TypedEventDomainFactory
from gateway.domain.corba.farewells import Farewells
from gateway.domain.corba.live_domain import Domain, LiveDomain
from gateway.domain.corba.part_settings import PartSettings
from gateway.domain.corba.repair import Doctor
from gateway.domain.corba.store import DomainStore
from gateway.domain.errors import DomainFormError
from gateway.domain.event_domain import Limits
from gateway.domain.event_domains import EventDomains

STOP_SECS = 5.0


class EventDomainsPart:
    def __init__(self, orb: LocalOrb, tell: Callable[..., None], settings: str) -> None:
        self._orb = orb
        self._tell = tell
        self._settings = PartSettings.model_validate_json(settings)
        self._store: DomainStore | None = None
        self._farewells: Farewells | None = None
        self._factories: list[Factory] = []
        self._doctor = Doctor(self._live, self._say_farewells, self._settings.check_interval_secs)

    def start(self) -> dict[str, str]:
        """The references of the factories, by kind. Raises StopError."""
        self._store = store = DomainStore(Path(self._settings.store))
        self._farewells = farewells = Farewells(self._orb, store)
        secret = store.secret()

        def key(place: str) -> bytes:
            return b"domain-" + hmac.new(secret, place.encode(), "sha256").hexdigest()[:32].encode()

        try:
            for kind in (EventDomainFactory, TypedEventDomainFactory, EventLogDomainFactory):
                self._factories.append(kind(self._orb, key, store, farewells, self._domains(), self._make))
        except DomainFormError as error:
            self.stop()
            raise StopError(
                error.code, error.message, path=f"{self._settings.store}: {error.path}", hint=error.hint
            ) from error
        self._configure(self._settings.configured)
        self._doctor.start()
        return {factory.KIND: self._orb.to_string(factory.reference) for factory in self._factories}

    def ask(self, question: str, *arguments: Any) -> Any:
        if question != "configure":
            raise ValueError(f"no such question: {question}")
        self._configure(*arguments)

    def stop(self) -> None:
        if self._doctor.running:
            self._doctor.stop(STOP_SECS)
        for factory in self._factories:
            factory.end()
        self._factories = []
        if self._store is not None:
            self._store.close()
            self._store = None

    def _configure(self, form: dict[str, Any]) -> None:
        factory = self._factories[0]
        assert isinstance(factory, EventDomainFactory)
        factory.configure(form, self)

    def _live(self) -> list[LiveDomain]:
        return [live for factory in self._factories for live in factory.live]

    def _say_farewells(self) -> None:
        if self._farewells is not None:
            self._farewells.say_again()

    def _domains(self) -> EventDomains[Any]:
        settings = self._settings
        return EventDomains(
            specified_defaults=settings.specified_defaults,
            limits=Limits(settings.max_channels, settings.max_connections),
            changeable_cycle_detection=settings.changeable_cycle_detection,
        )

    def _make(self, kind: str, id_: int, core: Domain) -> LiveDomain:
        assert self._store is not None
        assert self._farewells is not None
        on_demand = self._settings.on_demand
        return LiveDomain(self._orb, kind, id_, core, self._store, self._farewells, self, on_demand=on_demand)

    # What domains tell

    def connection_changed(self, domain: LiveDomain, connection: int, state: str, trouble: str) -> None:
        self._tell_gateway("connection", domain, connection, str(state), trouble)

    def answer_cut(self, domain: LiveDomain, operation: str, answers: int) -> None:
        self._tell_gateway("cut", domain, operation, answers)

    def _tell_gateway(self, what: str, domain: LiveDomain, *facts: Any) -> None:
        with suppress(Closed):  # the gateway has gone, and so will we
            self._tell(what, f"{domain.kind} {domain.id}", *facts)
