"""`isthmus run CONFIG`: the gateway in the foreground.

SIGTERM, SIGINT (Ctrl-C)   drain and end; a second one ends without waiting (what is not settled stays with its source)
SIGHUP                     read the configuration again and take over its links
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from adapters import garbage
from gateway.appliance.active import Active, forget_active
from gateway.appliance.appliance import Appliance
from gateway.appliance.applying import Removal, asked_to_remove
from gateway.appliance.fencing import FencedDisk, fence
from gateway.appliance.lease import Lease
from gateway.appliance.plan import plan
from gateway.cli.exit_codes import ExitCode
from gateway.cli.supervisor import Supervisor
from gateway.settings import Settings, SettingsError, Source, read
from gateway.telemetry import log

STATUS_SECS: Final = 10.0  # how often a supervisor is told how the links are
ECHO_SECS: Final = 1.0  # a second signal that comes sooner is taken for the same one


class LogFormat(StrEnum):
    text = "text"
    json = "json"


def run(
    config: Annotated[Path, typer.Argument(help="The configuration, a YAML file.", readable=False)],
    log_format: Annotated[
        LogFormat, typer.Option(help="Log lines for people (text) or for collectors (json).")
    ] = LogFormat.text,
    drain_secs: Annotated[
        float, typer.Option(min=0.0, help="How long a stopping link waits for confirmations.")
    ] = 10.0,
) -> None:
    """Start the gateway in the foreground. SIGTERM or Ctrl-C drains and ends it, SIGHUP reloads its links."""
    log.configure(log_format.value)
    listener = log.GatewayLog()
    loaded = _loaded(config, listener)
    settings = loaded.settings
    supervisor = Supervisor()
    with _signals() as signals:
        listener.gateway_changed("starting", name=settings.name, config=str(config), process=os.getpid())
        lease = None
        if settings.standby is not None:
            lease = _lead(settings, signals, listener, supervisor)
            if lease is None:
                listener.gateway_changed("stopped", drained=True)
                return
            loaded = _loaded(config, listener)  # it may have changed while we waited
        if lease is None:
            appliance = Appliance(loaded.settings, listener, drain_secs=drain_secs)
        else:
            disk, leads = FencedDisk(lease), lease.leads
            appliance = Appliance(loaded.settings, listener, drain_secs=drain_secs, disk=disk, leads=leads)
        appliance.start()
        garbage.tune()
        run_dir = Path(appliance.settings.run_dir)
        active = Active(os.getpid(), str(config.absolute()), loaded.text)
        active.write(run_dir)
        listener.gateway_changed("ready", links=len(appliance.statuses()))
        supervisor.ready(_seen(appliance))
        while _watched(signals, supervisor, appliance) == signal.SIGHUP:
            supervisor.reloading()
            active = _reload(appliance, config, listener, active)
            active.write(run_dir)
            supervisor.ready(_seen(appliance))
        listener.gateway_changed("draining")
        supervisor.stopping()
        forget_active(run_dir)
        drained = appliance.stop()
        if lease is not None:
            lease.release()
        listener.gateway_changed("stopped", drained=drained)
    if not drained:
        raise typer.Exit(ExitCode.FAILED)


class _Loaded(NamedTuple):
    settings: Settings
    text: str


def _watched(signals: _Signals, supervisor: Supervisor, appliance: Appliance) -> int:
    """The next signal; until it comes the supervisor hears that we live, and how the links are."""
    if not supervisor.is_there:
        return signals.next()
    while True:
        number = signals.next_within(min(supervisor.pause_secs or STATUS_SECS, STATUS_SECS))
        if number is not None:
            return number
        supervisor.alive(appliance.statuses)
        supervisor.status(_seen(appliance))


def _seen(appliance: Appliance) -> str:
    statuses = appliance.statuses()
    ready = sum(status.state == "ready" for status in statuses)
    pending = sum(status.balance.pending for status in statuses)
    return f"{ready} of {len(statuses)} links are ready, {pending} events are pending"


def _lead(settings: Settings, signals: _Signals, listener: log.GatewayLog, supervisor: Supervisor) -> Lease | None:
    """Wait until we lead; None where we are to end before. To a supervisor a gateway that stands by is up."""
    assert settings.standby is not None
    run_dir = Path(settings.run_dir)
    lease = Lease(run_dir, settings.standby.lease_secs)
    told = ""
    while not lease.try_to_lead():
        if told != (leader := lease.leader()):
            told = leader
            listener.gateway_changed("standby", leader=leader)
            supervisor.ready(f"standing by for {leader}")
        supervisor.alive(lease.leader)
        if signals.next_within(settings.standby.lease_secs / 10) in (signal.SIGTERM, signal.SIGINT):
            return None

    def deposed() -> None:
        listener.gateway_changed("deposed", leader=lease.leader(), term=lease.term)
        sys.stderr.flush()
        os._exit(ExitCode.DEPOSED)  # at once: another one works, and nothing of ours may get in its way

    lease.keep(deposed)
    fence(run_dir)
    listener.gateway_changed("leading", term=lease.term)
    return lease


def _loaded(config: Path, listener: log.GatewayLog) -> _Loaded:
    """Raises SettingsError; what is doubtful and no error is logged."""
    source = _source(config)
    reading = read(source or config)
    if not reading.runnable or reading.settings is None:
        raise SettingsError(reading.findings)
    listener.doubts([finding for finding in reading.findings if finding.severity == "warning"])
    return _Loaded(reading.settings, _text(source))


def _reload(appliance: Appliance, config: Path, listener: log.GatewayLog, active: Active) -> Active:
    """What the gateway runs with then."""
    try:
        loaded = _loaded(config, listener)
    except SettingsError as error:
        listener.reload_refused(error.errors)
        return active._replace(reloads=active.reloads + 1, refused=_text(_source(config)))
    before = appliance.settings
    difference = appliance.reload(loaded.settings)
    listener.gateway_changed("reloaded", **difference._asdict())
    removals: list[Removal] = []
    if asked_to_remove(Path(before.run_dir), loaded.text):
        removals = appliance.unsubscribe(before, plan(before, appliance.settings).subscriptions)
        listener.subscriptions_removed(removals)
    return active._replace(text=loaded.text, reloads=active.reloads + 1, refused=None, removals=removals)


def _source(config: Path) -> Source | None:
    try:
        return Source.of(config)
    except (OSError, ValueError):  # reading it again says what is wrong
        return None


def _text(source: Source | None) -> str:
    return "" if source is None else source.data.decode("utf-8", "replace")


class _Signals:
    """The signals that arrive, in order.

    Python's own handlers run when the main thread gets to it, and a signal that comes just before the thread blocks would be slept
    over; the number that the interpreter writes to the wake-up descriptor is not. After the first signal that ends the gateway, the
    next has its usual, immediate effect, unless it is an echo: some supervisors signal a process and its group at once.
    """

    def __init__(self, reader: socket.socket) -> None:
        self._reader = reader

    def next(self) -> int:
        return self._reader.recv(1)[0]

    def next_within(self, timeout_secs: float) -> int | None:
        self._reader.settimeout(timeout_secs)
        try:
            return self._reader.recv(1)[0]
        except TimeoutError:
            return None
        finally:
            self._reader.settimeout(None)


@contextmanager
def _signals() -> Iterator[_Signals]:
    first_end: list[float] = []

    def on_signal(number: int, _: object) -> None:
        if number == signal.SIGHUP:
            return
        first_end.append(time.monotonic())
        if first_end[-1] - first_end[0] > ECHO_SECS:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    handled = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        descriptor_before = signal.set_wakeup_fd(writer.fileno())
        before = {number: signal.signal(number, on_signal) for number in handled}
        try:
            yield _Signals(reader)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(descriptor_before)
