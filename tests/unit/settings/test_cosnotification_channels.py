"""Channels of the CosNotification wire: named once, with event types and filters that are some."""

from __future__ import annotations

import pytest

from adapters.base import Delivery
from adapters.cosnotification.settings import OrbOverrides, OrbSettings
from gateway.links.step import FILTERED
from gateway.links.translation import compile_step, translation_of
from gateway.settings.settings import Settings
from mappings.idl_types import LONG
from mappings.model import Property, StructuredEvent
from tests.unit.settings.marked import codes, the_finding

TEXT = """
name: x
orb: {{listen: "127.0.0.1:0"}}
endpoints:
  ems: {{type: cosnotification{endpoint}}}
  memory: {{type: memory}}
channels:
  a: {{endpoint: ems{channel}}}
  b: {{endpoint: memory, name: b}}
links:
  l: {{from: a, to: b}}
"""


def text(channel: str, endpoint: str = ", factory: f.ior") -> str:
    return TEXT.format(endpoint=endpoint, channel=channel)


@pytest.mark.parametrize(
    ("channel", "endpoint"),
    [
        (", channel: 0", ", factory: f.ior"),
        (", reference: c.ior", ""),
        (", reference: 'http://h/ior', events: any", ", service: event"),
        (", channel: 0, event_types: [Telecom/Alarm, '*/*'], constraint: '$n > 1'", ", factory: f.ior"),
    ],
)
def test_channels_that_are_fine(channel: str, endpoint: str) -> None:
    assert [code for code in codes(text(channel, endpoint)) if not code.startswith("CFG-JOURNAL")] == []


@pytest.mark.parametrize(
    ("code", "channel", "endpoint"),
    [
        ("CFG-CHANNEL-REFERENCE", "", ", factory: f.ior"),
        ("CFG-CHANNEL-REFERENCE", ", channel: 0, reference: c.ior", ", factory: f.ior"),
        ("CFG-CHANNEL-REFERENCE", ", channel: 0", ""),
        ("CFG-CHANNEL-REFERENCE", ", reference: c.ior", ", service: event, factory: f.ior"),
        ("CFG-FACTORY", ", reference: 'corbaloc:nonsense'", ""),
        ("CFG-EVENT-TYPE", ", channel: 0, event_types: [Alarm]", ", factory: f.ior"),
        ("FLT-SYNTAX", ", channel: 0, constraint: '$n >'", ", factory: f.ior"),
        ("CFG-UNKNOWN-KEY", ", channel: 0, qos: {max_batch: 3}", ", factory: f.ior"),
    ],
)
def test_channels_that_are_not(code: str, channel: str, endpoint: str) -> None:
    assert code in codes(text(channel, endpoint))


@pytest.mark.parametrize("id_", ["-1", "'0'", "yes"])
def test_an_id_that_is_wrong_is_one_finding(id_: str) -> None:
    """Not a second one that says that there is none."""
    assert "CFG-CHANNEL-REFERENCE" not in codes(text(f", channel: {id_}"))


def test_a_naming_service_is_not_found_through_itself() -> None:
    wrong = text(", channel: 0").replace("orb: {", "orb: {naming_service: ▶'corbaname:rir:#x', ")
    assert the_finding(wrong, "CFG-FACTORY").message


def step(**channel: object) -> list[bool]:
    """Which of three events pass the link's own eyes."""
    settings = Settings.model_validate(
        {
            "name": "gw",
            "endpoints": {"ems": {"type": "cosnotification", "factory": "f"}, "memory": {"type": "memory"}},
            "channels": {
                "a": {"endpoint": "ems", "channel": 0, **channel},
                "b": {"endpoint": "memory", "name": "b"},
            },
            "links": {"l": {"from": "a", "to": "b", "filter": "$n < 9"}},
        }
    )
    admit = compile_step(translation_of(settings, "l"))
    events = [("Telecom", "Alarm", 1), ("Telecom", "Alarm", 5), ("Telecom", "Log", 5), ("Telecom", "Alarm", 9)]
    return [
        admit(Delivery(StructuredEvent(domain, type_, "", (), (Property("n", LONG, n),)), "1", 0.0)) is not FILTERED
        for domain, type_, n in events
    ]


def test_what_the_peer_should_have_filtered_is_looked_at_again() -> None:
    assert step() == [True, True, True, False]
    assert step(event_types=["Telecom/A*"]) == [True, True, False, False]
    assert step(constraint="$n > 1") == [False, True, True, False]
    assert step(event_types=["*/Alarm"], constraint="$n > 1") == [False, True, False, False]


def test_unless_it_is_trusted() -> None:
    assert step(event_types=["Telecom/A*"], constraint="$n > 1", trust_peer=True) == [True, True, True, False]


def test_an_endpoint_with_an_orb_of_its_own() -> None:
    shared = OrbSettings(listen="10.0.0.1:5555", publish="gw:5555", call_timeout_ms=7)
    own = OrbOverrides(code_set="ISO-8859-1").over(shared)
    assert (own.listen, own.publish, own.code_set, own.call_timeout_ms) == ("10.0.0.1:0", None, "ISO-8859-1", 7)
    assert OrbOverrides(listen="10.0.0.1:6000", publish="x:1").over(shared).publish == "x:1"
