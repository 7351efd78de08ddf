"""The rows of RULES.md 4.8 that need no CORBA, each in a test that bears its number; and the scenario of the paper's Figure 2.

Rows 19 to 21 push events through real channels, and are no business of the pure core.
"""

from __future__ import annotations

import pytest

from gateway.domain.connection import ClientType, Connection, NotificationStyle
from gateway.domain.errors import (
    AlreadyExists,
    ChannelNotFound,
    ConnectionNotFound,
    CycleCreationForbidden,
    DiamondCreationForbidden,
    DomainNotFound,
    UnsupportedAdmin,
)
from gateway.domain.event_domain import EventDomain
from gateway.domain.event_domains import EventDomains
from gateway.domain.qos import (
    CYCLE_DETECTION,
    DIAMOND_DETECTION,
    PropertyFault,
    PropertyRange,
    QoSErrorCode,
    UnsupportedQoS,
)

ANY, STRUCTURED = ClientType.ANY_EVENT, ClientType.STRUCTURED_EVENT
PUSH, PULL = NotificationStyle.Push, NotificationStyle.Pull
AUTHORIZE, FORBID = 0, 1

C1 = Connection(2, 4, STRUCTURED, PULL)
C2 = Connection(4, 1, ANY, PUSH)
C3 = Connection(1, 3, ANY, PULL)
C4 = Connection(3, 6, STRUCTURED, PUSH)
C5 = Connection(5, 9, ANY, PULL)
C6 = Connection(9, 1, ANY, PUSH)
C7 = Connection(4, 7, STRUCTURED, PULL)
C8 = Connection(7, 8, ANY, PUSH)
C9 = Connection(8, 4, ANY, PULL)
C10 = Connection(5, 4)
C11 = Connection(4, 6)
C12 = Connection(8, 6)


@pytest.fixture
def empty() -> EventDomain[str]:
    """Both rules passed explicitly, as the table wants it."""
    _, domain = EventDomains[str]().create_event_domain([(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, FORBID)])
    return domain


@pytest.fixture
def nine(empty: EventDomain[str]) -> EventDomain[str]:
    """After row 4."""
    empty.remove_channel(empty.add_channel("ch0"))
    for number in range(1, 10):
        empty.add_channel(f"ch{number}")
    return empty


@pytest.fixture
def erlang(nine: EventDomain[str]) -> EventDomain[str]:
    """After row 7."""
    for connection in (C1, C2, C3, C4, C5, C6, C7, C8):
        nine.add_connection(connection)
    return nine


@pytest.fixture
def after_24(erlang: EventDomain[str]) -> EventDomain[str]:
    erlang.remove_connection(6)
    erlang.add_connection(C7)
    return erlang


@pytest.fixture
def after_28(after_24: EventDomain[str]) -> EventDomain[str]:
    after_24.set_qos([(DIAMOND_DETECTION, AUTHORIZE)])
    for connection in (C10, C11, C12):
        after_24.add_connection(connection)
    return after_24


def diamond_ends(domain: EventDomain[str]) -> list[tuple[int, int]]:
    diamonds = domain.get_diamonds()
    assert diamonds.complete
    return [diamond.ends for diamond in diamonds.diamonds]


def test_row_1_the_first_channel_has_id_0(empty: EventDomain[str]) -> None:
    assert empty.add_channel("ch0") == 0
    assert empty.get_channel(0) == "ch0"
    assert empty.get_all_channels() == [0]


def test_row_2_an_unknown_channel_is_not_found(empty: EventDomain[str]) -> None:
    empty.add_channel("ch0")
    with pytest.raises(ChannelNotFound):
        empty.get_channel(100)
    with pytest.raises(ChannelNotFound):
        empty.remove_channel(100)


def test_row_3_a_channel_is_removed_once(empty: EventDomain[str]) -> None:
    empty.add_channel("ch0")
    assert empty.remove_channel(0) == {}
    assert empty.get_all_channels() == []
    with pytest.raises(ChannelNotFound):
        empty.remove_channel(0)


def test_row_4_ids_are_not_reused(empty: EventDomain[str]) -> None:
    empty.remove_channel(empty.add_channel("ch0"))
    assert [empty.add_channel(f"ch{number}") for number in range(1, 10)] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert len(empty.get_all_channels()) == 9


def test_row_5_there_are_no_connections_yet(nine: EventDomain[str]) -> None:
    assert nine.get_all_connections() == []


def test_row_6_the_first_connection_has_id_0(nine: EventDomain[str]) -> None:
    assert nine.add_connection(C1) == 0
    assert nine.get_all_connections() == [0]
    assert nine.get_connection(0) == Connection(2, 4, STRUCTURED, PULL)


def test_row_7_connections_are_counted(nine: EventDomain[str]) -> None:
    nine.add_connection(C1)
    for id_, connection in enumerate((C2, C3, C4, C5, C6, C7, C8), start=1):
        assert nine.add_connection(connection) == id_
        assert len(nine.get_all_connections()) == id_ + 1


def test_row_8_a_pair_is_connected_once_whatever_the_type_and_style(erlang: EventDomain[str]) -> None:
    for again in (C8, C8._replace(ctype=STRUCTURED), C8._replace(notification_style=PULL)):
        with pytest.raises(AlreadyExists) as refused:
            erlang.add_connection(again)
        assert refused.value.connection_id == 7


def test_row_9_there_are_no_cycles(erlang: EventDomain[str]) -> None:
    assert erlang.get_cycles() == ((), True)


def test_row_10_there_are_two_properties(erlang: EventDomain[str]) -> None:
    assert erlang.get_qos() == [(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, FORBID)]


def test_row_11_cycle_detection_cannot_be_changed(erlang: EventDomain[str]) -> None:
    with pytest.raises(UnsupportedQoS) as refused:
        erlang.set_qos([(CYCLE_DETECTION, AUTHORIZE)])
    assert refused.value.faults == (PropertyFault(QoSErrorCode.UNAVAILABLE_VALUE, CYCLE_DETECTION, FORBID, FORBID),)


def test_row_12_setting_what_is_set_is_fine(erlang: EventDomain[str]) -> None:
    erlang.set_qos([(CYCLE_DETECTION, FORBID)])
    assert erlang.get_qos() == [(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, FORBID)]


def test_row_13_diamonds_may_be_authorized_and_forbidden_again(erlang: EventDomain[str]) -> None:
    erlang.set_qos([(DIAMOND_DETECTION, AUTHORIZE)])
    assert erlang.get_qos() == [(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, AUTHORIZE)]
    erlang.set_qos([(DIAMOND_DETECTION, FORBID)])
    assert erlang.get_qos() == [(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, FORBID)]


@pytest.mark.parametrize("diamonds", [FORBID, AUTHORIZE])
def test_row_14_validation_answers_one_range(erlang: EventDomain[str], diamonds: int) -> None:
    ranges = erlang.validate_qos([(DIAMOND_DETECTION, diamonds), (CYCLE_DETECTION, FORBID)])
    assert ranges == [PropertyRange(DIAMOND_DETECTION, AUTHORIZE, FORBID)]
    assert erlang.get_qos() == [(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, FORBID)]


def test_row_15_validation_refuses_what_cannot_be_set(erlang: EventDomain[str]) -> None:
    with pytest.raises(UnsupportedQoS):
        erlang.validate_qos([(DIAMOND_DETECTION, FORBID), (CYCLE_DETECTION, AUTHORIZE)])


def test_row_16_a_cycle_is_refused_with_its_path(erlang: EventDomain[str]) -> None:
    with pytest.raises(CycleCreationForbidden) as refused:
        erlang.add_connection(C9)
    assert refused.value.cycle == (4, 7, 8)
    assert "4 → 7 → 8 → 4" in str(refused.value)


def test_row_17_offer_channels_are_those_upstream(erlang: EventDomain[str]) -> None:
    assert erlang.get_offer_channels(2) == []
    assert erlang.get_offer_channels(4) == [2]
    assert erlang.get_offer_channels(8) == [2, 4, 7]
    with pytest.raises(ChannelNotFound):
        erlang.get_offer_channels(100)


def test_row_18_subscription_channels_are_those_downstream(erlang: EventDomain[str]) -> None:
    assert erlang.get_subscription_channels(8) == []
    assert erlang.get_subscription_channels(4) == [1, 3, 6, 7, 8]
    assert erlang.get_subscription_channels(2) == [1, 3, 4, 6, 7, 8]
    with pytest.raises(ChannelNotFound):
        erlang.get_subscription_channels(100)


def test_row_22_a_connection_is_removed_once(erlang: EventDomain[str]) -> None:
    assert erlang.remove_connection(6) == C7
    for gone in (6, 100):
        with pytest.raises(ConnectionNotFound):
            erlang.remove_connection(gone)


def test_row_23_what_is_removed_no_longer_leads_anywhere(erlang: EventDomain[str]) -> None:
    erlang.remove_connection(6)
    assert erlang.get_offer_channels(7) == []
    assert erlang.get_offer_channels(4) == [2]
    assert erlang.get_subscription_channels(7) == [8]
    assert erlang.get_subscription_channels(4) == [1, 3, 6]


def test_row_24_refused_connections_use_up_no_id(erlang: EventDomain[str]) -> None:
    for refused in (C8, C9):
        with pytest.raises((AlreadyExists, CycleCreationForbidden)):
            erlang.add_connection(refused)
    erlang.remove_connection(6)
    assert erlang.add_connection(C7) == 8


@pytest.mark.parametrize(
    ("connection", "routes"),
    [
        (C11, [(4, 6), (4, 1, 3, 6)]),
        (C10, [(5, 4, 1), (5, 9, 1)]),
        (C12, [(4, 1, 3, 6), (4, 7, 8, 6)]),
    ],
)
def test_row_25_a_diamond_is_refused_with_its_routes(
    after_24: EventDomain[str], connection: Connection, routes: list[tuple[int, ...]]
) -> None:
    with pytest.raises(DiamondCreationForbidden) as refused:
        after_24.add_connection(connection)
    assert list(refused.value.diamond) == routes


def test_row_26_one_diamond_where_they_are_authorized(after_24: EventDomain[str]) -> None:
    after_24.set_qos([(DIAMOND_DETECTION, AUTHORIZE)])
    assert after_24.add_connection(C10) == 9
    assert len(after_24.get_all_connections()) == 9
    assert diamond_ends(after_24) == [(5, 1)]
    assert after_24.get_diamonds().diamonds[0].routes == ((5, 4, 1), (5, 9, 1))


def test_row_27_three_diamonds(after_24: EventDomain[str]) -> None:
    after_24.set_qos([(DIAMOND_DETECTION, AUTHORIZE)])
    after_24.add_connection(C10)
    assert after_24.add_connection(C11) == 10
    assert diamond_ends(after_24) == [(4, 6), (5, 1), (5, 6)]


def test_row_28_still_three_diamonds(after_28: EventDomain[str]) -> None:
    assert after_28.get_all_connections()[-1] == 11
    assert diamond_ends(after_28) == [(4, 6), (5, 1), (5, 6)]


def test_row_29_diamonds_cannot_be_forbidden_while_there_are_some(after_28: EventDomain[str]) -> None:
    with pytest.raises(UnsupportedQoS) as refused:
        after_28.set_qos([(DIAMOND_DETECTION, FORBID)])
    expected = PropertyFault(QoSErrorCode.UNAVAILABLE_VALUE, DIAMOND_DETECTION, AUTHORIZE, AUTHORIZE)
    assert refused.value.faults == (expected,)
    assert after_28.get_qos() == [(CYCLE_DETECTION, FORBID), (DIAMOND_DETECTION, AUTHORIZE)]


def test_row_30_they_can_when_they_are_gone(after_28: EventDomain[str]) -> None:
    for connection in (8, 9, 10, 11):
        after_28.remove_connection(connection)
    after_28.set_qos([(DIAMOND_DETECTION, FORBID)])
    with pytest.raises(DiamondCreationForbidden) as refused:
        after_28.add_connection(C10)
    assert refused.value.diamond == ((5, 4, 1), (5, 9, 1))


def test_row_31_destroying_gives_the_connections_back(erlang: EventDomain[str]) -> None:
    assert list(erlang.destroy().values()) == [C1, C2, C3, C4, C5, C6, C7, C8]
    assert erlang.get_all_channels() == erlang.get_all_connections() == []


def test_row_32_a_new_factory_has_no_domains() -> None:
    domains = EventDomains[str]()
    assert domains.get_all_domains() == []
    with pytest.raises(DomainNotFound):
        domains.get_event_domain(0)


def test_row_33_a_domain_is_found_by_its_id() -> None:
    domains = EventDomains[str]()
    id_, domain = domains.create_event_domain([(CYCLE_DETECTION, FORBID)], [])
    assert id_ == 0
    assert domains.get_all_domains() == [0]
    assert domains.get_event_domain(0) is domain
    with pytest.raises(DomainNotFound):
        domains.get_event_domain(1)


def test_row_34_a_destroyed_domain_is_gone() -> None:
    domains = EventDomains[str]()
    domains.create_event_domain([(CYCLE_DETECTION, FORBID)])
    domains.destroy(0)
    assert domains.get_all_domains() == []
    with pytest.raises(DomainNotFound):
        domains.get_event_domain(0)


def test_row_35_domain_ids_are_not_reused() -> None:
    domains = EventDomains[str]()
    domains.create_event_domain()
    domains.destroy(0)
    assert domains.create_event_domain()[0] == 1


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("Wrong", 1, QoSErrorCode.BAD_PROPERTY), (CYCLE_DETECTION, 10, QoSErrorCode.UNSUPPORTED_VALUE)],
)
def test_row_36_unknown_properties_and_values_are_refused(name: str, value: int, code: QoSErrorCode) -> None:
    domains = EventDomains[str]()
    with pytest.raises(UnsupportedQoS) as refused:
        domains.create_event_domain([(name, value)])
    assert refused.value.faults == (PropertyFault(code, name, 0, 1),)
    assert domains.create_event_domain()[0] == 0, "what is refused uses up no id"


def test_row_37_admin_properties_are_refused() -> None:
    with pytest.raises(UnsupportedAdmin) as refused:
        EventDomains[str]().create_event_domain([], [("MaxQueueLength", 5)])
    assert refused.value.names == ("MaxQueueLength",)


def test_figure_2_of_the_paper_has_one_diamond_and_one_cycle() -> None:
    _, domain = EventDomains[str](specified_defaults=True).create_event_domain()
    for number in range(6):
        domain.add_channel(f"ch{number}")
    for supplier, consumer in ((2, 0), (2, 3), (3, 1), (1, 0), (5, 4), (4, 5)):
        domain.add_connection(Connection(supplier, consumer, ANY, PULL))
    domain.set_default_supplier_channel(2)
    assert domain.get_default_consumer_channel() == 0
    assert domain.get_default_supplier_channel() == 2
    assert [diamond.routes for diamond in domain.get_diamonds().diamonds] == [((2, 0), (2, 3, 1, 0))]
    assert domain.get_cycles() == (((4, 5),), True)


def test_addition_a_self_loop_is_refused_with_its_channel_twice(erlang: EventDomain[str]) -> None:
    with pytest.raises(CycleCreationForbidden) as refused:
        erlang.add_connection(Connection(3, 3))
    assert refused.value.cycle == (3, 3)


def test_addition_the_same_channel_twice_is_two_members(empty: EventDomain[str]) -> None:
    assert [empty.add_channel("same"), empty.add_channel("same")] == [0, 1]


def test_addition_the_next_lowest_id_follows_a_default_that_goes(nine: EventDomain[str]) -> None:
    nine.set_default_supplier_channel(5)
    nine.remove_channel(1)
    assert (nine.get_default_consumer_channel(), nine.get_default_supplier_channel()) == (2, 5)
    nine.remove_channel(5)
    assert (nine.get_default_consumer_channel(), nine.get_default_supplier_channel()) == (2, 2)


def test_addition_an_empty_domain_has_no_default_and_the_next_first_channel_is_it(empty: EventDomain[str]) -> None:
    for _ in range(2):
        with pytest.raises(ChannelNotFound):
            empty.get_default_consumer_channel()
        with pytest.raises(ChannelNotFound):
            empty.get_default_supplier_channel()
        member = empty.add_channel("ch")
        assert empty.get_default_consumer_channel() == empty.get_default_supplier_channel() == member
        empty.remove_channel(member)
