"""Finds the one message that makes a broker close the connection.

STOMP has no answer for a single message: ERROR ends the connection, and with it every batch under way. The link sends them again,
and without more ado would do so for ever. So when a broker has blamed a frame of ours (`BrokerError.blames_message`):

1. the messages that were open are *suspects*, and go again with a receipt each instead of a transaction; receipts come in order,
   so the first one missing at the next ERROR is the culprit's, and what has a receipt is *taken* and need not go again;
2. a message that is the culprit twice running is refused for good: it is a dead letter, and the others pass.

An ERROR that says nothing about a message (no rights, full, a lost destination) accuses nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from adapters.base import DeadLetterError, Outgoing
from adapters.stomp.broker_errors import BrokerError


class _Taken(Enum):
    TAKEN = "taken"


TAKEN: Final = _Taken.TAKEN


class Quarantine:
    """Empty as long as all is well. Guarded by its sink's lock."""

    def __init__(self) -> None:
        self._suspects: set[str] = set()
        self._taken: set[str] = set()
        self._strikes: dict[str, int] = {}
        self._condemned: dict[str, DeadLetterError] = {}

    def holds(self, batch: Sequence[Outgoing]) -> bool:
        return bool(self._suspects) and any(outgoing.id in self._suspects for outgoing in batch)

    def verdict(self, id_: str) -> DeadLetterError | _Taken | None:
        """A dead letter; taken by the broker already; or None: to be sent."""
        return self._condemned.get(id_) or (TAKEN if id_ in self._taken else None)

    def taken(self, ids: list[str]) -> None:
        """The broker has sent the receipt for these."""
        if self._suspects:
            self._taken.update(ids)

    def accuse(self, open_ids: list[list[list[str]]], error: BrokerError) -> None:
        """ERROR: for each open batch, the ids behind each open receipt."""
        if not open_ids:
            return
        first = open_ids[0][0]
        if len(first) == 1:
            id_ = first[0]
            self._strikes[id_] = self._strikes.get(id_, 0) + 1
            if self._strikes[id_] >= 2:
                self._condemned[id_] = DeadLetterError(error.code, error.message, path=error.path, hint=error.hint)
        self.suspect(open_ids)

    def suspect(self, open_ids: list[list[list[str]]]) -> None:
        """These go with a receipt each."""
        self._suspects.update(id_ for batch in open_ids for ids in batch for id_ in ids)

    def settled(self, ids: list[str]) -> None:
        """A batch with these is over: whoever was suspected has passed, or was condemned."""
        for id_ in ids:
            self._suspects.discard(id_)
            self._taken.discard(id_)
            self._strikes.pop(id_, None)
            self._condemned.pop(id_, None)
