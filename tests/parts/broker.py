"""A broker that runs on Java, with a listener for its own JMS client beside STOMP."""

from __future__ import annotations

import socket
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from tests.parts.broker_part import BrokerPart
from tests.parts.java import compiled, joined, tool


class Broker(BrokerPart):
    """Adds `jms_url`, and a change of password while it runs. It ends with the process that started it (java/leash)."""

    kind: ClassVar[Literal["artemis", "activemq"]]

    def __init__(self, *, login_required: bool = True, heap_megabytes: int = 384, quick: bool = True) -> None:
        """`quick` compiles Java lightly: half the time to start, and less speed under load; benchmarks say False."""
        super().__init__("jms")
        self._login_required = login_required
        self._heap_megabytes = heap_megabytes
        self._quick = quick
        self.jms_port = self._ports["jms"].number

    @property
    def jms_url(self) -> str:
        return f"tcp://{self.host}:{self.jms_port}"

    def set_password(self, password: str) -> None:
        """From now on (no restart needed) new connections need this one. `self.password` follows."""
        self.password = password
        self._write_users()

    # What differs

    @abstractmethod
    def _main(self) -> list[str]:
        """Class path, main class and arguments."""

    @abstractmethod
    def _system_properties(self) -> dict[str, str]: ...

    @abstractmethod
    def _write_users(self) -> None: ...

    def _words(self) -> dict[str, str]:
        return {**super()._words(), "login_required": str(self._login_required).lower()}

    # Inside

    def _prepare(self) -> None:
        super()._prepare()
        self._write_users()

    def _command(self) -> Sequence[str]:
        return [tool("java"), *self._java_options(), *self._main()]

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all: the broker reads when it likes."""
        part = self.folder / f"{name}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self._etc / name)

    def _java_options(self) -> list[str]:
        options = [
            "-Xms64M",
            f"-Xmx{self._heap_megabytes}M",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-Djava.awt.headless=true",
        ]
        if self._quick:
            options.append("-XX:TieredStopAtLevel=1")
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        return options + [
            f"-D{k}={v}" for k, v in {"java.io.tmpdir": str(temporary), **self._system_properties()}.items()
        ]

    def _leashed(self, *jars: Path) -> list[str]:
        return ["-cp", joined([compiled("leash"), *jars]), "leash.Leash"]

    def _prove_ready(self) -> None:
        super()._prove_ready()
        socket.create_connection((self.host, self.jms_port), timeout=5.0).close()
