"""The worker's side of a source: the servant that the peer pushes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.base import DeadLetterError, ReconnectError
from adapters.cosnotification.codec import event_from_orb, is_persistent
from adapters.cosnotification.connection import ConsumerConnection, Pulse
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyComm__POA, omniORB
from adapters.cosnotification.worker.gate import Gate, NotTaken
from adapters.cosnotification.worker.parcels import TypeNumbers
from adapters.cosnotification.worker.told import told

Content = tuple[bool, Any, Any, bytes | None]
"""persistent, parcel, error (told), original: parcel or error."""


class Receiver:
    """One connection of one source, from `open` to `close`."""

    def __init__(
        self,
        orb: LocalOrb,
        endpoint: CosNotificationEndpoint,
        channel: CosNotificationChannel,
        types: TypeNumbers,
        pass_on: Callable[[int, list[Content]], None],
        fail: Callable[[ReconnectError], None],
    ) -> None:
        self.gate = Gate(channel.buffer, channel.hold_ms / 1000, pass_on)
        self._fail = fail
        self._ping_interval_secs = endpoint.ping_interval_secs
        self._connection = ConsumerConnection(orb, endpoint, channel, _Consumer(self.gate, types, fail))
        self._pulse: Pulse | None = None

    def open(self, left_behind: list[str]) -> str:
        """The reference of our admin at the peer. Raises ReconnectError or StopError."""
        admin = self._connection.open(left_behind)
        self._pulse = Pulse(self._ping_interval_secs, self._connection.ping, self._fail)
        return admin

    def close(self) -> None:
        self.gate.close()  # before the farewell: a push that is held would keep the peer from hearing it
        self._connection.close()
        if self._pulse is not None:
            self._pulse.stop()


class _Consumer(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    """What the peer calls, on threads of the ORB."""

    def __init__(self, gate: Gate, types: TypeNumbers, fail: Callable[[ReconnectError], None]) -> None:
        self._gate = gate
        self._types = types
        self._fail = fail

    def push_structured_event(self, event: Any) -> None:
        content = self._content(event)
        try:
            self._gate.offer([content], persistent=content[0])
        except NotTaken:
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO) from None

    def _content(self, event: Any) -> Content:
        try:
            payload = event_from_orb(event)
        except DeadLetterError as error:
            return (True, None, told(error), _octets(event))
        return (is_persistent(payload), self._types.parcel(payload), None, None)

    def disconnect_structured_push_consumer(self) -> None:
        self._fail(ReconnectError("COR-DISCONNECTED", "the peer has disconnected us"))

    def offer_change(self, added: Any, removed: Any) -> None:
        """Suppliers come and go; we take what is pushed."""


def _octets(event: Any) -> bytes | None:
    """The event as CDR, for a dead letter; None where the ORB cannot write it either."""
    try:
        return bytes(omniORB.cdrMarshal(CosNotification._tc_StructuredEvent, event))
    except CORBA.Exception:
        return None
