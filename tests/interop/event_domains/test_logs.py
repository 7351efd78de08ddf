"""Logs of the Telecom Log Service as members of log domains: they record what passes, answer queries, and come back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.logs.duty import UNIX_EPOCH
from gateway.domain.corba.stubs import CORBA, CosEventDomainAdmin, CosNotifyChannelAdmin
from tests.interop.event_domains.plant import (
    FORBID,
    STRUCTURED,
    Plant,
    answers,
    connection,
    held,
    number,
    plant,
    pulled,
    qos,
    until,
)
from tests.interop.notification_service.clients import constraint, event, number_of
from tests.interop.notification_service.typed_clients import ALARMS
from tests.interop.notification_service.typed_clients import Plant as Interfaces

# ruff: isort: split
import DsLogAdmin

WRAP, HALT = 0, 1


def new_log(shared: Plant, action: int = WRAP, max_size: int = 0) -> Any:
    return shared.logs.create(action, max_size, [], [], [])[0]


def push(log: Any, first: int, count: int, type_: str = "Alarm") -> None:
    proxy = log._get_default_supplier_admin().obtain_notification_push_consumer(STRUCTURED)[0]
    proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
    proxy.connect_structured_push_supplier(None)
    for n in range(first, first + count):
        proxy.push_structured_event(event(n, "Telecom", type_))
    proxy.disconnect_structured_push_consumer()


def numbers(records: Any) -> list[int]:
    return [number_of(record.info.value()) for record in records]


def all_of(log: Any) -> Any:
    return log.query("EXTENDED_TCL", "")[0]


def test_a_log_is_a_member_through_which_events_pass_and_stay(shared: Plant) -> None:
    log = new_log(shared)
    source, sink = (shared.channels.create_channel([], [])[0] for _ in range(2))
    domain, _ = shared.log_domains.create_event_log_domain(qos(FORBID, FORBID), [])
    assert [domain.add_channel(source), domain.add_log(log), domain.add_channel(sink)] == [0, 1, 2]
    assert domain.get_all_channels() == [0, 1, 2]
    assert domain.get_all_logs() == [1]
    assert domain.get_log(1)._is_equivalent(log)
    assert domain.get_channel(1)._is_equivalent(log), "an untyped log is an EventChannel"
    types = [domain.get_channel_type(member) for member in (0, 1)]
    assert types == [CosEventDomainAdmin.CHANNEL, CosEventDomainAdmin.LOG_CHANNEL]
    for operation, member in ((domain.get_log, 0), (domain.get_typed_log, 1), (domain.get_channel_type, 9)):
        with pytest.raises(CosNotifyChannelAdmin.ChannelNotFound):
            operation(member)
    with pytest.raises(CORBA.BAD_PARAM):
        domain.add_log(source)

    domain.add_connection(connection(0, 1))
    domain.add_connection(connection(1, 2))
    consumer = domain.connect_pull_consumer_with_id(None, 2)
    supplier = domain.connect_push_supplier_with_id(None, 0)
    for value in (1, 2, 3):
        supplier.push(number(value))
    assert [pulled(consumer) for _ in range(3)] == [1, 2, 3]
    records = all_of(log)
    assert [(record.id, record.info.value()) for record in records] == [(1, 1), (2, 2), (3, 3)]
    domain.destroy()
    assert log.get_n_records() == 3, "the log lives on"
    log.destroy()
    assert shared.logs.find_log(1000) is None


def test_queries_look_into_records_and_their_events(shared: Plant) -> None:
    log = new_log(shared)
    before = UNIX_EPOCH + time.time_ns() // 100
    push(log, 0, 5, "Alarm")
    push(log, 5, 5, "State")
    for text, expected in (
        ("$.id <= 3", [0, 1, 2]),
        ("$.info.filterable_data(n) > 7", [8, 9]),
        ("$.info.header.fixed_header.event_type.type_name == 'State' and $.id < 8", [5, 6]),
        (f"$.time < {before}", []),
        ("exist $.no_such_member", []),
    ):
        assert numbers(log.query("EXTENDED_TCL", text)[0]) == expected, text
        assert log.match("EXTENDED_TCL", text) == len(expected)
    with pytest.raises(DsLogAdmin.InvalidGrammar):
        log.query("SQL", "")
    with pytest.raises(DsLogAdmin.InvalidConstraint):
        log.match("EXTENDED_TCL", "$.id <")
    assert numbers(log.retrieve(before, 4)[0]) == [0, 1, 2, 3]
    assert numbers(log.retrieve(before + 36_000_000_000, -2)[0]) == [9, 8]

    log.set_record_attribute(2, [DsLogAdmin.NVPair("seen", number(1))])
    assert [pair.name for pair in log.get_record_attribute(2)] == ["seen"]
    assert numbers(log.query("EXTENDED_TCL", "$.attr_list(seen) == 1")[0]) == [1]
    assert log.set_records_attribute("EXTENDED_TCL", "$.id > 8", [DsLogAdmin.NVPair("seen", number(2))]) == 2
    assert numbers(log.query("EXTENDED_TCL", "$.attr_list(seen) == 2")[0]) == [8, 9]
    with pytest.raises(DsLogAdmin.InvalidRecordId):
        log.get_record_attribute(99)

    assert log.delete_records("EXTENDED_TCL", "$.id <= 2") == 2
    assert log.delete_records_by_id([3, 99]) == 1
    assert numbers(all_of(log)) == [3, 4, 5, 6, 7, 8, 9]
    log.destroy()


def test_a_long_answer_goes_on_in_an_iterator(shared: Plant) -> None:
    log = new_log(shared)
    log.write_records([number(n) for n in range(1500)])
    first, rest = log.query("EXTENDED_TCL", "")
    assert [record.info.value() for record in first] == list(range(1000))
    assert [record.info.value() for record in rest.get(1000, 10_000)] == list(range(1000, 1500))
    assert [record.info.value() for record in rest.get(10, 2)] == [10, 11]
    assert rest.get(1500, 1) == []
    with pytest.raises(DsLogAdmin.InvalidParam):
        rest.get(1501, 1)
    rest.destroy()
    with pytest.raises(CORBA.OBJECT_NOT_EXIST):
        rest.get(0, 1)
    assert log.query("EXTENDED_TCL", "$.id < 5")[1] is None
    log.destroy()


def test_a_log_that_wraps_forgets_the_oldest(shared: Plant) -> None:
    log = new_log(shared)
    push(log, 0, 1)
    one = log.get_current_size()
    log.set_max_size(3 * one)
    push(log, 1, 5)
    assert numbers(all_of(log)) == [3, 4, 5]
    assert log.get_current_size() == 3 * one
    assert not log.get_availability_status().log_full
    with pytest.raises(DsLogAdmin.InvalidParam):
        log.set_max_size(one)
    log.destroy()


def test_a_log_that_halts_says_so_and_events_pass_on(shared: Plant) -> None:
    log = new_log(shared, HALT)
    push(log, 0, 1)
    log.set_max_size(2 * log.get_current_size())
    consumer = log._get_default_consumer_admin().obtain_notification_pull_supplier(STRUCTURED)[0]
    consumer = consumer._narrow(CosNotifyChannelAdmin.StructuredProxyPullSupplier)
    consumer.connect_structured_pull_consumer(None)
    push(log, 1, 3)
    assert numbers(all_of(log)) == [0, 1]
    assert log.get_availability_status().log_full
    said = {"event": "store changed", "service": f"log {log.id()}"}
    shared.gateway.wait_for_log(**said, state="down", code="COR-LOG-FULL")
    assert [number_of(consumer.try_pull_structured_event()[0]) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(DsLogAdmin.LogFull) as full:
        log.write_records([CORBA.Any(CORBA.TC_string, "x" * 10_000)])
    assert full.value.n_records_written == 0
    log.delete_records_by_id([1])
    log.set_log_full_action(WRAP)
    push(log, 4, 1)
    assert numbers(all_of(log)) == [1, 4]
    assert not log.get_availability_status().log_full
    shared.gateway.wait_for_log(**said, state="ready")
    log.destroy()


def test_a_log_whose_file_fails_says_so_and_events_pass_on(shared: Plant) -> None:
    """Another process holds it, for longer than anybody waits."""
    log = new_log(shared)
    push(log, 0, 1)
    consumer = log._get_default_consumer_admin().obtain_notification_pull_supplier(STRUCTURED)[0]
    consumer = consumer._narrow(CosNotifyChannelAdmin.StructuredProxyPullSupplier)
    consumer.connect_structured_pull_consumer(None)
    supplier = log._get_default_supplier_admin().obtain_notification_push_consumer(STRUCTURED)[0]
    supplier = supplier._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
    supplier.connect_structured_push_supplier(None)
    for reference in (log, supplier):
        set_time_out(reference, 60_000)  # the log's file is waited for, for some seconds
    with held(shared.gateway.folder / "run" / "event-logs.db"):
        supplier.push_structured_event(event(1, "Telecom", "Alarm"))
        assert number_of(consumer.try_pull_structured_event()[0]) == 1
        assert log.get_operational_state() == DsLogAdmin.disabled
        for call in (
            lambda: log.write_records([number(1)]),
            lambda: log.delete_records_by_id([1]),
            lambda: log.set_max_size(10_000),
        ):
            with pytest.raises(CORBA.PERSIST_STORE) as raised:
                call()
            assert raised.value.completed == CORBA.COMPLETED_NO
    said = {"event": "store changed", "service": f"log {log.id()}"}
    shared.gateway.wait_for_log(**said, state="down", code="COR-LOG-WRITE")
    assert (log.get_max_size(), log.get_n_records()) == (0, 1)
    supplier.push_structured_event(event(2, "Telecom", "Alarm"))
    assert log.get_operational_state() == DsLogAdmin.enabled
    shared.gateway.wait_for_log(**said, state="ready")
    assert numbers(all_of(log)) == [0, 2]
    log.destroy()


def test_what_is_recorded_can_be_chosen(shared: Plant) -> None:
    log = new_log(shared)
    only = log._get_default_filter_factory().create_filter("EXTENDED_TCL")
    only.add_constraints([constraint("$n > 1")])
    log.set_filter(only)
    assert log.get_filter()._is_equivalent(only)
    push(log, 0, 4)
    log.set_filter(None)
    log.set_administrative_state(DsLogAdmin.locked)
    push(log, 4, 1)
    with pytest.raises(DsLogAdmin.LogLocked):
        log.write_records([number(1)])
    log.set_administrative_state(DsLogAdmin.unlocked)
    log.set_interval(DsLogAdmin.TimeInterval(0, 1))  # until 1582
    push(log, 5, 1)
    assert log.get_availability_status().off_duty
    with pytest.raises(DsLogAdmin.LogOffDuty):
        log.write_records([number(1)])
    with pytest.raises(DsLogAdmin.InvalidTimeInterval):
        log.set_interval(DsLogAdmin.TimeInterval(2, 1))
    log.set_interval(DsLogAdmin.TimeInterval(0, 0))
    consumer = log._get_default_consumer_admin().obtain_notification_pull_supplier(STRUCTURED)[0]
    consumer = consumer._narrow(CosNotifyChannelAdmin.StructuredProxyPullSupplier)
    consumer.connect_structured_pull_consumer(None)
    log.set_forwarding_state(DsLogAdmin.off)
    push(log, 6, 1)
    log.set_forwarding_state(DsLogAdmin.on)
    push(log, 7, 1)
    assert number_of(consumer.try_pull_structured_event()[0]) == 7, "what was recorded meanwhile was not passed on"
    assert numbers(all_of(log)) == [2, 3, 6, 7]
    log.destroy()


def test_a_typed_log_records_operations(shared: Plant) -> None:
    log = shared.typed_logs.create(WRAP, 0, [], [], [])[0]
    domain, _ = shared.log_domains.create_event_log_domain([], [])
    assert domain.add_typed_log(log) == 0
    assert domain.get_typed_log(0)._is_equivalent(log)
    assert domain.get_channel_type(0) == CosEventDomainAdmin.TYPED_LOG_CHANNEL
    assert domain.get_all_logs() == [0]
    domain.connect_typed_push_supplier(None, ALARMS).get_typed_consumer()._narrow(Interfaces.Alarms).cleared(7)
    until(lambda: log.get_n_records() == 1)
    (record,) = all_of(log)
    assert [item.value.value() for item in record.info.value()][1:] == [7]
    domain.destroy()
    log.destroy()


def test_logs_come_back_with_their_records_and_references(tmp_path: Path) -> None:
    with plant(tmp_path) as here:
        log, id_ = here.logs.create(HALT, 100_000, [50, 90], [], [])
        twin = here.logs.create_with_id(7, WRAP, 0, [], [], [])
        with pytest.raises(DsLogAdmin.LogIdAlreadyExists):
            here.logs.create_with_id(7, WRAP, 0, [], [], [])
        push(log, 0, 3)
        log.flush()
        copy, copy_id = log.copy()
        here.gateway.kill()
        here.gateway.start()
        until(lambda: answers(log))
        assert here.logs.list_logs_by_id() == sorted([id_, 7, copy_id])
        again = here.logs.find_log(id_)
        assert again._is_equivalent(log)
        assert numbers(all_of(again)) == [0, 1, 2]
        assert (again.get_max_size(), again.get_log_full_action()) == (100_000, HALT)
        assert again.get_capacity_alarm_thresholds() == [50, 90]
        found = here.logs.find_log(copy_id)
        assert (found.get_max_size(), found.get_n_records()) == (100_000, 0)
        push(again, 3, 1)
        assert [record.id for record in all_of(again)] == [1, 2, 3, 4]
        here.logs.find_log(7).destroy()
        assert here.logs.find_log(7) is None
        del twin, copy
