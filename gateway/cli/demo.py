"""`isthmus demo`: a gateway with a channel, a broker and traffic of its own, and the messages as they arrive."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from adapters.base import ReconnectError
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.source import StompSource
from gateway.appliance.appliance import Appliance
from gateway.cli.exit_codes import ExitCode
from gateway.demo.configuration import DESTINATION, HOST, Ports, write_configuration
from gateway.demo.screen import Screen
from gateway.settings import load
from gateway.telemetry import log
from mappings.model import Message

PATIENCE_SECS: Final = 30.0  # with traffic of our own, silence for so long means that something is wrong
POLL_SECS: Final = 0.5


def demo(
    count: Annotated[int, typer.Option(min=0, help="End after this many messages; 0: go on until Ctrl-C.")] = 0,
    rate: Annotated[float, typer.Option(min=0.01, max=1000.0, help="Alarms a second.")] = 2.0,
    folder: Annotated[Path, typer.Option(help="Where the demonstration writes its files.")] = Path("run/demo"),
    orb_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the ORB; 0 or taken: a free one.")
    ] = Ports().orb,
    stomp_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the broker, likewise.")] = Ports().stomp,
    admin_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the admin interface, likewise.")
    ] = Ports().admin,
) -> None:
    """Start a gateway with its own channel, broker and traffic, and show the messages as they arrive. Ctrl-C ends everything."""
    console = Console(highlight=False, soft_wrap=True)
    log.configure("text")
    file, ports = write_configuration(folder, Ports(orb_port, stomp_port, admin_port))
    for number in (signal.SIGTERM, signal.SIGINT):  # also where a shell starts its background jobs with SIGINT ignored
        signal.signal(number, _interrupt)
    appliance = Appliance(load(file), log.GatewayLog())
    screen = Screen(console)
    with ExitStack() as parts:
        try:
            parts.callback(appliance.stop)
            appliance.start()
            _announce(console, file, folder, ports)
            source = parts.enter_context(_subscribed(ports))
            supplier = parts.enter_context(_supplier(folder / "notify.ior", rate))
            arrived = _show(source, screen, count, supplier.poll)
        except KeyboardInterrupt:
            arrived = True  # Ctrl-C is how a demonstration without a count ends
        _settle(appliance)
        _summary(console, appliance)
    if not arrived:
        console.print("no alarm arrived: see the log lines above", style="red")
        raise typer.Exit(ExitCode.FAILED)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _announce(console: Console, file: Path, folder: Path, ports: Ports) -> None:
    console.print("\nIsthmus is running. Point your own programs at it:", style="bold")
    console.print(f"  CORBA supplier   EventChannelFactory: the reference in {folder}/notify.ior, channel 0")
    console.print(f"  STOMP client     {HOST}:{ports.stomp}, destination /topic/{DESTINATION.partition('//')[2]}")
    console.print(
        f"  links, metrics   .venv/bin/isthmus links --admin {HOST}:{ports.admin}   http://{HOST}:{ports.admin}/metrics"
    )
    console.print(f"  configuration    {file}")
    console.print("Ctrl-C ends everything.\n")


@contextmanager
def _subscribed(ports: Ports) -> Iterator[StompSource]:
    endpoint = StompEndpoint(type="stomp", broker="embedded", hosts=[f"{HOST}:{ports.stomp}"])
    source = StompSource(endpoint, StompChannel(endpoint="broker", destination=DESTINATION))
    source.connect()
    try:
        yield source
    finally:
        source.close()


@contextmanager
def _supplier(factory: Path, rate: float) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own that pushes alarms; it ends with us, whatever happens to us, because we hold its standard input."""
    command = [sys.executable, "-m", "gateway.demo.supplier", str(factory), "--rate", str(rate)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()


def _show(source: StompSource, screen: Screen, count: int, supplier_ended: Callable[[], int | None]) -> bool:
    """Until `count` messages came; False when none came for too long."""
    last = time.monotonic()
    while count == 0 or screen.shown < count:
        try:
            deliveries = source.receive(count - screen.shown if count else 100, POLL_SECS)
        except ReconnectError as error:
            print(error, file=sys.stderr)
            return False
        for delivery in deliveries:
            if isinstance(delivery.payload, Message):
                screen.show(delivery.payload)
        if deliveries:
            source.acknowledge(deliveries)
            last = time.monotonic()
        elif supplier_ended() is not None or time.monotonic() - last > PATIENCE_SECS:
            return False
    return True


def _settle(appliance: Appliance) -> None:
    """A moment for the confirmations that are on their way, so that the summary adds up without anything pending."""
    deadline = time.monotonic() + 2.0
    while any(status.balance.pending for status in appliance.statuses()) and time.monotonic() < deadline:
        time.sleep(0.05)


def _summary(console: Console, appliance: Appliance) -> None:
    for status in appliance.statuses():
        counts = " + ".join(
            f"{value} {name.replace('_', '-')}" for name, value in list(status.balance._asdict().items())[1:]
        )
        verdict = "adds up" if status.balance.holds else "DOES NOT ADD UP"
        console.print(f"\nlink {status.id}: received {status.balance.received} = {counts}: {verdict}")
