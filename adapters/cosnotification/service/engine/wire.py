"""StructuredEvents over the wire as the channel's own objects: for the operations of our proxies, and those that we call.

What came as octets goes on as octets where it can (relay.py).

In a process that hosts channel and client the ORB passes arguments on by the caller's descriptors: there the stubs' own structs
come in, and `carried` is for them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from adapters.cosnotification.service.engine.carried_event import EVENT, EVENTS, CarriedEvent, CarriedStructured
from adapters.cosnotification.service.engine.carried_operation import CarriedOperation
from adapters.cosnotification.service.engine.relay import Relay
from adapters.cosnotification.service.stubs import CosNotifyComm

_ONE: Final = CosNotifyComm.StructuredPushConsumer._d_push_structured_event
_MANY: Final = CosNotifyComm.SequencePushConsumer._d_push_structured_events

PUSH_ONE: Final = ((EVENT,), *_ONE[1:])
PUSH_MANY: Final = ((EVENTS,), *_MANY[1:])
_SENT_AS_THEY_ARE: Final = frozenset((CarriedStructured, CarriedOperation))


def push_one(consumer: Any, event: CarriedEvent, relay: Relay | None = None) -> None:
    """`consumer.push_structured_event(…)`."""
    if relay is not None and relay.push_one(event):
        return
    consumer._obj.invoke("push_structured_event", PUSH_ONE, (event.structured,))
    if relay is not None:
        relay.library_pushed((event,))


def push_many(consumer: Any, events: Sequence[CarriedEvent], relay: Relay | None = None) -> None:
    """`consumer.push_structured_events(…)`."""
    if relay is not None and relay.push_many(events):
        return
    as_they_are = _SENT_AS_THEY_ARE.issuperset(map(type, events))
    batch = events if as_they_are else [event.structured for event in events]
    consumer._obj.invoke("push_structured_events", PUSH_MANY, (batch,))
    if relay is not None:
        relay.library_pushed(events)
