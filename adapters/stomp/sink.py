"""Sink of the STOMP wire: a batch is a transaction, proven by the receipt of its COMMIT.

BEGIN, every SEND and COMMIT leave in one write, and several transactions may be under way. A receipt for every SEND costs a broker
one synced write each; a transaction costs one, and is taken as a whole or not at all, which makes it the unit to send again after a
lost connection. `confirm: message` asks for a receipt of every SEND all the same.

A broker answers a message that it cannot bear with ERROR and closes the connection. `adapters.stomp.quarantine` sees to it that one
such message does not block a link for ever.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final

from adapters.base import Confirmation, DeadLetterError, Outgoing, ReconnectError, Refusal, Sink
from adapters.stomp.broker_errors import BrokerError
from adapters.stomp.codec import CodecError, Encoder
from adapters.stomp.connection import Connection
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.quarantine import Quarantine
from adapters.stomp.settings import StompChannel, StompEndpoint, capabilities
from mappings.model import Message

MAX_TRANSACTION_BYTES: Final = 8 * 1024 * 1024  # a broker keeps an open transaction in memory


class _Pending:
    """A batch on the wire. `receipts` are those still to come, each with the ids of the messages that it proves."""

    __slots__ = ("confirmation", "receipts", "refusals", "suspects")

    def __init__(self) -> None:
        self.confirmation: Confirmation = Future()
        self.receipts: dict[str, list[str]] = {}
        self.refusals: tuple[Refusal, ...] = ()
        self.suspects: list[str] = []  # ids that the quarantine may forget with this batch


class StompSink(Sink):
    """`_lock` guards what the link's thread and the connection's thread both touch: `_pending` and `_progress_at`."""

    def __init__(self, endpoint: StompEndpoint, channel: StompChannel, *, beat_ms: int | None = None) -> None:
        """`beat_ms`: see Connection."""
        self.capabilities = capabilities(channel)
        self._endpoint = endpoint
        self._channel = channel
        self._beat_ms = beat_ms
        self._flavour = FLAVOURS[endpoint.broker]
        self._confirm = endpoint.confirm or self._flavour.confirm
        self._encoder = Encoder(self._flavour, endpoint.map_bodies or self._flavour.map_bodies, channel.queue_type)
        self._receipt_timeout_secs = endpoint.receipt_timeout_ms / 1000
        self._connection: Connection | None = None
        self._lock = threading.Lock()
        self._completing = threading.RLock()  # confirmations complete in order; taken before _lock
        self._pending: deque[_Pending] = deque()
        self._progress_at = 0.0
        self._next = 0  # number of the next receipt and transaction
        self._quarantine = Quarantine()

    def connect(self) -> None:
        connection = Connection(
            self._endpoint,
            beat_ms=self._beat_ms,
            on_receipt=self._on_receipt,
            on_tick=self._on_tick,
            on_lost=self._on_lost,
        )
        connection.open()
        self._connection = connection

    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        if self._connection is None:
            raise ReconnectError("STO-CLOSED", "the sink is not connected")
        self._connection.check()
        data, pending = self._encode(batch, careful=self._quarantine.holds(batch))
        with self._lock:
            if not self._pending:
                self._progress_at = time.monotonic()
            self._pending.append(pending)
        try:
            if data:
                self._connection.send(data)
        except ReconnectError:
            with self._lock:
                if pending in self._pending:
                    self._pending.remove(pending)
            raise
        if not pending.receipts:
            self._complete()
        return pending.confirmation

    def check(self) -> None:
        if self._connection is not None:
            self._connection.check()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._fail(ReconnectError("STO-CLOSED", "closed before the broker confirmed", path=self._channel.destination))

    # The link's thread

    def _encode(self, batch: Sequence[Outgoing], *, careful: bool) -> tuple[bytes, _Pending]:
        now_ms = int(time.time() * 1000)
        refusals: list[Refusal] = []
        pending = _Pending()
        if careful:
            pending.suspects = [outgoing.id for outgoing in batch]
        pieces: list[bytes] = []
        each = careful or self._confirm == "message" or len(batch) == 1
        transaction, ids, size = "", [], 0
        for index, outgoing in enumerate(batch):
            if careful:
                verdict = self._quarantine.verdict(outgoing.id)
                if isinstance(verdict, DeadLetterError):
                    refusals.append(Refusal(index, verdict))
                if verdict is not None:
                    continue
            if each:
                extra = f"receipt:{self._number()}\n"
            else:
                if not transaction:
                    transaction = self._number()
                    pieces.append(f"BEGIN\ntransaction:{transaction}\n\n\0".encode())
                extra = f"transaction:{transaction}\n"
            try:
                frame = self._encode_one(outgoing, now_ms, extra)
            except CodecError as error:
                refusals.append(Refusal(index, DeadLetterError("STO-ENCODE", f"cannot be sent over STOMP: {error}")))
                continue
            pieces.append(frame)
            if each:
                pending.receipts[str(self._next)] = [outgoing.id]
                continue
            ids.append(outgoing.id)
            size += len(frame)
            if size > MAX_TRANSACTION_BYTES:
                pieces.append(self._commit(transaction, ids, pending))
                transaction, ids, size = "", [], 0
        if transaction:
            pieces.append(self._commit(transaction, ids, pending))
        pending.refusals = tuple(refusals)
        return b"".join(pieces), pending

    def _encode_one(self, outgoing: Outgoing, now_ms: int, extra: str) -> bytes:
        if not isinstance(outgoing.payload, Message):
            raise CodecError(f"a {type(outgoing.payload).__name__} is no message: it must be translated first")
        destination = outgoing.destination or self._channel.destination
        return self._encoder.encode(outgoing.payload, destination, outgoing.id, now_ms, extra)

    def _commit(self, transaction: str, ids: list[str], pending: _Pending) -> bytes:
        receipt = self._number()
        pending.receipts[receipt] = ids
        return f"COMMIT\ntransaction:{transaction}\nreceipt:{receipt}\n\n\0".encode()

    def _number(self) -> str:
        self._next += 1
        return str(self._next)

    # The connection's thread

    def _on_receipt(self, receipt: str) -> None:
        with self._lock:
            self._progress_at = time.monotonic()
            for pending in self._pending:
                ids = pending.receipts.pop(receipt, None)
                if ids is not None:
                    self._quarantine.taken(ids)
                    break
        self._complete()

    def _on_tick(self, now: float) -> None:
        with self._lock:
            overdue = bool(self._pending) and now - self._progress_at > self._receipt_timeout_secs
            connection = self._connection
        if overdue and connection is not None:
            connection.lose(
                ReconnectError(
                    "STO-RECEIPT-TIMEOUT",
                    f"no receipt for {self._receipt_timeout_secs:g} s",
                    path=connection.address,
                    hint="the broker hangs, is overloaded, or holds producers back because it is full",
                )
            )

    def _on_lost(self, error: ReconnectError) -> None:
        with self._lock:
            open_ids = [list(pending.receipts.values()) for pending in self._pending if pending.receipts]
            if isinstance(error, BrokerError) and error.blames_message:
                self._quarantine.accuse(open_ids, error)
            elif self._flavour.duplicate_header is not None:
                # The broker may have taken these. It drops a duplicate in silence, but not inside a transaction.
                self._quarantine.suspect(open_ids)
        self._fail(error)

    # Both

    def _complete(self) -> None:
        """Settle every batch at the head that waits for no receipt any more, in order."""
        with self._completing:
            while True:
                with self._lock:
                    if not self._pending or self._pending[0].receipts:
                        return
                    done = self._pending.popleft()
                    self._quarantine.settled(done.suspects)
                done.confirmation.set_result(done.refusals)

    def _fail(self, error: ReconnectError) -> None:
        with self._completing:
            with self._lock:
                failed, self._pending = list(self._pending), deque()
            for pending in failed:
                pending.confirmation.set_exception(error)
