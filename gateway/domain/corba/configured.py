"""The event domain that a configuration is: its channels and links, seen over CORBA. It is changed by its file alone.

Members and connections keep their ids over reloads and restarts, by their names in the file; ids are never used again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from adapters.base import AdapterError
from adapters.cosnotification.faults import spell
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.references import resolve
from gateway.domain.connection import ChannelType, ClientType, Connection, NotificationStyle
from gateway.domain.corba.live_domain import Domain, LiveDomain
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.store import DomainStore
from gateway.domain.corba.stubs import CORBA, CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA
from gateway.domain.corba.translation import Failed
from gateway.domain.errors import AlreadyExists, CycleCreationForbidden, DiamondCreationForbidden
from gateway.domain.event_domain import EventDomain, Member
from gateway.domain.qos import QoSProperty, Rules

NOTE: Final = "configured"
NAME_FOLLOWS: Final = b"/named/"
Form = dict[str, Any]


def _refused() -> Exception:
    refused: Exception = CORBA.NO_PERMISSION(0, CORBA.COMPLETED_NO)
    return refused


class BrokerChannel(CosNotifyChannelAdmin__POA.EventChannel):  # type: ignore[misc]
    """What CORBA clients see of a destination or queue: it is a member, and has no proxies."""

    def _not_here(self, *_: Any) -> NoReturn:
        raise CORBA.NO_IMPLEMENT(0, CORBA.COMPLETED_NO)

    _get_default_consumer_admin = _get_default_supplier_admin = _get_default_filter_factory = _not_here
    for_consumers = for_suppliers = new_for_consumers = new_for_suppliers = _not_here
    get_consumeradmin = get_supplieradmin = set_qos = validate_qos = set_admin = _not_here

    def _get_MyFactory(self) -> None:
        return None

    def get_qos(self) -> list[Any]:
        return []

    get_admin = get_all_consumeradmins = get_all_supplieradmins = get_qos

    def destroy(self) -> NoReturn:
        raise CORBA.NO_PERMISSION(0, CORBA.COMPLETED_NO)


class StandIns:
    """One such object for each destination or queue. Its key ends with the names that the member has in the file, so that
    `isthmus domain show` can tell them apart."""

    def __init__(self, orb: LocalOrb, key: bytes) -> None:
        self._orb = orb
        self._key = key
        self._references: dict[str, Any] = {}

    def of(self, names: Sequence[str]) -> Any:
        name = " = ".join(names)
        if name not in self._references:
            self._references[name] = self._orb.activate(BrokerChannel(), self._key_of(name))
        return self._references[name]

    def keep(self, members: Iterable[Sequence[str]]) -> None:
        """The others are not in the configuration any more."""
        for name in self._references.keys() - {" = ".join(names) for names in members}:
            del self._references[name]
            self._orb.deactivate(self._key_of(name))

    def _key_of(self, name: str) -> bytes:
        return self._key + NAME_FOLLOWS + name.encode()


class ConfiguredChannel(MemberChannel):
    """Looked up anew at every call: peers restart."""

    def __init__(self, orb: LocalOrb, place: Form, stand_ins: StandIns) -> None:
        self._place = place
        self._stand_ins = stand_ins
        super().__init__(orb, None, ChannelType.CHANNEL)

    def _set_reference(self, reference: Any) -> None:
        pass

    @property
    def is_broker(self) -> bool:
        return self._place["factory"] is None and self._place["reference"] is None

    def _get_reference(self) -> Any:
        if self.is_broker:
            return self._stand_ins.of(self._place["names"])
        timeout_ms = self._orb.settings.call_timeout_ms
        try:
            if self._place["reference"] is not None:
                return resolve(self._orb, self._place["reference"], CosNotifyChannelAdmin.EventChannel, timeout_ms)
            interface = CosNotifyChannelAdmin.EventChannelFactory
            factory = resolve(self._orb, self._place["factory"], interface, timeout_ms)
            found = factory.get_event_channel(self._place["channel"])
        except AdapterError as error:
            raise Failed(error.message) from error
        except CORBA.Exception as error:
            raise Failed(spell(error)) from error
        set_time_out(found, timeout_ms)
        return found

    reference = property(_get_reference, _set_reference)

    @property
    def tells_all_subscriptions(self) -> bool:
        return False


class ConfiguredDomain(LiveDomain):
    """What would change it is NO_PERMISSION, but for the default channels."""

    def take_over(self, core: Domain) -> None:
        """Another configuration: what is the default stays it, if it is there."""
        with self._changing, self._state:
            old = self._core
            for which in ("consumer", "supplier"):
                chosen = getattr(old, f"default_{which}")
                if chosen not in core.members:
                    chosen = min(core.members, default=None)
                setattr(core, f"default_{which}", chosen)
            self._core = core

    def add_channel(self, reference: Any, type_: ChannelType) -> NoReturn:
        raise _refused()

    def add_connection(self, connection: Connection) -> NoReturn:
        raise _refused()

    def remove_channel(self, member: int) -> None:
        raise _refused()

    def remove_connection(self, connection: int) -> None:
        raise _refused()

    def set_qos(self, properties: list[QoSProperty]) -> None:
        raise _refused()

    def destroy(self) -> None:
        raise _refused()

    def _keep_head(self, **changes: Any) -> None:
        """The configuration is the store."""

    def _keep_member(self, member: int, channel: MemberChannel) -> None:
        """Its admins are made anew after a restart."""


class ConfiguredIds:
    """Which ids the names of the file have had."""

    def __init__(self, store: DomainStore) -> None:
        self._store = store
        self._note: dict[str, Any] = json.loads(store.note(NOTE, "{}"))
        self._note.setdefault("members", {})
        self._note.setdefault("connections", {})

    @property
    def domain(self) -> int | None:
        return self._note.get("domain")

    def keep(self, domain: int) -> None:
        self._note["domain"] = domain
        self._store.set_note(NOTE, json.dumps(self._note))

    def of(self, kind: str, *names: str) -> int:
        """Of what has one of these names; the others are noted with it."""
        ids = self._note[kind]
        known = next((ids[name] for name in names if name in ids), None)
        if known is None:
            known = self._note.get(f"next_{kind}", 0)
            self._note[f"next_{kind}"] = known + 1
        for name in names:
            ids.setdefault(name, known)
        return int(known)


def core_of(orb: LocalOrb, form: Form, ids: ConfiguredIds, stand_ins: StandIns) -> Domain:
    """The checks of the configuration have passed; a second link between the same two channels has no connection of its own. Where
    a link sends to one channel or another, the graph may have diamonds in which no event arrives twice: then the domain says that
    it allows them."""
    rules = Rules(form["cycles"], form["diamonds"])
    try:
        return _core_of(orb, form, ids, stand_ins, rules)
    except DiamondCreationForbidden:
        return _core_of(orb, form, ids, stand_ins, rules._replace(forbid_diamonds=False))


def _core_of(orb: LocalOrb, form: Form, ids: ConfiguredIds, stand_ins: StandIns, rules: Rules) -> Domain:
    core: Domain = EventDomain(rules)
    by_name: dict[str, int] = {}
    for entry in form["members"]:
        member = ids.of("members", *entry["names"])
        if member not in core.members:
            core.restore_channel(member, Member(ConfiguredChannel(orb, entry, stand_ins)))
        by_name.update(dict.fromkeys(entry["names"], member))
    for entry in form["connections"]:
        connection = Connection(
            by_name[entry["supplier"]],
            by_name[entry["consumer"]],
            ClientType[entry["ctype"]],
            NotificationStyle[entry["style"]],
        )
        with suppress(AlreadyExists, CycleCreationForbidden):
            core.restore_connection(ids.of("connections", entry["name"]), connection)
    return core
