"""Untyped clients: one Any a call, at a Notification Service or at a plain Event Service (CosEvent)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from adapters.cosnotification.codec import untyped_to_orb
from adapters.cosnotification.kinds.kind import Hearing, Intake, Kind, Shelf, event_service_places, notification_places
from adapters.cosnotification.kinds.nothing import NO_ANY
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm__POA,
    CosNotifyChannelAdmin,
    CosNotifyComm__POA,
)
from mappings.event_forms import to_any
from mappings.model import StructuredEvent


class _TakesPushes:
    def __init__(self, intake: Intake) -> None:
        self.push: Final = intake.untyped
        self.disconnect_push_consumer: Final = intake.disconnected


class _PushConsumer(_TakesPushes, Hearing, CosNotifyComm__POA.PushConsumer):  # type: ignore[misc]
    pass


class _PlainPushConsumer(_TakesPushes, CosEventComm__POA.PushConsumer):  # type: ignore[misc]
    pass


class _Pulls:
    def __init__(self, intake: Intake) -> None:
        self.disconnect_pull_consumer: Final = intake.disconnected


class _PullConsumer(_Pulls, Hearing, CosNotifyComm__POA.PullConsumer):  # type: ignore[misc]
    pass


class _PlainPullConsumer(_Pulls, CosEventComm__POA.PullConsumer):  # type: ignore[misc]
    pass


def _pull(proxy: Any, _: int, intake: Intake) -> bool:
    any_, has_event = proxy.try_pull()
    if has_event:
        intake.untyped(any_)
    return bool(has_event)


class _Pushes:
    def __init__(self, disconnected: Callable[[], None]) -> None:
        self.disconnect_push_supplier: Final = disconnected


class _PushSupplier(_Pushes, Hearing, CosNotifyComm__POA.PushSupplier):  # type: ignore[misc]
    pass


class _PlainPushSupplier(_Pushes, CosEventComm__POA.PushSupplier):  # type: ignore[misc]
    pass


class _GivesPulls:
    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.disconnect_pull_supplier: Final = shelf.disconnected

    def pull(self) -> Any:
        return self._shelf.wait(1)[0]

    def try_pull(self) -> tuple[Any, bool]:
        anys = self._shelf.look(1)
        return (anys[0], True) if anys else (NO_ANY, False)


class _PullSupplier(_GivesPulls, Hearing, CosNotifyComm__POA.PullSupplier):  # type: ignore[misc]
    pass


class _PlainPullSupplier(_GivesPulls, CosEventComm__POA.PullSupplier):  # type: ignore[misc]
    pass


def _encode(event: StructuredEvent) -> Any:
    return untyped_to_orb(to_any(event))


ANY: Final = Kind(
    channel=CosNotifyChannelAdmin.EventChannel,
    places=notification_places("any", "", CosNotifyChannelAdmin.ANY_EVENT),
    push_consumer=_PushConsumer,
    pull_consumer=_PullConsumer,
    pull=_pull,
    encode=_encode,
    type_code=CORBA.TC_any,
    push_supplier=_PushSupplier,
    push=lambda proxy, anys: proxy.push(*anys),
    pull_supplier=_PullSupplier,
    octets=("push", "any"),
)


PLAIN: Final = ANY._replace(
    channel=CosEventChannelAdmin.EventChannel,
    places=event_service_places("", lambda name: getattr(CosEventChannelAdmin, name)),
    push_consumer=_PlainPushConsumer,
    pull_consumer=_PlainPullConsumer,
    push_supplier=_PlainPushSupplier,
    pull_supplier=_PlainPullSupplier,
)
