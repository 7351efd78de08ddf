"""Channels, gateways and ORB processes die and come back; domains go on."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.references import resolve
from gateway.domain.corba.stubs import (
    CORBA,
    CosEventDomainAdmin,
    CosNotification,
    CosNotifyChannelAdmin,
    CosTypedEventDomainAdmin,
)
from tests.contract.wires.cosnotification import Peer
from tests.interop.event_domains.plant import (
    AUTHORIZE,
    FORBID,
    PULL,
    STRUCTURED,
    Plant,
    answers,
    connection,
    number,
    plant,
    pulled,
    until,
)
from tests.interop.notification_service.typed_clients import ALARMS, TypedChannel
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort


@pytest.mark.parametrize("end", [Gateway.stop, Gateway.kill], ids=["stop", "kill"])
def test_a_restart_keeps_ids_defaults_and_what_is_joined(tmp_path: Path, end: Callable[[Gateway], object]) -> None:
    peer = Peer(tmp_path)  # channels that outlive the gateway
    peer.start()
    try:
        with plant(tmp_path) as here:
            channels = _channels_of(here, peer)
            domain = here.new_domain(FORBID, AUTHORIZE)
            for channel in channels:
                domain.add_channel(channel)
            domain.remove_channel(domain.add_channel(channels[0]))
            first = domain.add_connection(connection(0, 1, STRUCTURED, PULL))
            domain.remove_connection(first)
            kept = domain.add_connection(connection(0, 1))
            domain.set_default_consumer_channel(1)
            consumer = domain.connect_pull_consumer(None)
            admins = [channel.get_all_consumeradmins() for channel in channels]

            end(here.gateway)
            supplier = (
                channels[0]
                ._get_default_supplier_admin()
                .obtain_notification_push_consumer(CosNotifyChannelAdmin.ANY_EVENT)[0]
            )
            supplier = supplier._narrow(CosNotifyChannelAdmin.ProxyPushConsumer)
            supplier.connect_any_push_supplier(None)
            supplier.push(number(1))
            assert pulled(consumer) == 1, "events pass without the gateway"
            here.gateway.start()

            until(lambda: answers(domain))  # references stay the same
            assert here.domains.get_all_domains() == [0]
            assert domain.get_all_channels() == [0, 1]
            assert domain.get_all_connections() == [kept]
            assert {item.name: item.value.value() for item in domain.get_qos()} == {
                "CycleDetection": FORBID,
                "DiamondDetection": AUTHORIZE,
            }
            assert domain.connect_pull_consumer(None)._get_MyAdmin()._get_MyChannel()._is_equivalent(channels[1])
            supplier.push(number(2))
            assert pulled(consumer) == 2, "once: it was not joined a second time"
            assert not consumer.try_pull()[1]
            assert [channel.get_all_consumeradmins() for channel in channels] == admins
            assert domain.add_channel(channels[0]) == 3, "ids are not used again"
            with pytest.raises(CosEventDomainAdmin.CycleCreationForbidden):
                domain.add_connection(connection(1, 0))
            domain.remove_connection(kept)
            assert domain.add_connection(connection(0, 1)) == kept + 1
            until(lambda: len(channels[0].get_all_consumeradmins()) == len(admins[0]))
    finally:
        peer.kill()


def test_a_channel_that_dies_breaks_its_connections_and_they_are_mended(tmp_path: Path) -> None:
    """The gateway's own channels go with the ORB's process, and come back under the same references."""
    with plant(tmp_path) as here:
        peer = Peer(tmp_path)
        peer.start()
        try:
            far = _channels_of(here, peer)[0]
            near = here.channels.get_event_channel(0)
            domain = here.new_domain()
            domain.add_channel(far)
            domain.add_channel(near)
            id_ = domain.add_connection(connection(0, 1))
            facts = _facts(id_)
            here.gateway.wait_for_log(**facts, state="joined")

            _kill_orb(here)
            until(lambda: _joined(here, facts) == 2)
            until(lambda: answers(domain))
            consumer = domain.connect_pull_consumer_with_id(None, 1)
            domain.connect_push_supplier_with_id(None, 0).push(number(7))
            assert pulled(consumer) == 7
            assert not consumer.try_pull()[1]

            peer.kill()
            here.gateway.wait_for_log(**facts, state="broken")
            assert domain.get_all_connections() == [id_], "a broken connection is still one"
            with pytest.raises(CORBA.INTERNAL) as failed:
                domain.connect_push_supplier_with_id(None, 0)
            assert failed.value.completed == CORBA.COMPLETED_MAYBE
            domain.remove_channel(0)
            here.gateway.wait_for_log(**facts, state="removed")
            assert domain.get_all_connections() == []
        finally:
            peer.kill()


def test_a_channel_of_another_process_that_is_killed_and_returns_is_joined_again(tmp_path: Path) -> None:
    """Under the same reference, as services do that keep their channels; the proxies are gone."""
    (tmp_path / "far").mkdir()
    with plant(tmp_path) as here, ReservedPort() as port:
        far = {
            "name": "far",
            "orb": {"listen": f"127.0.0.1:{port.number}"},
            "services": {"notification": {"factory_ior": "notify.ior", "channels": 2, "store": "notify.db"}},
        }
        with Gateway(tmp_path / "far", far) as other:
            file = str(other.folder / "notify.ior")
            factory = resolve(here.orb, file, CosNotifyChannelAdmin.EventChannelFactory, 5000)
            channels = [factory.get_event_channel(0), here.channels.get_event_channel(0), factory.get_event_channel(1)]
            domain = here.new_domain()
            for channel in channels:
                domain.add_channel(channel)
            ids = [domain.add_connection(connection(0, 1)), domain.add_connection(connection(1, 2, STRUCTURED, PULL))]
            other.kill()
            for id_ in ids:
                here.gateway.wait_for_log(**_facts(id_), state="broken")
            assert domain.get_all_connections() == ids, "a broken connection is still one"
            other.start()
            for id_ in ids:
                until(lambda id_=id_: _joined(here, _facts(id_)) == 2)  # type: ignore[misc]
            until(lambda: answers(channels[0]))
            consumer = domain.connect_pull_consumer_with_id(None, 2)
            domain.connect_push_supplier_with_id(None, 0).push(number(7))
            assert pulled(consumer) == 7
            assert not consumer.try_pull()[1], "once: what was left of the old connections is gone"
            near = channels[1]
            assert len(near.get_all_consumeradmins()) == len(near.get_all_supplieradmins()) == 2


@pytest.mark.parametrize("end", [Gateway.stop, Gateway.kill], ids=["stop", "kill"])
def test_what_is_removed_while_a_channel_hangs_is_taken_away_later(
    tmp_path: Path, end: Callable[[Gateway], object]
) -> None:
    """Also by the next process of the gateway."""
    peer = Peer(tmp_path)
    peer.start()
    try:
        with plant(tmp_path) as here:
            channels = _channels_of(here, peer)
            domain = here.new_domain()
            for channel in channels:
                domain.add_channel(channel)
            before = [channel.get_all_consumeradmins() for channel in channels]
            domain.add_connection(connection(0, 1))
            supplier = domain.connect_push_supplier_with_id(None, 0)
            consumer = domain.connect_pull_consumer_with_id(None, 1)
            assert peer.pid is not None
            os.kill(peer.pid, signal.SIGSTOP)
            set_time_out(domain, 30_000)
            domain.remove_connection(0)
            assert domain.get_all_connections() == []
            end(here.gateway)
            os.kill(peer.pid, signal.SIGCONT)
            here.gateway.start()
            until(lambda: channels[0].get_all_consumeradmins() == before[0])
            until(lambda: len(channels[1].get_all_supplieradmins()) == 1)
            supplier.push(number(1))
            assert not consumer.try_pull()[1]
    finally:
        peer.kill()


def test_typed_and_log_domains_come_back(tmp_path: Path) -> None:
    peer = Peer(tmp_path)
    peer.start()
    try:
        with plant(tmp_path) as here:
            first, second = (TypedChannel(here.orb, str(peer.ior)) for _ in range(2))
            typed, _ = here.typed_domains.create_typed_event_domain([], [])
            for channel in (first, second):
                typed.add_typed_channel(channel.reference)
            typed.set_default_typed_supplier_channel(1)
            wanted = CosTypedEventDomainAdmin.TypedConnection(0, 1, ALARMS, CosEventDomainAdmin.Push)
            typed_id = typed.add_typed_connection(wanted)
            logs, logs_id = here.log_domains.create_event_log_domain([], [])
            log, _ = here.logs.create(0, 0, [], [], [])
            source = _channels_of(here, peer)[0]
            assert [logs.add_channel(source), logs.add_log(log)] == [0, 1]
            logs.add_connection(connection(0, 1))

            here.gateway.kill()
            here.gateway.start()
            until(lambda: answers(typed) and answers(logs) and answers(log))
            assert here.typed_domains.get_all_typed_domains() == [0]
            assert here.log_domains.get_event_log_domain(logs_id)._is_equivalent(logs)
            found = typed.get_typed_connection(typed_id)
            assert (found.supplier_id, found.consumer_id, found.key) == (0, 1, ALARMS)
            default = typed.connect_typed_push_supplier(None, ALARMS)._get_MyAdmin()._get_MyChannel()
            assert default._is_equivalent(second.reference)
            consumer = second.typed_consumer()
            alarms = first.alarms()
            alarms.named("x")
            alarms.silence()
            until(lambda: consumer.calls == [("named", ["x"]), ("silence", [])])

            assert logs.get_all_logs() == [1]
            assert logs.get_channel_type(1) == CosEventDomainAdmin.LOG_CHANNEL
            assert logs.get_log(1)._is_equivalent(log)
            here.gateway.wait_for_log(event="domain connection changed", domain="log-domain 0", state="broken")
            until(lambda: len(source.get_all_consumeradmins()) == 2)  # the log's proxies went with the process
            logs.connect_push_supplier_with_id(None, 0).push(number(7))
            until(lambda: log.get_n_records() == 1)
            first.close()
            second.close()
    finally:
        peer.kill()


def test_a_channel_that_refuses_leaves_nothing_behind(shared: Plant) -> None:
    full, _ = shared.channels.create_channel([], [])
    full.set_admin([_long("MaxConsumers", 0), _long("MaxSuppliers", 1)])
    other, _ = shared.channels.create_channel([], [])
    domain = shared.new_domain()
    for channel in (other, full):
        domain.add_channel(channel)
    domain.connect_push_supplier_with_id(None, 1)
    before = other.get_all_consumeradmins()
    with pytest.raises(CORBA.IMP_LIMIT):
        domain.add_connection(connection(0, 1))
    assert domain.get_all_connections() == []
    until(lambda: other.get_all_consumeradmins() == before)
    full.set_admin([_long("MaxSuppliers", 0)])
    assert domain.add_connection(connection(0, 1)) == 0, "what failed used up no id"
    full.destroy()
    with pytest.raises(CORBA.INTERNAL):
        domain.connect_pull_consumer_with_id(None, 1)
    domain.remove_connection(0)
    with pytest.raises(CORBA.INTERNAL) as failed:
        domain.add_connection(connection(0, 1))
    assert failed.value.completed == CORBA.COMPLETED_MAYBE
    assert domain.get_all_connections() == []
    until(lambda: other.get_all_consumeradmins() == before)
    domain.destroy()


def _facts(id_: int) -> dict[str, Any]:
    return {"event": "domain connection changed", "domain": "domain 0", "connection": id_}


def _channels_of(here: Plant, peer: Peer) -> list[Any]:
    factory = resolve(here.orb, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
    return [factory.get_event_channel(id_) for id_ in (0, 1)]


def _joined(here: Plant, facts: dict[str, Any]) -> int:
    return sum({**facts, "state": "joined"}.items() <= line.items() for line in here.gateway.log())


def _kill_orb(here: Plant) -> None:
    """The worker is the only child of the gateway."""
    gateway = here.gateway.pid
    (worker,) = subprocess.run(["pgrep", "-P", str(gateway)], capture_output=True, text=True).stdout.split()
    os.kill(int(worker), signal.SIGKILL)


def _long(name: str, value: int) -> Any:
    return CosNotification.Property(name, CORBA.Any(CORBA.TC_long, value))
