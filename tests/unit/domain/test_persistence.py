"""Saved domains: everything comes back, and what we did not write is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.domain.connection import ChannelType, ClientType, Connection, NotificationStyle
from gateway.domain.errors import DiamondCreationForbidden, DomainFormError
from gateway.domain.event_domains import EventDomains
from gateway.domain.persistence import restore, to_json


def saved() -> EventDomains[str]:
    domains = EventDomains[str]()
    domains.create_event_domain()
    domains.destroy(0)
    _, domain = domains.create_event_domain()
    domain.remove_channel(domain.add_channel("gone"))
    for name, kind in (("a", ChannelType.CHANNEL), ("b", ChannelType.LOG_CHANNEL), ("c", ChannelType.TYPED_CHANNEL)):
        domain.add_channel(name, kind)
    domain.add_connection(Connection(1, 2, ClientType.SEQUENCE_EVENT, NotificationStyle.Pull))
    domain.remove_connection(0)
    domain.add_connection(Connection(1, 2, ClientType.STRUCTURED_EVENT, NotificationStyle.Pull))
    domain.add_connection(Connection(2, 3, interface="IDL:Alarms/Channel:1.0"))
    domain.set_default_supplier_channel(3)
    return domains


FORM: dict[str, Any] = {
    "version": 1,
    "next_domain": 2,
    "domains": [
        {
            "id": 1,
            "cycles": "forbid",
            "diamonds": "forbid",
            "next_member": 4,
            "next_connection": 3,
            "default_consumer": 1,
            "default_supplier": 3,
            "members": [
                {"id": 1, "type": "CHANNEL", "channel": {"name": "a"}},
                {"id": 2, "type": "LOG_CHANNEL", "channel": {"name": "b"}},
                {"id": 3, "type": "TYPED_CHANNEL", "channel": {"name": "c"}},
            ],
            "connections": [
                {"id": 1, "supplier": 1, "consumer": 2, "ctype": "STRUCTURED_EVENT", "style": "Pull", "interface": ""},
                {
                    "id": 2,
                    "supplier": 2,
                    "consumer": 3,
                    "ctype": "ANY_EVENT",
                    "style": "Push",
                    "interface": "IDL:Alarms/Channel:1.0",
                },
            ],
        }
    ],
}


def test_this_is_the_form_and_it_must_stay_readable() -> None:
    """Version 1, written out: a file that somebody has today is read in ten years."""
    assert to_json(saved(), lambda name: {"name": name}) == FORM


def test_a_restored_domain_goes_on_where_it_was() -> None:
    domains = EventDomains[str]()
    restore(json.loads(json.dumps(FORM)), domains, lambda form: str(form["name"]))
    assert domains.get_all_domains() == [1]
    domain = domains.get_event_domain(1)
    assert [domain.get_channel(id_) for id_ in domain.get_all_channels()] == ["a", "b", "c"]
    assert domain.members[2].channel_type is ChannelType.LOG_CHANNEL
    assert domain.get_connection(2) == Connection(2, 3, interface="IDL:Alarms/Channel:1.0")
    assert (domain.get_default_consumer_channel(), domain.get_default_supplier_channel()) == (1, 3)
    with pytest.raises(DiamondCreationForbidden):
        domain.add_connection(Connection(1, 3))
    assert domain.add_channel("d") == 4
    assert domain.add_connection(Connection(1, 4)) == 3
    assert domains.create_event_domain()[0] == 2


def test_an_empty_domain_has_no_defaults() -> None:
    domains = EventDomains[str]()
    domains.create_event_domain([("DiamondDetection", 0)])
    form = to_json(domains, str)
    again = EventDomains[str]()
    restore(form, again, str)
    assert to_json(again, str) == form


DAMAGE: list[tuple[tuple[str | int, ...], object, str, str]] = [
    # where, what is put there, place in the error, a part of the message
    (("version",), 2, "version", "version 2"),
    (("version",), True, "version", "wrong type"),
    (("next_domain",), 2**31, "next_domain", "large"),
    (("domains",), {}, "domains", "wrong type"),
    (("domains", 0), [], "domains[0]", "no JSON object"),
    (("domains", 0, "cycles"), "never", "domains[0].cycles", "forbid nor allow"),
    (("domains", 0, "next_member"), "4", "domains[0].next_member", "wrong type"),
    (("domains", 0, "default_consumer"), None, "domains[0].default_consumer", "wrong type"),
    (("domains", 0, "default_supplier"), 9, "domains[0].default_supplier", "no member 9"),
    (("domains", 0, "members", 1, "id"), 1, "domains[0].members[1].id", "twice"),
    (("domains", 0, "members", 1, "type"), "QUEUE", "domains[0].members[1].type", "TYPED_LOG_CHANNEL"),
    (("domains", 0, "members", 2), {"id": 3, "type": "CHANNEL"}, "domains[0].members[2]", '"channel" is missing'),
    (("domains", 0, "connections", 1, "id"), 1, "domains[0].connections[1].id", "twice"),
    (("domains", 0, "connections", 1, "consumer"), 7, "domains[0].connections[1]", "no channel 7"),
    (("domains", 0, "connections", 1, "consumer"), 1, "domains[0].connections[1]", "1 → 2 → 1"),
    (("domains", 0, "connections", 1, "style"), "push", "domains[0].connections[1].style", "Push, Pull"),
]


@pytest.mark.parametrize(("where", "value", "path", "words"), DAMAGE)
def test_damaged_data_is_refused_with_its_place(
    where: tuple[str | int, ...], value: object, path: str, words: str
) -> None:
    form = json.loads(json.dumps(FORM))
    parent = form
    for step in where[:-1]:
        parent = parent[step]
    parent[where[-1]] = value
    domains = EventDomains[str]()
    with pytest.raises(DomainFormError) as refused:
        restore(form, domains, str)
    assert refused.value.path == path
    assert words in refused.value.message
    assert domains.get_all_domains() == []
    assert domains.create_event_domain()[0] == 0
