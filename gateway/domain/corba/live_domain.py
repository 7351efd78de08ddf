"""One event domain with real channels: the core says what may be, here it is done, kept, and watched.

Locks, in this order:  `_changing` (one change of the topology at a time, held while channels are called)
                       `_state`    (the core; held for moments, so that a channel that hangs delays changes only, never questions)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, Protocol

from adapters.cosnotification.faults import spell
from adapters.cosnotification.local_orb import LocalOrb
from gateway.domain.connection import ChannelType, Connection
from gateway.domain.corba.ends import disconnect
from gateway.domain.corba.farewells import Farewells
from gateway.domain.corba.kinds import Place
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.store import DomainStore
from gateway.domain.corba.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosNotifyChannelAdmin,
    CosTypedEventChannelAdmin,
)
from gateway.domain.corba.translation import Failed
from gateway.domain.corba.wire import Wire, WireState
from gateway.domain.errors import ChannelNotFound
from gateway.domain.event_domain import EventDomain
from gateway.domain.persistence import connection_to_json
from gateway.domain.qos import QoSProperty
from gateway.domain.typed_defaults import TypedDefaults

Domain = EventDomain[MemberChannel]
AT_ONCE: Final = 8
_NO_INTERFACE: Final = (CosTypedEventChannelAdmin.InterfaceNotSupported, CosTypedEventChannelAdmin.NoSuchImplementation)


class Reporter(Protocol):
    """Who is told of what happens in domains."""

    def connection_changed(self, domain: LiveDomain, connection: int, state: str, trouble: str) -> None: ...

    def answer_cut(self, domain: LiveDomain, operation: str, answers: int) -> None: ...


class LiveDomain:
    """Operations raise what the core raises, and CORBA exceptions that RULES.md 4.3 names. Safe for threads."""

    def __init__(
        self,
        orb: LocalOrb,
        kind: str,
        id_: int,
        core: Domain,
        store: DomainStore,
        farewells: Farewells,
        reporter: Reporter,
        *,
        on_demand: bool = False,
    ) -> None:
        self.kind = kind
        self.id = id_
        self._core = core
        self._destroyed = False
        self.typed_defaults = TypedDefaults(
            lambda: [id_ for id_, member in core.members.items() if member.channel.typed]
        )
        self._orb = orb
        self._store = store
        self._farewells = farewells
        self._reporter = reporter
        self._on_demand = on_demand
        self._changing = threading.RLock()
        self._state = threading.RLock()
        self._wires: dict[int, Wire] = {}

    @property
    def core(self) -> Domain:
        """For calls that come while the domain goes: OBJECT_NOT_EXIST."""
        if self._destroyed:
            raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)
        return self._core

    # Channels

    def add_channel(self, reference: Any, type_: ChannelType) -> int:
        channel = MemberChannel(self._orb, reference, type_)
        with self._changing:
            with self._state:
                member = self.core.add_channel(channel, type_)
            try:
                with self._store.together():
                    self._keep_member(member, channel)
                    self._keep_head()
            except BaseException:
                with self._state:
                    self.core.remove_channel(member)
                    self.core.member_ids.next = member
                raise
        return member

    def remove_channel(self, member: int) -> None:
        with self._changing:
            with self._state:
                core = self.core
                connections = core.connections_of(member)
                defaults = {
                    "default_consumer": core.heir(core.default_consumer, member),
                    "default_supplier": core.heir(core.default_supplier, member),
                }
            with self._without(connections), self._store.together():
                for connection in connections:
                    self._store.remove_connection(self.kind, self.id, connection)
                self._store.remove_member(self.kind, self.id, member)
                self._keep_head(**defaults)
            with self._state:
                core.remove_channel(member)

    def channel(self, member: int, types: Sequence[ChannelType]) -> Any:
        """Raises ChannelNotFound also where the member is of another type, for no such reference could be given."""
        with self._state:
            found = self.core.get_channel(member)
        if found.type not in types:
            raise ChannelNotFound(member)
        return found.reference

    def channel_type(self, member: int) -> ChannelType:
        with self._state:
            return self.core.get_channel(member).type

    def read(self, question: Callable[[Domain], Any]) -> Any:
        """What the core knows."""
        with self._state:
            return question(self.core)

    def get_cycles(self) -> list[list[int]]:
        found = self.read(lambda core: core.get_cycles())
        self._say_whether_cut("get_cycles", len(found.cycles), found.complete)
        return [list(cycle) for cycle in found.cycles]

    def get_diamonds(self) -> list[list[list[int]]]:
        found = self.read(lambda core: core.get_diamonds())
        self._say_whether_cut("get_diamonds", len(found.diamonds), found.complete)
        return [[list(route) for route in diamond.routes] for diamond in found.diamonds]

    def _say_whether_cut(self, operation: str, answers: int, complete: bool) -> None:
        """The IDL has no place for it (RULES.md 4.3)."""
        if not complete:
            self._reporter.answer_cut(self, operation, answers)

    # Connections

    def add_connection(self, connection: Connection) -> int:
        with self._changing:
            with self._state:
                self.core.check_connection(connection)
                supplier = self.core.get_channel(connection.supplier_id)
                consumer = self.core.get_channel(connection.consumer_id)
            if connection.interface and not (supplier.typed and consumer.typed):
                raise CosEventChannelAdmin.TypeError
            wire = self._wire(connection, supplier, consumer)
            try:
                _call(wire.join)
            except _NO_INTERFACE:  # of a typed channel; the operation knows but this
                raise CosEventChannelAdmin.TypeError from None
            with self._state:
                id_ = self.core.add_connection(connection)
            try:
                with self._store.together():
                    self._keep_connection(id_, wire)
                    self._keep_head()
            except BaseException:
                with self._state:
                    self.core.remove_connection(id_)
                    self.core.connection_ids.next = id_
                wire.cut()
                raise
            with self._state:
                self._wires[id_] = wire
        self._tell(wire, WireState.JOINED, "")
        return id_

    def remove_connection(self, connection: int) -> None:
        with self._changing:
            with self._state:
                self.core.get_connection(connection)
            with self._without([connection]):
                self._store.remove_connection(self.kind, self.id, connection)
            with self._state:
                self.core.remove_connection(connection)

    def destroy(self) -> None:
        """The channels live on, and so do the clients' proxies in them."""
        with self._changing:
            with self._state:
                connections = self.core.get_all_connections()
            with self._without(connections):
                self._store.remove_domain(self.kind, self.id)
            with self._state:
                self.core.destroy()
                self._destroyed = True

    # Settings

    def set_default(self, which: str, member: int) -> None:
        """`which` is `consumer` or `supplier`."""
        with self._changing:
            with self._state:
                before = getattr(self.core, f"default_{which}")
                getattr(self.core, f"set_default_{which}_channel")(member)
            with self._or_else(lambda: setattr(self.core, f"default_{which}", before)):
                self._keep_head()

    def set_typed_default(self, which: str, member: int) -> None:
        with self._changing:
            with self._state:
                if not self.core.get_channel(member).typed:
                    raise ChannelNotFound(member)
                before = dict(self.typed_defaults.chosen)
                self.typed_defaults.chosen[which] = member
            with self._or_else(lambda: setattr(self.typed_defaults, "chosen", before)):
                self._keep_head()

    def set_qos(self, properties: list[QoSProperty]) -> None:
        with self._changing:
            with self._state:
                before = self.core.get_qos()
                self.core.set_qos(properties)
            with self._or_else(lambda: self.core.set_qos(before)):
                self._keep_head()

    # Clients

    def connect(self, place: Place, client: Any, member: int | None, key: str = "") -> Any:
        """The proxy that the client is connected to; without a member, at the default channel of its side."""
        with self._state:
            if member is None:
                member = self._default_for(place)
            channel = self.core.get_channel(member)
        if key and not channel.typed:
            raise ChannelNotFound(member)

        def connected() -> Any:
            admin, fresh = channel.client_admin(place.client)
            if fresh:
                self._keep_member(member, channel)
            proxy = place.obtain(admin, key)
            try:
                place.connect(proxy, client)
            except BaseException:
                disconnect(place, proxy)
                raise
            return proxy

        return _call(connected)

    def _default_for(self, place: Place) -> int:
        if place.form == "typed":
            return self.typed_defaults.of(place.client)
        which: int = getattr(self.core, f"get_default_{place.client}_channel")()
        return which

    # Life

    @property
    def wires(self) -> dict[int, Wire]:
        with self._state:
            return dict(self._wires)

    def restore_wires(self, references: dict[int, dict[str, str]]) -> None:
        """After the core was restored: what is still there is gone on with, the rest is made anew when it is looked at."""
        for id_, connection in self.core.connections.items():
            supplier = self.core.get_channel(connection.supplier_id)
            consumer = self.core.get_channel(connection.consumer_id)
            self._wires[id_] = self._wire(connection, supplier, consumer, references.get(id_))

    def look_after(self, id_: int, wire: Wire) -> None:
        """One visit of the doctor."""
        before = wire.times_joined
        wire.look()
        if wire.times_joined != before:
            with self._changing:
                if self._wires.get(id_) is wire:
                    with self._store.together():
                        self._keep_connection(id_, wire)

    # Inside

    def _wire(
        self,
        connection: Connection,
        supplier: MemberChannel,
        consumer: MemberChannel,
        references: dict[str, str] | None = None,
    ) -> Wire:
        return Wire(
            self._orb,
            connection,
            supplier,
            consumer,
            self._farewells,
            self._tell,
            on_demand=self._on_demand,
            references=references,
        )

    @contextmanager
    def _without(self, connections: Sequence[int]) -> Iterator[None]:
        """They are cut, to be taken out of the store. Where that fails they stay connections, and are joined anew."""
        with self._state:
            wires = {connection: self._wires.pop(connection) for connection in connections}
        _all_at_once([wire.cut for wire in wires.values()])
        try:
            yield
        except BaseException:
            with self._state:
                for connection, wire in wires.items():
                    self._wires[connection] = wire.anew()
            raise
        for connection in connections:
            self._reporter.connection_changed(self, connection, WireState.REMOVED, "")

    @contextmanager
    def _or_else(self, undo: Callable[[], object]) -> Iterator[None]:
        """What the store does not take is undone."""
        try:
            yield
        except BaseException:
            with self._state:
                undo()
            raise

    def _tell(self, wire: Wire, state: WireState, trouble: str) -> None:
        for id_, known in self.wires.items():
            if known is wire:
                self._reporter.connection_changed(self, id_, state, trouble)

    def _keep_member(self, member: int, channel: MemberChannel) -> None:
        self._store.put_member(self.kind, self.id, member, _member_body(channel))

    def _keep_connection(self, id_: int, wire: Wire) -> None:
        """Its ends are those of a connection from then on. To be done together."""
        body = {**connection_to_json(wire.connection), "wire": wire.ends.references}
        self._store.put_connection(self.kind, self.id, id_, body)
        self._farewells.kept(wire.ends)

    def _keep_head(self, **changes: Any) -> None:
        self._store.put_domain(self.kind, self.id, {**head_of(self), **changes})


def _all_at_once(calls: Sequence[Callable[[], None]]) -> None:
    """Some of the channels may hang, each until its time is up."""
    if len(calls) == 1:
        calls[0]()
    elif calls:
        with ThreadPoolExecutor(min(len(calls), AT_ONCE), "domain-farewell") as pool:
            for done in [pool.submit(call) for call in calls]:
                done.result()


def head_of(live: LiveDomain) -> dict[str, Any]:
    """The part of a domain that is kept in one piece (see gateway.domain.persistence)."""
    core = live.core
    return {
        "cycles": "forbid" if core.rules.forbid_cycles else "allow",
        "diamonds": "forbid" if core.rules.forbid_diamonds else "allow",
        "next_member": core.member_ids.next,
        "next_connection": core.connection_ids.next,
        "default_consumer": core.default_consumer,
        "default_supplier": core.default_supplier,
        "typed_defaults": live.typed_defaults.chosen,
    }


def _member_body(channel: MemberChannel) -> dict[str, Any]:
    return {
        "type": channel.type.name,
        "channel": {"ior": channel.ior, "type": channel.type.name, "admins": channel.admins},
    }


def _call(call: Callable[[], Any]) -> Any:
    """Calls to channels, with the exceptions that RULES.md 4.3 step 7 lets through: those of the raises lists and BAD_PARAM;
    a channel that is full is a limit, and everything else is a failure whose state is not known."""
    try:
        return call()
    except (*_NO_INTERFACE, CosEventChannelAdmin.TypeError, CORBA.BAD_PARAM):
        raise
    except (CosNotifyChannelAdmin.AdminLimitExceeded, CORBA.IMP_LIMIT):
        raise CORBA.IMP_LIMIT(0, CORBA.COMPLETED_NO) from None
    except CORBA.Exception as error:
        raise Failed(spell(error)) from error
