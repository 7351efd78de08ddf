"""Sequence clients: many StructuredEvents a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.kinds.kind import Hearing, Intake, Kind, Shelf, notification_places
from adapters.cosnotification.stubs import CosNotification, CosNotifyChannelAdmin, CosNotifyComm__POA


class _PushConsumer(Hearing, CosNotifyComm__POA.SequencePushConsumer):  # type: ignore[misc]
    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.disconnect_sequence_push_consumer: Final = intake.disconnected

    def push_structured_events(self, notifications: Any) -> None:
        self._intake.structured(*notifications)


class _PullConsumer(Hearing, CosNotifyComm__POA.SequencePullConsumer):  # type: ignore[misc]
    def __init__(self, intake: Intake) -> None:
        self.disconnect_sequence_pull_consumer: Final = intake.disconnected


def _pull(proxy: Any, most: int, intake: Intake) -> bool:
    events, has_event = proxy.try_pull_structured_events(most)
    if has_event:
        intake.structured(*events)
    return bool(has_event)


class _PushSupplier(Hearing, CosNotifyComm__POA.SequencePushSupplier):  # type: ignore[misc]
    def __init__(self, disconnected: Callable[[], None]) -> None:
        self.disconnect_sequence_push_supplier: Final = disconnected


class _PullSupplier(Hearing, CosNotifyComm__POA.SequencePullSupplier):  # type: ignore[misc]
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.disconnect_sequence_pull_supplier: Final = shelf.disconnected

    def pull_structured_events(self, max_number: int) -> Any:
        return self._shelf.wait(max(1, max_number))

    def try_pull_structured_events(self, max_number: int) -> tuple[Any, bool]:
        events = self._shelf.look(max(1, max_number))
        return events, bool(events)


SEQUENCE: Final = Kind(
    channel=CosNotifyChannelAdmin.EventChannel,
    places=notification_places("sequence", "Sequence", CosNotifyChannelAdmin.SEQUENCE_EVENT),
    push_consumer=_PushConsumer,
    pull_consumer=_PullConsumer,
    pull=_pull,
    encode=event_to_orb,
    type_code=CosNotification._tc_StructuredEvent,
    push_supplier=_PushSupplier,
    push=lambda proxy, events: proxy.push_structured_events(events),
    pull_supplier=_PullSupplier,
    together=True,
    octets=("push_structured_events", "events"),
)
