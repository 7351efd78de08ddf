"""The doctor: looks after every connection of every domain, in turn, and mends what broke; and takes away what was left behind."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from gateway.domain.corba.live_domain import LiveDomain
from gateway.domain.corba.wire import Wire

AT_ONCE: Final = 8  # a channel that hangs holds up one of them for the time-out of a call

Round = list[tuple[LiveDomain, int, Wire]]


class Doctor:
    """`start` and `stop` pair up."""

    def __init__(
        self, domains: Callable[[], list[LiveDomain]], say_farewells: Callable[[], None], interval_secs: float
    ) -> None:
        self._domains = domains
        self._say_farewells = say_farewells
        self._interval_secs = interval_secs
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="domain-doctor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def stop(self, wait_secs: float) -> None:
        self._stopping.set()
        self._thread.join(wait_secs)

    def _run(self) -> None:
        with ThreadPoolExecutor(AT_ONCE, "domain-visit") as visits:
            while not self._stopping.wait(self._interval_secs):
                round_: Round = [(live, id_, wire) for live in self._domains() for id_, wire in live.wires.items()]
                for done in [visits.submit(self._farewell), *(visits.submit(self._visit, *each) for each in round_)]:
                    done.result()

    def _farewell(self) -> None:
        try:
            self._say_farewells()
        except Exception:
            logging.getLogger(__name__).exception("taking away what was left at channels")

    def _visit(self, live: LiveDomain, id_: int, wire: Wire) -> None:
        if self._stopping.is_set():
            return
        try:
            live.look_after(id_, wire)
        except Exception:
            logging.getLogger(__name__).exception("looking after connection %d of domain %d", id_, live.id)
