"""The worker's side of a sink: a thread that pushes batches to the peer in order: one event after the other, or as sequences.

After a refusal for now ("later") nothing more is pushed until the gateway says `resume`: what was sent behind it must not overtake
it. After a broken connection nothing more is pushed at all.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError
from adapters.cosnotification.connection import Connection, Pulse
from adapters.cosnotification.faults import on_push
from adapters.cosnotification.kinds import kind_of
from adapters.cosnotification.left_behind import Trace
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA
from adapters.cosnotification.worker.parcels import NumberedTypes
from adapters.cosnotification.worker.told import Told, told
from adapters.cosnotification.worker.types_talk import ReportTypes, TypesTalk, nobody_hears

Refusals = list[tuple[int, Told]]

Report = Callable[[int, Refusals, Told | None, int], None]
"""The fate of a batch: its number, refusals, error, and how many events from the beginning on have found their end."""

Trying = Callable[[int, int, list[int]], None]
"""Which event of which batch is at stake next, and which ones of this batch were refused."""


class Sender:
    """One connection of one sink, from `open` to `close`."""

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
        servant = kind.push_supplier(self._disconnected)
        self._connection = Connection(orb, endpoint, channel, kind, "supplier", servant)
        self.types = TypesTalk(
            self._connection, channel, "supplier", servant, endpoint.ping_interval_secs, types_told, fail
        )
        self._types = types
        self._report = report
        self._trying = trying
        self._fail = fail
        self._ping_interval_secs = endpoint.ping_interval_secs
        self._pulse: Pulse | None = None
        self._batches: queue.SimpleQueue[tuple[int, list[Any], bool] | None] = queue.SimpleQueue()
        self._obstacle: AdapterError | None = None  # why nothing is pushed now
        self._thread = threading.Thread(target=self._run, name="cosnotification-sender", daemon=True)

    def open(self, left_behind: Sequence[Trace], remember: Callable[[list[Trace]], None]) -> int:
        """As Connection.open."""
        removed = self._connection.open(left_behind, remember)
        self._pulse = Pulse(self._ping_interval_secs, self._connection.ping, self._fail)
        self._thread.start()
        return removed

    def send(self, number: int, parcels: list[Any], careful: bool) -> None:
        self._batches.put((number, parcels, careful))

    def resume(self) -> None:
        """The gateway has heard of every refusal, and begins again with the first."""
        if isinstance(self._obstacle, RetryLaterError):
            self._obstacle = None

    def close(self) -> bool:
        self._obstacle = ReconnectError("COR-CLOSED", "closed before the peer confirmed")
        self._batches.put(None)
        self.types.stop()
        heard = self._connection.close()
        if self._pulse is not None:
            self._pulse.stop()
        if self._thread.ident is not None:
            self._thread.join(2.0)
        return heard

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
                events[index] = self._kind.encode(self._types.event(parcel))
            except DeadLetterError as error:
                refusals.append((index, told(error)))
        together = self._kind.together and not careful
        groups = deque([list(events)] if together and events else [[index] for index in events])
        taken = False
        while groups:
            group = groups.popleft()
            if careful:
                self._trying(number, group[0], [index for index, _ in refusals])
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
        partner = self._connection.partner
        if partner is None:
            raise ReconnectError("COR-CLOSED", "the sink is not connected")
        try:
            self._kind.push(partner, events)
        except CORBA.Exception as error:
            raise on_push(error, "pushing an event") from error
        except Exception as error:  # the library stumbles over some values instead of refusing them
            raise DeadLetterError("COR-VALUE", f"a value cannot be sent: {type(error).__name__}: {error}") from error

    def _disconnected(self) -> None:
        error = ReconnectError("COR-DISCONNECTED", "the peer has disconnected us")
        self._obstacle = error
        self._fail(error)
