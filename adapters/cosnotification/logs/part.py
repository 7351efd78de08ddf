"""The log service, hosted in the ORB's process (worker/part.py): its channels are those of our Notification Service."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.logs.factory import LogFactory, NotifyLogFactory, TypedNotifyLogFactory
from adapters.cosnotification.logs.log import NotifyLog, TypedNotifyLog
from adapters.cosnotification.logs.records import LogFile
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.typed.idl_files import read_interfaces
from adapters.cosnotification.worker.frames import Closed

ALL: Final = 2**32
"""Every log is there at every start, so every log keeps its reference."""


class LogsPart:
    def __init__(self, orb: LocalOrb, tell: Callable[..., None], settings: str) -> None:
        self._orb = orb
        self._tell = tell
        self._settings = json.loads(settings)
        self._service: ServiceHost | None = None
        self._file: LogFile | None = None
        self._factories: list[LogFactory] = []

    def start(self) -> dict[str, str]:
        """The references of the factories. Raises StopError."""
        idl, include = self._settings["idl"], self._settings["include"]
        interfaces = read_interfaces(idl, include) if idl else ()
        self._file = LogFile(Path(self._settings["store"]))
        secret = bytes.fromhex(self._file.fact("secret", secrets.token_hex(32)))
        self._service = ServiceHost(self._orb, channels=0, interfaces=interfaces, secret=secret, room="logs")
        self._service.initial.update({NotifyLog.PLACE: ALL, TypedNotifyLog.PLACE: ALL})
        self._service.start()
        self._factories = [
            kind(self._service, self._file, self._told) for kind in (NotifyLogFactory, TypedNotifyLogFactory)
        ]
        return {factory.LOG.KIND: self._orb.to_string(factory.reference) for factory in self._factories}

    def _told(self, log: str, code: str, why: str) -> None:
        with suppress(Closed):  # the gateway has gone, and so will we
            self._tell("log", log, code, why)

    def ask(self, question: str, *arguments: Any) -> Any:
        raise ValueError(f"no such question: {question}")

    def stop(self) -> None:
        for factory in self._factories:
            factory.end()
        self._factories = []
        if self._service is not None:
            self._service.stop()
        if self._file is not None:
            self._file.close()
            self._file = None
