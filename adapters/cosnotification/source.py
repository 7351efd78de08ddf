"""Source of the CosNotification wire: a StructuredPushConsumer at a channel of the peer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.base import DeadLetterError, Delivery, ReconnectError, Source
from adapters.cosnotification.codec import event_from_orb, is_persistent
from adapters.cosnotification.connection import ConsumerConnection, Pulse
from adapters.cosnotification.inlet import Inlet, NotTaken
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import (
    CosNotificationChannel,
    CosNotificationEndpoint,
    capabilities,
)
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyComm__POA, omniORB


class CosNotificationSource(Source):
    """The ORB must run before `connect` and until after `close`."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        self.capabilities = capabilities(channel)
        self._ping_interval_secs = endpoint.ping_interval_secs
        self._inlet = Inlet(channel.buffer, channel.hold_ms / 1000)
        self._connection = ConsumerConnection(orb, endpoint, channel, _Consumer(self._inlet))
        self._pulse: Pulse | None = None

    def connect(self) -> None:
        self._inlet.open()  # the first push may come before connect_structured_push_consumer has returned
        try:
            self._connection.open()
        except BaseException:
            self._inlet.close()
            raise
        self._pulse = Pulse(self._ping_interval_secs, self._connection.ping, self._inlet.fail)

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        if self._pulse is None:
            raise ReconnectError("COR-CLOSED", "the source is not connected")
        return self._inlet.take(limit, timeout_secs)

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        self._inlet.acknowledge(delivery.token for delivery in deliveries)

    def release(self, deliveries: Sequence[Delivery]) -> None:
        self._inlet.release(delivery.token for delivery in deliveries)

    def wake(self) -> None:
        self._inlet.wake()

    def close(self) -> None:
        pulse, self._pulse = self._pulse, None
        self._inlet.close()  # before the farewell: a push that is held would keep the peer from hearing it
        self._connection.close()
        if pulse is not None:
            pulse.stop()


class _Consumer(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    """What the peer calls, on threads of the ORB."""

    def __init__(self, inlet: Inlet) -> None:
        self._inlet = inlet

    def push_structured_event(self, event: Any) -> None:
        try:
            payload = event_from_orb(event)
        except DeadLetterError as error:
            self._offer(None, error, _octets(event), persistent=True)
        else:
            self._offer(payload, persistent=is_persistent(payload))

    def _offer(self, *arguments: Any, persistent: bool) -> None:
        try:
            self._inlet.offer(*arguments, persistent=persistent)
        except NotTaken:
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO) from None

    def disconnect_structured_push_consumer(self) -> None:
        self._inlet.fail(ReconnectError("COR-DISCONNECTED", "the peer has disconnected us"))

    def offer_change(self, added: Any, removed: Any) -> None:
        """Suppliers come and go; we take what is pushed."""


def _octets(event: Any) -> bytes | None:
    """The event as CDR, for a dead letter; None where the ORB cannot write it either."""
    try:
        return bytes(omniORB.cdrMarshal(CosNotification._tc_StructuredEvent, event))
    except CORBA.Exception:
        return None
