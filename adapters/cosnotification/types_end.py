"""The gateway's side of the talk about event types (`worker/types_talk.py`), for a source or a sink: what is asked and told is kept
here, and said again to every worker that serves the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from adapters.base import EventTypes, HearTypes
from adapters.cosnotification.orb import Worker


class TypesEnd:
    """`where` tells the worker that serves the end, and the end's number there."""

    def __init__(self, where: Callable[[], tuple[Worker | None, int]]) -> None:
        self._where = where
        self._hear: HearTypes | None = None
        self._told: EventTypes = None
        self._narrowed = False  # something else than the beginning was told
        self._speaking = threading.Lock()  # so that the last word is the last one; the supervisor never wants it

    def watch(self, heard: HearTypes) -> None:
        with self._speaking:
            self._hear = heard
            self._say()

    def tell(self, types: EventTypes) -> None:
        with self._speaking:
            self._told = types
            self._narrowed = self._narrowed or types is not None
            self._say()

    def connected(self) -> None:
        with self._speaking:
            self._narrowed = self._told is not None
            self._say()

    def heard(self, frame: tuple[Any, ...]) -> None:
        if self._hear is not None:
            self._hear(None if frame[2] is None else frozenset(frame[2]))

    def _say(self) -> None:
        worker, number = self._where()
        if worker is None:
            return
        if self._narrowed:
            worker.post("tell_types", number, None if self._told is None else sorted(self._told))
        if self._hear is not None:
            worker.post("watch_types", number)
