"""The CosNotification wire: the peer is a Notification Service in another process, which can be killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from adapters.base import Outgoing, Payload, Sink, Source
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb, Worker
from adapters.cosnotification.references import resolve
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CosNotifyChannelAdmin, CosTypedNotifyChannelAdmin
from mappings.event_forms import to_structured
from mappings.idl_types import LONG, STRING, Alias, Member, Struct
from mappings.idl_types import Sequence as SequenceType
from mappings.model import Property, StructuredEvent, TypedEvent
from tests.contract.wires.base import Wire
from tests.contract.wires.cosnotification_peer import PLANT
from tests.parts.jacorb import JacOrb

IN, OUT = 0, 1  # ChannelIDs
PLACE = Struct("IDL:Plant/Place:1.0", "Place", (Member("site", STRING), Member("rack", LONG)))
PLACES = Alias("IDL:Plant/Places:1.0", "Places", SequenceType(PLACE))


class Peer:
    """The service in its process; a new reference is in the file after every start."""

    def __init__(self, folder: Path) -> None:
        self.ior = folder / "factory.ior"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.contract.wires.cosnotification_peer", str(self.ior), "2"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._ask() == "ready"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def queued(self) -> int:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._ask())

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process:  # waits, and closes the pipes
                self._process = None

    def _ask(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class Service(Protocol):
    """A Notification Service in its process; the reference of its factory is in a file."""

    ior: Path

    @property
    def pid(self) -> int | None: ...

    def start(self) -> None: ...

    def kill(self) -> None: ...


class CountingSource(CosNotificationSource):
    """Tells how many events have arrived from the peer, whoever has them now."""

    arrived = 0

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        held = super().on_frame(worker, frame)
        if frame[0] == "events":
            self.arrived += len(frame[3])
        elif frame[0] == "octets":
            self.arrived += frame[3]
        return held


class CosNotificationWire(Wire):
    """The ends under test are of one kind and style. Those that feed and drain are sequence clients by push, whatever is tested:
    so consumers are tested against the channel and not against our own suppliers. Plain ones speak to the Event Service's side of
    the same channels; typed ones to typed channels, from end to end: as clients of the Notification Service, or plain ones."""

    form = "event"

    def __init__(self, orb: Orb, peer: Service, kind: str, style: str) -> None:
        self._orb = orb
        self._peer = peer
        self._kind = kind
        self._style = style
        self._endpoint = CosNotificationEndpoint(
            type="cosnotification", factory=str(peer.ior), ping_interval_secs=0.5, call_timeout_ms=5000
        )
        self._sources: list[CountingSource] = []
        self._plain = self._endpoint.model_copy(update={"service": "event", "factory": None})
        self._is_typed = kind.endswith("typed")
        other = "typed" if self._is_typed else "sequence"
        self._feeder = CosNotificationSink(orb, self._endpoint, self._channel(IN, other, "push"))
        self._drainer = CosNotificationSource(orb, self._endpoint, self._channel(OUT, other, "push"))

    def _channel(self, number: int, kind: str, style: str) -> CosNotificationChannel:
        return CosNotificationChannel.model_validate(
            {
                "endpoint": "peer",
                "channel": number,
                "events": kind,
                "style": style,
                "poll_interval_ms": 10,
                "hold_ms": 300,
                **({"interface": "Plant::Alarms", "idl": [str(PLANT)]} if kind == "typed" else {}),
            }
        )

    def _tested(self, number: int) -> tuple[CosNotificationEndpoint, CosNotificationChannel]:
        if not self._kind.startswith("plain"):
            return self._endpoint, self._channel(number, self._kind, self._style)
        channel = self._channel(number, "typed" if self._is_typed else "any", self._style)
        return self._plain, channel.model_copy(update={"channel": None, "reference": self._reference(number)})

    def _reference(self, number: int) -> str:
        return str(self._peer.ior.with_name(f"channel-{number}.ior"))

    def _write_references(self) -> None:
        orb = LocalOrb()
        orb.start()
        interface: Any = CosNotifyChannelAdmin.EventChannelFactory
        if self._is_typed:
            interface = CosTypedNotifyChannelAdmin.TypedEventChannelFactory
        factory = resolve(orb, str(self._peer.ior), interface, 5000)
        get = factory.get_typed_event_channel if self._is_typed else factory.get_event_channel
        for number in (IN, OUT):
            Path(self._reference(number)).write_text(orb.to_string(get(number)))
        orb.stop()

    def make_source(self) -> Source:
        self._sources.append(CountingSource(self._orb, *self._tested(IN)))
        return self._sources[-1]

    def make_sink(self) -> Sink:
        return CosNotificationSink(self._orb, *self._tested(OUT))

    def payload(self, number: int) -> Payload:
        if not self._is_typed:
            return super().payload(number)
        parameters = (Property("number", LONG, number), Property("stops", PLACES, []))
        return to_structured(TypedEvent("", "::Plant::Alarms::moved", parameters))

    def number(self, payload: Payload | None) -> int:
        """An event that has passed an untyped client is the content of an Any."""
        assert isinstance(payload, StructuredEvent)
        if self._is_typed:
            return int(payload.filterable_data[1].value)
        if payload.type_name == "%ANY":
            return int(payload.remainder_of_body.value["filterable_data"][0]["value"].value)
        return super().number(payload)

    def feed(self, payloads: Sequence[Payload]) -> None:
        """Waits until the channel has handed them over to a source of ours, if there is one: it keeps nothing over a kill, what the
        source took it keeps itself."""
        batch = [Outgoing(payload, f"feed-{n}") for n, payload in enumerate(payloads)]
        before = self._arrived
        assert self._feeder.send(batch).result(20.0) == ()
        deadline = time.monotonic() + 20.0
        while self._sources and self._arrived < before + len(batch):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    @property
    def _arrived(self) -> int:
        return sum(source.arrived for source in self._sources)

    def drain(self, count: int, timeout_secs: float = 20.0) -> list[Payload]:
        deadline = time.monotonic() + timeout_secs
        got: list[Payload] = []
        while len(got) < count and time.monotonic() < deadline:
            deliveries = self._drainer.receive(count - len(got), 0.5)
            self._drainer.acknowledge(deliveries)
            got += [delivery.payload for delivery in deliveries if delivery.payload is not None]
        if self._style == "pull" and isinstance(self._peer, JacOrb):
            got.sort(key=self.number)  # its pulling proxies hand on what they have pulled in any order
        return got

    def stop_peer(self) -> None:
        self._peer.kill()

    def start_peer(self) -> None:
        self.disconnect()
        self._peer.start()
        self.connect()

    def connect(self) -> None:
        if self._kind.startswith("plain"):
            self._write_references()
        self._feeder.connect()
        self._drainer.connect()

    def disconnect(self) -> None:
        self._feeder.close()
        self._drainer.close()


@contextmanager
def jacorb_stage() -> Iterator[tuple[Orb, Service]]:
    orb = Orb()
    orb.start()
    try:
        with JacOrb() as peer:
            yield orb, peer
    finally:
        orb.stop()


@contextmanager
def stage() -> Iterator[tuple[Orb, Service]]:
    """An ORB and a peer, for any number of wires in turn."""
    orb = Orb()
    orb.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            peer = Peer(Path(folder))
            peer.start()
            try:
                yield orb, peer
            finally:
                peer.kill()
    finally:
        orb.stop()


@contextmanager
def combination(name: str, orb: Orb, peer: Service) -> Iterator[Wire]:
    """`name` is `kind-style`."""
    if peer.pid is None:  # the test before did not bring it back
        peer.start()
    wire = CosNotificationWire(orb, peer, *name.split("-"))
    try:
        wire.connect()
        yield wire
    finally:
        wire.disconnect()
