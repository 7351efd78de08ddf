"""What `services.event_domains` sets, as CORBA clients see it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.corba.stubs import CORBA, CosNotification
from tests.interop.event_domains.plant import AUTHORIZE, FORBID, Plant, connection, plant, qos

MOST_CHANNELS, MOST_CONNECTIONS = 7, 42


@pytest.fixture(scope="module")
def by_the_letter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    with plant(
        Path(tmp_path_factory.mktemp("settings")),
        specified_defaults=True,
        changeable_cycle_detection=True,
        max_channels=MOST_CHANNELS,
        max_connections=MOST_CONNECTIONS,
    ) as found:
        yield found


def rules(domain: Any) -> dict[str, int]:
    return {item.name: item.value.value() for item in domain.get_qos()}


def test_defaults_and_what_can_be_changed(shared: Plant, by_the_letter: Plant) -> None:
    usual, other = shared.new_domain(), by_the_letter.new_domain()
    assert rules(usual) == {"CycleDetection": FORBID, "DiamondDetection": FORBID}
    assert rules(other) == {"CycleDetection": AUTHORIZE, "DiamondDetection": AUTHORIZE}
    assert rules(by_the_letter.new_domain(cycles=FORBID))["CycleDetection"] == FORBID, "what is said wins"
    with pytest.raises(CosNotification.UnsupportedQoS):
        usual.set_qos(qos(cycles=AUTHORIZE))
    other.set_qos(qos(cycles=FORBID))
    assert rules(other)["CycleDetection"] == FORBID


def test_limits_and_answers_that_are_cut(by_the_letter: Plant) -> None:
    channel, _ = by_the_letter.channels.create_channel([], [])
    domain, id_ = by_the_letter.domains.create_event_domain([], [])
    for _ in range(MOST_CHANNELS):
        domain.add_channel(channel)
    with pytest.raises(CORBA.IMP_LIMIT):
        domain.add_channel(channel)
    pairs = [(a, b) for a in range(MOST_CHANNELS) for b in range(MOST_CHANNELS) if a != b]
    assert len(pairs) == MOST_CONNECTIONS
    for pair in pairs:
        domain.add_connection(connection(*pair))
    with pytest.raises(CORBA.IMP_LIMIT):
        domain.add_connection(connection(0, 0))
    assert len(domain.get_cycles()) == 1000, "of the 2365 that K7 has"
    by_the_letter.gateway.wait_for_log(
        event="domain answer cut: there are more", domain=f"domain {id_}", operation="get_cycles", answers=1000
    )
    assert len(domain.get_diamonds()) == MOST_CONNECTIONS, "one for each pair"
    assert not any(line.get("operation") == "get_diamonds" for line in by_the_letter.gateway.log())
    domain.destroy()
    channel.destroy()
