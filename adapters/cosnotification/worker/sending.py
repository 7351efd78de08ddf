"""The worker's side of a sink: a thread that pushes batches to the peer in order: one event after the other, or as sequences.

After a refusal for now ("later") nothing more is pushed until the gateway says `resume`: what was sent behind it must not overtake
it. After a broken connection nothing more is pushed at all.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError
from adapters.cosnotification.codec import event_to_orb, untyped_to_orb
from adapters.cosnotification.connection import SupplierConnection
from adapters.cosnotification.faults import on_push
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, CosNotifyComm__POA
from adapters.cosnotification.worker.parcels import NumberedTypes
from adapters.cosnotification.worker.told import Told, told
from mappings.event_forms import to_any
from mappings.model import StructuredEvent

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
        self._way = _WAYS[channel.events]
        self._connection = SupplierConnection(orb, endpoint, channel, self._way.servant(self._disconnected))
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
        events: dict[int, Any] = {}
        for index, parcel in enumerate(parcels):
            try:
                events[index] = self._way.encode(self._types.event(parcel))
            except DeadLetterError as error:
                refusals.append((index, told(error)))
        together = self._way.together and not careful
        groups = deque([list(events)] if together and events else [[index] for index in events])
        taken = False
        while groups:
            group = groups.popleft()
            if careful:
                self._trying(number, group[0])
            try:
                self._push([events[index] for index in group])
            except DeadLetterError as error:
                if len(group) > 1:
                    groups.extend([index] for index in group)  # one of them: which?
                else:
                    refusals.append((group[0], told(error)))
            except RetryLaterError as error:
                self._obstacle = error
                if not taken and not refusals:
                    self._report(number, [], told(error), 0)
                    return
                waiting = [group[0], *(index for later in (group[1:], *groups) for index in later)]
                refusals += [(index, told(error)) for index in waiting]  # in order, or not at all
                break
            except AdapterError as error:
                self._obstacle = error
                self._report(number, refusals, told(error), group[0])
                return
            else:
                taken = True
        self._report(number, refusals, None, len(parcels))

    def _push(self, events: list[Any]) -> None:
        """Raises one of the four errors."""
        proxy = self._connection.proxy
        if proxy is None:
            raise ReconnectError("COR-CLOSED", "the sink is not connected")
        try:
            self._way.push(proxy, events)
        except CORBA.Exception as error:
            raise on_push(error, "pushing an event") from error
        except Exception as error:  # the library stumbles over some values instead of refusing them
            raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {type(error).__name__}: {error}") from error

    def _disconnected(self) -> None:
        self._obstacle = ReconnectError("COR-DISCONNECTED", "the peer has disconnected us")


class _Servant:
    """What the peer calls, on threads of the ORB."""

    def __init__(self, disconnected: Callable[[], None]) -> None:
        self._disconnected = disconnected

    def subscription_change(self, added: Any, removed: Any) -> None:
        """Consumers come and go; we push what the link sends."""


class _StructuredSupplier(_Servant, CosNotifyComm__POA.StructuredPushSupplier):  # type: ignore[misc]
    def disconnect_structured_push_supplier(self) -> None:
        self._disconnected()


class _SequenceSupplier(_Servant, CosNotifyComm__POA.SequencePushSupplier):  # type: ignore[misc]
    def disconnect_sequence_push_supplier(self) -> None:
        self._disconnected()


class _AnySupplier(_Servant, CosNotifyComm__POA.PushSupplier):  # type: ignore[misc]
    def disconnect_push_supplier(self) -> None:
        self._disconnected()


class _Way(NamedTuple):
    """How a kind of supplier pushes."""

    servant: type
    encode: Callable[[StructuredEvent], Any]
    push: Callable[[Any, list[Any]], None]
    together: bool = False  # many events in one call


_WAYS: Final = {
    "structured": _Way(_StructuredSupplier, event_to_orb, lambda proxy, events: proxy.push_structured_event(*events)),
    "sequence": _Way(
        _SequenceSupplier, event_to_orb, lambda proxy, events: proxy.push_structured_events(events), together=True
    ),
    "any": _Way(_AnySupplier, lambda event: untyped_to_orb(to_any(event)), lambda proxy, events: proxy.push(*events)),
}
