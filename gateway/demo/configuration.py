"""The configuration that the demonstration runs on: an ordinary one, written to a file that the user can read, change and run."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

HOST: Final = "127.0.0.1"
DESTINATION: Final = "topic://nms.alarms"

_TEMPLATE: Final = """\
# What `isthmus demo` runs, written anew at each start. Copy it, change the copy, and try: isthmus run COPY
name: isthmus-demo
run_dir: {folder}
orb: {{listen: "{host}:{orb}"}}
services:                       # hosted by the gateway itself
  notification: {{factory_ior: {folder}/notify.ior, channels: 1}}
  broker:       {{listen: "{host}:{stomp}"}}
admin: {{listen: "{host}:{admin}"}}
endpoints:
  ems:    {{type: cosnotification, factory: {folder}/notify.ior}}
  broker: {{type: stomp, broker: embedded, hosts: ["{host}:{stomp}"]}}
channels:
  ems-alarms: {{endpoint: ems, channel: 0}}
  jms-alarms: {{endpoint: broker, destination: "{destination}"}}
links:
  alarms: {{from: ems-alarms, to: jms-alarms}}
"""


class Ports(NamedTuple):
    """0: any that is free."""

    orb: int = 5555
    stomp: int = 61613
    admin: int = 8161


def write_configuration(folder: Path, wanted: Ports) -> tuple[Path, Ports]:
    """The file, and the ports that it names: those wanted where they are free, else free ones."""
    ports = Ports(*_free_ports(wanted))
    file = folder / "isthmus.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    text = _TEMPLATE.format(folder=folder, host=HOST, destination=DESTINATION, **ports._asdict())
    file.write_text(text, encoding="utf-8")
    return file, ports


def _free_ports(wanted: Ports) -> Iterator[int]:
    """All are held until the last is found, so that none is given twice."""
    held = [_bound(port) or _bound(0) for port in wanted]
    try:
        yield from (sock.getsockname()[1] for sock in held if sock is not None)
    finally:
        for sock in held:
            if sock is not None:
                sock.close()


def _bound(port: int) -> socket.socket | None:
    """A socket on the port; None where the port is taken."""
    sock = socket.socket()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
    except OSError:
        sock.close()
        return None
    return sock
