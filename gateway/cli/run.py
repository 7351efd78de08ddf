"""`isthmus run CONFIG`: the gateway in the foreground.

SIGTERM, SIGINT (Ctrl-C)   drain and end; a second one ends without waiting (what is not settled stays with its source)
SIGHUP                     read the configuration again and take over its links
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated

import typer

from gateway.appliance.appliance import Appliance
from gateway.cli.exit_codes import ExitCode
from gateway.settings import SettingsError, load
from gateway.telemetry import log


class LogFormat(StrEnum):
    text = "text"
    json = "json"


def run(
    config: Annotated[Path, typer.Argument(help="The configuration, a YAML file.")],
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
    appliance = Appliance(load(config), listener, drain_secs=drain_secs)
    with _signals() as signals:
        listener.gateway_changed("starting", name=appliance.settings.name, config=str(config), process=os.getpid())
        appliance.start()
        listener.gateway_changed("ready", links=len(appliance.statuses()))
        while signals.get() == signal.SIGHUP:
            _reload(appliance, config, listener)
        listener.gateway_changed("draining")
        drained = appliance.stop()
        listener.gateway_changed("stopped", drained=drained)
    if not drained:
        raise typer.Exit(ExitCode.FAILED)


def _reload(appliance: Appliance, config: Path, listener: log.GatewayLog) -> None:
    try:
        settings = load(config)
    except SettingsError as error:
        listener.reload_refused(error.errors)
        return
    difference = appliance.reload(settings)
    listener.gateway_changed("reloaded", **difference._asdict())


@contextmanager
def _signals() -> Iterator[SimpleQueue[int]]:
    """The signals that arrive, in order. After the first one that ends the gateway, the next has its usual, immediate effect."""
    arrived: SimpleQueue[int] = SimpleQueue()  # its put may be called from a signal handler

    def on_signal(number: int, _: object) -> None:
        arrived.put(number)
        if number != signal.SIGHUP:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    handled = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, on_signal) for number in handled}
    try:
        yield arrived
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
