"""Structured clients: one StructuredEvent a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.kinds.kind import Hearing, Intake, Kind, Shelf, notification_places
from adapters.cosnotification.kinds.nothing import NO_EVENT
from adapters.cosnotification.stubs import CosNotification, CosNotifyChannelAdmin, CosNotifyComm__POA


class _PushConsumer(Hearing, CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    def __init__(self, intake: Intake) -> None:
        self.push_structured_event: Final = intake.structured
        self.disconnect_structured_push_consumer: Final = intake.disconnected


class _PullConsumer(Hearing, CosNotifyComm__POA.StructuredPullConsumer):  # type: ignore[misc]
    def __init__(self, intake: Intake) -> None:
        self.disconnect_structured_pull_consumer: Final = intake.disconnected


def _pull(proxy: Any, _: int, intake: Intake) -> bool:
    event, has_event = proxy.try_pull_structured_event()
    if has_event:
        intake.structured(event)
    return bool(has_event)


class _PushSupplier(Hearing, CosNotifyComm__POA.StructuredPushSupplier):  # type: ignore[misc]
    def __init__(self, disconnected: Callable[[], None]) -> None:
        self.disconnect_structured_push_supplier: Final = disconnected


class _PullSupplier(Hearing, CosNotifyComm__POA.StructuredPullSupplier):  # type: ignore[misc]
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.disconnect_structured_pull_supplier: Final = shelf.disconnected

    def pull_structured_event(self) -> Any:
        return self._shelf.wait(1)[0]

    def try_pull_structured_event(self) -> tuple[Any, bool]:
        events = self._shelf.look(1)
        return (events[0], True) if events else (NO_EVENT, False)


STRUCTURED: Final = Kind(
    channel=CosNotifyChannelAdmin.EventChannel,
    places=notification_places("structured", "Structured", CosNotifyChannelAdmin.STRUCTURED_EVENT),
    push_consumer=_PushConsumer,
    pull_consumer=_PullConsumer,
    pull=_pull,
    encode=event_to_orb,
    type_code=CosNotification._tc_StructuredEvent,
    push_supplier=_PushSupplier,
    push=lambda proxy, events: proxy.push_structured_event(*events),
    pull_supplier=_PullSupplier,
    octets=("push_structured_event", "event"),
)
