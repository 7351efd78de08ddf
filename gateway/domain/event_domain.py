"""An event domain as CosEventDomainAdmin::EventDomain describes it, without the CORBA (RULES.md section 4).

Operations have their IDL names. One thread at a time: who shares a domain between threads holds a lock of his own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from gateway.domain.connection import ChannelType, Connection
from gateway.domain.cycles import MOST_CYCLES, Cycles, cycles_of
from gateway.domain.diamonds import MOST_DIAMONDS, MOST_ROUTES, Diamonds, diamonds_of
from gateway.domain.errors import AlreadyExists, ChannelNotFound, ConnectionNotFound, LimitExceeded
from gateway.domain.graph import Graph
from gateway.domain.id_counter import IdCounter
from gateway.domain.qos import (
    AUTHORIZE,
    CYCLE_DETECTION,
    DIAMOND_DETECTION,
    FORBID,
    PropertyFault,
    PropertyRange,
    QoSErrorCode,
    QoSProperty,
    Rules,
    UnsupportedQoS,
    rules_in,
)
from gateway.domain.topology import Topology

C = TypeVar("C")


class Member(NamedTuple, Generic[C]):
    channel: C
    channel_type: ChannelType = ChannelType.CHANNEL


class Limits(NamedTuple):
    """A setting of whoever runs the domain (RULES.md 4.6 #9); None: no limit."""

    channels: int | None = None
    connections: int | None = None


class EventDomain(Generic[C]):
    """Whatever C is, stands for a channel: the domain never looks at it, so adding it twice makes two members."""

    def __init__(
        self, rules: Rules | None = None, *, limits: Limits | None = None, changeable_cycle_detection: bool = False
    ) -> None:
        """With `changeable_cycle_detection` CycleDetection may be set later on too, as DiamondDetection always may."""
        self.limits = limits or Limits()
        self.changeable_cycle_detection = changeable_cycle_detection
        self.members: dict[int, Member[C]] = {}  # in the order of adding
        self.connections: dict[int, Connection] = {}
        self.member_ids = IdCounter()
        self.connection_ids = IdCounter()
        self.default_consumer: int | None = None
        self.default_supplier: int | None = None
        self._topology = Topology(rules or Rules())
        self._connection_between: dict[tuple[int, int], int] = {}

    @property
    def rules(self) -> Rules:
        return self._topology.rules

    @property
    def graph(self) -> Graph:
        """To look at, not to change."""
        return self._topology.graph

    @property
    def work(self) -> int:
        """Grows with what checking connections has cost so far, the same on any machine."""
        return self._topology.work

    # Channels

    def add_channel(self, channel: C, channel_type: ChannelType = ChannelType.CHANNEL) -> int:
        if self.limits.channels is not None and len(self.members) >= self.limits.channels:
            raise LimitExceeded("channels", self.limits.channels)
        member = self.member_ids.take(self.members)
        self.restore_channel(member, Member(channel, channel_type))
        if len(self.members) == 1:
            self.default_consumer = self.default_supplier = member
        return member

    def get_all_channels(self) -> list[int]:
        return list(self.members)

    def get_channel(self, member: int) -> C:
        return self._member(member).channel

    def remove_channel(self, member: int) -> dict[int, Connection]:
        """The connections in and out of it go first; they are given back, for their proxies to be disconnected."""
        connections = {connection: self.remove_connection(connection) for connection in self.connections_of(member)}
        self.default_consumer = self.heir(self.default_consumer, member)
        self.default_supplier = self.heir(self.default_supplier, member)
        self._topology.remove_vertex(member)
        del self.members[member]
        return connections

    def connections_of(self, member: int) -> list[int]:
        """In and out of it."""
        self._member(member)
        graph = self.graph
        pairs = [(member, sink) for sink in graph.after[member]]
        pairs += [(source, member) for source in graph.before[member] if source != member]
        return sorted(self._connection_between[pair] for pair in pairs)

    def heir(self, default: int | None, leaving: int) -> int | None:
        """Which one is the default channel when a member has gone: a default that goes is followed by the member that has been
        there longest, the one with the lowest id, as long as ids have not come round (RULES.md 4.6 #3)."""
        if default != leaving:
            return default
        return next((member for member in self.members if member != leaving), None)

    def get_offer_channels(self, member: int) -> list[int]:
        """The members from which events reach this one."""
        self._member(member)
        return sorted(self.graph.upstream(member))

    def get_subscription_channels(self, member: int) -> list[int]:
        """The members that events of this one reach."""
        self._member(member)
        return sorted(self.graph.downstream(member))

    # Connections

    def add_connection(self, connection: Connection, wire: Callable[[Connection], None] | None = None) -> int:
        """`wire` is called when every check has passed; if it raises, nothing has happened, and no id is used up."""
        self._check(connection)
        if wire is not None:
            wire(connection)
        id_ = self.connection_ids.take(self.connections)
        self._put_connection(id_, connection)
        return id_

    def check_connection(self, connection: Connection) -> None:
        """Raises what `add_connection` would; nothing is added."""
        self._check(connection)

    def get_all_connections(self) -> list[int]:
        return list(self.connections)

    def get_connection(self, connection: int) -> Connection:
        if connection not in self.connections:
            raise ConnectionNotFound(connection)
        return self.connections[connection]

    def remove_connection(self, connection: int) -> Connection:
        """The connection that was, for its proxies to be disconnected."""
        removed = self.get_connection(connection)
        del self.connections[connection]
        del self._connection_between[removed.supplier_id, removed.consumer_id]
        self._topology.remove_edge(removed.supplier_id, removed.consumer_id)
        return removed

    def destroy(self) -> dict[int, Connection]:
        """Takes everything out of the domain; the channels themselves live on. The connections that were are given back."""
        connections = self.connections
        self.connections, self.members, self._connection_between = {}, {}, {}
        self.default_consumer = self.default_supplier = None
        self._topology = Topology(self.rules)
        return connections

    # Cycles and diamonds

    def get_cycles(self, most: int = MOST_CYCLES) -> Cycles:
        if self.rules.forbid_cycles:
            return Cycles((), complete=True)
        return cycles_of(self.graph, most)

    def get_diamonds(self, most: int = MOST_DIAMONDS, most_routes: int = MOST_ROUTES) -> Diamonds:
        if self.rules.forbid_diamonds:
            return Diamonds((), complete=True)
        return diamonds_of(self.graph, most, most_routes)

    # Default channels (RULES.md 4.7)

    def get_default_consumer_channel(self) -> int:
        """For consumers that name no channel. Raises ChannelNotFound where the domain is empty."""
        if self.default_consumer is None:
            raise ChannelNotFound(None)
        return self.default_consumer

    def get_default_supplier_channel(self) -> int:
        """For suppliers that name no channel."""
        if self.default_supplier is None:
            raise ChannelNotFound(None)
        return self.default_supplier

    def set_default_consumer_channel(self, member: int) -> None:
        self._member(member)
        self.default_consumer = member

    def set_default_supplier_channel(self, member: int) -> None:
        self._member(member)
        self.default_supplier = member

    # Quality of service

    def get_qos(self) -> list[tuple[str, int]]:
        return self.rules.to_qos()

    def set_qos(self, properties: Iterable[QoSProperty]) -> None:
        """All of them or, with UnsupportedQoS, none."""
        self._topology.set_rules(self._allowed_rules(properties))

    def validate_qos(self, properties: Iterable[QoSProperty]) -> list[PropertyRange]:
        """What could be set besides; raises UnsupportedQoS where `set_qos` would."""
        self._allowed_rules(properties)
        changeable = [CYCLE_DETECTION] if self.changeable_cycle_detection else []
        return [PropertyRange(name, AUTHORIZE, FORBID) for name in (*changeable, DIAMOND_DETECTION)]

    def _allowed_rules(self, properties: Iterable[QoSProperty]) -> Rules:
        now = self.rules
        wanted = rules_in(properties, now)
        faults = []
        if wanted.forbid_cycles != now.forbid_cycles and (
            not self.changeable_cycle_detection or self._topology.has_cycle()
        ):
            faults.append(_unavailable(CYCLE_DETECTION, int(now.forbid_cycles)))
        if wanted.forbid_diamonds and self._topology.has_diamond():
            faults.append(_unavailable(DIAMOND_DETECTION, AUTHORIZE))
        if faults:
            raise UnsupportedQoS(faults)
        return wanted

    # What was saved (persistence.py)

    def restore_channel(self, id_: int, member: Member[C]) -> None:
        """Under the id that it had; the id must not be in use."""
        self.members[id_] = member
        self._topology.add_vertex(id_)

    def restore_connection(self, id_: int, connection: Connection) -> None:
        """Under the id that it had; checked like a new one."""
        self._check(connection)
        self._put_connection(id_, connection)

    # Inside

    def _check(self, connection: Connection) -> None:
        """The order of these checks is what callers see (RULES.md 4.3)."""
        supplier, consumer = connection.supplier_id, connection.consumer_id
        self._member(supplier)
        self._member(consumer)
        existing = self._connection_between.get((supplier, consumer))
        if existing is not None:
            raise AlreadyExists(supplier, consumer, existing)
        self._topology.check(supplier, consumer)
        if self.limits.connections is not None and len(self.connections) >= self.limits.connections:
            raise LimitExceeded("connections", self.limits.connections)

    def _member(self, member: int) -> Member[C]:
        if member not in self.members:
            raise ChannelNotFound(member)
        return self.members[member]

    def _put_connection(self, id_: int, connection: Connection) -> None:
        self.connections[id_] = connection
        self._connection_between[connection.supplier_id, connection.consumer_id] = id_
        self._topology.add_edge(connection.supplier_id, connection.consumer_id)


def _unavailable(name: str, value: int) -> PropertyFault:
    """Only the value that it has would do."""
    return PropertyFault(QoSErrorCode.UNAVAILABLE_VALUE, name, value, value)
