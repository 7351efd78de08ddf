"""The proxies that consumers pull from."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

from adapters.cosnotification.service.engine.carried_event import CarriedEvent, no_any, no_structured_event
from adapters.cosnotification.service.engine.event_queue import Batching
from adapters.cosnotification.service.proxy_supplier import ProxySupplier
from adapters.cosnotification.service.stubs import (
    CORBA,
    CosEventChannelAdmin__POA,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosNotifyComm,
)

HOLD_SECS: Final = 60.0
"""The longest a blocking pull is held. A consumer that has gone meanwhile must not keep a thread of ours for good."""


class PullSupplier(ProxySupplier):
    NIL_CLIENT = True

    def __init__(self, *arguments: Any) -> None:
        self._pulling = threading.Lock()
        super().__init__(*arguments)

    def wait_for(self, most: int) -> list[CarriedEvent]:
        """At least one event. Raises TRANSIENT after HOLD_SECS: the client calls again."""
        self.check_connected()
        until = time.monotonic() + HOLD_SECS
        if not self._pulling.acquire(timeout=HOLD_SECS):
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)
        try:
            while True:
                events = self._take(most, max(0.0, until - time.monotonic()))
                if events:
                    return events
                self.check_alive()
                if time.monotonic() >= until:
                    raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO)
        finally:
            self._pulling.release()

    def look_for(self, most: int) -> list[CarriedEvent]:
        """What is there now."""
        self.check_connected()
        if not self._pulling.acquire(blocking=False):
            return []  # another thread of the client waits for an event, and was first
        try:
            return self._take(most, 0.0)
        finally:
            self._pulling.release()

    def _take(self, most: int, timeout_secs: float) -> list[CarriedEvent]:
        self.queue.settle()  # whoever pulls again has got what it was given before
        events = self.queue.take(Batching(most), timeout_secs, stop=lambda: not self.alive)
        if not self.route.kept:
            self.queue.settle()
        return [event for event in events if event.can_be_given]


class AnyPull(PullSupplier):
    """Gives events as anys."""

    CLIENT = CosEventComm.PullConsumer
    FAREWELL = "disconnect_pull_consumer"

    def pull(self) -> Any:
        return self.wait_for(1)[0].any

    def try_pull(self) -> tuple[Any, bool]:
        events = self.look_for(1)
        return (events[0].any, True) if events else (no_any(), False)

    def disconnect_pull_supplier(self) -> None:
        self.disconnect()


class AnyPullSupplier(AnyPull):
    TYPE = CosNotifyChannelAdmin.PULL_ANY


class ProxyPullSupplier(AnyPullSupplier, CosNotifyChannelAdmin__POA.ProxyPullSupplier):  # type: ignore[misc]
    def connect_any_pull_consumer(self, pull_consumer: Any) -> None:
        self.connect(pull_consumer)


class EventProxyPullSupplier(AnyPullSupplier, CosEventChannelAdmin__POA.ProxyPullSupplier):  # type: ignore[misc]
    """For those who know nothing but the Event Service."""

    def connect_pull_consumer(self, pull_consumer: Any) -> None:
        self.connect(pull_consumer)


class StructuredProxyPullSupplier(PullSupplier, CosNotifyChannelAdmin__POA.StructuredProxyPullSupplier):  # type: ignore[misc]
    TYPE = CosNotifyChannelAdmin.PULL_STRUCTURED
    CLIENT = CosNotifyComm.StructuredPullConsumer
    FAREWELL = "disconnect_structured_pull_consumer"

    def connect_structured_pull_consumer(self, pull_consumer: Any) -> None:
        self.connect(pull_consumer)

    def pull_structured_event(self) -> Any:
        return self.wait_for(1)[0].structured

    def try_pull_structured_event(self) -> tuple[Any, bool]:
        events = self.look_for(1)
        return (events[0].structured, True) if events else (no_structured_event(), False)

    def disconnect_structured_pull_supplier(self) -> None:
        self.disconnect()


class SequenceProxyPullSupplier(PullSupplier, CosNotifyChannelAdmin__POA.SequenceProxyPullSupplier):  # type: ignore[misc]
    """A pull gives what is there, up to the number that is asked for; the call itself is the pace."""

    TYPE = CosNotifyChannelAdmin.PULL_SEQUENCE
    CLIENT = CosNotifyComm.SequencePullConsumer
    FAREWELL = "disconnect_sequence_pull_consumer"

    def connect_sequence_pull_consumer(self, pull_consumer: Any) -> None:
        self.connect(pull_consumer)

    def pull_structured_events(self, max_number: int) -> Any:
        return [event.structured for event in self.wait_for(_at_least_one(max_number))]

    def try_pull_structured_events(self, max_number: int) -> tuple[Any, bool]:
        batch = [event.structured for event in self.look_for(_at_least_one(max_number))]
        return batch, bool(batch)

    def disconnect_sequence_pull_supplier(self) -> None:
        self.disconnect()


def _at_least_one(max_number: int) -> int:
    if max_number < 1:
        raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
    return max_number
