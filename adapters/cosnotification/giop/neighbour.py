"""An object of this process that takes octets: it is given them, without a connection and without the ORB library."""

from __future__ import annotations

from collections.abc import Callable

from adapters.cosnotification.giop.visitor import Handler


class NotNow(Exception):
    """It does not take these as octets: the library has to call it."""


class Neighbour:
    """In place of a Caller. Handlers were made for the doorway's thread: they wait for nobody."""

    def __init__(self, find: Callable[[], Handler | None], longest: int) -> None:
        """`find` gives the handler that the object has now."""
        self._find = find
        self.longest = longest

    def call(self, arguments: bytes, *, little: bool) -> None:
        """Raises NotNow."""
        handler = self._find()
        try:
            if handler is not None and handler(arguments, little):
                return
        except Exception:  # noqa: BLE001 - the library is there for whatever a handler is not up to
            raise NotNow from None
        raise NotNow

    def close(self) -> None: ...
