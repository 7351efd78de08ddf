"""The worker's side of a sink: a thread that pushes batches to the peer, one event after the other, in order.

After a refusal for now ("later") nothing more is pushed until the gateway says `resume`: what was sent behind it must not overtake
it. After a broken connection nothing more is pushed at all.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError
from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.connection import SupplierConnection
from adapters.cosnotification.faults import on_push
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, CosNotifyComm__POA
from adapters.cosnotification.worker.parcels import NumberedTypes
from adapters.cosnotification.worker.told import Told, told

Refusals = list[tuple[int, Told]]


class Sender:
    """One connection of one sink, from `open` to `close`."""

    def __init__(
        self,
        orb: LocalOrb,
        endpoint: CosNotificationEndpoint,
        channel: CosNotificationChannel,
        types: NumberedTypes,
        report: Callable[[int, Refusals, Told | None, int], None],
        trying: Callable[[int, int], None],
    ) -> None:
        """`report(number, refusals, error, pushed)` tells the fate of a batch; `trying(number, index)` what is pushed next."""
        self._connection = SupplierConnection(orb, endpoint, channel, _Supplier(self._disconnected))
        self._types = types
        self._report = report
        self._trying = trying
        self._batches: queue.SimpleQueue[tuple[int, list[Any], bool] | None] = queue.SimpleQueue()
        self._obstacle: AdapterError | None = None  # why nothing is pushed now
        self._thread = threading.Thread(target=self._run, name="cosnotification-sender", daemon=True)

    def open(self, left_behind: list[str]) -> str:
        """The reference of our admin at the peer. Raises ReconnectError or StopError."""
        admin = self._connection.open(left_behind)
        self._thread.start()
        return admin

    def send(self, number: int, parcels: list[Any], careful: bool) -> None:
        self._batches.put((number, parcels, careful))

    def resume(self) -> None:
        """The gateway has heard of every refusal, and begins again with the first."""
        if isinstance(self._obstacle, RetryLaterError):
            self._obstacle = None

    def close(self) -> None:
        self._obstacle = ReconnectError("COR-CLOSED", "closed before the peer confirmed")
        self._batches.put(None)
        self._connection.close()
        if self._thread.ident is not None:
            self._thread.join(2.0)

    def _run(self) -> None:
        while (batch := self._batches.get()) is not None:
            number, parcels, careful = batch
            if self._obstacle is not None:
                self._report(number, [], told(self._obstacle), 0)
            else:
                self._push_all(number, parcels, careful)

    def _push_all(self, number: int, parcels: list[Any], careful: bool) -> None:
        refusals: Refusals = []
        pushed = 0
        for index, parcel in enumerate(parcels):
            if careful:
                self._trying(number, index)
            try:
                self._push(parcel)
            except DeadLetterError as error:
                refusals.append((index, told(error)))
            except RetryLaterError as error:
                self._obstacle = error
                if not pushed and not refusals:
                    self._report(number, [], told(error), 0)
                    return
                refusals += [(later, told(error)) for later in range(index, len(parcels))]  # in order, or not at all
                break
            except AdapterError as error:
                self._obstacle = error
                self._report(number, refusals, told(error), index)
                return
            else:
                pushed += 1
        self._report(number, refusals, None, len(parcels))

    def _push(self, parcel: Any) -> None:
        """Raises one of the four errors."""
        event = event_to_orb(self._types.event(parcel))
        proxy = self._connection.proxy
        if proxy is None:
            raise ReconnectError("COR-CLOSED", "the sink is not connected")
        try:
            proxy.push_structured_event(event)
        except CORBA.Exception as error:
            raise on_push(error, "pushing an event") from error
        except Exception as error:  # the library stumbles over some values instead of refusing them
            raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {type(error).__name__}: {error}") from error

    def _disconnected(self) -> None:
        self._obstacle = ReconnectError("COR-DISCONNECTED", "the peer has disconnected us")


class _Supplier(CosNotifyComm__POA.StructuredPushSupplier):  # type: ignore[misc]
    """What the peer calls, on threads of the ORB."""

    def __init__(self, disconnected: Callable[[], None]) -> None:
        self._disconnected = disconnected

    def disconnect_structured_push_supplier(self) -> None:
        self._disconnected()

    def subscription_change(self, added: Any, removed: Any) -> None:
        """Consumers come and go; we push what the link sends."""
