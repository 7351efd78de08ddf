"""A service that is killed with -9: what is Persistent is there again, under the same references (RULES.md 1.6)."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.store.database import GATHER_SECS
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyChannelAdmin, omniORB
from tests.interop.notification_service.clients import (
    CLIENTS,
    OR_OP,
    Channel,
    constraint,
    drain,
    event,
    number_of,
    property_,
    until,
)
from tests.interop.notification_service.kept_service import KeptService
from tests.interop.notification_service.subjects import pair
from tests.interop.notification_service.test_qos import longs, shorts, timed

CONNECTIONS = [("ConnectionReliability", 1)]
EVENTS = [*CONNECTIONS, ("EventReliability", 1)]


def reliable(*properties: tuple[str, int]) -> list[Any]:
    return [property_(name, CORBA.TC_short, value) for name, value in properties]


class Retry:
    """Connections to a process that has died fail once each. Clients of a persistent service call again, and so does our ORB."""

    on = False
    installed = False

    @staticmethod
    def again(_: Any, retries: int, __: Any) -> bool:
        return Retry.on and retries < 40


@pytest.fixture(scope="module")
def orb() -> Iterator[LocalOrb]:
    orb = LocalOrb()
    orb.start()
    if not Retry.installed:
        omniORB.installCommFailureExceptionHandler(None, Retry.again)
        Retry.installed = True
    Retry.on = True
    yield orb
    Retry.on = False
    orb.stop()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptService]:
    service = KeptService(tmp_path)
    service.start()
    yield service
    service.close()


def again(kept: KeptService) -> None:
    kept.kill()
    kept.start()


def values(properties: Any) -> dict[str, Any]:
    return {item.name: item.value.value() for item in properties}


def is_gone(reference: Any) -> bool:
    return bool(reference._non_existent())


def test_the_factory_and_its_channels_keep_their_references(orb: LocalOrb, kept: KeptService) -> None:
    before = kept.factory_ior
    made = [Channel(orb, kept.factory_ior, reliable(*CONNECTIONS)) for _ in range(2)]
    forgotten = Channel(orb, kept.factory_ior)
    gone = Channel(orb, kept.factory_ior, reliable(*CONNECTIONS))
    gone.reference.destroy()
    again(kept)
    assert kept.factory_ior == before
    factory = made[0].factory
    assert sorted(factory.get_all_channels()) == [0, *(channel.id for channel in made)]
    for channel in made:
        assert factory.get_event_channel(channel.id)._is_equivalent(channel.reference)
        assert channel.reference._get_MyFactory()._is_equivalent(factory)
    assert is_gone(forgotten.reference)
    assert is_gone(gone.reference)
    _, id_ = factory.create_channel([], [])
    assert id_ > gone.id, "an id was used twice"


def test_settings_of_every_kind_of_object(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(
        orb, kept.factory_ior, [*reliable(*EVENTS), *longs(MaxEventsPerConsumer=77)], longs(MaxConsumers=9)
    )
    admin, admin_id = channel.reference.new_for_consumers(OR_OP)
    admin.set_qos(shorts(OrderPolicy=1))
    admin.subscription_change([CosNotification.EventType("d", "*")], [])
    proxy = channel.proxy("push", "consumer", "sequence", admin)
    proxy.set_qos([*longs(MaximumBatchSize=5), property_("PacingInterval", CORBA.TC_ulonglong, 7)])
    filter_ = channel.filter("$n > 3", ("$n == 1", [("a", "b*")]))
    dropped = filter_.add_constraints([constraint("$n == 9")])[0].constraint_id
    filter_.modify_constraints([dropped], [])
    callback = filter_.attach_callback(channel.activate(CLIENTS["push", "supplier"]["structured"]()))
    mapping = channel.reference._get_default_filter_factory().create_mapping_filter(
        "EXTENDED_TCL", CORBA.Any(CORBA.TC_short, 4)
    )
    mapping.add_mapping_constraints([pair("$n == 2", value=CORBA.Any(CORBA.TC_short, 8))])
    number = proxy.add_filter(filter_)
    admin._set_priority_filter(mapping)
    foreign = channel.activate(CLIENTS["push", "supplier"]["structured"]())._unchecked_narrow(type(filter_))
    other = admin.add_filter(foreign)
    removed = admin.add_filter(filter_)
    admin.remove_filter(removed)
    supplier = channel.supplier("any")
    supplier.offer_change([CosNotification.EventType("x", "y")], [])
    constraints = [
        (info.constraint_id, info.constraint_expression.constraint_expr) for info in filter_.get_all_constraints()
    ]
    expected = [values(each.get_qos()) for each in (channel.reference, admin, proxy)]

    again(kept)

    assert [values(each.get_qos()) for each in (channel.reference, admin, proxy)] == expected
    assert values(channel.reference.get_admin())["MaxConsumers"] == 9
    assert channel.reference.get_all_consumeradmins() == [0, admin_id]
    assert admin._get_MyOperator() == OR_OP
    assert admin._get_MyID() == admin_id
    assert admin._get_push_suppliers() == [1]
    assert proxy._get_MyAdmin()._is_equivalent(admin)
    assert proxy.get_filter(number)._is_equivalent(filter_)
    assert admin.get_all_filters() == [other]
    assert admin.get_filter(other)._is_equivalent(foreign)
    assert admin.add_filter(filter_) > removed
    assert [
        (info.constraint_id, info.constraint_expression.constraint_expr) for info in filter_.get_all_constraints()
    ] == constraints
    (added,) = filter_.add_constraints([constraint("$n == 9")])
    assert added.constraint_id > dropped
    assert filter_.get_callbacks() == [callback]
    assert admin._get_priority_filter()._is_equivalent(mapping)
    assert mapping._get_default_value().value() == 4
    assert mapping.match_structured(event(2))[1].value() == 8
    offered = proxy.obtain_offered_types(CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON)
    assert [(type_.domain_name, type_.type_name) for type_ in offered] == [("x", "y")]


@pytest.mark.parametrize("form", ["any", "structured", "sequence"])
def test_clients_of_every_kind_stay_connected(orb: LocalOrb, kept: KeptService, form: str) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*CONNECTIONS))
    consumer, _ = channel.consumer(form)
    resting, suspended = channel.consumer(form)
    suspended.suspend_connection()
    puller = channel.puller(form)
    supplier = channel.supplier("structured")
    pulled, _ = channel.join("pull", "supplier", form)
    created = channel.proxy("push", "consumer", form)
    filter_ = channel.filter("$n != 5")
    channel.consumers.add_filter(filter_)

    again(kept)

    supplier.push_structured_event(event(4))
    supplier.push_structured_event(event(5))
    supplier.push_structured_event(event(6))
    until(lambda: len(consumer.got) == 2)
    if form != "any":
        assert consumer.numbers == [4, 6]
    pull = {"any": "try_pull", "structured": "try_pull_structured_event"}.get(form)
    for _ in range(2):
        assert (getattr(puller, pull)() if pull else puller.try_pull_structured_events(1))[1]
    assert resting.got == []
    with pytest.raises(CosNotifyChannelAdmin.ConnectionAlreadyInactive):
        suspended.suspend_connection()
    suspended.resume_connection()
    until(lambda: len(resting.got) == 2)
    before = pulled.asked
    until(lambda: pulled.asked > before)  # it is pulled from again
    with pytest.raises(CosNotifyChannelAdmin.NotConnected):
        created.suspend_connection()


def test_what_is_not_persistent_is_gone(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*CONNECTIONS))
    admin, admin_id = channel.reference.new_for_consumers(OR_OP)
    admin.set_qos(shorts(ConnectionReliability=0))
    below = channel.proxy("push", "consumer", "structured", admin)
    loose = channel.puller()
    loose.set_qos(shorts(ConnectionReliability=0))
    stays = channel.puller()
    was_so = channel.puller()
    was_so.set_qos(shorts(ConnectionReliability=0))
    was_so.set_qos(shorts(ConnectionReliability=1))
    ended = channel.puller()
    ended.disconnect_structured_pull_supplier()
    ids = channel.consumers._get_pull_suppliers()
    again(kept)
    assert [is_gone(each) for each in (admin, below, loose, ended, stays, was_so)] == [True] * 4 + [False] * 2
    assert channel.reference.get_all_consumeradmins() == [0]
    _, new_admin = channel.reference.new_for_consumers(OR_OP)
    _, new_proxy = channel.consumers.obtain_notification_pull_supplier(CosNotifyChannelAdmin.ANY_EVENT)
    assert new_admin > admin_id
    assert new_proxy > max(ids)


def test_a_channel_that_becomes_best_effort_is_forgotten_with_all_in_it(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*CONNECTIONS))
    puller = channel.puller()
    channel.reference.set_qos(shorts(ConnectionReliability=0))
    again(kept)
    assert is_gone(channel.reference)
    assert is_gone(puller)


def test_reliability_that_cannot_be(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior)
    for asked in ([("EventReliability", 1)], [("EventReliability", 1), ("ConnectionReliability", 0)]):
        with pytest.raises(CosNotification.UnsupportedQoS) as caught:
            channel.reference.set_qos(reliable(*asked))
        assert [(error.name, error.code) for error in caught.value.qos_err] == [
            ("EventReliability", CosNotification.UNAVAILABLE_VALUE)
        ]
    channel.reference.set_qos(reliable(*EVENTS))
    with pytest.raises(CosNotification.UnsupportedQoS) as caught:
        channel.reference.set_qos(shorts(ConnectionReliability=0))
    (error,) = caught.value.qos_err
    assert error.available_range.low_val.value() == 1
    channel.close()


def test_events_wait_over_a_crash_for_every_consumer_that_was_there(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    quick, _ = channel.consumer()
    slow, suspended = channel.consumer()
    suspended.suspend_connection()
    picky, narrowed = channel.consumer()
    narrowed.suspend_connection()
    narrowed.add_filter(channel.filter("$n == 2"))
    puller, batches = channel.puller(), channel.puller("sequence")
    supplier = channel.supplier()
    for number in range(3):
        supplier.push_structured_event(event(number))
    channel.supplier("sequence").push_structured_events(
        [event(3), timed(4, EventReliability=0), timed(5, StopTime=0.2)]
    )
    untyped = channel.supplier("any")
    untyped.push(CORBA.Any(CORBA.TC_long, 6))
    until(lambda: len(quick.got) == 7)
    time.sleep(0.3)  # for what the store writes when it has the time, and for the one that runs out

    again(kept)

    late = channel.puller()
    assert batches.try_pull_structured_events(9)[1]
    suspended.resume_connection()
    narrowed.resume_connection()
    until(lambda: len(slow.got) == 5)
    assert [number_of(each) for each in slow.got[:4]] == [0, 1, 2, 3]
    assert slow.got[4].remainder_of_body.value() == 6
    until(lambda: picky.got)
    assert [number_of(puller.try_pull_structured_event()[0]) for _ in range(4)] == [0, 1, 2, 3]
    assert puller.try_pull_structured_event()[0].remainder_of_body.value() == 6
    assert not late.try_pull_structured_event()[1], "it came after the events"
    assert len(quick.got) == 7, "it had them"
    assert picky.numbers == [2]
    supplier.push_structured_event(event(2))
    until(lambda: picky.numbers == [2, 2])
    until(lambda: len(quick.got) == 8)


def test_what_a_puller_was_given_last_may_come_again_and_nothing_before_it(orb: LocalOrb, kept: KeptService) -> None:
    """Its answer may have been lost with the process."""
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    puller = channel.puller()
    channel.supplier("sequence").push_structured_events([event(number) for number in range(4)])
    assert [number_of(puller.try_pull_structured_event()[0]) for _ in range(3)] == [0, 1, 2]
    time.sleep(0.3)
    again(kept)
    assert drain(puller, 2) == [2, 3]


def test_a_service_that_is_stopped_goes_on_later(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    loose = Channel(orb, kept.factory_ior)
    consumer, proxy = channel.consumer()
    other, _ = loose.consumer()
    proxy.suspend_connection()
    supplier = channel.supplier()
    supplier.push_structured_event(event(1))
    kept.stop()
    assert other.disconnected.is_set(), "who is not kept is told"
    assert not consumer.disconnected.is_set()
    kept.start()
    proxy.resume_connection()
    until(lambda: consumer.numbers == [1])
    supplier.push_structured_event(event(2))
    until(lambda: consumer.numbers == [1, 2])


def test_a_full_disk_refuses_and_loses_nothing(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    consumer, proxy = channel.consumer()
    supplier = channel.supplier()
    supplier.push_structured_event(event(1))
    kept.ask("full")
    refused = 1
    with pytest.raises(CORBA.PERSIST_STORE) as caught:  # noqa: PT012 - sooner or later
        while refused < 2000:
            refused += 1
            supplier.push_structured_event(event(refused))
    assert caught.value.completed == CORBA.COMPLETED_NO
    kept.ask("room")
    supplier.push_structured_event(event(refused))
    until(lambda: len(consumer.got) >= refused)
    assert consumer.numbers == list(range(1, refused + 1))
    time.sleep(0.5)
    again(kept)
    proxy.suspend_connection()
    assert consumer.numbers == list(range(1, refused + 1)), "what had been delivered was noted when there was room"


def test_what_is_delivered_while_the_disk_is_full_is_noted_when_there_is_room(orb: LocalOrb, kept: KeptService) -> None:
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    consumer, proxy = channel.consumer()
    proxy.suspend_connection()
    supplier = channel.supplier()
    for number in range(3):
        supplier.push_structured_event(event(number))
    kept.ask("full")
    with pytest.raises(CORBA.PERSIST_STORE) as caught:
        proxy.resume_connection()
    assert caught.value.completed == CORBA.COMPLETED_YES, "it is done, and may not outlive a crash"
    until(lambda: consumer.numbers == [0, 1, 2])
    time.sleep(3 * GATHER_SECS)  # the note of it fails
    kept.ask("room")
    supplier.push_structured_event(event(3))  # is written together with what is still to be noted
    until(lambda: consumer.numbers == [0, 1, 2, 3])
    time.sleep(3 * GATHER_SECS)
    again(kept)
    supplier.push_structured_event(event(4))
    until(lambda: consumer.numbers[-1] == 4)
    assert consumer.numbers == [0, 1, 2, 3, 4], "and nothing twice"


def test_who_calls_too_early_waits(orb: LocalOrb, kept: KeptService) -> None:
    """A proxy that is not there yet would look like one that is gone for good."""
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    supplier = channel.supplier()
    puller = channel.puller()
    wrong: list[Exception] = []
    over = threading.Event()

    def push() -> None:
        number = 0
        while not over.is_set():
            try:
                supplier.push_structured_event(event(number))
                number += 1
            except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
                time.sleep(0.001)
            except CORBA.Exception as error:
                wrong.append(error)
                return

    pushing = threading.Thread(target=push)
    pushing.start()
    for _ in range(2):
        again(kept)
    over.set()
    pushing.join()
    assert wrong == []
    assert puller.try_pull_structured_event()[1]


@pytest.mark.parametrize("seed", [11, 12])
def test_killed_at_random_moments(orb: LocalOrb, kept: KeptService, seed: int) -> None:
    """Every event whose push returned reaches every consumer, first occurrences in order."""
    print(f"seed {seed}")
    chance = random.Random(seed)
    channel = Channel(orb, kept.factory_ior, [*reliable(*EVENTS), *shorts(OrderPolicy=1)])
    consumers = [channel.consumer("structured"), channel.consumer("sequence"), channel.consumer("structured")]
    consumers[1][1].set_qos(longs(MaximumBatchSize=7))
    puller = channel.puller()
    single, batches = channel.supplier(), channel.supplier("sequence")
    accepted: list[int] = []
    over = threading.Event()

    def supply() -> None:
        number = 0
        while not over.is_set():
            numbers = list(range(number, number + chance.choice((1, 1, 1, 5))))
            try:
                if len(numbers) == 1:
                    single.push_structured_event(event(number))
                else:
                    batches.push_structured_events([event(each) for each in numbers])
            except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
                time.sleep(0.005)
                continue
            accepted.extend(numbers)
            number = numbers[-1] + 1

    pulled: list[int] = []
    deadline = time.monotonic() + 60

    def pull() -> None:
        while threads[0].is_alive() or (set(accepted) - set(pulled) and time.monotonic() < deadline):
            try:
                got, has_event = puller.try_pull_structured_event()
            except (CORBA.TRANSIENT, CORBA.COMM_FAILURE):
                time.sleep(0.005)
                continue
            if has_event:
                pulled.append(number_of(got))

    threads = [threading.Thread(target=each) for each in (supply, pull)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        time.sleep(chance.uniform(0.02, 0.5))
        again(kept)
    time.sleep(0.2)
    over.set()
    threads[0].join()
    for consumer, _ in consumers:
        until(lambda consumer=consumer: set(consumer.numbers) >= set(accepted))
    threads[1].join()
    for numbers in [*(consumer.numbers for consumer, _ in consumers), pulled]:
        first = list(dict.fromkeys(numbers))
        assert set(first) >= set(accepted)
        assert first == sorted(first)


def test_a_consumer_that_dies_is_dropped_or_waited_for(orb: LocalOrb, tmp_path: Path) -> None:
    """By its ConnectionReliability; the others get everything meanwhile."""
    kept = KeptService(tmp_path, give_up_secs=0.3)
    kept.start()
    channel = Channel(orb, kept.factory_ior, reliable(*EVENTS))
    quick, _ = channel.consumer()
    dead, patient = channel.consumer()
    lost, loose = channel.consumer()
    loose.set_qos(shorts(ConnectionReliability=0))
    dead_push, lost_push = dead.push_structured_event, lost.push_structured_event

    def refuse(_: Any) -> None:
        raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)

    dead.push_structured_event = lost.push_structured_event = refuse
    supplier = channel.supplier()
    for number in range(20):
        supplier.push_structured_event(event(number))
    until(lambda: len(quick.got) == 20)
    until(lambda: is_gone(loose))
    assert not is_gone(patient)
    dead.push_structured_event, lost.push_structured_event = dead_push, lost_push
    until(lambda: dead.numbers == list(range(20)))
    assert lost.got == []
    kept.close()


def test_a_consumer_that_is_far_behind_costs_no_memory_and_no_event(orb: LocalOrb, tmp_path: Path) -> None:
    """Beyond a number of events what it is owed is in the store alone."""
    with closing(KeptService(tmp_path, in_memory=20)) as kept:
        kept.start()
        channel = Channel(orb, kept.factory_ior, [*reliable(*EVENTS), *shorts(OrderPolicy=1)])
        quick, _ = channel.consumer("sequence")
        slow, suspended = channel.consumer()
        suspended.suspend_connection()
        picky = channel.puller()
        picky.add_filter(channel.filter("$n < 100 or $n > 550"))
        gone = channel.puller()
        batches, singles = channel.supplier("sequence"), channel.supplier()
        for first in range(0, 600, 50):
            batches.push_structured_events([event(number) for number in range(first, first + 50)])
        until(lambda: len(quick.got) == 600)
        assert [number_of(picky.try_pull_structured_event()[0]) for _ in range(60)] == list(range(60))
        time.sleep(0.5)  # for what the store writes when it has the time

        again(kept)

        for number in range(600, 610):
            singles.push_structured_event(event(number))
        suspended.resume_connection()
        late = threading.Thread(target=lambda: [singles.push_structured_event(event(n)) for n in range(610, 660)])
        late.start()
        until(lambda: len(slow.got) >= 660)
        late.join()
        assert slow.numbers == list(range(660))
        expected = [*range(59, 100), *range(551, 660)]  # the last answer may have been lost
        assert [number_of(picky.try_pull_structured_event()[0]) for _ in expected] == expected
        assert not picky.try_pull_structured_event()[1]
        gone.disconnect_structured_pull_supplier()
        until(lambda: kept.ask("queued") == "0")
        time.sleep(0.5)
        kept.stop()
        with closing(sqlite3.connect(tmp_path / "notify.db")) as database:
            assert database.execute("SELECT count(*) FROM events").fetchone() == (0,)
