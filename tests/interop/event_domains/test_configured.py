"""The channels and links of a gateway's configuration are an event domain, seen over CORBA."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.ior import decode_ior
from adapters.cosnotification.local_orb import LocalOrb
from gateway.domain.corba.stubs import CORBA, CosEventDomainAdmin
from gateway.settings import check
from tests.interop.event_domains.plant import (
    AUTHORIZE,
    PUSH,
    STRUCTURED,
    Plant,
    answers,
    config,
    connection,
    qos,
    until,
)
from tests.interop.event_domains.test_command import run
from tests.interop.notification_service.clients import event
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort


def configuration(port: int) -> dict[str, Any]:
    form = config(port)
    del form["services"]["logs"]
    return {
        **form,
        "services": {**form["services"], "broker": {"listen": "127.0.0.1:0"}},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": "notify.ior"},
            "m": {"type": "memory"},
        },
        "domain": {"diamonds": "allow"},
        "channels": {
            "ems-in": {"endpoint": "ems", "channel": 0},
            "ems-out": {"endpoint": "ems", "channel": 1, "events": "any"},
            "box": {"endpoint": "m", "name": "box"},
        },
        "links": {
            "there": {"from": "ems-in", "to": "box"},
            "straight": {"from": "ems-in", "to": "ems-out"},
        },
        "foreign_links": {"theirs": {"from": "box", "to": "ems-out"}},
    }


def edges(domain: Any) -> list[tuple[int, int]]:
    found = [domain.get_connection(id_) for id_ in domain.get_all_connections()]
    return sorted((each.supplier_id, each.consumer_id) for each in found)


def test_one_topology(tmp_path: Path) -> None:
    orb = LocalOrb()
    orb.start()
    try:
        with ReservedPort() as port:
            form = configuration(port.number)
            with Gateway(tmp_path, form) as gateway:
                _one_topology(Plant(gateway, orb), form)
    finally:
        orb.stop()


def _one_topology(here: Plant, form: dict[str, Any]) -> None:
    assert here.domains.get_all_domains() == [0]
    domain = here.domains.get_event_domain(0)
    assert domain.get_all_channels() == [0, 1, 2]
    assert edges(domain) == [(0, 1), (0, 2), (2, 1)], "links, and bridges of others that were declared"
    assert domain.get_diamonds() == [[[0, 1], [0, 2, 1]]], "a way through a broker is seen"
    assert domain.get_offer_channels(1) == [0, 2]
    assert domain.get_channel(0)._is_equivalent(here.channels.get_event_channel(0))
    found = [each for each in map(domain.get_connection, domain.get_all_connections()) if each.consumer_id == 2]
    assert [(each.ctype, each.notification_style) for each in found] == [(STRUCTURED, PUSH)]

    for refused in (
        lambda: domain.add_channel(domain.get_channel(0)),
        lambda: domain.remove_channel(0),
        lambda: domain.add_connection(connection(1, 0)),
        lambda: domain.remove_connection(0),
        lambda: domain.set_qos(qos(diamonds=AUTHORIZE)),
        domain.destroy,
    ):
        with pytest.raises(CORBA.NO_PERMISSION):
            refused()
    factory = str(here.gateway.folder / "domains.ior")
    shown = run("show", factory)
    address = decode_ior(here.orb.to_string(domain)).profiles[0].addresses[0]
    assert f"channel 0: channel, answers, {address}\n" in shown
    assert "channel 2: channel, answers, box\n" in shown, "of a destination or queue the name is known"
    assert 'channel2["2<br/>channel<br/>answers<br/>box"]' in run("draw", factory)
    box = domain.get_channel(2)
    assert box.get_all_consumeradmins() == []
    with pytest.raises(CORBA.NO_IMPLEMENT):
        box._get_default_supplier_admin()
    with pytest.raises(CORBA.INTERNAL):
        domain.connect_push_supplier_with_id(None, 2)

    # Clients go where the configuration leads
    domain.set_default_supplier_channel(0)
    supplier = domain.connect_structured_push_supplier(None)
    here.gateway.wait_for_link("there", lambda status: status["source"]["state"] == "ready")
    supplier.push_structured_event(event(1, "Telecom", "Alarm"))
    here.gateway.wait_for_link("there", lambda status: status["accounts"]["delivered"] == 1)

    # A domain of a client's own stands beside it
    other, id_ = here.domains.create_event_domain([], [])
    assert id_ == 1
    other.destroy()

    # Another configuration: ids stay, and are not used again
    form["channels"]["box-2"] = {"endpoint": "m", "name": "box-2"}
    form["links"]["there"]["to"] = "box-2"
    del form["foreign_links"]
    here.gateway.configure(form)
    here.gateway.reload()
    assert domain.get_all_channels() == [0, 1, 2, 3]
    assert edges(domain) == [(0, 1), (0, 3)]
    del form["channels"]["box"]
    form["endpoints"]["gone"] = {"type": "cosnotification", "factory": "corbaloc::127.0.0.1:1/none"}
    form["channels"]["far"] = {"endpoint": "gone", "channel": 0}
    here.gateway.configure(form)
    here.gateway.stop()
    here.gateway.start()
    until(lambda: answers(domain))
    assert here.domains.get_all_domains() == [0]
    assert domain.get_all_channels() == [0, 1, 3, 4]
    assert edges(domain) == [(0, 1), (0, 3)]
    shown = run("show", factory, "--id", "0")
    assert "channel 4: channel, away\n" in shown, "a peer that is away hides none of the others"
    assert "channel 3: channel, answers, box-2\n" in shown
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        box.get_all_consumeradmins()
    assert here.domains.create_event_domain([], [])[1] == 2
    with pytest.raises(CosEventDomainAdmin.ConnectionNotFound):
        domain.get_connection(1000)


def with_a_queue(port: int) -> dict[str, Any]:
    """A queue of MQ that two endpoints reach, as two users: events go into it, and come back by a bridge of others."""
    form = config(port)
    queue_manager = {"type": "mq", "queue_manager": "QM1", "stand_in": {"queues": ["AUDIT", "URGENT"]}}
    return {
        **form,
        "services": {name: form["services"][name] for name in ("notification", "event_domains")},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": "notify.ior"},
            "writer": queue_manager,
            "reader": {**queue_manager, "application_name": "reader"},
        },
        "domain": {"cycles": "allow"},
        "channels": {
            "alarms": {"endpoint": "ems", "channel": 0},
            "audit": {"endpoint": "writer", "queue": "AUDIT"},
            "audited": {"endpoint": "reader", "queue": "AUDIT"},
            "checked": {"endpoint": "ems", "channel": 1},
            "urgent": {"endpoint": "reader", "queue": "URGENT"},
        },
        "links": {
            "audit": {"from": "alarms", "to": "audit", "rules": [{"route": "queue://URGENT", "when": "_sn = 2"}]},
            "check": {"from": "audited", "to": "checked"},
            "check-urgent": {"from": "urgent", "to": "checked"},
        },
        "foreign_links": {"back": {"from": "checked", "to": "alarms"}},
    }


def test_a_cycle_through_a_queue_of_mq_is_found(tmp_path: Path) -> None:
    orb = LocalOrb()
    orb.start()
    try:
        with ReservedPort() as port:
            form = with_a_queue(port.number)
            with Gateway(tmp_path, form) as gateway:
                here = Plant(gateway, orb)
                domain = here.domains.get_event_domain(0)
                assert domain.get_all_channels() == [0, 1, 2, 3], "one queue is one member, however it is reached"
                assert edges(domain) == [(0, 1), (0, 3), (1, 2), (2, 0), (3, 2)], "also where a rule leads"
                assert domain.get_cycles() == [[0, 1, 2], [0, 3, 2]]
                # Of a link and its rule an event takes one way: the configuration is right, and the graph has a diamond
                assert {item.name: item.value.value() for item in domain.get_qos()}["DiamondDetection"] == AUTHORIZE
                assert [0, 3, 2] in next(each for each in domain.get_diamonds() if each[0][0] == 0)
                with pytest.raises(CORBA.NO_IMPLEMENT):
                    domain.get_channel(1)._get_default_consumer_admin()
                # And events do pass
                gateway.wait_for_link("check", lambda status: status["state"] == "ready")
                supplier = domain.connect_structured_push_supplier_with_id(None, 0)
                gateway.wait_for_link("audit", lambda status: status["source"]["state"] == "ready")
                for number in (1, 2, 3):
                    supplier.push_structured_event(event(number, "Telecom", "Alarm"))
                gateway.wait_for_link("check", lambda status: status["accounts"]["delivered"] == 2)
                gateway.wait_for_link("check-urgent", lambda status: status["accounts"]["delivered"] == 1)
            del form["domain"]["cycles"]
            file = tmp_path / "refused.yaml"
            file.write_text(json.dumps({"name": "tests", **form}))
            found = [finding for finding in check(file) if finding.severity == "error"]
            assert [finding.code for finding in found] == ["DOM-CYCLE", "DOM-CYCLE"]
            assert "closes a cycle: urgent → checked ⇢ alarms → urgent" in found[0].message
            assert 'link "check" closes a cycle: checked ⇢ alarms → audit = audited → checked' in found[1].message
    finally:
        orb.stop()
