"""An ORB with a doorway, and peers that speak to it in octets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.held import Held
from adapters.cosnotification.giop.messages import RequestMaker, Splitter, read_reply
from adapters.cosnotification.ior import IiopProfile, decode_ior
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.peer import peer_host
from adapters.cosnotification.settings import OrbSettings
from adapters.cosnotification.stubs import CosNotifyComm__POA
from mappings.cdr.events import event_octets, event_reader
from mappings.model import StructuredEvent

PATIENCE_SECS = 10.0
PUSH = b"push_structured_event"
OK = messages.NO_EXCEPTION


class Consumer(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    """What the library has passed to us."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.hosts: list[str] = []

    def push_structured_event(self, notification: Any) -> None:
        self.names.append(notification.header.fixed_header.event_name)
        self.hosts.append(peer_host())

    def disconnect_structured_push_consumer(self) -> None:
        self.names.append("disconnect")


class Place:
    """An ORB with a doorway, a consumer, and a handler that takes what it is told to."""

    def __init__(self, orb: LocalOrb) -> None:
        self.orb = orb
        self.consumer = Consumer()
        self.takes = True
        self.taken: list[tuple[str, bool]] = []
        self.held: dict[str, Held] = {}
        self.hold_secs = PATIENCE_SECS
        self.late = False  # whether what was held is done after all when its time is over
        self.reference = orb.activate(self.consumer, b"consumer")
        self.profile: IiopProfile = decode_ior(orb.to_string(self.reference)).profiles[0]
        orb.serve_octets(self.reference, PUSH.decode(), self._take)

    def _take(self, octets: bytes, little: bool) -> bool | Held:
        event, _ = event_reader(little).event(octets)
        if event.event_name == "broken":
            raise ValueError("a fault of a handler's")
        if event.event_name.startswith("held"):
            held = self.held[event.event_name] = Held(self.hold_secs, lambda: self.late)
            return held
        if self.takes and not event.event_name.startswith("library"):
            self.taken.append((event.event_name, little))
            return True
        return False

    def push(self, name: str, *, little: bool = True, first: bool = False, id_: int = 7) -> bytes:
        maker = RequestMaker(self.profile.key, PUSH, little=little, code_sets=first)
        return maker.request(id_, event_octets(StructuredEvent("Telecom", "Alarm", name), little))


@contextmanager
def place(**more: Any) -> Iterator[Place]:
    orb = LocalOrb(OrbSettings(**more), doorway=True)
    orb.start()
    try:
        yield Place(orb)
    finally:
        orb.stop()


class Peer:
    def __init__(self, here: Place, source: str | None = "127.0.0.1") -> None:
        address = here.profile.addresses[0]
        own = None if source is None else (source, 0)
        self.socket = socket.create_connection((address.host, address.port), PATIENCE_SECS, own)
        self._splitter = Splitter(1 << 30)
        self._messages: list[bytes] = []

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def message(self) -> bytes:
        while not self._messages:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("closed")
            self._messages += self._splitter.feed(data)
        return self._messages.pop(0)

    def ask(self, request: bytes) -> tuple[int, int]:
        """Id and status of the reply."""
        self.socket.sendall(request)
        return self.reply()

    def reply(self) -> tuple[int, int]:
        head = read_reply(self.message())
        assert head is not None
        return head[:2]
