"""The worker's side of a sink that is pulled: batches are put on offer, and settled as the peer takes them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from adapters.base import AdapterError, DeadLetterError, ReconnectError
from adapters.cosnotification.connection import Connection, Pulse
from adapters.cosnotification.kinds import kind_of
from adapters.cosnotification.left_behind import Trace
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, omniORB
from adapters.cosnotification.worker.parcels import NumberedTypes
from adapters.cosnotification.worker.sending import Refusals, Report, Trying
from adapters.cosnotification.worker.shelf import Item, OfferShelf
from adapters.cosnotification.worker.told import told
from adapters.cosnotification.worker.types_talk import ReportTypes, TypesTalk, nobody_hears


class _Batch:
    def __init__(self, number: int, size: int, offered: list[int], refusals: Refusals) -> None:
        self.number = number
        self.size = size
        self.offered = offered  # indexes, in order
        self.refusals = refusals
        self.taken = 0

    @property
    def over(self) -> bool:
        return self.taken == len(self.offered)

    @property
    def progress(self) -> int:
        """How many events from the beginning on have found their end."""
        return self.size if self.over else self.offered[self.taken]


class Offerer:
    """One connection of one sink, from `open` to `close`. As `Sender`, for a peer that pulls."""

    def __init__(
        self,
        orb: LocalOrb,
        endpoint: CosNotificationEndpoint,
        channel: CosNotificationChannel,
        types: NumberedTypes,
        report: Report,
        trying: Trying,
        fail: Callable[[ReconnectError], None],
        types_told: ReportTypes = nobody_hears,
    ) -> None:
        self._kind = kind = kind_of(endpoint, channel)
        self._types = types
        self._report = report
        self._trying = trying
        self._fail = fail
        self._shelf = OfferShelf(channel.hold_ms / 1000, self._disconnected)
        servant = kind.pull_supplier(self._shelf)
        self._connection = Connection(orb, endpoint, channel, kind, "supplier", servant)
        self.types = TypesTalk(
            self._connection, channel, "supplier", servant, endpoint.ping_interval_secs, types_told, fail
        )
        self._ping_interval_secs = endpoint.ping_interval_secs
        self._pulse: Pulse | None = None
        self._obstacle: AdapterError | None = None
        self._lock = threading.Lock()  # guards the batches
        self._batches: deque[_Batch] = deque()  # on offer, in order

    def open(self, left_behind: Sequence[Trace], remember: Callable[[list[Trace]], None]) -> int:
        """As Connection.open."""
        removed = self._connection.open(left_behind, remember)
        self._pulse = Pulse(self._ping_interval_secs, self._connection.ping, self._lost)
        return removed

    def send(self, number: int, parcels: list[Any], careful: bool) -> None:
        if self._obstacle is not None:
            self._report(number, [], told(self._obstacle), 0)
            return
        events: list[tuple[int, Any]] = []
        refusals: Refusals = []
        for index, parcel in enumerate(parcels):
            try:
                events.append((index, self._encoded(parcel)))
            except DeadLetterError as error:
                refusals.append((index, told(error)))
        refused = [index for index, _ in refusals]
        batch = _Batch(number, len(parcels), [index for index, _ in events], refusals)
        items: list[Item] = [
            (event, partial(self._trying, number, index, refused) if careful else None, partial(self._taken, batch))
            for index, event in events
        ]
        with self._lock:
            if self._obstacle is not None:
                self._report(number, [], told(self._obstacle), 0)
                return
            self._batches.append(batch)
            self._report_finished()
        self._shelf.put(items)

    def resume(self) -> None:
        """A peer that pulls never says later."""

    def close(self) -> bool:
        self._give_up(ReconnectError("COR-CLOSED", "closed before the peer took it"))
        self.types.stop()
        heard = self._connection.close()
        if self._pulse is not None:
            self._pulse.stop()
        return heard

    def _encoded(self, parcel: Any) -> Any:
        """Raises DeadLetterError: what the ORB cannot write must be known now, while we are not yet answering a peer."""
        event = self._kind.encode(self._types.event(parcel))
        if self._kind.type_code is None:
            return event
        try:
            omniORB.cdrMarshal(self._kind.type_code, event)
        except Exception as error:  # the library stumbles over some values instead of refusing them
            name = str(error) if isinstance(error, CORBA.Exception) else f"{type(error).__name__}: {error}"
            raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {name}") from error
        return event

    def _taken(self, batch: _Batch) -> None:
        """In order: things are given away in order, and the peer has them in order."""
        with self._lock:
            batch.taken += 1
            self._report_finished()

    def _report_finished(self) -> None:
        while self._batches and self._batches[0].over:
            batch = self._batches.popleft()
            self._report(batch.number, batch.refusals, None, batch.size)

    def _disconnected(self) -> None:
        self._lost(ReconnectError("COR-DISCONNECTED", "the peer has disconnected us"))

    def _lost(self, error: ReconnectError) -> None:
        self._give_up(error)
        self._fail(error)

    def _give_up(self, error: ReconnectError) -> None:
        with self._lock:
            self._obstacle = error
            batches, self._batches = self._batches, deque()
        self._shelf.close()
        for batch in batches:
            self._report(batch.number, batch.refusals, told(error), batch.progress)
