"""What the contract suite needs of a wire: a real peer, a source and a sink on it, and ways to hurt it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapters.base import Payload, Sink, Source
from mappings.idl_types import LONG
from mappings.model import Headers, Message, MessageProperty, Property, StructuredEvent


class Wire(ABC):
    """One peer. The source reads from one channel of it, the sink writes to another."""

    form: str

    @abstractmethod
    def make_source(self) -> Source: ...

    @abstractmethod
    def make_sink(self) -> Sink: ...

    @abstractmethod
    def feed(self, payloads: Sequence[Payload]) -> None:
        """Have the peer deliver these to the source, in order, now or as soon as it connects. Does not wait for it."""

    @abstractmethod
    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        """The next `count` payloads that the peer got from the sink; fewer after the time-out."""

    @abstractmethod
    def stop_peer(self) -> None:
        """The peer dies at once, its connections with it."""

    @abstractmethod
    def start_peer(self) -> None:
        """The peer is back, with what was fed and not acknowledged if `keeps_over_restart`."""

    keeps_over_restart = True

    def payload(self, number: int) -> Payload:
        """A payload that can be told from the others on the far side."""
        if self.form == "event":
            return StructuredEvent("Telecom", "Alarm", f"n{number}", (), (Property("Number", LONG, number),))
        return Message(Headers(JMSType="Contract"), (MessageProperty("number", "int", number),))

    def number(self, payload: Payload | None) -> int:
        """The inverse of `payload`."""
        assert payload is not None
        if isinstance(payload, StructuredEvent):
            return int(payload.filterable_data[0].value)
        return next(int(p.value) for p in payload.properties if p.name == "number")


@contextmanager
def connected_source(wire: Wire) -> Iterator[Source]:
    source = wire.make_source()
    try:
        source.connect()
        yield source
    finally:
        source.close()


@contextmanager
def connected_sink(wire: Wire) -> Iterator[Sink]:
    sink = wire.make_sink()
    try:
        sink.connect()
        yield sink
    finally:
        sink.close()
