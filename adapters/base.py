"""The contract between the gateway and every wire.

A link owns one Source and one Sink, and calls each of them from one thread of its own, never from two at a time (`wake` and
`close` excepted: see there), so an adapter needs no locks towards the link. A link that is made anew after a change of its
settings may go on with a connected source: its calls then come from another thread, after the last call of the one before.

    source.connect()                                  sink.connect()
    batch = source.receive(limit, timeout_secs)       confirmation = sink.send(batch)
    source.acknowledge(batch)  ◀── when settled ──    confirmation.result()
    source.close()                                    sink.close()

**Errors are told apart by what the caller must do**, and nothing else may leave an adapter:

    AdapterError                  code, message, path, hint (mappings.errors.IsthmusError)
    ├── ReconnectError            the connection is gone or was never there: close, wait, connect again. Whatever was not
    │                             confirmed is sent again; whatever was not acknowledged comes again.
    ├── RetryLaterError           the connection is fine, the peer cannot take it now (full, busy, no credit): the same call
    │                             again after a pause.
    ├── DeadLetterError           this one event can never pass (malformed, too large, refused for good): dead-letter it, go on.
    └── StopError                 nothing that we can do by ourselves will help (a wrong setting): stop the link and say so.
                                  A refused login is not one: passwords get mended at the peer too, so it is a ReconnectError.

Every adapter passes `tests/contract/`, which says in tests what this page says in words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mappings import model
from mappings.errors import IsthmusError


class AdapterError(IsthmusError):
    """Base of what an adapter may raise; raise one of the four below."""


class ReconnectError(AdapterError):
    """Close, wait, connect again."""


class RetryLaterError(AdapterError):
    """The same call again after a pause."""


class DeadLetterError(AdapterError):
    """This one event can never pass."""


class StopError(AdapterError):
    """Stop the link: only a person can help."""


Form: TypeAlias = model.Form
Payload: TypeAlias = model.Payload


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a wire can do; `isthmus lint` checks a configuration against it."""

    form: Form  # what its deliveries and sends carry: StructuredEvent or Message
    typed_properties: bool  # property types survive (STOMP makes every one a String)
    transactions: bool  # a batch is sent as a whole or not at all
    durable: bool  # the far side keeps a confirmed event over its own restart
    acknowledges: bool  # the far side waits for our acknowledgement, and delivers again without it
    ordered: bool  # the far side keeps the order of what one connection sends
    keeps: bool = True  # a source: what we have not acknowledged is still there for us after we were away
    max_batch: int = 500  # the largest batch that `send` takes; a link never sends more at once


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """One event or message as it arrived. Identity, not equality: two equal payloads are two deliveries."""

    payload: Payload | None  # None where it could not be decoded; `error` then says why
    id: str  # the peer's own id where it has one, else made on arrival; stable over redelivery where the wire allows
    received_at: float  # seconds since 1970
    persistent: bool = True
    redelivered: bool = False
    original: bytes | None = None  # as it was on the wire, where the adapter has it (kept with a dead letter)
    error: DeadLetterError | None = None
    token: Any = field(default=None, repr=False)  # the adapter's own, for acknowledge()


@dataclass(frozen=True, slots=True, eq=False)
class Outgoing:
    """One event or message to send. `destination` overrides the channel's own (routing by content)."""

    payload: Payload
    id: str  # stable over resends: what a receiver may use to drop duplicates
    destination: str | None = None
    made_at: float = 0.0  # seconds since 1970: the time that its translation went by; 0.0 where there was none


@dataclass(frozen=True, slots=True)
class Refusal:
    """One event of a batch that the far side did not take, though the others are settled."""

    index: int
    error: DeadLetterError | RetryLaterError


Confirmation: TypeAlias = "Future[tuple[Refusal, ...]]"
"""Done when every event of the batch is settled by the far side: the result names those it refused (empty: all is well); a
ReconnectError means that the fate of the whole batch is unknown and that it must be sent again; a RetryLaterError that none of
it was taken and the same batch may be sent again; a StopError that only a person can help. Confirmations complete in the order
of the sends. Done-callbacks may run on a thread of the adapter and must not block."""


EventTypes: TypeAlias = "frozenset[tuple[str, str]] | None"
"""Domain and type names of events, with `*` for any run of characters; None: all of them, or nobody knows; empty: none at all."""

HearTypes: TypeAlias = "Callable[[EventTypes], None]"
"""Called on whatever thread of the adapter, at the first answer after each connect and at every change. Must not block, nor call
the adapter."""


class Source(ABC):
    """Takes deliveries from one channel of one peer."""

    capabilities: Capabilities

    @abstractmethod
    def connect(self) -> None:
        """Connect and subscribe, from scratch, resolving every name and reference anew.

        Called in state closed only. May block up to the endpoint's own time-outs, never for ever. When it returns, deliveries
        may come. Raises ReconnectError (nothing is left open) or StopError.
        """

    @abstractmethod
    def receive(self, limit: int, timeout_secs: float) -> list[Delivery]:
        """Up to `limit` deliveries in the order of the peer, as soon as there is one; [] after the time-out or a wake().

        An adapter holds a bounded number of deliveries beyond those returned; the peer feels it when we do not ask. What cannot be
        decoded is a Delivery with `error`, never an exception. Raises ReconnectError.
        """

    @abstractmethod
    def acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        """These are safe: the peer may forget them. In any order, each once.

        Returns when the acknowledgement is handed to the wire. A delivery of an earlier connection is ignored: the peer will
        deliver that one again. Raises ReconnectError (those deliveries may come again).
        """

    @abstractmethod
    def release(self, deliveries: Sequence[Delivery]) -> None:
        """Give these back unsettled: the peer keeps them, and may deliver them again to anybody, also to us."""

    @abstractmethod
    def wake(self) -> None:
        """Make a blocked receive() return soon (within 100 ms at the latest). From any thread, also when nothing blocks."""

    @abstractmethod
    def close(self) -> None:
        """Unsubscribe and disconnect; unsettled deliveries are released. From any state, twice too; blocks a few seconds at the
        most, raises nothing. `connect` may follow."""

    def unsubscribe(self) -> None:
        """Have the peer forget the durable subscription of this channel, and all that waits in it. Called in state closed; may
        block as `connect` does. Raises ReconnectError, or StopError where it cannot be done from here."""
        raise StopError(
            "LNK-UNSUBSCRIBE",
            "nothing is known of a durable subscription there",
            hint="remove it with the means of the peer",
        )

    # Where peers speak of event types; from any thread but those of the adapter, in any state, and kept over connections

    def watch_offers(self, heard: HearTypes) -> None:
        """Tell from now on which types the channel's suppliers offer. A wire on which nobody says so never calls."""
        return

    def want(self, types: EventTypes) -> None:
        """Ask the peer for these types alone. It may send others all the same: a wire without such a thing does nothing."""
        return


class Sink(ABC):
    """Sends to one channel of one peer."""

    capabilities: Capabilities

    @abstractmethod
    def connect(self) -> None:
        """As Source.connect."""

    @abstractmethod
    def send(self, batch: Sequence[Outgoing]) -> Confirmation:
        """Hand a batch to the wire, in order, without waiting for the far side where the wire allows.

        May block up to the endpoint's own time-outs when the wire is slow. Raises ReconnectError, RetryLaterError or StopError
        when the batch was not handed over at all; what happens after that, the Confirmation tells.
        """

    def check(self) -> None:
        """Raises ReconnectError when the connection is known to be lost; never blocks.

        The link asks now and then, also while it has nothing to send: else a link without traffic would call a dead peer ready.
        A wire that learns of a loss only by sending has nothing to tell here.
        """
        return

    @abstractmethod
    def close(self) -> None:
        """Disconnect. Confirmations that are still open fail with a ReconnectError. From any state, twice too; blocks a few
        seconds at the most, raises nothing. `connect` may follow."""

    # Where peers speak of event types: as at a source

    def watch_wanted(self, heard: HearTypes) -> None:
        """Tell from now on which types the channel's consumers want. A wire on which that cannot be known never calls, or calls
        with None."""
        return

    def offer(self, types: EventTypes) -> None:
        """Tell the channel's consumers that these types may come. None: nothing is known, and nothing is said."""
        return
