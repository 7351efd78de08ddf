"""Bridges are looked at as `lint` looks at links: cycles and diamonds, with bridges of others and rules that send elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.bridges.bridge import Bridge, EndPoint, ErrorCode, InvalidEndPoints, MessageType, Role
from gateway.bridges.overlay import with_bridges
from gateway.bridges.registry import Bridges
from gateway.bridges.topology import check_topology
from gateway.settings.settings import Settings

STRUCTURED, JMS = MessageType.STRUCTURED_EVENT, MessageType.JMS_MESSAGE


def settings(**changes: Any) -> Settings:
    """site ─▶ alarms, the queue; ids of channels as in the endpoint `ems`."""
    form: dict[str, Any] = {
        "name": "tests",
        "services": {"bridges": {"factory_ior": "b.ior", "channels": "ems", "destinations": "broker"}},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": "ems.ior"},
            "broker": {"type": "stomp", "hosts": ["127.0.0.1:61613"]},
        },
        "channels": {
            "site": {"endpoint": "ems", "channel": 0},
            "plant": {"endpoint": "ems", "channel": 1},
            "alarms": {"endpoint": "broker", "destination": "queue://alarms"},
            "archive": {"endpoint": "broker", "destination": "queue://archive"},
        },
        "links": {"alarms": {"from": "site", "to": "alarms"}},
        **changes,
    }
    return Settings.model_validate(form)


def end(role: Role, where: int | str) -> EndPoint:
    """A channel by its id, or a queue by its name."""
    if isinstance(where, int):
        return EndPoint(role, STRUCTURED, 0, STRUCTURED, channel=where)
    return EndPoint(role, JMS, 0, JMS, destination_type="queue", destination_name=where)


def bridge(source: int | str, sink: int | str, id_: int = 0) -> Bridge:
    return Bridge(id_, end(Role.SOURCE, source), end(Role.SINK, sink), started=True)


def refused(its: Settings, wanted: Bridge) -> str:
    with pytest.raises(InvalidEndPoints) as raised:
        check_topology(its, wanted)
    code = ErrorCode.INVALID_JMSDESTINATION if wanted.sink.is_jms else ErrorCode.INVALID_CHANNELID
    assert raised.value.errors == [(Role.SINK, code)]
    return raised.value.message.removeprefix("no bridge can be between these: ")


def test_a_cycle() -> None:
    assert refused(settings(), bridge("alarms", 0)) == "it closes a cycle: site → alarms → site"
    check_topology(settings(domain={"cycles": "allow"}), bridge("alarms", 0))
    check_topology(settings(), bridge("alarms", 1))


def test_a_cycle_by_way_of_a_bridge_of_others() -> None:
    its = settings(foreign_links={"theirs": {"from": "archive", "to": "plant"}})
    said = refused(its, bridge(1, "archive"))
    assert said == "it closes a cycle: archive ⇢ plant → archive"
    check_topology(its, bridge(0, "archive"))


def test_a_cycle_by_way_of_a_rule_that_sends_elsewhere() -> None:
    links = {"alarms": {"from": "site", "to": "alarms", "rules": [{"route": "queue://urgent", "when": "_sn = 2"}]}}
    assert refused(settings(links=links), bridge("urgent", 0)) == "it closes a cycle: site → queue://urgent → site"
    check_topology(settings(links=links), bridge("urgent", 1))


def test_a_second_way() -> None:
    assert refused(settings(), bridge(0, "alarms")) == "a link leads there already: site → alarms"
    links = {"alarms": {"from": "site", "to": "alarms"}, "plant": {"from": "alarms", "to": "plant"}}
    both = settings(links={**links, "archive": {"from": "plant", "to": "archive"}})
    assert refused(both, bridge(0, "archive")) == (
        "it makes a second way between two channels: site → archive, and site → alarms → plant → archive"
    )
    allowed = both.model_copy(update={"domain": both.domain.model_copy(update={"diamonds": "allow"})})
    check_topology(allowed, bridge(0, "archive"))


def test_of_a_link_and_its_own_rules_an_event_takes_one_way() -> None:
    """So a bridge behind one of them is no second way, one beside them is."""
    links = {"alarms": {"from": "site", "to": "alarms", "rules": [{"route": "queue://urgent", "when": "_sn = 2"}]}}
    check_topology(settings(links={**links, "plant": {"from": "alarms", "to": "plant"}}), bridge("urgent", 1))
    assert refused(settings(links=links), bridge(0, "urgent")) == "a link leads there already: site → queue://urgent"
    check_topology(settings(links={**links, "alarms": {**links["alarms"], "rules": []}}), bridge(0, "urgent"))


def test_channels_that_the_file_does_not_name() -> None:
    its = settings(links={})
    bridges = [bridge(7, "far"), bridge("far", 8, 1)]
    assert refused(with_bridges(its, bridges), bridge(8, "far", 2)) == (
        "it closes a cycle: queue://far → channel 8 of ems → queue://far"
    )


def test_channels_of_a_bridge_are_known_also_to_settings_that_were_asked_before() -> None:
    its = settings()
    assert its.first_id("site") == "site"
    assert with_bridges(its, [bridge(0, "far")]).first_id("bridge.0.source") == "site"


def test_bridges_that_a_configuration_leaves_no_place_have_no_links(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    def links(its: Settings) -> list[str]:
        return list(bridges.over(its, lambda link, error: told.append((link, error.message))).links)

    bridges = Bridges(tmp_path / "bridges.json", lambda: None)
    for source, sink in ((1, "archive"), ("archive", 2)):
        made = bridges.create(settings(), end(Role.SOURCE, source), end(Role.SINK, sink))
        bridges.start(settings(), made.id)
    assert links(settings()) == ["alarms", "bridge.0", "bridge.1"]
    back = settings(links={"back": {"from": "archive", "to": "plant"}})
    assert links(back) == links(back) == ["back", "bridge.1"]
    ((link, why),) = told
    assert (link, "closes a cycle" in why) == ("bridge.0", True), "told once"
    elsewhere = settings(services={"bridges": {"factory_ior": "b.ior", "channels": "ems", "destinations": "gone"}})
    assert links(elsewhere) == ["alarms"]
    assert [(link, "no broker" in why) for link, why in told[1:]] == [("bridge.0", True), ("bridge.1", True)]
    assert links(settings()) == ["alarms", "bridge.0", "bridge.1"], "there is a place again"
    assert links(back) == ["back", "bridge.1"]
    assert len(told) == 4, "and it is told again"
