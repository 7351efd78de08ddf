"""The three factories: EventDomainFactory, TypedEventDomainFactory, EventLogDomainFactory. Each knows the domains that it made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

from adapters.cosnotification.local_orb import LocalOrb
from gateway.domain.connection import ChannelType
from gateway.domain.corba.configured import ConfiguredDomain, ConfiguredIds, StandIns, core_of
from gateway.domain.corba.domain_servant import EventDomainServant
from gateway.domain.corba.farewells import Farewells
from gateway.domain.corba.live_domain import Domain, LiveDomain, Reporter, head_of
from gateway.domain.corba.log_domain_servant import EventLogDomainServant
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.store import DomainStore
from gateway.domain.corba.stubs import (
    CosEventDomainAdmin__POA,
    CosEventLogDomainAdmin__POA,
    CosNotifyChannelAdmin,
    CosTypedEventDomainAdmin__POA,
    CosTypedNotifyChannelAdmin,
)
from gateway.domain.corba.translation import properties_from_orb, spoken
from gateway.domain.corba.typed_domain_servant import TypedEventDomainServant
from gateway.domain.event_domains import EventDomains
from gateway.domain.persistence import restore

Key = Callable[[str], bytes]
"""The object key of what stands at a place."""


class Factory:
    """Mixed into the three servants."""

    KIND: ClassVar[str]
    DOMAIN: ClassVar[type[EventDomainServant]]

    def __init__(
        self,
        orb: LocalOrb,
        key: Key,
        store: DomainStore,
        farewells: Farewells,
        domains: EventDomains[MemberChannel],
        make: Callable[[str, int, Domain], LiveDomain],
    ) -> None:
        self._orb = orb
        self._key = key
        self._store = store
        self._farewells = farewells
        self._domains = domains
        self._make = make
        self._lock = threading.Lock()
        self._servants: dict[int, EventDomainServant] = {}
        self._stand_ins: StandIns | None = None
        self._restore()
        self.reference = orb.activate(self, key(f"{self.KIND}-factory"))

    @property
    def live(self) -> list[LiveDomain]:
        with self._lock:
            return [servant.live for servant in self._servants.values()]

    def create(self, initial_qos: Any, initial_admin: Any) -> tuple[Any, int]:
        with spoken():
            admin = properties_from_orb(initial_admin)
            with self._lock:
                id_, core = self._domains.create_event_domain(properties_from_orb(initial_qos), admin)
                live = self._make(self.KIND, id_, core)
                try:
                    with self._store.together():
                        self._store.put_domain(self.KIND, id_, head_of(live))
                        self._store.next_domain(self.KIND, self._domains.domain_ids.next)
                except BaseException:
                    del self._domains.domains[id_]
                    self._domains.domain_ids.next = id_
                    raise
                return self._serve(live).reference, id_

    def all(self) -> list[int]:
        with self._lock:
            return sorted(self._domains.get_all_domains())

    def get(self, id_: int) -> Any:
        with spoken(), self._lock:
            self._domains.get_event_domain(id_)
            return self._servants[id_].reference

    def end(self) -> None:
        """The domains go on without us: what they joined stays joined."""
        with self._lock:
            servants = list(self._servants.values())
        for servant in servants:
            servant.end()
        self._orb.deactivate(self._key(f"{self.KIND}-factory"))

    # Inside

    def _serve(self, live: LiveDomain) -> EventDomainServant:
        servant = self.DOMAIN(self._orb, live, self._key(f"{self.KIND}/{live.id}"), lambda: self._forget(live.id))
        self._servants[live.id] = servant
        return servant

    def _forget(self, id_: int) -> None:
        with self._lock:
            self._servants.pop(id_, None)
            self._domains.domains.pop(id_, None)

    def _restore(self) -> None:
        """Raises DomainFormError where the store was damaged."""
        form = self._store.read(self.KIND)
        restore(form, self._domains, self._read_channel)
        for entry in form["domains"]:
            live = self._make(self.KIND, entry["id"], self._domains.domains[entry["id"]])
            live.typed_defaults.chosen.update(entry.get("typed_defaults", {}))
            live.restore_wires({each["id"]: each.get("wire", {}) for each in entry["connections"]})
            self._serve(live)

    def _read_channel(self, form: Any) -> MemberChannel:
        type_ = ChannelType[form["type"]]
        found = self._orb.corba.string_to_object(form["ior"])
        typed = type_ in (ChannelType.TYPED_CHANNEL, ChannelType.TYPED_LOG_CHANNEL)
        interface = CosTypedNotifyChannelAdmin.TypedEventChannel if typed else CosNotifyChannelAdmin.EventChannel
        return MemberChannel(self._orb, found._unchecked_narrow(interface), type_, dict(form["admins"]))


class EventDomainFactory(Factory, CosEventDomainAdmin__POA.EventDomainFactory):  # type: ignore[misc]
    """It knows one more, which it did not make: that of the gateway's configuration."""

    KIND, DOMAIN = "domain", EventDomainServant

    def configure(self, form: dict[str, Any], reporter: Reporter) -> None:
        """The configuration is there, or another one is. It has a domain from when it first has channels."""
        with self._lock:
            ids = ConfiguredIds(self._store)
            if ids.domain is None and not form["members"]:
                return
            if self._stand_ins is None:
                self._stand_ins = StandIns(self._orb, self._key("broker-channel"))
            core = core_of(self._orb, form, ids, self._stand_ins)
            id_ = ids.domain if ids.domain is not None else self._domains.domain_ids.take(self._domains.domains)
            self._store.next_domain(self.KIND, self._domains.domain_ids.next)
            ids.keep(id_)
            servant = self._servants.get(id_)
            if servant is None:
                live = ConfiguredDomain(self._orb, self.KIND, id_, core, self._store, self._farewells, reporter)
                servant = self._serve(live)
            assert isinstance(servant.live, ConfiguredDomain)
            servant.live.take_over(core)
            self._domains.domains[id_] = core
            self._stand_ins.keep(entry["names"] for entry in form["members"])

    create_event_domain = Factory.create
    get_all_domains = Factory.all
    get_event_domain = Factory.get


class TypedEventDomainFactory(Factory, CosTypedEventDomainAdmin__POA.TypedEventDomainFactory):  # type: ignore[misc]
    KIND, DOMAIN = "typed-domain", TypedEventDomainServant

    create_typed_event_domain = Factory.create
    get_all_typed_domains = Factory.all
    get_typed_event_domain = Factory.get


class EventLogDomainFactory(Factory, CosEventLogDomainAdmin__POA.EventLogDomainFactory):  # type: ignore[misc]
    KIND, DOMAIN = "log-domain", EventLogDomainServant

    create_event_log_domain = Factory.create
    get_all_event_log_domains = Factory.all
    get_event_log_domain = Factory.get
