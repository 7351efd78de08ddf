"""Looks after the dead letters of a gateway: throws away those that are too old, at the start and every hour, and passes letters
on to the channels that are to have them (`passing_on.py`)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from gateway.dead_letters.letters import DeadLettersError, letters_in
from gateway.dead_letters.passing_on import PassingOn
from gateway.dead_letters.removal import remove

ROUND_SECS: Final = 3600.0


class KeeperObserver(Protocol):
    def letters_expired(self, link: str, count: int) -> None:
        """So many letters were older than the link keeps them."""


class Keeper:
    def __init__(
        self,
        keep_secs: Mapping[str, tuple[Path, int]],
        passing_on: Mapping[str, PassingOn],
        observer: KeeperObserver,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`keep_secs`: by link, its file and how long it keeps letters."""
        self._keep_secs = keep_secs
        self._passing_on = passing_on
        self._observer = observer
        self._clock = clock
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dead-letters", daemon=True)

    def start(self) -> None:
        for passing_on in self._passing_on.values():
            passing_on.start()
        if self._keep_secs:
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for passing_on in self._passing_on.values():
            passing_on.stop()
        for passing_on in self._passing_on.values():
            passing_on.join()
        if self._thread.is_alive():
            self._thread.join(10.0)

    def clean_up(self) -> None:
        for link, (path, keep_secs) in self._keep_secs.items():
            try:
                oldest = self._clock() - keep_secs
                old = [letter.key for letter in letters_in(path, link) if 0 < letter.dead_lettered_at < oldest]
                count = remove(path, frozenset(old))
            except (OSError, DeadLettersError):
                continue  # a full disk, or somebody is at it: the next round will do
            if count:
                self._observer.letters_expired(link, count)

    def _run(self) -> None:
        while True:
            self.clean_up()
            if self._stopping.wait(ROUND_SECS):
                return
