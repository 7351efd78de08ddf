"""What is asked of a peer beyond a connection, where it is found, and what is left behind there: on our own service."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Outgoing, ReconnectError, StopError
from adapters.cosnotification.left_behind import LeftBehind
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.service.push_suppliers import StructuredProxyPushSupplier
from adapters.cosnotification.service.service import NotificationService
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA, CosNaming, CosNotification, CosNotifyChannelAdmin
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent

PATIENCE_SECS = 20.0


@pytest.fixture(scope="module")
def local() -> Iterator[LocalOrb]:
    local = LocalOrb()
    local.start()
    yield local
    local.stop()


@pytest.fixture
def host(local: LocalOrb) -> Iterator[ServiceHost]:
    host = ServiceHost(local)
    host.start()
    yield host
    host.stop()


@pytest.fixture(scope="module")
def orb() -> Iterator[Orb]:
    orb = Orb()
    orb.start()
    yield orb
    orb.stop()


def endpoint(factory: str, **more: Any) -> CosNotificationEndpoint:
    return CosNotificationEndpoint.model_validate({"type": "cosnotification", "factory": factory, **more})


def channel(**more: Any) -> CosNotificationChannel:
    return CosNotificationChannel.model_validate({"endpoint": "peer", "channel": 0, **more})


def event(type_name: str, number: int) -> StructuredEvent:
    return StructuredEvent("Telecom", type_name, "", (), (Property("n", LONG, number),))


def numbers(source: CosNotificationSource, count: int) -> list[int]:
    """Of `count` events, and of whatever comes a moment later."""
    got = []
    deadline = time.monotonic() + PATIENCE_SECS
    while len(got) < count and time.monotonic() < deadline:
        got += source.receive(100, 0.5)
    got += source.receive(100, 0.3)
    source.acknowledge(got)
    return [delivery.payload.filterable_data[0].value for delivery in got]  # type: ignore[union-attr]


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def our_proxy(host: ServiceHost) -> Any:
    (admin,) = [admin for id_, admin in host.channels[0]._consumer_admins.items() if id_ != 0]
    (proxy,) = admin.proxies
    return proxy


@pytest.mark.parametrize("style", ["push", "pull"])
def test_the_peer_sends_only_what_was_asked_for(orb: Orb, host: ServiceHost, style: str) -> None:
    asked = channel(style=style, event_types=["Telecom/Alarm"], constraint="$n > 1", poll_interval_ms=5)
    source = CosNotificationSource(orb, endpoint(host.factory_ior), asked)
    sink = CosNotificationSink(orb, endpoint(host.factory_ior), channel(event_types=["Telecom/*"]))
    source.connect()
    sink.connect()
    try:
        sent = [event("Alarm", 1), event("Alarm", 2), event("Log", 3), event("Alarm", 4)]
        assert sink.send([Outgoing(e, str(n)) for n, e in enumerate(sent)]).result(PATIENCE_SECS) == ()
        assert numbers(source, 2) == [2, 4]
        assert {tuple(type_) for type_ in host.channels[0].offers.all} == {("Telecom", "*")}
    finally:
        source.close()
        sink.close()


def test_a_filter_that_the_peer_refuses_stops_the_link(orb: Orb, host: ServiceHost) -> None:
    source = CosNotificationSource(orb, endpoint(host.factory_ior), channel(constraint="$n >"))
    with pytest.raises(StopError) as caught:
        source.connect()
    assert caught.value.code == "COR-FILTER"
    assert len(host.channels[0].get_all_consumeradmins()) == 1, "nothing of us is left"
    assert host.channels[0].filter_factory.filters == []


def test_quality_of_service_and_limits_are_set_and_validated(orb: Orb, host: ServiceHost) -> None:
    asked = channel(
        qos={"order_policy": "priority", "maximum_batch_size": 7, "pacing_interval_ms": 20},
        channel_qos={"timeout_ms": 60_000},
        channel_admin={"max_consumers": 3},
        events="sequence",
    )
    source = CosNotificationSource(orb, endpoint(host.factory_ior), asked)
    source.connect()
    try:
        assert our_proxy(host).admin.operator == CosNotifyChannelAdmin.AND_OP, (
            "with OR_OP a proxy's filter may mean nothing"
        )
        mine = {p.name: p.value.value() for p in our_proxy(host).get_qos()}
        assert (mine["OrderPolicy"], mine["MaximumBatchSize"], mine["PacingInterval"]) == (2, 7, 200_000)
        there = {p.name: p.value.value() for p in host.channels[0].get_qos()}
        assert there["Timeout"] == 600_000_000
        assert {p.name: p.value.value() for p in host.channels[0].get_admin()}["MaxConsumers"] == 3
    finally:
        source.close()


def test_a_quality_of_service_that_the_peer_does_not_have_stops_the_link(orb: Orb, host: ServiceHost) -> None:
    source = CosNotificationSource(orb, endpoint(host.factory_ior), channel(channel_qos={"priority": 32767}))
    impossible = channel(qos={"event_reliability": "persistent", "connection_reliability": "best_effort"})
    source.connect()
    source.close()
    with pytest.raises(StopError) as caught:
        CosNotificationSource(orb, endpoint(host.factory_ior), impossible).connect()
    assert caught.value.code == "COR-QOS"
    assert "Reliability" in caught.value.message


def test_what_the_peer_says_it_cannot_do_is_not_even_tried(
    orb: Orb, host: ServiceHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some peers take any property, and do nothing of it: validate_qos is where they can say so."""
    nothing = CORBA.Any(CORBA.TC_null, None)
    refusal = CosNotification.PropertyError(
        CosNotification.UNSUPPORTED_PROPERTY, "Priority", CosNotification.PropertyRange(nothing, nothing)
    )

    def refuse(_: Any, required: Any) -> Any:
        raise CosNotification.UnsupportedQoS([refusal])

    monkeypatch.setattr(StructuredProxyPushSupplier, "validate_qos", refuse)
    tried: list[Any] = []
    monkeypatch.setattr(StructuredProxyPushSupplier, "set_qos", lambda _, qos: tried.append(qos))
    with pytest.raises(StopError) as caught:
        CosNotificationSource(orb, endpoint(host.factory_ior), channel(qos={"priority": 3})).connect()
    assert (caught.value.code, caught.value.path) == ("COR-QOS", "qos")
    assert "Priority: UNSUPPORTED_PROPERTY" in caught.value.message
    assert tried == []


def test_a_full_buffer_suspends_the_connection_and_room_resumes_it(orb: Orb, host: ServiceHost) -> None:
    asked = channel(buffer=10, suspend_when_full=True, hold_ms=200)
    source = CosNotificationSource(orb, endpoint(host.factory_ior), asked)
    sink = CosNotificationSink(orb, endpoint(host.factory_ior), channel())
    source.connect()
    sink.connect()
    try:
        batch = [Outgoing(event("Alarm", n), str(n)) for n in range(300)]
        assert sink.send(batch).result(PATIENCE_SECS) == ()
        until(lambda: our_proxy(host)._suspended)
        assert numbers(source, 300) == list(range(300))
        until(lambda: not our_proxy(host)._suspended)
    finally:
        source.close()
        sink.close()


def test_a_silent_channel_is_connected_anew_where_that_is_asked_for(orb: Orb, host: ServiceHost) -> None:
    impatient = endpoint(host.factory_ior, ping_interval_secs=0.1, idle_timeout_secs=0.4)
    source = CosNotificationSource(orb, impatient, channel())
    source.connect()
    try:
        with pytest.raises(ReconnectError) as caught:
            source.receive(1, PATIENCE_SECS)
        assert caught.value.code == "COR-IDLE"
    finally:
        source.close()


CosNaming__POA: Any = importlib.import_module("CosNaming__POA")  # found only after the stubs


class _Names(CosNaming__POA.NamingContext):  # type: ignore[misc]
    """A naming service with one name."""

    def __init__(self, known: dict[tuple[tuple[str, str], ...], Any]) -> None:
        self.known = known

    def resolve(self, n: Any) -> Any:
        name = tuple((component.id, component.kind) for component in n)
        if name not in self.known:
            raise CosNaming.NamingContext.NotFound(CosNaming.NamingContext.missing_node, n)
        return self.known[name]


def test_a_factory_found_at_a_naming_service_anew_at_every_connect(
    local: LocalOrb, host: ServiceHost, tmp_path: Path
) -> None:
    names = _Names({})
    (tmp_path / "names.ior").write_text(local.to_string(local.activate(names, b"names")))
    orb = Orb(OrbSettings(naming_service=str(tmp_path / "names.ior")))
    orb.start()
    try:
        source = CosNotificationSource(orb, endpoint("corbaname:rir:#ems.site/notify\\.1"), channel())
        with pytest.raises(ReconnectError) as caught:
            source.connect()
        assert caught.value.code == "COR-REFERENCE"
        names.known[("ems", "site"), ("notify.1", "")] = local.corba.string_to_object(host.factory_ior)
        source.connect()
        assert our_proxy(host) is not None
        source.close()
        spelt_out = CosNotificationSource(orb, endpoint("corbaname:rir:/NameService#ems.site/notify\\.1"), channel())
        spelt_out.connect()
        spelt_out.close()
        with pytest.raises(ReconnectError, match="is no EventChannelFactory"):
            CosNotificationSource(orb, endpoint("corbaloc:rir:/NameService"), channel()).connect()
    finally:
        orb.stop()
        local.deactivate(b"names")


@pytest.mark.parametrize("factory", ["corbaname:rir:#x", "corbaname:rir:/NameService#x", "corbaloc:rir:/NameService"])
def test_a_name_without_a_naming_service_stops_the_link(orb: Orb, factory: str) -> None:
    with pytest.raises(StopError, match=r"orb\.naming_service") as caught:
        CosNotificationSource(orb, endpoint(factory), channel()).connect()
    assert caught.value.code == "COR-REFERENCE"


def test_what_a_killed_gateway_left_at_the_peer_is_removed_by_the_next(host: ServiceHost, tmp_path: Path) -> None:
    """Two gateways in turn with the same folder; the first one ends without a farewell."""
    first = Orb(left_behind=LeftBehind(tmp_path))
    first.start()
    dead = CosNotificationSource(first, endpoint(host.factory_ior), channel(constraint="$n > 1"))
    dead.connect()
    assert first._worker is not None
    first._worker.process.kill()
    first.stop()
    assert len(host.channels[0].get_all_consumeradmins()) == 2
    assert len(list(tmp_path.glob("*.json"))) == 1

    second = Orb(left_behind=LeftBehind(tmp_path))
    second.start()
    try:
        source = CosNotificationSource(second, endpoint(host.factory_ior), channel())
        source.connect()
        assert len(host.channels[0].get_all_consumeradmins()) == 2, "the default admin and that of the second"
        assert len(host.channels[0].filter_factory.filters) == 0
        assert len(list(tmp_path.glob("*.json"))) == 1
        source.close()
        assert len(host.channels[0].get_all_consumeradmins()) == 1
        assert list(tmp_path.glob("*.json")) == []
    finally:
        second.stop()


def test_files_of_left_behind_that_make_no_sense_are_thrown_away(tmp_path: Path) -> None:
    for name, text in {"a": "", "b": "{}", "c": '{"peer": "x", "traces": [1]}'}.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "d.json").write_text('{"peer": "x", "traces": [["destroy", "IOR:00"]]}')
    assert LeftBehind(tmp_path).at("x") == [("destroy", "IOR:00")]
    assert [file.name for file in tmp_path.glob("*.json")] == ["d.json"]


def test_ipv6_end_to_end() -> None:
    with _gateway(OrbSettings(listen="[::1]:0")) as peer, _gateway(OrbSettings(listen="[::1]:0")) as ours:
        service = NotificationService(peer)
        service.start()
        assert "[::1]" in peer.settings.listen
        assert _passes_one(ours, service.factory_ior)
        service.stop()


def test_a_peer_calls_back_over_our_own_connection() -> None:
    """Nobody listens at the address in our references: only bidirectional GIOP leads to us."""
    nowhere = "127.0.0.1:1"
    with _gateway(OrbSettings(bidirectional=True)) as peer:
        service = NotificationService(peer)
        service.start()
        with _gateway(OrbSettings(bidirectional=True, publish=nowhere)) as ours:
            assert _passes_one(ours, service.factory_ior)
        with _gateway(OrbSettings(publish=nowhere)) as ours:
            assert not _passes_one(ours, service.factory_ior, patience_secs=2.0)
        service.stop()


@contextmanager
def _gateway(settings: OrbSettings) -> Iterator[Orb]:
    orb = Orb(settings)
    orb.start()
    try:
        yield orb
    finally:
        orb.stop()


def _passes_one(orb: Orb, factory: str, patience_secs: float = PATIENCE_SECS) -> bool:
    """Whether an event that we push comes back to us."""
    source = CosNotificationSource(orb, endpoint(factory), channel())
    sink = CosNotificationSink(orb, endpoint(factory), channel())
    try:
        source.connect()
        sink.connect()
        assert sink.send([Outgoing(event("Alarm", 1), "1")]).result(PATIENCE_SECS) == ()
        return bool(source.receive(1, patience_secs))
    finally:
        sink.close()
        source.close()
