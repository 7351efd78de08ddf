"""Several connections to one sink, as one sink: events with the same key go by the same lane, and so keep their order.

A batch is shared out; its confirmation is there when every lane has confirmed its part, and no earlier than that of the batch
before. Where one lane wants its part later, the whole batch is sent again: what the others have taken already arrives twice, and
nothing out of its order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from typing import Final
from zlib import crc32

from adapters.base import (
    Confirmation,
    EventTypes,
    HearTypes,
    Outgoing,
    ReconnectError,
    Refusal,
    RetryLaterError,
    Sink,
    StopError,
)
from gateway.links.fields import values_of

_WORST_FIRST: Final = (ReconnectError, StopError, RetryLaterError)

Key = Callable[[Outgoing], object]
Part = tuple[list[int], Confirmation]  # which events of the batch, and what became of them


def key_of(names: Sequence[str]) -> Key:
    """What these fields hold in what is sent: properties or header fields of a message, fields of an event."""

    return lambda outgoing: values_of(outgoing.payload, names)


def round_robin() -> Key:
    """Where no order is wanted."""
    numbers = count()
    return lambda _: next(numbers)


class LanedSink(Sink):
    def __init__(self, lanes: Sequence[Sink], key: Key) -> None:
        self._lanes = lanes
        self._key = key
        self.capabilities = replace(lanes[0].capabilities)
        self._lock = threading.Lock()
        self._open: deque[tuple[Confirmation, list[Part]]] = deque()

    def connect(self) -> None:
        try:
            for lane in self._lanes:
                lane.connect()
        except BaseException:
            self.close()
            raise

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        shares: list[list[int]] = [[] for _ in self._lanes]
        for index, outgoing in enumerate(batch):
            shares[crc32(repr(self._key(outgoing)).encode("utf-8", "surrogatepass")) % len(shares)].append(index)
        parts: list[Part] = []
        for lane, share in zip(self._lanes, shares, strict=True):
            if share:
                try:
                    parts.append((share, lane.send([batch[index] for index in share])))
                except RetryLaterError as later:  # the others may have taken theirs already
                    refused: Confirmation = Future()
                    refused.set_exception(later)
                    parts.append((share, refused))
        whole: Confirmation = Future()
        with self._lock:
            self._open.append((whole, parts))
        for _, confirmation in parts:
            confirmation.add_done_callback(lambda _: self._complete())
        return whole

    def check(self) -> None:
        for lane in self._lanes:
            lane.check()

    def watch_wanted(self, heard: HearTypes) -> None:
        """They lead to the same channel: one hears what all would."""
        self._lanes[0].watch_wanted(heard)

    def offer(self, types: EventTypes) -> None:
        for lane in self._lanes:
            lane.offer(types)

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()
        error = ReconnectError("LNK-LANES-CLOSED", "closed before every lane had confirmed")
        with self._lock:
            left = [whole for whole, _ in self._open]
            self._open.clear()
        for whole in left:
            whole.set_exception(error)

    def _complete(self) -> None:
        """Those whose parts are all there, in the order of the sends. On whatever thread completes a part."""
        while True:
            with self._lock:
                if not self._open or not all(confirmation.done() for _, confirmation in self._open[0][1]):
                    return
                whole, parts = self._open.popleft()
                _tell(whole, parts)  # with the lock: else the next one might be told before


def _tell(whole: Confirmation, parts: Sequence[Part]) -> None:
    errors = [error for _, confirmation in parts if (error := confirmation.exception()) is not None]
    for kind in _WORST_FIRST:
        for error in errors:
            if isinstance(error, kind):
                whole.set_exception(error)
                return
    if errors:
        whole.set_exception(errors[0])
        return
    refusals = [
        Refusal(share[refusal.index], refusal.error)
        for share, confirmation in parts
        for refusal in confirmation.result()
    ]
    whole.set_result(tuple(sorted(refusals, key=lambda refusal: refusal.index)))
