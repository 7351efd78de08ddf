"""What is to be taken away from channels: written down before it is there, and until it is gone.

Proxies that are left behind go on passing events, with nobody who knows of them. So their references are in the store before they
are connected, for as long as no connection of the store names them; and what was at a channel that could not be reached when its
connection went is said farewell to when the channel answers again, also after a restart.
"""

from __future__ import annotations

import threading
from typing import Final

from adapters.cosnotification.local_orb import LocalOrb
from gateway.domain.corba.ends import Ends
from gateway.domain.corba.store import DomainStore
from gateway.domain.persistence import connection_from_json, connection_to_json

LONGEST_PAUSE: Final = 360  # rounds of the doctor


class Farewells:
    """Safe for threads."""

    def __init__(self, orb: LocalOrb, store: DomainStore) -> None:
        """Those of an earlier life are due at once."""
        self._store = store
        self._lock = threading.Lock()  # one round at a time
        self._due: dict[int, _Due] = {}
        for id_, body in store.farewells():
            ends = Ends(orb, connection_from_json(body), body["wire"])
            ends.farewell = id_
            self._due[id_] = _Due(ends)

    def expect(self, ends: Ends) -> None:
        """They will be removed, unless they are `kept`: so it is if we die now."""
        if ends.farewell is None:
            ends.farewell = self._store.add_farewell({**connection_to_json(ends.connection), "wire": ends.references})

    def kept(self, ends: Ends) -> None:
        """They belong to a connection, which is in the store."""
        if ends.farewell is not None:
            self._store.remove_farewell(ends.farewell)
            ends.farewell = None

    def say(self, ends: Ends) -> None:
        """Remove them: now, or as soon as that can be."""
        if ends.remove():
            self.kept(ends)
            return
        self.expect(ends)
        assert ends.farewell is not None
        self._due.setdefault(ends.farewell, _Due(ends))

    def say_again(self) -> None:
        """Once a round of the doctor."""
        with self._lock:
            for id_, due in list(self._due.items()):
                if due.is_time() and due.ends.remove():
                    self.kept(due.ends)
                    del self._due[id_]


class _Due:
    """Asked for each time after twice as many rounds."""

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self._pause = self._left = 1

    def is_time(self) -> bool:
        self._left -= 1
        if self._left > 0:
            return False
        self._pause = self._left = min(2 * self._pause, LONGEST_PAUSE)
        return True
