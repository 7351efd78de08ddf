"""Consumers and suppliers that are Java remote interfaces: their events are boxed (RULES.md section 7)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.codec import event_from_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.boxing import Boxing, boxed_servant
from adapters.cosnotification.settings import DEFAULT_RMI_ID
from adapters.cosnotification.stubs import CORBA, CosEventComm, CosNotification, PortableServer
from mappings.cdr.encoders import encoders_for
from mappings.cdr.output import Output
from mappings.event_forms import structured_value
from mappings.idl_types import LONG, STRING
from mappings.known_types import STRUCTURED_EVENT
from mappings.model import Any_, Property, StructuredEvent
from tests.interop.notification_service.clients import Channel, event, number_of, until
from tests.parts import giop
from tests.parts.gateway import Gateway

CONSUMER = "RMI:com.acme.StructConsumer:0000000000000000"
SUPPLIER_SIDE = "RMI:com.acme.AlarmSink:0000000000000000"
SEEN_IN_THE_FIELD = "RMI:org.omg.CosNotification.StructuredEvent:4518B47B3CC045CE:CC708BC85574DF67"
OTHER = "RMI:org.omg.CosNotification.StructuredEvent:4518B47B3CC045CE:0000000000000001"


class Ejb:
    """A consumer of a remote interface: it reads boxes of one id, and nothing else."""

    def __init__(self, channel: Channel, box: str = DEFAULT_RMI_ID) -> None:
        self.got: list[Any] = []
        self.ended: list[bool] = []
        servant = boxed_servant(CONSUMER, Boxing(box), self.got.append, lambda: self.ended.append(True))
        self.reference = channel.activate(servant)

    @property
    def numbers(self) -> list[int]:
        return [number_of(each) for each in self.got]


def plain_servant(got: list[Any]) -> Any:
    """It has the type of a remote interface, and takes plain events all the same."""
    names: dict[str, Any] = {
        "push_structured_event": lambda _self, notification: got.append(notification),
        "disconnect_structured_push_consumer": lambda _self: None,
        "_NP_RepositoryId": CONSUMER,
        "_omni_op_d": {
            "push_structured_event": (
                (CosNotification._d_StructuredEvent,),
                (),
                {CosEventComm.Disconnected._NP_RepositoryId: CosEventComm._d_Disconnected},
            ),
            "disconnect_structured_push_consumer": ((), (), None),
        },
    }
    made: Any = type("Plain", (PortableServer.Servant,), names)
    made._omni_skeleton = made
    return made()


def connect(channel: Channel, consumer: Any) -> Any:
    proxy = channel.proxy("push", "consumer", "structured")
    proxy.connect_structured_push_consumer(consumer)
    return proxy


def test_a_remote_interface_gets_boxes_and_others_do_not(channel: Channel) -> None:
    ejb = Ejb(channel)
    connect(channel, ejb.reference)
    ordinary, _ = channel.consumer("structured")
    supplier = channel.supplier()
    for number in range(20):
        supplier.push_structured_event(event(number))
    until(lambda: len(ejb.got) == 20 and len(ordinary.got) == 20)
    assert ejb.numbers == ordinary.numbers == list(range(20))
    assert event_from_orb(ejb.got[3]) == event_from_orb(ordinary.got[3])


def test_one_that_takes_no_box_is_tried_without(channel: Channel) -> None:
    got: list[Any] = []
    connect(channel, channel.activate(plain_servant(got)))
    supplier = channel.supplier()
    for number in range(5):
        supplier.push_structured_event(event(number))
    until(lambda: len(got) == 5)
    assert [number_of(each) for each in got] == list(range(5)), "each once, and in order"


def test_it_is_told_when_the_channel_ends(channel: Channel) -> None:
    ejb = Ejb(channel)
    connect(channel, ejb.reference)
    channel.reference.destroy()
    until(lambda: ejb.ended)


def test_a_consumer_that_leaves_is_left_alone(channel: Channel) -> None:
    ejb = Ejb(channel)
    proxy = connect(channel, ejb.reference)
    proxy.disconnect_structured_push_supplier()
    until(proxy._non_existent)
    channel.supplier().push_structured_event(event(1))
    assert (ejb.got, ejb.ended) == ([], [])


def test_a_nil_consumer_is_refused_as_before(channel: Channel) -> None:
    with pytest.raises(CORBA.BAD_PARAM):
        connect(channel, None)


@pytest.mark.parametrize(
    ("type_id", "untyped", "boxed"),
    [
        (CONSUMER, False, True),
        ("IDL:omg.org/CosNotifyComm/StructuredPushConsumer:1.0", True, False),
        ("", False, False),
        ("", True, True),
    ],
)
def test_who_gets_boxes(type_id: str, untyped: bool, boxed: bool) -> None:
    from mappings.cdr.references import Profile, Reference, stringify

    profile = b"\1\1\2\0" + struct.pack("<L", 2) + b"h\0" + struct.pack("<HL", 1, 0) + struct.pack("<L", 0)
    ior = stringify(Reference(type_id.encode(), (Profile(0, profile),)))
    assert ior is not None
    assert Boxing(untyped=untyped).is_for(ior) is boxed


def boxed(box: str | None, *, chunked: bool, name: str) -> bytes:
    """As a Java ORB writes it: an id or none, in one chunk or without chunks."""
    tag = 0x7FFFFF00 | (2 if box else 0) | (8 if chunked else 0)
    head = struct.pack("<L", tag)
    if box is not None:
        text = box.encode() + b"\0"
        head += struct.pack("<L", len(text)) + text + bytes(-len(text) % 4)
    out = Output(head + (b"\0\0\0\0" if chunked else b""))
    start = len(out)
    value = StructuredEvent("Acme", "Alarm", name, (), (Property("n", LONG, 7),), Any_(STRING, "body"))
    encoders_for(True)(STRUCTURED_EVENT)(out, structured_value(value), 0)
    if chunked:
        out[start - 4 : start] = struct.pack("<L", len(out) - start)
        out += bytes(-len(out) % 4) + struct.pack("<l", -1)
    return bytes(out)


def test_suppliers_by_rmi_and_ids_of_ones_own(tmp_path: Path, service: tuple[LocalOrb, str]) -> None:
    """A gateway whose boxes have the id of the customer's class, and which takes boxes of two ids."""
    rmi = {
        "structured_event": SEEN_IN_THE_FIELD,
        "read": [OTHER],
        "supplier_ior": "run/alarms.ior",
        "supplier_interface": SUPPLIER_SIDE,
        "supplier_channel": 0,
    }
    with Gateway(tmp_path, {"services": {"notification": {"factory_ior": "run/factory.ior", "rmi": rmi}}}):
        channel = Channel(service[0], str(tmp_path / "run" / "factory.ior"))
        first = channel.factory.get_event_channel(0)
        admin = first._get_default_consumer_admin()
        ordinary, _ = channel.consumer("structured", admin)
        ejb = Ejb(channel, SEEN_IN_THE_FIELD)
        proxy = channel.proxy("push", "consumer", "structured", admin)
        proxy.connect_structured_push_consumer(ejb.reference)

        ior = (tmp_path / "run" / "alarms.ior").read_text().strip()
        target = service[0].corba.string_to_object(ior)
        assert target._is_a(SUPPLIER_SIDE)
        sent = [
            boxed(SEEN_IN_THE_FIELD, chunked=False, name="plain"),
            boxed(SEEN_IN_THE_FIELD, chunked=True, name="in a chunk"),
            boxed(OTHER, chunked=True, name="another version"),
            boxed(None, chunked=False, name="without an id"),
        ]
        for octets in sent:
            assert giop.call(ior, "push_structured_event", octets) == (giop.NO_EXCEPTION, "")
        unknown = boxed(OTHER.replace("4518", "0000"), chunked=False, name="unknown")
        assert giop.call(ior, "push_structured_event", unknown) == (
            giop.SYSTEM_EXCEPTION, "IDL:omg.org/CORBA/MARSHAL:1.0",
        )  # fmt: skip
        null = giop.call(ior, "push_structured_event", bytes(4))
        assert null == (giop.SYSTEM_EXCEPTION, "IDL:omg.org/CORBA/BAD_PARAM:1.0")
        assert giop.call(ior, "disconnect_structured_push_consumer", b"") == (giop.NO_EXCEPTION, "")
        assert (
            giop.call(ior, "push_structured_event", boxed(OTHER, chunked=False, name="again"))[0] == giop.NO_EXCEPTION
        )

        names = ["plain", "in a chunk", "another version", "without an id", "again"]
        until(lambda: len(ordinary.got) == len(ejb.got) == 5)
        for got in (ordinary.got, ejb.got):
            assert [each.header.fixed_header.event_name for each in got] == names
        assert event_from_orb(ejb.got[0]).remainder_of_body == Any_(STRING, "body")
        channel.close()
