"""A journal as the Source of a link: so that a link reads from its journal exactly as it would read from a wire."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from adapters.base import Capabilities, Delivery, Form, ReconnectError, Source, StopError
from gateway.journal.cursor import Cursor
from gateway.journal.errors import JournalClosed, KeyMissing
from gateway.journal.journal import Journal
from gateway.journal.options import Policy
from mappings.makers import maker

_make_delivery: Final = maker(Delivery)


class JournalSource(Source):
    """The deliveries of a journal that are pending for one link, in order. A delivery's token is its sequence."""

    def __init__(self, journal: Journal[Delivery], link: str, form: Form, policy: Policy = "block") -> None:
        self.capabilities = Capabilities(
            form=form, typed_properties=True, transactions=False, durable=True, acknowledges=True, ordered=True
        )
        self._journal = journal
        self._link = link
        self._policy = policy
        self._cursor: Cursor[Delivery] | None = None
        self._connection = 0
        with suppress(OSError, JournalClosed):  # connect() tries again, and says so
            journal.cursor(link, policy)  # a new link misses nothing of what is appended between now and connect()

    @property
    def cursor(self) -> Cursor[Delivery]:
        """For settling by outcome, and for what is overdue. Raises ReconnectError before `connect`."""
        if self._cursor is None:
            raise _not_connected()
        return self._cursor

    def connect(self) -> None:
        try:
            self._cursor = self._journal.cursor(self._link, self._policy)
        except JournalClosed as closed:
            raise ReconnectError(closed.code, closed.message, hint=closed.hint) from closed
        except OSError as trouble:
            raise ReconnectError(
                "JNL-HELD",
                f"the cursor of link {self._link} cannot be written: {trouble.strerror or trouble}",
                path=str(trouble.filename or ""),
                hint="make room on the disk, or mend it: it goes on by itself",
            ) from trouble
        self._connection += 1

    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        try:
            entries = self.cursor.read(limit, timeout_secs)
        except JournalClosed as closed:
            raise ReconnectError(closed.code, closed.message, hint=closed.hint) from closed
        except KeyMissing as missing:
            raise StopError(missing.code, missing.message, hint=missing.hint) from missing
        connection = self._connection
        return [
            _make_delivery(
                item.payload,
                item.id,
                item.received_at,
                item.persistent,
                item.redelivered or again,
                item.original,
                item.error,
                (connection, sequence),
            )
            for sequence, item, again in entries
        ]

    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """Settles them as delivered. A link that keeps its accounts in the journal settles by `cursor` instead."""
        self.cursor.settle(self.sequences(deliveries))

    def release(self, deliveries: Sequence[Delivery]) -> None:
        self.cursor.release(self.sequences(deliveries))

    def sequences(self, deliveries: Sequence[Delivery]) -> list[int]:
        """Of those that came from this connection: an earlier one's come again anyway."""
        return [sequence for connection, sequence in (d.token for d in deliveries) if connection == self._connection]

    def wake(self) -> None:
        cursor = self._cursor
        if cursor is not None:
            cursor.wake()

    def close(self) -> None:
        """What is unsettled comes again after `connect`."""
        self._cursor = None


def _not_connected() -> ReconnectError:
    return ReconnectError("JNL-CLOSED", "the journal is not connected", hint="connect first")
