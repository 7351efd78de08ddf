"""What the scenarios do not reach: ids that come round, limits, wiring that fails, the order of checks, properties."""

from __future__ import annotations

import pytest

from gateway.domain.connection import HIGHEST_ID, LOWEST_ID, Connection
from gateway.domain.errors import (
    AlreadyExists,
    ChannelNotFound,
    CycleCreationForbidden,
    DiamondCreationForbidden,
    LimitExceeded,
)
from gateway.domain.event_domain import EventDomain, Limits
from gateway.domain.event_domains import EventDomains
from gateway.domain.qos import (
    CYCLE_DETECTION,
    DIAMOND_DETECTION,
    PropertyFault,
    PropertyRange,
    QoSErrorCode,
    Rules,
    UnsupportedQoS,
)

BOTH_ALLOWED = Rules(forbid_cycles=False, forbid_diamonds=False)


def domain_of(count: int, rules: Rules | None = None, **options: bool) -> EventDomain[str]:
    domain = EventDomain[str](rules, **options)
    for number in range(count):
        domain.add_channel(f"ch{number}")
    return domain


def test_after_the_highest_id_comes_the_lowest_and_ids_in_use_are_passed_over() -> None:
    domain = domain_of(0)
    domain.member_ids.next = HIGHEST_ID
    assert [domain.add_channel("a"), domain.add_channel("b")] == [HIGHEST_ID, LOWEST_ID]
    domain.member_ids.next = HIGHEST_ID
    assert domain.add_channel("c") == LOWEST_ID + 1
    assert domain.default_consumer == HIGHEST_ID
    domain.remove_channel(HIGHEST_ID)
    assert domain.default_consumer == LOWEST_ID, "who has been there longest follows"


def test_ids_of_connections_come_round_too() -> None:
    domain = domain_of(3)
    domain.connection_ids.next = HIGHEST_ID
    assert [domain.add_connection(Connection(0, 1)), domain.add_connection(Connection(0, 2))] == [HIGHEST_ID, LOWEST_ID]


def test_a_domain_takes_no_more_than_its_limits() -> None:
    domain = EventDomain[str](limits=Limits(channels=3, connections=1))
    for name in "abc":
        domain.add_channel(name)
    with pytest.raises(LimitExceeded, match="3 channels"):
        domain.add_channel("d")
    domain.add_connection(Connection(0, 1))
    with pytest.raises(CycleCreationForbidden):
        domain.add_connection(Connection(1, 0))
    with pytest.raises(LimitExceeded, match="1 connections"):
        domain.add_connection(Connection(1, 2))
    domain.remove_channel(2)
    assert domain.add_channel("d") == 3


def test_checks_come_in_the_order_of_the_rules() -> None:
    domain = domain_of(2)
    domain.add_connection(Connection(0, 1))
    with pytest.raises(ChannelNotFound, match="channel 7"):
        domain.add_connection(Connection(7, 8))
    with pytest.raises(ChannelNotFound, match="channel 8"):
        domain.add_connection(Connection(0, 8))
    with pytest.raises(AlreadyExists):
        domain.add_connection(Connection(0, 1))


def test_an_edge_that_makes_both_is_refused_for_its_cycle() -> None:
    domain = domain_of(3)
    for pair in ((0, 1), (1, 2)):
        domain.add_connection(Connection(*pair))
    with pytest.raises(CycleCreationForbidden):
        domain.add_connection(Connection(2, 0))
    loose = domain_of(3, Rules(forbid_cycles=False, forbid_diamonds=True))
    for pair in ((0, 1), (1, 2), (2, 0)):
        loose.add_connection(Connection(*pair))
    with pytest.raises(DiamondCreationForbidden) as refused:
        loose.add_connection(Connection(1, 0))
    assert refused.value.diamond == ((1, 0), (1, 2, 0))


class Unreachable(Exception):
    pass


def test_wiring_that_fails_leaves_everything_as_it_was() -> None:
    domain = domain_of(3)
    wired: list[Connection] = []

    def fail(connection: Connection) -> None:
        wired.append(connection)
        raise Unreachable

    with pytest.raises(Unreachable):
        domain.add_connection(Connection(0, 1), fail)
    assert wired == [Connection(0, 1)]
    assert domain.get_all_connections() == []
    assert domain.get_subscription_channels(0) == []
    assert domain.add_connection(Connection(1, 0), wired.append) == 0
    assert wired == [Connection(0, 1), Connection(1, 0)]


def test_what_is_refused_is_not_wired() -> None:
    domain = domain_of(2)
    domain.add_connection(Connection(0, 1))
    wired: list[Connection] = []
    for pair in ((0, 1), (1, 0), (0, 7)):
        with pytest.raises((AlreadyExists, CycleCreationForbidden, ChannelNotFound)):
            domain.add_connection(Connection(*pair), wired.append)
    assert wired == []


def test_removing_a_channel_gives_its_connections_back_and_makes_room() -> None:
    domain = domain_of(4, BOTH_ALLOWED)
    for pair in ((0, 1), (1, 1), (1, 2), (2, 3)):
        domain.add_connection(Connection(*pair))
    assert domain.remove_channel(1) == {0: Connection(0, 1), 1: Connection(1, 1), 2: Connection(1, 2)}
    assert domain.get_all_connections() == [3]
    assert domain.get_offer_channels(3) == [2]


def test_a_domain_can_be_used_after_it_was_emptied() -> None:
    domain = domain_of(2)
    domain.add_connection(Connection(0, 1))
    domain.destroy()
    with pytest.raises(ChannelNotFound):
        domain.get_default_consumer_channel()
    assert [domain.add_channel("a"), domain.add_channel("b")] == [2, 3]
    assert domain.add_connection(Connection(3, 2)) == 1


def test_a_new_domain_forbids_both_unless_the_letter_of_the_specification_is_wanted() -> None:
    assert EventDomains[str]().create_event_domain()[1].rules == Rules(True, True)
    by_the_letter = EventDomains[str](specified_defaults=True)
    assert by_the_letter.create_event_domain()[1].rules == Rules(False, False)
    explicit = by_the_letter.create_event_domain([(DIAMOND_DETECTION, 1)])[1]
    assert explicit.rules == Rules(False, True)


def test_all_faults_of_properties_are_told_at_once_and_nothing_is_set() -> None:
    domain = domain_of(0)
    with pytest.raises(UnsupportedQoS) as refused:
        domain.set_qos([(DIAMOND_DETECTION, 0), ("Timeout", 1), (CYCLE_DETECTION, True), (DIAMOND_DETECTION, -1)])
    assert [(fault.name, fault.code) for fault in refused.value.faults] == [
        ("Timeout", QoSErrorCode.BAD_PROPERTY),
        (CYCLE_DETECTION, QoSErrorCode.BAD_TYPE),
        (DIAMOND_DETECTION, QoSErrorCode.UNSUPPORTED_VALUE),
    ]
    assert domain.rules == Rules(True, True)


def test_cycle_detection_can_be_changed_where_that_is_wanted() -> None:
    domain = domain_of(2, changeable_cycle_detection=True)
    names = [CYCLE_DETECTION, DIAMOND_DETECTION]
    assert domain.validate_qos([(CYCLE_DETECTION, 0)]) == [PropertyRange(name, 0, 1) for name in names]
    domain.set_qos([(CYCLE_DETECTION, 0)])
    domain.add_connection(Connection(0, 1))
    back = domain.add_connection(Connection(1, 0))
    with pytest.raises(UnsupportedQoS) as refused:
        domain.set_qos([(CYCLE_DETECTION, 1)])
    assert refused.value.faults == (PropertyFault(QoSErrorCode.UNAVAILABLE_VALUE, CYCLE_DETECTION, 0, 0),)
    domain.remove_connection(back)
    domain.set_qos([(CYCLE_DETECTION, 1)])
    with pytest.raises(CycleCreationForbidden):
        domain.add_connection(Connection(1, 0))


def test_diamonds_that_are_forbidden_again_are_watched_for_in_what_was_built_meanwhile() -> None:
    domain = domain_of(4)
    domain.set_qos([(DIAMOND_DETECTION, 0)])
    for pair in ((0, 1), (1, 3), (0, 2)):
        domain.add_connection(Connection(*pair))
    with pytest.raises(CycleCreationForbidden):
        domain.add_connection(Connection(3, 0))
    domain.set_qos([(DIAMOND_DETECTION, 1)])
    with pytest.raises(DiamondCreationForbidden):
        domain.add_connection(Connection(2, 3))
    domain.set_qos([(DIAMOND_DETECTION, 0)])
    domain.add_connection(Connection(2, 3))


def test_a_long_path_is_whole_in_the_error_and_short_in_its_text() -> None:
    domain = domain_of(10_000, Rules(forbid_cycles=True, forbid_diamonds=False))
    for number in range(9_999):
        domain.add_connection(Connection(number, number + 1))
    with pytest.raises(CycleCreationForbidden) as refused:
        domain.add_connection(Connection(9_999, 0))
    assert refused.value.cycle == tuple(range(10_000))
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("rules", [Rules(True, True), Rules(False, True)])
def test_channels_that_come_and_go_leave_nothing_behind(rules: Rules) -> None:
    """Or ten years of them would slow every check down."""
    domain = domain_of(3, rules)
    domain.add_connection(Connection(0, 1))
    first = domain.work
    for _ in range(5_000):
        domain.remove_channel(domain.add_channel("passing"))
    assert domain.get_all_channels() == list(domain.graph.after) == [0, 1, 2]
    before = domain.work
    domain.add_connection(Connection(2, 1))
    assert domain.work - before == first > 0
