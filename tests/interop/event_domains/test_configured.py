"""The channels and links of a gateway's configuration are an event domain, seen over CORBA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from gateway.domain.corba.stubs import CORBA, CosEventDomainAdmin
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
    here.gateway.configure(form)
    here.gateway.stop()
    here.gateway.start()
    until(lambda: answers(domain))
    assert here.domains.get_all_domains() == [0]
    assert domain.get_all_channels() == [0, 1, 3]
    assert edges(domain) == [(0, 1), (0, 3)]
    assert here.domains.create_event_domain([], [])[1] == 2
    with pytest.raises(CosEventDomainAdmin.ConnectionNotFound):
        domain.get_connection(1000)
