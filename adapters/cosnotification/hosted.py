"""A part of the gateway that is hosted in the ORB's process (worker/part.py), as the gateway's own process sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.base import ReconnectError
from adapters.cosnotification.orb import Orb, Worker

ASK_SECS = 60.0


class HostedPart:
    """`start` and `stop` pair up; `stop` twice is fine. After a crash of the ORB's process it is there again by itself."""

    def __init__(
        self, orb: Orb, key: str, place: str, settings: str, heard: Callable[..., None] = lambda *told: None
    ) -> None:
        """`heard` gets what the part tells, on the supervisor's thread, which it must not hold up."""
        self._orb = orb
        self._key = key
        self._place = place
        self._settings = settings
        self._heard = heard
        self._number = 0

    def start(self) -> Any:
        """What the part answers. Raises StopError or ReconnectError."""
        self._number, _ = self._orb.attach(self)
        try:
            return self._orb.host("part_start", self._key, self._place, self._number, self._settings, key=self._key)
        except BaseException:
            self._orb.detach(self._number)
            raise

    def ask(self, question: str, *arguments: Any) -> Any:
        return self._orb.ask("part_ask", self._key, question, *arguments, timeout_secs=ASK_SECS)

    def resettle(self, settings: str) -> None:
        """What the part is made with when it has to be made again."""
        self._settings = settings
        self._orb.rehost("part_start", self._key, self._place, self._number, settings, key=self._key)

    def stop(self) -> None:
        if self._number:
            self._orb.unhost(self._key, "part_stop", self._key)
            self._orb.detach(self._number)
            self._number = 0

    # What the supervisor calls

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        self._heard(*frame[2:])
        return False

    def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None:
        """The next worker gets the part again, before anybody can use it."""
