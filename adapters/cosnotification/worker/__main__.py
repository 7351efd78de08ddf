"""The worker process: `python -m adapters.cosnotification.worker SOCKET PIPE`, started by `adapters.cosnotification.orb.Orb` alone.

It ends when the gateway says so, and at once when the gateway has gone. Signals from a terminal or a service manager are for the
gateway: it drains first, and then ends us.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from adapters import garbage
from adapters.base import AdapterError, ReconnectError
from adapters.cosnotification.left_behind import Trace
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.boxing import Boxing
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, OrbSettings
from adapters.cosnotification.typed.idl_files import read_interfaces
from adapters.cosnotification.worker.frames import Closed, Frames
from adapters.cosnotification.worker.offering import Offerer
from adapters.cosnotification.worker.parcels import NumberedTypes, TypeNumbers
from adapters.cosnotification.worker.part import Part, make_part
from adapters.cosnotification.worker.receiving import Receiver
from adapters.cosnotification.worker.sending import Sender
from adapters.cosnotification.worker.told import told

CALLS_AT_ONCE: Final = 64
SWITCH_INTERVAL_SECS: Final = 0.001
YOUNG_OBJECTS: Final = 400_000  # 20 000 events that wait: a burst is not gone over while it comes in

E = TypeVar("E", Receiver, Sender | Offerer)


class Worker:
    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._types_out = TypeNumbers(lambda number, data: frames.send(("types", number, data)))
        self._types_in = NumberedTypes()
        self._pool = ThreadPoolExecutor(CALLS_AT_ONCE, "cosnotification-call")
        self._orb: LocalOrb | None = None
        self._service: ServiceHost | None = None
        self._parts: dict[str, Part] = {}
        self._receivers: dict[int, Receiver] = {}
        self._senders: dict[int, Sender | Offerer] = {}
        self._wanted: set[int] = set()  # ends that the gateway has opened, and not closed
        self._frame_handlers: Final[dict[str, Callable[..., object]]] = {
            "call": self._on_call,
            "types": self._types_in.add,
            "ping": lambda: frames.send(("pong",)),
            "credit": self._credit,
            "settled": self._settled,
            "batch": self._batch,
            "resume": self._resume,
            "watch_types": self._watch_types,
            "tell_types": self._tell_types,
        }

    def run(self) -> None:
        for frame in self._frames.receive():
            assert frame is not None
            self._frame_handlers[frame[0]](*frame[1:])

    def _on_call(self, number: int, name: str, arguments: tuple[Any, ...]) -> None:
        """What becomes of an end counts from now on, though the pool may be slow to take the call up, or another still be opening
        it: what a source took in after the gateway has turned away would be lost."""
        if name in ("receiver", "sender"):
            self._wanted.add(arguments[0])
        elif name == "close":
            self._wanted.discard(arguments[0])
            if (found := self._receivers.get(arguments[0])) is not None:
                found.gate.close()
        self._pool.submit(self._call, number, name, arguments)

    def _call(self, number: int, name: str, arguments: tuple[Any, ...]) -> None:
        answer: tuple[Any, ...]
        try:
            try:
                answer = ("return", number, getattr(self, f"call_{name}")(*arguments), None)
            except AdapterError as error:
                answer = ("return", number, None, told(error))
            except Exception as bug:  # noqa: BLE001 - the caller must hear of it
                trouble = ReconnectError(
                    "COR-WORKER", f"unexpected {type(bug).__name__}: {bug}", hint="please report this"
                )
                answer = ("return", number, None, told(trouble))
            self._frames.send(answer)
        except Closed:
            pass  # nobody is left to hear the answer

    # Calls of the gateway, each on a thread of the pool

    def call_start(self, settings: str, held: list[str]) -> None:
        orb = LocalOrb(OrbSettings.model_validate_json(settings), held=held, doorway=True)
        orb.start()
        self._orb = orb

    def call_stop(self) -> None:
        for end in (*self._receivers, *self._senders):
            self.call_close(end)
        for key in tuple(self._parts):
            self.call_part_stop(key)
        self.call_service_stop()
        if self._orb is not None:
            self._orb.stop()

    def call_receiver(self, end: int, endpoint: str, channel: str, left_behind: list[Trace]) -> int:
        return self._open(
            end,
            self._receivers,
            Receiver(
                self._running,
                CosNotificationEndpoint.model_validate_json(endpoint),
                CosNotificationChannel.model_validate_json(channel),
                self._types_out,
                lambda first, contents: self._frames.send(("events", end, first, contents)),
                self._failure_of(end),
                lambda types: self._frames.send(("types_told", end, types)),
                lambda *push: self._frames.send(("octets", end, *push)),
            ),
            left_behind,
        )

    def call_sender(self, end: int, endpoint: str, channel: str, left_behind: list[Trace]) -> int:
        settings = CosNotificationChannel.model_validate_json(channel)
        return self._open(
            end,
            self._senders,
            (Offerer if settings.style == "pull" else Sender)(
                self._running,
                CosNotificationEndpoint.model_validate_json(endpoint),
                settings,
                self._types_in,
                lambda *report: self._frames.send(("result", end, *report)),
                lambda number, index, refused: self._frames.send(("trying", end, number, index, refused)),
                self._failure_of(end),
                lambda types: self._frames.send(("types_told", end, types)),
            ),
            left_behind,
        )

    def _failure_of(self, end: int) -> Callable[[ReconnectError], None]:
        return lambda error: self._frames.send(("failed", end, told(error)))

    def _open(self, end: int, ends: dict[int, E], opening: E, left_behind: list[Trace]) -> int:
        """As Connection.open. The gateway closes what it has opened, also what could not be opened."""
        if end in self._wanted:
            ends[end] = opening  # before it opens: pushes may come, and be settled, at once
            try:
                removed = opening.open(left_behind, lambda traces: self._frames.send(("traces", end, traces)))
            finally:
                wanted = end in self._wanted
                if not wanted:  # the gateway has lost its patience, and closed what was not there yet
                    ends.pop(end, None)
                    opening.close()
            if wanted:
                return removed
        raise ReconnectError("COR-CLOSED", "closed while it was being connected")

    def call_close(self, end: int) -> bool:
        """Whether nothing of it is left at the peer."""
        found: Receiver | Sender | Offerer | None = self._receivers.pop(end, None) or self._senders.pop(end, None)
        return found is None or found.close()

    def call_service_start(
        self,
        end: int,
        channels: int,
        secret: bytes,
        typed: tuple[int, tuple[str, ...], tuple[str, ...]],
        store: str | None,
        hides_others: bool,
        rmi: tuple[str, tuple[str, ...], bool, str, int],
    ) -> tuple[str, str]:
        typed_channels, idl, include = typed
        id_, read, untyped, interface, channel = rmi
        interfaces = read_interfaces(idl, include) if idl else ()

        def tell(what: str, *facts: str | int) -> None:
            with suppress(Closed):
                self._frames.send(("service", end, what, *facts))

        service = ServiceHost(
            self._running,
            channels=channels,
            typed_channels=typed_channels,
            interfaces=interfaces,
            secret=secret,
            store=None if store is None else Path(store),
            hides_others=hides_others,
            boxing=Boxing(id_, read, untyped=untyped),
            store_changed=lambda reason: tell("store", reason),
            client_lost=lambda place, address, waiting: tell("lost", place, address, waiting),
        )
        service.start()
        tell("store", "")
        if service.unreadable:
            tell("unreadable", service.unreadable)
        self._service = service
        return service.factory_ior, service.boxed_consumer(channel, interface) if interface else ""

    def call_service_stop(self) -> None:
        service, self._service = self._service, None
        if service is not None:
            service.stop()

    def call_part_start(self, key: str, place: str, end: int, settings: str) -> Any:
        part = make_part(place, self._running, lambda *told: self._frames.send(("part", end, *told)), settings)
        answer = part.start()
        self._parts[key] = part
        return answer

    def call_part_ask(self, key: str, question: str, *arguments: Any) -> Any:
        part = self._parts.get(key)
        if part is None:
            raise ReconnectError("COR-PART", f"the {key} is not running")
        return part.ask(question, *arguments)

    def call_part_stop(self, key: str) -> None:
        part = self._parts.pop(key, None)
        if part is not None:
            part.stop()

    # Frames without an answer, on the thread that reads them; those for an end that has gone mean nothing

    def _credit(self, end: int, count: int) -> None:
        if (found := self._receivers.get(end)) is not None:
            found.gate.credit(count)

    def _settled(self, end: int, numbers: list[int]) -> None:
        if (found := self._receivers.get(end)) is not None:
            found.gate.settled(numbers)

    def _resume(self, end: int) -> None:
        if (found := self._senders.get(end)) is not None:
            found.resume()

    def _watch_types(self, end: int) -> None:
        found: Receiver | Sender | Offerer | None = self._receivers.get(end) or self._senders.get(end)
        if found is not None:
            found.types.watch()

    def _tell_types(self, end: int, types: list[tuple[str, str]] | None) -> None:
        found: Receiver | Sender | Offerer | None = self._receivers.get(end) or self._senders.get(end)
        if found is not None:
            found.types.tell(None if types is None else frozenset(types))

    def _batch(self, end: int, number: int, parcels: list[Any], careful: bool) -> None:
        sender = self._senders.get(end)
        if sender is None:
            closed = ReconnectError("COR-CLOSED", "the sink is not connected")
            self._frames.send(("result", end, number, [], told(closed), 0))
        else:
            sender.send(number, parcels, careful)

    @property
    def _running(self) -> LocalOrb:
        assert self._orb is not None
        return self._orb


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.setswitchinterval(SWITCH_INTERVAL_SECS)
    frames = Frames(socket.socket(fileno=int(sys.argv[1])), writer=int(sys.argv[2]))
    worker = Worker(frames)
    garbage.tune(YOUNG_OBJECTS)
    with suppress(Closed):
        worker.run()
    os._exit(0)  # an ORB that was not destroyed would abort a normal end


if __name__ == "__main__":
    main()
