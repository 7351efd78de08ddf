"""Events cross between the gateway and the ORB's process unchanged."""

from __future__ import annotations

import marshal
import socket
import threading

import pytest
from hypothesis import HealthCheck, given, settings

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError, StopError
from adapters.cosnotification.worker import parcels
from adapters.cosnotification.worker.frames import MARSHAL_VERSION, Closed, Frames
from adapters.cosnotification.worker.parcels import NumberedTypes, TypeNumbers
from adapters.cosnotification.worker.told import heard, told
from mappings import idl_types as idl
from mappings.model import Property, StructuredEvent
from tests.properties.strategies import structured_events


def travelled(event: StructuredEvent, numbers: TypeNumbers, types: NumberedTypes) -> StructuredEvent:
    return types.event(marshal.loads(marshal.dumps(numbers.parcel(event), MARSHAL_VERSION)))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(structured_events)
def test_events_arrive_equal(event: StructuredEvent) -> None:
    types = NumberedTypes()
    numbers = TypeNumbers(types.add)
    assert travelled(event, numbers, types) == event
    assert travelled(event, numbers, types) == event  # now that its types are known


def test_a_type_travels_once() -> None:
    announced: list[int] = []
    numbers = TypeNumbers(lambda number, _: announced.append(number))
    for _ in range(3):
        point = idl.Struct("IDL:P:1.0", "P", (idl.Member("x", idl.LONG),))  # equal, not the same
        numbers.parcel(StructuredEvent("", "", "", (), (Property("p", point, {"x": 1}),)))
    assert announced == [0, 1]


def test_types_beyond_the_limit_travel_with_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "NUMBERED_TYPES", 2)
    monkeypatch.setattr(parcels, "REMEMBERED_IDS", 2)
    types = NumberedTypes()
    numbers = TypeNumbers(types.add)
    for bound in range(6):
        event = StructuredEvent("", "", "", (), (Property("p", idl.String(bound), "x"),))
        assert travelled(event, numbers, types) == event


@pytest.mark.parametrize("kind", [ReconnectError, RetryLaterError, DeadLetterError, StopError])
def test_errors_arrive_as_what_they_are(kind: type[AdapterError]) -> None:
    error = heard(told(kind("COR-X", "message", path="p", hint="h")))
    assert type(error) is kind
    assert (error.code, error.message, error.path, error.hint) == ("COR-X", "message", "p", "h")


def test_what_was_sent_arrives_though_the_sender_has_gone() -> None:
    left, right = socket.socketpair()
    sender, receiver = Frames(left), Frames(right)
    sent = [("a", b"x" * size, size) for size in (0, 1, 70_000)]
    writer = threading.Thread(target=lambda: [sender.send(frame) for frame in sent] and sender.close())
    writer.start()
    assert list(receiver.receive()) == sent
    writer.join()
    with pytest.raises(Closed):
        receiver.send(("b",))
    receiver.close()
