"""The Notification Service, as the gateway sees it: hosted in the ORB's process, and again in the next one when that has died.

The factory and the channels that are made at start keep their references over a crash of that process. What clients had obtained
from them is gone then, and clients connect anew; but for what is kept in a store (store/).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adapters.base import AdapterError, ReconnectError, RetryLaterError, StopError
from adapters.cosnotification.orb import Orb, Worker
from adapters.cosnotification.settings import DEFAULT_RMI_ID


class RmiBoxes(NamedTuple):
    """How events travel to and from Java remote interfaces (boxing.py)."""

    id: str = DEFAULT_RMI_ID
    read: tuple[str, ...] = ()
    untyped: bool = False
    supplier_interface: str = ""  # repository id; empty: no suppliers by RMI
    supplier_channel: int = 0


class NotificationService:
    """`start`, give `factory_ior` to clients, `stop`. Channels have ids from 0 on, and so have typed ones.

    `idl` are the files with the interfaces of typed channels, `include` folders for what these include.
    """

    def __init__(
        self,
        orb: Orb,
        *,
        channels: int = 1,
        typed_channels: int = 0,
        idl: Sequence[str] = (),
        include: Sequence[str] = (),
        store: Path | None = None,
        hides_others: bool = False,
        rmi: RmiBoxes | None = None,
        store_changed: Callable[[AdapterError | None], None] = lambda error: None,
        found: Callable[[AdapterError], None] = lambda error: None,
    ) -> None:
        """`store_changed` hears that the store cannot be written, and None when it can be again; `found` what else a person should
        know. Both are called on the supervisor's thread, which they must not hold up."""
        self._orb = orb
        self._channels = channels
        self._typed = typed_channels, tuple(idl), tuple(include)
        self._hides_others = hides_others
        self._store = None if store is None else str(store.absolute())
        self._secret = secrets.token_bytes(32)
        self._rmi = rmi or RmiBoxes()
        self._store_changed = store_changed
        self._found = found
        self._store_fails = False
        self._number = 0
        self.factory_ior = ""
        self.boxed_ior = ""  # where suppliers by RMI push to, if there is such a place

    def start(self) -> None:
        """The ORB must be running. Raises StopError."""
        self._number, _ = self._orb.attach(self)
        try:
            self.factory_ior, self.boxed_ior = self._orb.host(
                "service_start",
                self._number,
                self._channels,
                self._secret,
                self._typed,
                self._store,
                self._hides_others,
                tuple(self._rmi),
            )
        except BaseException:
            self._orb.detach(self._number)
            raise

    def stop(self) -> None:
        """Deliver what waits, for a moment; then every client is told that it is over. Twice is fine."""
        if self.factory_ior:
            self.factory_ior = ""
            self._orb.unhost("service_start", "service_stop")
            self._orb.detach(self._number)

    # What the supervisor calls

    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool:
        _, _, what, *facts = frame
        if what == "store":
            self._on_store(*facts)
        else:
            self._found(self._unreadable(*facts) if what == "unreadable" else _lost(*facts))
        return False

    def _on_store(self, reason: str) -> None:
        if bool(reason) == self._store_fails:
            return
        self._store_fails = bool(reason)
        error = RetryLaterError(
            "COR-STORE-WRITE",
            f"the Notification Service's store cannot be written: {reason}",
            path=self._store or "",
            hint="make room, or mend the disk: until then persistent events and changes are refused (PERSIST_STORE)",
        )
        self._store_changed(error if reason else None)

    def _unreadable(self, count: int) -> AdapterError:
        return StopError(
            "COR-STORE-EVENTS",
            f"{count} events that are still owed to consumers cannot be read",
            path=self._store or "",
            hint="they stay in the store: keep a copy of it, and report this",
        )

    def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None:
        """The next worker gets the service again, and says then how its store is."""


def _lost(place: str, address: str, waiting: int) -> AdapterError:
    gone = f", and {waiting} events that waited for it are gone" if waiting else ""
    return StopError(
        "COR-CLIENT-LOST",
        f"a client cannot be reached, or wants nothing more: its connection is ended{gone}",
        path=f"{place} {address}".strip(),
        hint="see whether it runs; with ConnectionReliability Persistent it is waited for",
    )
