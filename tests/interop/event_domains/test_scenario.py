"""RULES.md 4.8 over IIOP: the Erlang suite's 37 steps, the scenario of the paper's Figure 2, and the additions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.domain.corba.stubs import CORBA, CosEventDomainAdmin, CosNotification, CosNotifyChannelAdmin
from tests.interop.event_domains.plant import (
    ANY,
    AUTHORIZE,
    FORBID,
    PULL,
    PUSH,
    STRUCTURED,
    Plant,
    connection,
    number,
    plant,
    property_,
    pulled,
    qos,
    until,
)

C1 = connection(2, 4, STRUCTURED, PULL)
C2 = connection(4, 1, ANY, PUSH)
C3 = connection(1, 3, ANY, PULL)
C4 = connection(3, 6, STRUCTURED, PUSH)
C5 = connection(5, 9, ANY, PULL)
C6 = connection(9, 1, ANY, PUSH)
C7 = connection(4, 7, STRUCTURED, PULL)
C8 = connection(7, 8, ANY, PUSH)
C9 = connection(8, 4, ANY, PULL)
C10, C11, C12 = connection(5, 4), connection(4, 6), connection(8, 6)

ChannelNotFound = CosNotifyChannelAdmin.ChannelNotFound
ConnectionNotFound = CosEventDomainAdmin.ConnectionNotFound
CycleCreationForbidden = CosEventDomainAdmin.CycleCreationForbidden
DiamondCreationForbidden = CosEventDomainAdmin.DiamondCreationForbidden
DomainNotFound = CosEventDomainAdmin.DomainNotFound
UnsupportedQoS = CosNotification.UnsupportedQoS


def refused(domain: Any, wanted: Any, exception: Any) -> Any:
    with pytest.raises(exception) as raised:
        domain.add_connection(wanted)
    return raised.value


def ends(domain: Any) -> set[tuple[int, int]]:
    return {(diamond[0][0], diamond[0][-1]) for diamond in domain.get_diamonds()}


def test_rows_1_to_31(shared: Plant, channel_factory: Any) -> None:
    channels = [channel_factory.create_channel([], [])[0] for _ in range(10)]
    domain = shared.new_domain(FORBID, FORBID)
    # 1
    assert domain.add_channel(channels[0]) == 0
    assert domain.get_channel(0)._is_equivalent(channels[0])
    assert domain.get_all_channels() == [0]
    # 2
    for operation in (domain.get_channel, domain.remove_channel):
        with pytest.raises(ChannelNotFound):
            operation(100)
    # 3
    domain.remove_channel(0)
    assert domain.get_all_channels() == []
    with pytest.raises(ChannelNotFound):
        domain.remove_channel(0)
    # 4
    assert [domain.add_channel(channel) for channel in channels[1:]] == list(range(1, 10))
    assert len(domain.get_all_channels()) == 9
    # 5
    assert domain.get_all_connections() == []
    # 6
    assert domain.add_connection(C1) == 0
    assert domain.get_all_connections() == [0]
    found = domain.get_connection(0)
    assert (found.supplier_id, found.consumer_id, found.ctype, found.notification_style) == (2, 4, STRUCTURED, PULL)
    # 7
    for id_, wanted in enumerate((C2, C3, C4, C5, C6, C7, C8), start=1):
        assert domain.add_connection(wanted) == id_
        assert len(domain.get_all_connections()) == id_ + 1
    # 8
    refused(domain, C8, CosEventDomainAdmin.AlreadyExists)
    # 9
    assert domain.get_cycles() == []
    # 10
    values = {item.name: item.value.value() for item in domain.get_qos()}
    assert values == {"CycleDetection": FORBID, "DiamondDetection": FORBID}
    # 11
    with pytest.raises(UnsupportedQoS) as unsupported:
        domain.set_qos(qos(cycles=AUTHORIZE))
    (error,) = unsupported.value.qos_err
    assert error.code == CosNotification.UNAVAILABLE_VALUE
    assert (error.available_range.low_val.value(), error.available_range.high_val.value()) == (FORBID, FORBID)
    # 12
    domain.set_qos(qos(cycles=FORBID))
    # 13
    domain.set_qos(qos(diamonds=AUTHORIZE))
    domain.set_qos(qos(diamonds=FORBID))
    # 14
    for diamonds in (FORBID, AUTHORIZE):
        (range_,) = domain.validate_qos(qos(FORBID, diamonds))
        assert (range_.name, range_.range.low_val.value(), range_.range.high_val.value()) == ("DiamondDetection", 0, 1)
    # 15
    with pytest.raises(UnsupportedQoS):
        domain.validate_qos(qos(AUTHORIZE, FORBID))
    # 16
    assert refused(domain, C9, CycleCreationForbidden).cyc == [4, 7, 8]
    # 17
    assert domain.get_offer_channels(2) == []
    assert domain.get_offer_channels(4) == [2]
    assert set(domain.get_offer_channels(8)) == {2, 4, 7}
    with pytest.raises(ChannelNotFound):
        domain.get_offer_channels(100)
    # 18
    assert domain.get_subscription_channels(8) == []
    assert set(domain.get_subscription_channels(4)) == {1, 3, 6, 7, 8}
    assert set(domain.get_subscription_channels(2)) == {1, 3, 4, 6, 7, 8}
    with pytest.raises(ChannelNotFound):
        domain.get_subscription_channels(100)
    # 19
    to_2, to_7 = (domain.connect_push_supplier_with_id(None, member) for member in (2, 7))
    from_8, from_6 = (domain.connect_pull_consumer_with_id(None, member) for member in (8, 6))
    # 20
    to_2.push(number(1))
    assert (pulled(from_8), pulled(from_6)) == (1, 1)
    # 21, and once each: whatever else had come would be in front of what is pushed last
    to_7.push(number(2))
    assert pulled(from_8) == 2
    to_2.push(number(3))
    assert (pulled(from_8), pulled(from_6)) == (3, 3)
    assert not from_8.try_pull()[1]
    assert not from_6.try_pull()[1]
    # 22
    domain.remove_connection(6)
    for gone in (6, 100):
        with pytest.raises(ConnectionNotFound):
            domain.remove_connection(gone)
    # 23
    assert domain.get_offer_channels(7) == []
    assert domain.get_offer_channels(4) == [2]
    assert domain.get_subscription_channels(7) == [8]
    assert set(domain.get_subscription_channels(4)) == {1, 3, 6}
    # 24
    assert domain.add_connection(C7) == 8
    # 25
    assert refused(domain, C11, DiamondCreationForbidden).diam == [[4, 6], [4, 1, 3, 6]]
    assert refused(domain, C10, DiamondCreationForbidden).diam == [[5, 4, 1], [5, 9, 1]]
    assert refused(domain, C12, DiamondCreationForbidden).diam == [[4, 1, 3, 6], [4, 7, 8, 6]]
    # 26
    domain.set_qos(qos(diamonds=AUTHORIZE))
    assert domain.add_connection(C10) == 9
    assert len(domain.get_all_connections()) == 9
    assert domain.get_diamonds() == [[[5, 4, 1], [5, 9, 1]]]
    # 27
    assert domain.add_connection(C11) == 10
    assert ends(domain) == {(5, 1), (4, 6), (5, 6)}
    # 28
    assert domain.add_connection(C12) == 11
    assert ends(domain) == {(5, 1), (4, 6), (5, 6)}
    # 29
    with pytest.raises(UnsupportedQoS):
        domain.set_qos(qos(diamonds=FORBID))
    # 30
    for id_ in (8, 9, 10, 11):
        domain.remove_connection(id_)
    domain.set_qos(qos(diamonds=FORBID))
    assert refused(domain, C10, DiamondCreationForbidden).diam == [[5, 4, 1], [5, 9, 1]]
    # 31
    domain.destroy()
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        domain.get_all_channels()
    for channel in channels[1:]:
        assert channel.get_all_consumeradmins() is not None
        assert not channel._non_existent()
        channel.destroy()


def test_rows_32_to_37(tmp_path: Path) -> None:
    with plant(tmp_path) as fresh:
        factory = fresh.domains
        # 32
        assert factory.get_all_domains() == []
        with pytest.raises(DomainNotFound):
            factory.get_event_domain(0)
        # 33
        domain, id_ = factory.create_event_domain(qos(cycles=FORBID), [])
        assert id_ == 0
        assert factory.get_all_domains() == [0]
        assert factory.get_event_domain(0)._is_equivalent(domain)
        with pytest.raises(DomainNotFound):
            factory.get_event_domain(1)
        # 34
        domain.destroy()
        assert factory.get_all_domains() == []
        with pytest.raises(DomainNotFound):
            factory.get_event_domain(0)
        # 35
        assert factory.create_event_domain([], [])[1] == 1
        # 36
        for bad, code in (
            (property_("Wrong", 1), CosNotification.BAD_PROPERTY),
            (property_("CycleDetection", 10), CosNotification.UNSUPPORTED_VALUE),
        ):
            with pytest.raises(UnsupportedQoS) as unsupported:
                factory.create_event_domain([bad], [])
            assert [(error.code, error.name) for error in unsupported.value.qos_err] == [(code, bad.name)]
        # 37
        with pytest.raises(CosNotification.UnsupportedAdmin) as unsupported:
            factory.create_event_domain([], [property_("MaxQueueLength", 5)])
        assert [error.name for error in unsupported.value.admin_err] == ["MaxQueueLength"]
        assert factory.create_event_domain([], [])[1] == 2, "what is refused uses up no id"


def test_figure_2_of_the_paper(shared: Plant, channel_factory: Any) -> None:
    channels = [channel_factory.create_channel([], [])[0] for _ in range(6)]
    domain = shared.new_domain(AUTHORIZE, AUTHORIZE)
    for channel in channels:
        domain.add_channel(channel)
    for supplier, consumer in ((2, 0), (2, 3), (3, 1), (1, 0), (5, 4), (4, 5)):
        domain.add_connection(connection(supplier, consumer, ANY, PULL))
    domain.set_default_supplier_channel(2)
    consumer_1, consumer_2 = domain.connect_pull_consumer(None), domain.connect_pull_consumer_with_id(None, 4)
    # The suppliers of the figure pull; what counts is where their events enter.
    to_3, to_5 = (domain.connect_push_supplier_with_id(None, member) for member in (3, 5))
    to_2 = domain.connect_push_supplier(None)

    assert domain.get_diamonds() == [[[2, 0], [2, 3, 1, 0]]]
    assert domain.get_cycles() == [[4, 5]]
    to_2.push(number(20))
    assert [pulled(consumer_1) for _ in range(2)] == [20, 20], "one copy for each route"
    to_3.push(number(30))
    assert pulled(consumer_1) == 30, "there was no third copy of the first event, and there is one of this"
    assert not consumer_1.try_pull()[1]
    to_5.push(number(50))
    assert [pulled(consumer_2) for _ in range(4)] == [50] * 4, "again and again"
    domain.destroy()
    for channel in channels:
        channel.destroy()


def test_additions(shared: Plant, channel_factory: Any) -> None:
    channels = [channel_factory.create_channel([], [])[0] for _ in range(2)]
    domain = shared.new_domain(FORBID, FORBID)
    for client in (domain.connect_push_supplier, domain.connect_structured_pull_consumer):
        with pytest.raises(ChannelNotFound):
            client(None)
    assert [domain.add_channel(channels[0]), domain.add_channel(channels[0]), domain.add_channel(channels[1])] == [
        0,
        1,
        2,
    ]
    assert refused(domain, connection(1, 1), CycleCreationForbidden).cyc == [1, 1]
    domain.remove_channel(0)
    assert domain.connect_push_supplier(None)._get_MyAdmin()._get_MyChannel()._is_equivalent(channels[0])
    domain.remove_channel(1)
    assert domain.connect_push_supplier(None)._get_MyAdmin()._get_MyChannel()._is_equivalent(channels[1])
    for nothing in (None, shared.domains):
        with pytest.raises(CORBA.BAD_PARAM):
            domain.add_channel(nothing)
    domain.destroy()


def test_what_a_domain_takes_away_is_gone_from_the_channels(shared: Plant, channel_factory: Any) -> None:
    channels = [channel_factory.create_channel([], [])[0] for _ in range(2)]

    def admins() -> list[int]:
        return [*channels[0].get_all_consumeradmins(), *channels[1].get_all_supplieradmins()]

    domain = shared.new_domain(FORBID, FORBID)
    for channel in channels:
        domain.add_channel(channel)
    before = admins()
    for style in (PUSH, PULL):
        for ctype in CosNotifyChannelAdmin.ClientType._items:
            id_ = domain.add_connection(connection(0, 1, ctype, style))
            assert len(admins()) == len(before) + 2, "one admin of the domain's own at each channel"
            domain.remove_connection(id_)
            until(lambda: admins() == before)
    domain.destroy()
