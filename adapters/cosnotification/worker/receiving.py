"""The worker's side of a source: the servant that the peer pushes to, of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.base import DeadLetterError, ReconnectError
from adapters.cosnotification.codec import untyped_from_orb
from adapters.cosnotification.connection import ConsumerConnection, Pulse
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyComm__POA, omniORB
from adapters.cosnotification.worker.gate import Gate, NotTaken
from adapters.cosnotification.worker.packing import is_persistent, pack_event
from adapters.cosnotification.worker.parcels import TypeNumbers
from adapters.cosnotification.worker.told import told
from mappings.event_forms import to_structured
from mappings.model import UntypedEvent

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
        servant = _SERVANTS[channel.events](_Intake(self.gate, types, fail))
        self._connection = ConsumerConnection(orb, endpoint, channel, servant)
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


class _Intake:
    """What the servants of all kinds share: from the ORB's event to the gate."""

    def __init__(self, gate: Gate, types: TypeNumbers, fail: Callable[[ReconnectError], None]) -> None:
        self._gate = gate
        self._types = types
        self._fail = fail

    def take(self, contents: list[Content]) -> None:
        try:
            self._gate.offer(contents, [index for index, content in enumerate(contents) if content[0]])
        except NotTaken:
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO) from None

    def structured(self, event: Any) -> Content:
        try:
            parcel = pack_event(event, self._types)
        except DeadLetterError as error:
            return (True, None, told(error), _octets(CosNotification._tc_StructuredEvent, event))
        return (is_persistent(parcel) if parcel[3] else False, parcel, None, None)

    def untyped(self, any_: Any) -> Content:
        """An Any has no header that would make it persistent (RULES.md section 2)."""
        try:
            payload = to_structured(UntypedEvent(untyped_from_orb(any_)))
        except DeadLetterError as error:
            return (True, None, told(error), _octets(CORBA.TC_any, any_))
        return (False, self._types.parcel(payload), None, None)

    def disconnected(self) -> None:
        self._fail(ReconnectError("COR-DISCONNECTED", "the peer has disconnected us"))


class _Servant:
    """What the peer calls, on threads of the ORB."""

    def __init__(self, intake: _Intake) -> None:
        self._intake = intake

    def offer_change(self, added: Any, removed: Any) -> None:
        """Suppliers come and go; we take what is pushed."""


class _StructuredConsumer(_Servant, CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    def push_structured_event(self, notification: Any) -> None:
        self._intake.take([self._intake.structured(notification)])

    def disconnect_structured_push_consumer(self) -> None:
        self._intake.disconnected()


class _SequenceConsumer(_Servant, CosNotifyComm__POA.SequencePushConsumer):  # type: ignore[misc]
    def push_structured_events(self, notifications: Any) -> None:
        if notifications:
            self._intake.take([self._intake.structured(event) for event in notifications])

    def disconnect_sequence_push_consumer(self) -> None:
        self._intake.disconnected()


class _AnyConsumer(_Servant, CosNotifyComm__POA.PushConsumer):  # type: ignore[misc]
    def push(self, data: Any) -> None:
        self._intake.take([self._intake.untyped(data)])

    def disconnect_push_consumer(self) -> None:
        self._intake.disconnected()


_SERVANTS: Final = {"any": _AnyConsumer, "structured": _StructuredConsumer, "sequence": _SequenceConsumer}


def _octets(type_code: Any, value: Any) -> bytes | None:
    """The event as CDR, for a dead letter; None where the ORB cannot write it either."""
    try:
        return bytes(omniORB.cdrMarshal(type_code, value))
    except CORBA.Exception:
        return None
