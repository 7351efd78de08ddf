"""Typed channels: every form of event to every form of consumer (RULES.md 2), with compiled stubs on the clients' side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.codec import event_from_orb, event_to_orb
from adapters.cosnotification.decoding import any_from_orb
from adapters.cosnotification.encoding import any_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA, CosEventChannelAdmin, CosNotifyChannelAdmin
from mappings import event_forms
from mappings.idl_types import ANY, LONG, SHORT, STRING, Alias, Enum, IdlType, Member, Sequence, Struct
from mappings.known_types import PROPERTY_SEQ
from mappings.model import Any_, Property, StructuredEvent, TypedEvent, UntypedEvent
from tests.contract.wires.cosnotification_peer import PLANT
from tests.interop.notification_service.clients import AND_OP, CLIENTS, Channel, connect, constraint, property_, until
from tests.interop.notification_service.typed_clients import (
    ALARMS,
    OPERATIONS,
    Alarms,
    Call,
    Plant,
    PullAlarms,
    TypedChannel,
    TypedPullSupplier,
    TypedPushConsumer,
    plain,
)
from tests.parts.gateway import Gateway

# ruff: isort: split
import CosNotifyFilter__POA

KINDS = ("any", "structured", "sequence", "plain")
TYPED = ("typed", "typed plain")
PLACE = Struct("IDL:Plant/Place:1.0", "Place", (Member("site", STRING), Member("rack", LONG)))
SEVERITY = Enum("IDL:Plant/Severity:1.0", "Severity", ("minor", "major"))
PLACES = Alias("IDL:Plant/Places:1.0", "Places", Sequence(PLACE))
HALL = {"site": "hall", "rack": 7}


@pytest.fixture
def channel(service: tuple[LocalOrb, str]) -> Any:
    channel = TypedChannel(*service)
    yield channel
    channel.close()


def typed(operation: str, *parameters: Property, interface: str = "IDL:Plant/Alarms:1.0") -> TypedEvent:
    return TypedEvent(interface, operation, parameters)


EVENTS = [
    typed("named", Property("who", STRING, "x"), interface="IDL:Plant/Roll:1.0"),
    typed(
        "raised",
        Property("number", LONG, 1),
        Property("how", SEVERITY, "major"),
        Property("where", PLACE, HALL),
        Property("detail", ANY, Any_(STRING, "hot")),
    ),
    typed("cleared", Property("number", LONG, 1)),
    typed("moved", Property("number", LONG, 2), Property("stops", PLACES, [HALL, {"site": "roof", "rack": 0}])),
    typed("silence"),
]
CALLS: list[Call] = [
    ("named", ("x",)), ("raised", (1, "major", HALL, "hot")), ("cleared", (1,)),
    ("moved", (2, [HALL, {"site": "roof", "rack": 0}])), ("silence", ()),
]  # fmt: skip
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "named": ("x",),
    "raised": (1, Plant.major, Plant.Place("hall", 7), CORBA.Any(CORBA.TC_string, "hot")),
    "cleared": (1,),
    "moved": (2, [Plant.Place("hall", 7), Plant.Place("roof", 0)]),
    "silence": (),
}


def plainly(calls: list[Call]) -> list[Any]:
    return [(name, list(values)) for name, values in calls]


def supply_all(alarms: Any) -> None:
    for name in OPERATIONS:
        getattr(alarms, name)(*ARGUMENTS[name])


def pull_all(pull: Any) -> list[Any]:
    """The blocking call in one spelling, then in the other, then the polling call finds nothing more."""
    got = []
    for index, name in enumerate(OPERATIONS):
        values = getattr(pull, ("pull_" + name, name)[index % 2])()
        values = () if values is None else values if isinstance(values, tuple) else (values,)
        got.append((name, plain(values)))
        nothing = getattr(pull, f"try_{name}")()
        assert nothing is False or nothing[0] is False
    return got


@pytest.mark.parametrize("form", TYPED)
def test_operations_reach_typed_consumers(channel: TypedChannel, form: str) -> None:
    pushed = [channel.typed_consumer(each) for each in TYPED]
    pulls = [channel.pull_alarms(each) for each in TYPED]
    alarms = channel.alarms(form)
    for name in OPERATIONS:
        getattr(alarms, name)(*ARGUMENTS[name])
        until(lambda: all(consumer.calls and consumer.calls[-1][0] == name for consumer in pushed))  # noqa: B023
    for consumer in pushed:
        assert plainly(consumer.calls) == plainly(CALLS)
    for pull in pulls:
        assert pull_all(pull) == plainly(CALLS)


@pytest.mark.parametrize("form", TYPED)
def test_operations_are_pulled_from_typed_suppliers(channel: TypedChannel, form: str) -> None:
    consumer = channel.typed_consumer()
    supplier = channel.client("pull", "supplier")
    for name in OPERATIONS:
        supplier.typed.stock[name].extend([ARGUMENTS[name]] * 3)
    connect(channel.proxy("pull", "supplier", form), "pull", "supplier", form, channel.activate(supplier))
    until(lambda: len(consumer.calls) == 15)
    assert plainly(consumer.calls) == plainly(CALLS) * 3


def test_what_untyped_consumers_see_of_operations(channel: TypedChannel) -> None:
    consumers = {kind: channel.consumer(kind)[0] for kind in KINDS}
    supply_all(channel.alarms())
    until(lambda: all(len(consumer.got) == len(EVENTS) for consumer in consumers.values()))
    for kind, consumer in consumers.items():
        if kind in ("any", "plain"):
            got = sorted([any_from_orb(value) for value in consumer.got], key=repr)
            assert got == sorted([event_forms.to_any(event) for event in EVENTS], key=repr), kind
        else:
            got = sorted([event_from_orb(value) for value in consumer.got], key=repr)
            assert got == sorted([event_forms.to_structured(event) for event in EVENTS], key=repr), kind


@pytest.mark.parametrize("form", [*KINDS, "typed"])
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.operation)
def test_what_typed_consumers_see_of_other_forms(channel: TypedChannel, form: str, event: TypedEvent) -> None:
    """And what spells no operation of `<I>` is not delivered; nothing holds up what comes after it."""
    consumer, pull = channel.typed_consumer(), channel.pull_alarms()
    nonsense = [
        StructuredEvent("d", "t", "e"),
        StructuredEvent("d", "t", "e", (), (Property("operation", LONG, 1),)),
        event_forms.to_structured(typed("unheard", Property("number", LONG, 1))),
        event_forms.to_structured(typed("cleared")),
        event_forms.to_structured(typed("cleared", Property("number", SHORT, 1))),
        event_forms.to_structured(typed("cleared", Property("number", LONG, 1), Property("more", LONG, 1))),
        event_forms.to_structured(typed("raised", *(Property(f"p{n}", LONG, n) for n in range(4)))),
    ]
    structured = event_forms.to_structured(event)
    push(channel, form, [*nonsense, structured])
    until(lambda: consumer.calls)
    (call,) = consumer.calls
    assert plainly([call]) == plainly([CALLS[EVENTS.index(event)]])
    getattr(pull, event.operation)()  # does not block: it is there
    for name in OPERATIONS:
        found = getattr(pull, f"try_{name}")()
        assert found is False or found[0] is False


def push(channel: TypedChannel, form: str, events: list[StructuredEvent]) -> None:
    if form == "sequence":
        channel.supplier(form).push_structured_events([event_to_orb(event) for event in events])
    elif form == "structured":
        proxy = channel.supplier(form)
        for event in events:
            proxy.push_structured_event(event_to_orb(event))
    else:
        proxy = channel.alarms_proxy() if form == "typed" else channel.supplier(form)
        for event in events:
            proxy.push(property_list(event))


def property_list(event: StructuredEvent) -> Any:
    """What an untyped supplier sends: the operation and its parameters as a PropertySeq."""
    values = [{"name": name, "value": Any_(type_, value)} for name, type_, value in event.filterable_data]
    return any_to_orb(Any_(PROPERTY_SEQ, values))


def test_a_structured_event_that_says_any_and_holds_an_operation(channel: TypedChannel) -> None:
    consumer = channel.typed_consumer()
    inside = any_from_orb(property_list(event_forms.to_structured(EVENTS[2])))
    wrapped = event_forms.to_structured(UntypedEvent(inside))
    channel.supplier().push_structured_event(event_to_orb(wrapped))
    until(lambda: consumer.calls)
    assert plainly(consumer.calls) == plainly([CALLS[2]])


def test_types_of_the_parameters_are_compared_as_they_are_on_the_wire(channel: TypedChannel) -> None:
    """Typedefs and names mean nothing; a struct of the same name and other members is another type."""
    consumer = channel.typed_consumer()

    def moved(element: IdlType, value: Any) -> Any:
        stops = Property("anything", Sequence(element), [value])
        return event_to_orb(event_forms.to_structured(typed("moved", Property("", LONG, 1), stops)))

    supplier = channel.supplier()
    newer = Struct(PLACE.id, "Place", (*PLACE.members, Member("floor", LONG)))
    supplier.push_structured_event(moved(newer, {**HALL, "floor": 3}))
    supplier.push_structured_event(moved(PLACE, HALL))
    until(lambda: consumer.calls)
    assert plainly(consumer.calls) == [("moved", [1, [HALL]])]


def test_filters_see_operation_and_parameters(channel: TypedChannel) -> None:
    """RULES.md 2: `$operation`, `$param`; event types are compared with ("", "%TYPED")."""
    consumers = []
    for text in (
        "$operation == '::Plant::Alarms::raised' and $number > 1",
        ("$number == 1", [("", "%TYPED")]),
        ("TRUE", [("d", "t")]),
    ):
        consumer = channel.client("push", "consumer")
        proxy = channel.proxy("push", "consumer", "typed")
        proxy.add_filter(channel.filter(text))
        proxy.connect_typed_push_consumer(channel.activate(consumer))
        consumers.append(consumer.typed)
    last = channel.typed_consumer()
    alarms = channel.alarms()
    for number in (1, 2):
        alarms.raised(number, Plant.minor, Plant.Place("", 0), CORBA.Any(CORBA.TC_null, None))
    alarms.named("end")
    until(lambda: last.calls and last.calls[-1][0] == "named")
    until(lambda: all(len(consumer.calls) == 1 for consumer in consumers[:2]))
    assert [consumer.calls[0][1][0] for consumer in consumers[:2]] == [2, 1]
    assert consumers[2].calls == []


def test_a_filter_of_the_client_is_asked_with_match_typed(channel: TypedChannel) -> None:
    asked: list[Any] = []

    class Asked(CosNotifyFilter__POA.Filter):  # type: ignore[misc]
        def match_typed(self, filterable_data: Any) -> bool:
            asked.append([(item.name, item.value.value()) for item in filterable_data])
            return True

    consumer, proxy = channel.consumer("structured")
    proxy.add_filter(channel.activate(Asked()))
    channel.alarms().named("x")
    until(lambda: consumer.got)
    (properties,) = asked
    assert properties[1:] == [("who", "x")]
    name, event_type = properties[0]
    assert (name, event_type.domain_name, event_type.type_name) == ("event_type", ALARMS, "::Plant::Roll::named")


def test_order_is_kept_and_quality_of_service_applies(channel: TypedChannel) -> None:
    consumer = channel.client("push", "consumer")
    proxy = channel.proxy("push", "consumer", "typed")
    proxy.connect_typed_push_consumer(channel.activate(consumer))
    proxy.suspend_connection()
    urgent = channel.proxy("push", "supplier", "typed")
    urgent.set_qos([property_("Priority", CORBA.TC_short, 5)])
    urgent.connect_typed_push_supplier(None)
    slow = channel.alarms()
    for n in range(20):
        slow.named(str(n))
    urgent.get_typed_consumer()._narrow(Plant.Alarms).named("first")
    proxy.resume_connection()
    until(lambda: len(consumer.typed.calls) == 21)
    assert [values[0] for _, values in consumer.typed.calls] == ["first", *map(str, range(20))]


def test_a_full_channel_refuses_operations(service: tuple[LocalOrb, str]) -> None:
    limits = [property_("MaxQueueLength", CORBA.TC_long, 2), property_("RejectNewEvents", CORBA.TC_boolean, True)]
    channel = TypedChannel(*service, admin=limits)
    pull, alarms = channel.pull_alarms(), channel.alarms()
    alarms.named("1")
    alarms.named("2")
    with pytest.raises(CORBA.IMP_LIMIT):
        alarms.named("3")
    assert pull.try_named() == (True, "1")
    alarms.named("4")
    assert [pull.try_named()[1], pull.try_named()[1]] == ["2", "4"]
    channel.close()


def test_before_the_connection_and_after_it(channel: TypedChannel) -> None:
    proxy = channel.proxy("push", "supplier", "typed")
    alarms = proxy.get_typed_consumer()._narrow(Plant.Alarms)
    with pytest.raises(CORBA.BAD_INV_ORDER):
        alarms.named("early")
    pulling = channel.proxy("pull", "consumer", "typed")
    pull = pulling.get_typed_supplier()._narrow(Plant.PullAlarms)
    for name in ("named", "pull_named", "try_named"):
        with pytest.raises(CORBA.BAD_INV_ORDER):
            getattr(pull, name)()
    proxy.connect_typed_push_supplier(None)
    alarms.named("now")
    proxy.disconnect_push_consumer()
    pulling.disconnect_pull_supplier()
    for gone in (alarms, pull):
        until(gone._non_existent)


def test_clients_are_told_when_the_channel_ends(channel: TypedChannel) -> None:
    clients = []
    for style, side in (("push", "consumer"), ("pull", "supplier"), ("push", "supplier"), ("pull", "consumer")):
        client = channel.client(style, side)
        connect(channel.proxy(style, side, "typed"), style, side, "typed", channel.activate(client))
        clients.append(client)
    channel.reference.destroy()
    until(lambda: all(client.disconnected.is_set() for client in clients))


def test_who_offers_another_interface_is_refused(channel: TypedChannel) -> None:
    for style, side, client in (
        ("push", "consumer", TypedPushConsumer(channel, PullAlarms())),
        ("pull", "supplier", TypedPullSupplier(channel, Alarms())),
    ):
        wrong = channel.activate(client)
        for form in TYPED:
            proxy = channel.proxy(style, side, form)
            with pytest.raises(CosEventChannelAdmin.TypeError):
                connect(proxy, style, side, form, wrong)
            right = channel.activate(channel.client(style, side))
            connect(proxy, style, side, form, right)  # it is not spoilt
            with pytest.raises(CosEventChannelAdmin.AlreadyConnected):
                connect(proxy, style, side, form, right)


def test_who_offers_no_typed_object_at_all_is_refused(channel: TypedChannel) -> None:
    consumer = channel.activate(CLIENTS["push", "consumer"]["any"]())
    with pytest.raises(CosEventChannelAdmin.TypeError):
        connect(channel.proxy("push", "consumer", "typed plain"), "push", "consumer", "typed plain", consumer)


def test_keys(channel: TypedChannel) -> None:
    for key in (ALARMS, "Plant::Alarms", "::Plant::Alarms"):
        assert channel.suppliers.obtain_typed_push_consumer(key).get_typed_consumer()._is_a(ALARMS)


def test_one_factory_makes_channels_of_both_kinds(service: tuple[LocalOrb, str]) -> None:
    untyped, typed_ = Channel(*service), TypedChannel(*service)
    assert untyped.factory._is_equivalent(typed_.factory)
    assert untyped.id in untyped.factory.get_all_channels()
    assert typed_.id in typed_.factory.get_all_typed_channels()
    assert not typed_.reference._is_a(untyped.reference._NP_RepositoryId)
    numbers = len(untyped.factory.get_all_channels())
    typed_.close()
    assert len(untyped.factory.get_all_channels()) == numbers
    untyped.close()


def test_typed_proxies_are_listed_and_counted(channel: TypedChannel) -> None:
    admin, _ = channel.reference.new_for_typed_notification_consumers(AND_OP)
    _, push_id = admin.obtain_typed_notification_push_supplier(ALARMS)
    _, pull_id = admin.obtain_typed_notification_pull_supplier(ALARMS)
    assert (admin._get_push_suppliers(), admin._get_pull_suppliers()) == ([push_id], [pull_id])
    types = [admin.get_proxy_supplier(id_)._get_MyType() for id_ in (push_id, pull_id)]
    assert types == [CosNotifyChannelAdmin.PUSH_TYPED, CosNotifyChannelAdmin.PULL_TYPED]


def test_a_slow_typed_consumer_holds_back_nobody(channel: TypedChannel) -> None:
    class Stuck(Alarms):
        def named(self, who: str) -> None:
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)

    stuck = TypedPushConsumer(channel, Stuck())
    channel.proxy("push", "consumer", "typed").connect_typed_push_consumer(channel.activate(stuck))
    quick = channel.typed_consumer()
    alarms = channel.alarms()
    for n in range(50):
        alarms.named(str(n))
    until(lambda: len(quick.calls) == 50)


def test_mapping_filters_apply(channel: TypedChannel) -> None:
    import CosNotifyFilter

    factory = channel.reference._get_default_filter_factory()
    mapping = factory.create_mapping_filter("EXTENDED_TCL", CORBA.Any(CORBA.TC_short, 0))
    urgent = CosNotifyFilter.MappingConstraintPair(constraint("$who == 'urgent'"), CORBA.Any(CORBA.TC_short, 9))
    mapping.add_mapping_constraints([urgent])
    proxy = channel.proxy("pull", "consumer", "typed")
    proxy._set_priority_filter(mapping)
    proxy.connect_typed_pull_consumer(None)
    alarms = channel.alarms()
    for who in ("a", "b", "urgent"):
        alarms.named(who)
    pull = proxy.get_typed_supplier()._narrow(Plant.PullAlarms)
    assert [pull.try_named()[1] for _ in range(3)] == ["urgent", "a", "b"]


def test_a_gateway_hosts_typed_channels(tmp_path: Path, service: tuple[LocalOrb, str]) -> None:
    notification = {"factory_ior": "run/factory.ior", "channels": 1, "typed_channels": 2, "idl": [str(PLANT)]}
    with Gateway(tmp_path, {"services": {"notification": notification}}):
        factory_ior = str(tmp_path / "run" / "factory.ior")
        channel = TypedChannel(service[0], factory_ior)
        assert channel.factory.get_all_typed_channels() == [0, 1, 2]
        consumer = channel.typed_consumer()
        supply_all(channel.alarms())
        until(lambda: len(consumer.calls) == len(OPERATIONS))
        channel.close()


def test_a_gateway_does_not_start_with_idl_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "wrong.idl").write_text("interface I { void op(in strin s); };")
    notification = {"factory_ior": "run/factory.ior", "typed_channels": 1, "idl": ["wrong.idl"]}
    gateway = Gateway(tmp_path, {"services": {"notification": notification}})
    with pytest.raises(AssertionError, match=r"wrong\.idl:1"), gateway:
        pass
