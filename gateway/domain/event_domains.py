"""What an EventDomainFactory knows: the domains that it made, by id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from gateway.domain.connection import Connection
from gateway.domain.errors import DomainNotFound, UnsupportedAdmin
from gateway.domain.event_domain import EventDomain, Limits
from gateway.domain.id_counter import IdCounter
from gateway.domain.qos import SPECIFIED_DEFAULTS, QoSProperty, Rules, rules_in

C = TypeVar("C")


class EventDomains(Generic[C]):
    """With `specified_defaults` a domain that is made without properties authorizes cycles and diamonds, by the letter of the
    specification; otherwise it forbids both (RULES.md 4.6 #7)."""

    def __init__(
        self,
        *,
        specified_defaults: bool = False,
        limits: Limits | None = None,
        changeable_cycle_detection: bool = False,
    ) -> None:
        self.domains: dict[int, EventDomain[C]] = {}
        self.domain_ids = IdCounter()
        self._defaults = SPECIFIED_DEFAULTS if specified_defaults else Rules()
        self._limits = limits
        self._changeable = changeable_cycle_detection

    def create_event_domain(
        self, initial_qos: Iterable[QoSProperty] = (), initial_admin: Iterable[tuple[str, object]] = ()
    ) -> tuple[int, EventDomain[C]]:
        rules = rules_in(initial_qos, self._defaults)
        names = [name for name, _ in initial_admin]
        if names:
            raise UnsupportedAdmin(names)
        id_ = self.domain_ids.take(self.domains)
        domain = self.new_domain(rules)
        self.domains[id_] = domain
        return id_, domain

    def new_domain(self, rules: Rules) -> EventDomain[C]:
        """One that is not among the domains yet."""
        return EventDomain(rules, limits=self._limits, changeable_cycle_detection=self._changeable)

    def get_all_domains(self) -> list[int]:
        return list(self.domains)

    def get_event_domain(self, domain: int) -> EventDomain[C]:
        if domain not in self.domains:
            raise DomainNotFound(domain)
        return self.domains[domain]

    def destroy(self, domain: int) -> dict[int, Connection]:
        """The domain is gone, its id is not used again; its channels live on."""
        connections = self.get_event_domain(domain).destroy()
        del self.domains[domain]
        return connections
