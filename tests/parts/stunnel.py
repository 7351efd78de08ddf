"""stunnel, from Debian's packages: TLS for what has none itself."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.parts.debian import unpacked

READY_SECS: Final = 20.0


class Tunnel(NamedTuple):
    """One `[service]` of a stunnel.conf. A client takes plain connections and makes TLS of them, a server does the reverse."""

    accept: int
    connect: int
    client: bool


def fetch() -> Path:
    return unpacked("stunnel4", "libwrap")


@contextmanager
def stunnel(
    folder: Path, tunnels: Sequence[Tunnel], *, certificate: Path, key: Path, authority: Path
) -> Iterator[None]:
    """Runs while the block does. Both sides show the certificate, and take only those that the authority has signed."""
    root = fetch()
    configuration = folder / "stunnel.conf"
    lines = ["foreground = yes", "pid =", "syslog = no", f"output = {folder / 'stunnel.log'}"]
    lines += [f"cert = {certificate}", f"key = {key}", f"CAfile = {authority}", "verifyChain = yes"]
    for number, tunnel in enumerate(tunnels):
        lines += [f"[tunnel-{number}]", f"accept = 127.0.0.1:{tunnel.accept}", f"connect = 127.0.0.1:{tunnel.connect}"]
        lines += [f"client = {'yes' if tunnel.client else 'no'}"]
    configuration.write_text("\n".join(lines) + "\n")
    library = next((root / "usr" / "lib").glob("*/libwrap.so.0")).parent
    process = subprocess.Popen(
        [root / "usr" / "bin" / "stunnel", configuration],
        env={**os.environ, "LD_LIBRARY_PATH": str(library)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for tunnel in tunnels:
            _wait_for(tunnel.accept, process, folder / "stunnel.log")
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_SECS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=2.0).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                text = log.read_text() if log.exists() else ""
                raise AssertionError(f"stunnel does not start: {text[-2000:]}") from None
            time.sleep(0.05)
