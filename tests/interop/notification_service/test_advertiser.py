"""The advertiser, by its own interface and as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.base import ReconnectError
from adapters.cosnotification.advertised import advertised
from adapters.cosnotification.compiled_idl import compile_idl
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.advertiser_stubs import Advertiser, ChannelReport, Party, TypeReport
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin__POA, omniORB
from tests.interop.notification_service.clients import (
    AND_OP,
    CLIENTS,
    Channel,
    drain,
    event,
    number_of,
    until,
)
from tests.interop.notification_service.test_qos import longs, timed
from tests.parts.gateway import ISTHMUS


def types(*pairs: tuple[str, str]) -> list[Any]:
    return [CosNotification.EventType(*each) for each in pairs]


def busy(channel: Channel) -> None:
    """Two offer `a`, one of them `b`; one wants `a`, one everything, and one what its filter passes."""
    first, second = channel.supplier(), channel.supplier("sequence")
    first.offer_change(types(("d", "a"), ("d", "b")), [])
    second.offer_change(types(("d", "a")), [])
    _, proxy = channel.consumer()
    proxy.subscription_change(types(("d", "a")), [])
    everything, _ = channel.consumer("any")
    filtered = channel.proxy("push", "consumer", "structured")
    filtered.add_filter(channel.filter(("$n > 0", [("x", "*")])))
    filtered.connect_structured_push_consumer(channel.activate(CLIENTS["push", "consumer"]["structured"]()))
    first.push_structured_event(event(1, "d", "a"))
    second.push_structured_events([event(2, "d", "a"), event(3, "other", "c")])
    channel.supplier("any").push(CORBA.Any(CORBA.TC_long, 4))
    until(lambda: len(everything.got) == 4)


def test_everything_that_is_offered_wanted_and_passed(channel: Channel, service: tuple[LocalOrb, str]) -> None:
    busy(channel)

    def advertise() -> dict[str, Any]:
        (found,) = [
            each for each in advertised(*service, 5000) if each["kind"] == "channel" and each["id"] == channel.id
        ]
        return found

    until(lambda: advertise()["waiting"] == 0)
    report = advertise()
    assert (report["suppliers"], report["consumers"], report["accepted"]) == (3, 3, 4)
    found = {(each.pop("domain_name"), each.pop("type_name")): each for each in report["types"]}

    def by(admin: str, *ids: int) -> list[dict[str, str]]:
        return [{"place": f"{admin}/0/proxy/{id_}", "address": "127.0.0.1"} for id_ in ids]

    nobody = {"offers": 0, "offered_by": [], "subscriptions": 0, "subscribed_by": []}
    suppliers, consumers = "SupplierAdmin", "ConsumerAdmin"
    assert found == {
        ("d", "a"): {
            "passed": 2,
            "offers": 2,
            "offered_by": by(suppliers, 1, 2),
            "subscriptions": 1,
            "subscribed_by": by(consumers, 1),
        },
        ("d", "b"): {**nobody, "passed": 0, "offers": 1, "offered_by": by(suppliers, 1)},
        ("other", "c"): {**nobody, "passed": 1},
        ("", "%ANY"): {**nobody, "passed": 1},
        ("", "%ALL"): {**nobody, "passed": 0, "subscriptions": 1, "subscribed_by": by(consumers, 2)},
        ("x", "*"): {**nobody, "passed": 0, "subscriptions": 1, "subscribed_by": by(consumers, 3)},
    }


def test_what_consumers_did_not_get_is_counted(channel: Channel, service: tuple[LocalOrb, str]) -> None:
    def losses() -> list[int]:
        (report,) = [e for e in advertised(*service, 5000) if e["kind"] == "channel" and e["id"] == channel.id]
        return [report[name] for name in ("discarded", "expired", "refused", "abandoned")]

    supplier = channel.supplier()
    puller = channel.puller()
    puller.set_qos(longs(MaxEventsPerConsumer=2))
    for number in range(5):
        supplier.push_structured_event(event(number))
    assert losses() == [3, 0, 0, 0]
    assert drain(puller, 2) == [0, 1]
    supplier.push_structured_event(timed(5, StopTime=-1))
    assert not puller.try_pull_structured_event()[1]
    assert losses() == [3, 1, 0, 0]

    consumer, proxy = channel.consumer()
    take = consumer.push_structured_event

    def choosy(notification: Any) -> None:
        if number_of(notification) == 6:
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        take(notification)

    consumer.push_structured_event = choosy
    for number in (6, 7):
        supplier.push_structured_event(event(number))
    until(lambda: consumer.numbers == [7])
    proxy.suspend_connection()
    for number in (8, 9, 10):
        supplier.push_structured_event(event(number))
    until(lambda: losses() == [6, 1, 1, 0])  # the puller has room for two
    proxy.disconnect_structured_push_supplier()
    puller.disconnect_structured_pull_supplier()
    assert losses() == [6, 1, 1, 5], "what has been does not change when they leave"
    shown = subprocess.run(
        [ISTHMUS, "advertise", service[1]],
        capture_output=True,
        text=True,
        timeout=60,
        env={"COLUMNS": "200", "PATH": ""},
    )
    assert "0 waiting, 6 discarded, 1 expired, 1 refused, 5 abandoned" in shown.stdout


def test_who_leaves_is_not_advertised(channel: Channel, service: tuple[LocalOrb, str]) -> None:
    admin, _ = channel.reference.new_for_suppliers(AND_OP)
    admin.offer_change(types(("d", "a")), [])
    supplier = channel.supplier()
    supplier.offer_change(types(("d", "b")), [])

    def offered() -> list[str]:
        (report,) = [
            each for each in advertised(*service, 5000) if each["id"] == channel.id and each["kind"] == "channel"
        ]
        return [each["type_name"] for each in report["types"]]

    assert offered() == ["a", "b"]
    supplier.disconnect_structured_push_consumer()
    admin.destroy()
    assert offered() == []


def test_the_command(channel: Channel, service: tuple[LocalOrb, str]) -> None:
    busy(channel)
    asked = subprocess.run([ISTHMUS, "advertise", service[1], "--json"], capture_output=True, text=True, timeout=60)
    assert asked.returncode == 0, asked.stderr
    reports = [json.loads(line) for line in asked.stdout.splitlines()]
    assert reports == advertised(*service, 5000)
    shown = subprocess.run(
        [ISTHMUS, "advertise", service[1]],
        capture_output=True,
        text=True,
        timeout=60,
        env={"COLUMNS": "200", "PATH": ""},
    )
    assert f"channel {channel.id}: 3 suppliers, 3 consumers, 4 accepted, 0 waiting" in shown.stdout
    assert "SupplierAdmin/0/proxy/2 127.0.0.1" in shown.stdout


def test_a_factory_of_somebody_else(tmp_path: Path) -> None:
    class Factory(CosNotifyChannelAdmin__POA.EventChannelFactory):  # type: ignore[misc]
        pass

    orb = LocalOrb()
    orb.start()
    reference = orb.to_string(orb.activate(Factory(), b"stranger"))
    with pytest.raises(ReconnectError, match=r"no Isthmus::Advertiser"):
        advertised(orb, reference, 2000)
    orb.deactivate(b"stranger")
    orb.stop()
    asked = subprocess.run([ISTHMUS, "advertise", tmp_path / "none"], capture_output=True, text=True, timeout=60)
    assert asked.returncode != 0
    assert "COR-REFERENCE" in asked.stderr


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [plain(each) for each in value]
    return {name: plain(each) for name, each in vars(value).items()} if hasattr(value, "__dict__") else value


@pytest.mark.usefixtures("service")  # marshalling needs an ORB
def test_the_stubs_are_those_of_the_idl() -> None:
    compile_idl("IsthmusAdvertiser")
    compiled = sys.modules["Isthmus"]
    skeleton = sys.modules["Isthmus__POA"].Advertiser
    parties = [("SupplierAdmin/0", "10.1.2.3"), ("x", "")]

    def value(module: Any) -> Any:
        made = [module.Party(*each) for each in parties]
        types = [module.TypeReport("d", "t", 1, 2, 2**40, made, made[:1])]
        return [module.ChannelReport("channel", 7, 1, 2, 2**33, 4, 5, 6, 7, 8, types)]

    class Ours:
        Party, TypeReport, ChannelReport = Party, TypeReport, ChannelReport

    (ours,), (theirs,) = Advertiser._omni_op_d["advertise"][1], skeleton._omni_op_d["advertise"][1]
    as_ours = omniORB.cdrMarshal(omniORB.tcInternal.createTypeCode(ours), value(Ours), True)
    as_theirs = omniORB.cdrMarshal(omniORB.tcInternal.createTypeCode(theirs), value(compiled), True)
    back = omniORB.cdrUnmarshal(omniORB.tcInternal.createTypeCode(ours), as_theirs, True)
    assert len(as_ours) == len(as_theirs)
    assert plain(back) == plain(value(compiled))
    assert set(Advertiser._omni_op_d) == set(skeleton._omni_op_d)
    assert skeleton._NP_RepositoryId == Advertiser._NP_RepositoryId
    for name in ("Party", "TypeReport", "ChannelReport"):
        assert getattr(compiled, name)._NP_RepositoryId == getattr(Ours, name)._NP_RepositoryId
