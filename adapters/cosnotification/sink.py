"""Sink of the CosNotification wire: a StructuredPushSupplier at a channel of the peer.

A push returns when the channel has the event, so a batch is settled when `send` returns: it pushes one event after the other on the
link's own thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from adapters.base import (
    Confirmation,
    DeadLetterError,
    Outgoing,
    ReconnectError,
    Refusal,
    RetryLaterError,
    Sink,
    StopError,
)
from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.connection import SupplierConnection
from adapters.cosnotification.faults import on_push
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.settings import (
    CosNotificationChannel,
    CosNotificationEndpoint,
    capabilities,
)
from adapters.cosnotification.stubs import CORBA, CosNotifyComm__POA
from mappings.model import StructuredEvent


class CosNotificationSink(Sink):
    """The ORB must run before `connect` and until after `close`."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        self.capabilities = capabilities(channel)
        self._connection = SupplierConnection(orb, endpoint, channel, _Supplier(self._disconnected))
        self._disconnected_by_peer = False
        self._settled_of_broken: set[str] = set()  # ids that the peer had taken when a batch broke off

    def connect(self) -> None:
        self._disconnected_by_peer = False
        self._connection.open()

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        proxy = self._connection.proxy
        if proxy is None:
            raise ReconnectError("COR-CLOSED", "the sink is not connected")
        if self._disconnected_by_peer:
            raise ReconnectError("COR-DISCONNECTED", "the peer has disconnected us")
        refusals: list[Refusal] = []
        settled = 0
        for index, outgoing in enumerate(batch):
            if outgoing.id in self._settled_of_broken:
                self._settled_of_broken.discard(outgoing.id)  # the batch comes again, this one needs not
                continue
            try:
                _push(proxy, outgoing)
            except DeadLetterError as error:
                refusals.append(Refusal(index, error))
            except RetryLaterError as error:
                if settled == 0 and not refusals:
                    raise
                refusals += [Refusal(later, error) for later in range(index, len(batch))]  # in order, or not at all
                break
            except (ReconnectError, StopError):
                self._settled_of_broken.update(done.id for done in batch[:index])
                self._settled_of_broken.difference_update(batch[refusal.index].id for refusal in refusals)
                raise
            settled += 1
        confirmation: Confirmation = Future()
        confirmation.set_result(tuple(refusals))
        return confirmation

    def close(self) -> None:
        self._connection.close()

    def _disconnected(self) -> None:
        self._disconnected_by_peer = True


def _push(proxy: Any, outgoing: Outgoing) -> None:
    """Raises one of the four errors."""
    if not isinstance(outgoing.payload, StructuredEvent):
        raise DeadLetterError("COR-VALUE", "a message cannot be pushed to a channel: it takes events")
    event = event_to_orb(outgoing.payload)
    try:
        proxy.push_structured_event(event)
    except CORBA.Exception as error:
        raise on_push(error, "pushing an event") from error
    except Exception as error:  # the library stumbles over some values instead of refusing them
        raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {type(error).__name__}: {error}") from error


class _Supplier(CosNotifyComm__POA.StructuredPushSupplier):  # type: ignore[misc]
    """What the peer calls, on threads of the ORB."""

    def __init__(self, disconnected: Any) -> None:
        self._disconnected = disconnected

    def disconnect_structured_push_supplier(self) -> None:
        self._disconnected()

    def subscription_change(self, added: Any, removed: Any) -> None:
        """Consumers come and go; we push what the link sends."""
