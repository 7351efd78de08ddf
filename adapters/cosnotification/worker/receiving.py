"""The worker's side of a source: the peer pushes to a servant of ours, or we pull."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from adapters.base import ReconnectError, RetryLaterError
from adapters.cosnotification.connection import Connection, Pulse
from adapters.cosnotification.faults import on_pull
from adapters.cosnotification.kinds import kind_of
from adapters.cosnotification.kinds.kind import Kind
from adapters.cosnotification.left_behind import Trace
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA
from adapters.cosnotification.worker.gate import Gate, NotTaken
from adapters.cosnotification.worker.intake import Content, Intake
from adapters.cosnotification.worker.octet_intake import OctetIntake, PassOn
from adapters.cosnotification.worker.parcels import TypeNumbers
from adapters.cosnotification.worker.types_talk import ReportTypes, TypesTalk, nobody_hears

MOST_AT_ONCE: Final = 100  # events asked for in one pull: more are no quicker
ROOM_SECS: Final = 0.5  # how long one wait for room lasts


class Receiver:
    """One connection of one source, from `open` to `close`."""

    def __init__(
        self,
        orb: LocalOrb,
        endpoint: CosNotificationEndpoint,
        channel: CosNotificationChannel,
        types: TypeNumbers,
        pass_on: Callable[[int, list[Content]], None],
        fail: Callable[[ReconnectError], None],
        types_told: ReportTypes = nobody_hears,
        pass_octets_on: PassOn | None = None,
    ) -> None:
        self.gate = Gate(channel.buffer, channel.hold_ms / 1000, pass_on)
        self._fail = fail
        self._ping_interval_secs = endpoint.ping_interval_secs
        kind = kind_of(endpoint, channel)
        pulls = channel.style == "pull"
        intake = Intake(types, self._keep if pulls else self._offer, fail)
        servant = (kind.pull_consumer if pulls else kind.push_consumer)(intake)
        self._silence = Silence(endpoint.idle_timeout_secs)
        octets = (
            None if pulls or pass_octets_on is None else OctetIntake(self.gate, pass_octets_on, self._silence.broken)
        )
        self._connection = Connection(
            orb, endpoint, channel, kind, "consumer", servant, None if octets is None else octets.take
        )
        self.types = TypesTalk(
            self._connection, channel, "consumer", servant, endpoint.ping_interval_secs, types_told, fail
        )
        self._puller = (
            Puller(kind, self._connection, intake, self.gate, channel.poll_interval_ms / 1000, fail) if pulls else None
        )
        self._pulse: Pulse | None = None
        self._valve = Valve(self.gate, self._connection) if channel.suspend_when_full and not pulls else None

    def open(self, left_behind: Sequence[Trace], remember: Callable[[list[Trace]], None]) -> int:
        """As Connection.open."""
        removed = self._connection.open(left_behind, remember)
        self._silence.broken()
        self._pulse = Pulse(self._ping_interval_secs, self._ping, self._fail)
        if self._valve is not None:
            self._valve.start()
        if self._puller is not None:
            self._puller.start()
        return removed

    def close(self) -> bool:
        """As Connection.close."""
        self.gate.close()  # before the farewell: a push that is held would keep the peer from hearing it
        self.types.stop()
        if self._puller is not None:
            self._puller.stop()
        if self._valve is not None:
            self._valve.stop()
        heard = self._connection.close()
        if self._pulse is not None:
            self._pulse.stop()
        return heard

    def _ping(self) -> ReconnectError | None:
        if self.gate.full:  # it is we who keep the peer silent
            self._silence.broken()
        return self._connection.ping() or self._silence.trouble()

    def _keep(self, contents: list[Content]) -> None:
        self._silence.broken()
        self.gate.hand_over(contents)

    def _offer(self, contents: list[Content]) -> None:
        self._silence.broken()
        try:
            if self._valve is not None and self.gate.full:
                self._valve.shut()
            if len(contents) == 1:
                self.gate.offer(contents, (0,) if contents[0][0] else ())
            else:
                self.gate.offer(contents, [index for index, content in enumerate(contents) if content[0]])
        except NotTaken:
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO) from None


class Silence:
    """How long nothing has come."""

    def __init__(self, timeout_secs: float | None) -> None:
        self._timeout_secs = timeout_secs
        self._since = time.monotonic()

    def broken(self) -> None:
        if self._timeout_secs is not None:
            self._since = time.monotonic()

    def trouble(self) -> ReconnectError | None:
        if self._timeout_secs is None or time.monotonic() - self._since <= self._timeout_secs:
            return None
        return ReconnectError(
            "COR-IDLE",
            f"nothing came for {self._timeout_secs:g} s",
            hint="the peer may have forgotten us: we connect anew; raise idle_timeout_secs where such silence is usual",
        )


class Valve:
    """Suspends the connection at the peer while there is no room here, on a thread of its own: the peer is in the middle of a push
    when we notice, and may not answer before that has returned."""

    def __init__(self, gate: Gate, connection: Connection) -> None:
        self._gate = gate
        self._connection = connection
        self._full = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="cosnotification-valve", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def shut(self) -> None:
        self._full.set()

    def stop(self) -> None:
        self._stopping = True
        self._full.set()
        if self._thread.ident is not None:
            self._thread.join(2.0)

    def _run(self) -> None:
        while True:
            self._full.wait()
            if self._stopping:
                return
            self._connection.suspend()
            while not self._stopping and self._gate.room(ROOM_SECS) <= 0:
                pass
            self._full.clear()
            if not self._stopping:
                self._connection.resume()


class Puller:
    """Asks the peer for events whenever the gateway has room for them, on a thread of its own.

    With try_pull and never with pull: an event that a blocking call returned after its time-out would be lost.
    """

    def __init__(
        self,
        kind: Kind,
        connection: Connection,
        intake: Intake,
        gate: Gate,
        interval_secs: float,
        fail: Callable[[ReconnectError], None],
    ) -> None:
        self._kind = kind
        self._connection = connection
        self._intake = intake
        self._gate = gate
        self._interval_secs = interval_secs
        self._fail = fail
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cosnotification-puller", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """What a pull has brought in is with the gateway when this returns, unless the peer hangs."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(2.0)

    def _run(self) -> None:
        while not self._stopping.is_set():
            room = self._gate.room(ROOM_SECS)
            partner = self._connection.partner
            if room <= 0 or partner is None:
                continue
            try:
                found = self._pull(partner, min(room, MOST_AT_ONCE))
            except ReconnectError as error:
                if not self._stopping.is_set():
                    self._fail(error)
                return
            if not found:
                self._stopping.wait(self._interval_secs)

    def _pull(self, partner: Any, most: int) -> bool:
        """Whether there was anything. Raises ReconnectError."""
        try:
            return self._kind.pull(partner, most, self._intake)
        except CORBA.Exception as error:
            trouble = on_pull(error, "pulling an event")
            if isinstance(trouble, RetryLaterError):
                return False
            raise trouble from error
        except Exception as error:  # the thread must not end without a word
            raise ReconnectError("COR-PEER", f"pulling an event: unexpected {type(error).__name__}: {error}") from error
