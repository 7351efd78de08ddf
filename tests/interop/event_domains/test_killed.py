"""Whatever the moment at which a domain's process is killed: its store can be read back, and no channel keeps what the domain does
not know of."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.references import resolve
from gateway.domain.connection import ChannelType, Connection
from gateway.domain.corba.ends import Ends
from gateway.domain.corba.farewells import Farewells
from gateway.domain.corba.live_domain import LiveDomain, head_of
from gateway.domain.corba.members import MemberChannel
from gateway.domain.corba.store import DomainStore
from gateway.domain.corba.stubs import CORBA, CosEventChannelAdmin, CosNotifyChannelAdmin
from gateway.domain.event_domain import EventDomain
from gateway.domain.event_domains import EventDomains
from gateway.domain.persistence import restore
from tests.contract.wires.cosnotification import Peer
from tests.interop.event_domains.plant import Plant, held

KIND = "domain"


class Killed(BaseException):
    """Nothing of the process is done any more."""


class Mortal(DomainStore):
    """Its process dies right before or right after it has written so many changes to its file."""

    dead = False

    def __init__(self, path: Path, changes: int, *, before: bool) -> None:
        super().__init__(path)
        self._db = _MortalDatabase(self, self._db, changes, before=before)  # type: ignore[assignment]

    def unless_dead(self, remove: Callable[[Ends], bool]) -> Callable[[Ends], bool]:
        def removed(ends: Ends) -> bool:
            if self.dead:
                raise Killed
            return remove(ends)

        return removed


class _MortalDatabase:
    def __init__(self, store: Mortal, database: sqlite3.Connection, changes: int, *, before: bool) -> None:
        self._store, self._database = store, database
        self._left, self._before = changes, before

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """What stands outside of a transaction is written at once, what stands inside of one when it ends."""
        if self._store.dead:
            raise Killed
        writes = statement == "commit" or (
            not self._database.in_transaction and not statement.startswith(("select", "begin"))
        )
        self._left -= writes
        if writes and self._before and not self._left:
            self._die()
        cursor = self._database.execute(statement, *values)
        if writes and not self._before and not self._left:
            self._die()
        return cursor

    def _die(self) -> None:
        self._store.dead = True
        self._database.close()
        raise Killed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class Nobody:
    """Who hears what domains tell."""

    def connection_changed(self, *_: Any) -> None: ...

    def answer_cut(self, *_: Any) -> None: ...


def build(here: Plant, store: DomainStore, channels: list[Any]) -> LiveDomain:
    """A domain of these channels, with a connection from the first to the second."""
    live = LiveDomain(here.orb, KIND, 0, EventDomain(), store, Farewells(here.orb, store), Nobody())
    store.put_domain(KIND, 0, head_of(live))
    for channel in channels:
        live.add_channel(channel, ChannelType.CHANNEL)
    live.add_connection(Connection(0, 1))
    return live


def come_back(here: Plant, store: DomainStore) -> LiveDomain | None:
    """The domain as the next process has it, after one round of the doctor; None where there is none."""
    farewells = Farewells(here.orb, store)
    domains: EventDomains[MemberChannel] = EventDomains()

    def read(form: Any) -> MemberChannel:
        return MemberChannel(here.orb, here.orb.corba.string_to_object(form["ior"]), ChannelType[form["type"]])

    form = store.read(KIND)
    restore(form, domains, read)
    live = None
    for entry in form["domains"]:
        core = domains.domains[entry["id"]]
        live = LiveDomain(here.orb, KIND, entry["id"], core, store, farewells, Nobody())
        live.restore_wires({each["id"]: each["wire"] for each in entry["connections"]})
    farewells.say_again()
    if live is not None:
        look_after(live)
    return live


def look_after(live: LiveDomain) -> None:
    for id_, wire in live.wires.items():
        live.look_after(id_, wire)
        assert str(wire.state) == "joined"


def passing(channels: list[Any]) -> int:
    """How many proxies of domains pass events on to another channel."""
    proxies = [
        admin.get_proxy_supplier(id_)
        for channel in channels
        for admin in map(channel.get_consumeradmin, channel.get_all_consumeradmins())
        for id_ in admin._get_push_suppliers()
    ]
    admin = channels[-1]._get_default_supplier_admin()
    client, _ = admin.obtain_notification_push_consumer(CosNotifyChannelAdmin.ANY_EVENT)
    client = client._narrow(CosNotifyChannelAdmin.ProxyPushConsumer)
    found = sum(_has_client(proxy, client) for proxy in proxies)
    client.disconnect_push_consumer()
    return found


def _has_client(proxy: Any, other: Any) -> bool:
    try:
        proxy.connect_any_push_consumer(other)
    except CosEventChannelAdmin.AlreadyConnected:
        return True
    return False


def admins(channels: list[Any]) -> int:
    """How many there are beside the default ones."""
    found = [[*channel.get_all_consumeradmins(), *channel.get_all_supplieradmins()] for channel in channels]
    return sum(len([id_ for id_ in ids if id_ != 0]) for ids in found)


CHANGES: dict[str, Callable[[LiveDomain, Any], object]] = {
    "add channel": lambda live, channel: live.add_channel(channel, ChannelType.CHANNEL),
    "add connection": lambda live, _: live.add_connection(Connection(1, 2)),
    "remove connection": lambda live, _: live.remove_connection(0),
    "remove channel": lambda live, _: live.remove_channel(0),
    "set default": lambda live, _: live.set_default("supplier", 1),
    "set qos": lambda live, _: live.set_qos([("DiamondDetection", 0)]),
    "destroy": lambda live, _: live.destroy(),
}


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("change", CHANGES)
def test_killed_at_any_moment(
    shared: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, before: bool
) -> None:
    """Right before, or right after, its first change of the store, its second, and so on."""
    for changes in itertools.count(1):
        channels = [shared.channels.create_channel([], [])[0] for _ in range(3)]
        path = tmp_path / f"{changes}.db"
        build(shared, DomainStore(path), channels)
        store = Mortal(path, changes, before=before)
        monkeypatch.setattr(Ends, "remove", store.unless_dead(Ends.remove))
        live = come_back(shared, store)
        assert live is not None
        with suppress(Killed):
            CHANGES[change](live, channels[0])
        monkeypatch.undo()
        again = come_back(shared, DomainStore(path))
        # What was just obtained is in no file yet: two admins whose proxies have no clients
        idle = 2 if (change, before, changes) == ("add connection", True, 1) else 0
        connections = len(again.wires) if again is not None else 0
        assert admins(channels) == 2 * connections + idle, changes
        assert passing(channels) == connections, changes
        for channel in channels:
            channel.destroy()
        if not store.dead:
            break
    assert changes > 1, "it was killed"


def test_what_was_mended_is_kept(shared: Plant, tmp_path: Path) -> None:
    """The next process goes on with it; joined once more, events that its proxies hold would be lost."""
    channels = [shared.channels.create_channel([], [])[0] for _ in range(3)]
    path = tmp_path / "store.db"
    live = build(shared, DomainStore(path), channels)
    (ours,) = (id_ for id_ in channels[0].get_all_consumeradmins() if id_ != 0)
    channels[0].get_consumeradmin(ours).destroy()
    look_after(live)
    assert (admins(channels), passing(channels)) == (2, 1)
    again = come_back(shared, DomainStore(path))
    assert again is not None
    assert [wire.times_joined for wire in again.wires.values()] == [0]
    assert (admins(channels), passing(channels)) == (2, 1)
    again.destroy()
    for channel in channels:
        channel.destroy()


def test_a_channel_that_hangs_is_asked_for_nothing(shared: Plant, tmp_path: Path) -> None:
    """It would make what it was asked for when nobody waits for it any more."""
    peer = Peer(tmp_path)
    peer.start()
    try:
        factory = resolve(shared.orb, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
        far, near = factory.get_event_channel(0), shared.channels.create_channel([], [])[0]
        live = build(shared, DomainStore(tmp_path / "store.db"), [far, near])
        (ours,) = (id_ for id_ in near.get_all_supplieradmins() if id_ != 0)
        near.get_supplieradmin(ours).destroy()
        assert peer.pid is not None
        os.kill(peer.pid, signal.SIGSTOP)
        ((id_, wire),) = live.wires.items()
        live.look_after(id_, wire)
        assert (str(wire.state), admins([near])) == ("broken", 0)
        os.kill(peer.pid, signal.SIGCONT)
        look_after(live)
        assert (admins([far]), admins([near]), passing([far, near])) == (1, 1, 1)
        live.destroy()
        near.destroy()
    finally:
        peer.kill()


@pytest.mark.parametrize("change", CHANGES)
def test_what_the_store_does_not_take_has_not_happened(shared: Plant, tmp_path: Path, change: str) -> None:
    channels = [shared.channels.create_channel([], [])[0] for _ in range(3)]
    path = tmp_path / "store.db"
    store = DomainStore(path)
    store._db.execute("pragma busy_timeout = 20")
    live = build(shared, store, channels)

    def state() -> Any:
        return head_of(live), live.core.get_all_channels(), live.core.get_all_connections()

    before = state()
    with held(path), pytest.raises(sqlite3.OperationalError):
        CHANGES[change](live, channels[0])
    assert state() == before
    look_after(live)
    assert admins(channels) == 2, "one connection, which is whole"
    CHANGES[change](live, channels[0])
    if change != "destroy":
        assert state() != before
        live.destroy()
    assert admins(channels) == 0
    for channel in channels:
        channel.destroy()


def test_a_client_hears_what_was_not_kept(shared: Plant) -> None:
    channel, _ = shared.channels.create_channel([], [])
    domain = shared.new_domain()
    known = shared.domains.get_all_domains()
    factory = shared.domains
    for reference in (domain, factory):
        set_time_out(reference, 30_000)  # the store waits for some seconds itself
    with held(shared.gateway.folder / "run" / "event-domains.db"):
        for call in (lambda: domain.add_channel(channel), lambda: factory.create_event_domain([], [])):
            with pytest.raises(CORBA.PERSIST_STORE) as raised:
                call()
            assert raised.value.completed == CORBA.COMPLETED_NO
    assert domain.get_all_channels() == []
    assert factory.get_all_domains() == known
    assert domain.add_channel(channel) == 0
    domain.destroy()
    channel.destroy()
