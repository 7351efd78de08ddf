"""What the source and the sink share: a life at one peer, lived by an end in the ORB's worker process.

Nothing is written to the worker under `_lock`. A write may have to wait until the worker reads; the worker reads on when it could
write to us; and what it writes is taken by the supervisor, who needs that lock for it.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import TimeoutError as Late
from typing import Any, Final

from adapters.base import ReconnectError
from adapters.cosnotification.left_behind import Traces
from adapters.cosnotification.orb import Orb, Worker
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, peer_key
from adapters.cosnotification.types_end import TypesEnd

CONNECT_CALLS: Final = 8  # as many time-outs of a call may a connection take until it is ready
CLOSE_SECS: Final = 6.0  # to take leave of a peer


class ClientEnd(ABC):
    """`_open` and `_leave` pair up."""

    def __init__(self, orb: Orb, endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> None:
        self._orb = orb
        self._endpoint = endpoint
        self._channel = channel
        self._timeout_secs = (endpoint.call_timeout_ms or orb.settings.call_timeout_ms) / 1000
        self._lock = threading.Lock()  # between the link's thread and the supervisor's
        self._number = 0  # of this end at the worker; 0: closed
        self._worker: Worker | None = None
        self._failure: ReconnectError | None = None
        self._traces = Traces(orb.left_behind, peer_key(endpoint, channel))
        self._types = TypesEnd(self._here)

    def _open(self, call: str) -> None:
        """As Source.connect."""
        with self._lock:
            self._failure = None
            self._number, self._worker = number, worker = self._orb.attach(self)
        try:
            self._traces.removed(self._opened(call, worker, number))
        except BaseException:
            self._leave()
            raise
        self._types.connected()

    def _here(self) -> tuple[Worker | None, int]:
        with self._lock:
            return self._worker, self._number

    def _opened(self, call: str, worker: Worker, number: int) -> int:
        """How many of what was left behind are no more."""
        left_behind = self._traces.of_others()
        opening = worker.call(
            call, number, self._endpoint.model_dump_json(), self._channel.model_dump_json(), left_behind
        )
        allowed_secs = self._timeout_secs * CONNECT_CALLS
        try:
            return int(opening.result(allowed_secs))
        except Late:
            raise ReconnectError(
                "COR-TIMEOUT",
                f"the connection was not ready after {allowed_secs:g} s",
                hint="the peer is slow, or hangs: see its log, or raise call_timeout_ms",
            ) from None

    def _leave(self) -> None:
        """Blocks a few seconds at the most."""
        with self._lock:
            number, self._number = self._number, 0
            worker, self._worker = self._worker, None
        if number and worker is not None:
            self._traces.gone(removed=self._close(worker, number))

    def _close(self, worker: Worker, number: int) -> bool:
        """Whether nothing of us is left at the peer."""
        try:
            return bool(worker.call("close", number).result(CLOSE_SECS))
        except Exception:  # noqa: BLE001 - whatever it is: we close, and look for what is left behind next time
            return False
        finally:
            self._orb.detach(number)

    # For the supervisor (`orb.End`)

    @abstractmethod
    def on_frame(self, worker: Worker, frame: tuple[Any, ...]) -> bool: ...

    @abstractmethod
    def on_worker_lost(self, worker: Worker, error: ReconnectError) -> None: ...
