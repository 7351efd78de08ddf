"""The bridges' CORBA side, as the gateway's own process sees it: what clients ask for is done here."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol

from adapters.base import AdapterError
from adapters.cosnotification.hosted import HostedPart
from adapters.cosnotification.orb import Orb
from gateway.bridges.bridge import Bridge, BridgeNotFound, BridgeState, EndPoint, InvalidEndPoints
from gateway.bridges.registry import Bridges
from gateway.settings.settings import Settings
from mappings.errors import IsthmusError

PLACE = "gateway.bridges.part:BridgesPart"


class BridgeListener(Protocol):
    def bridge_refused(self, operation: str, error: IsthmusError) -> None: ...


class BridgesService:
    """`start` and `stop` pair up. One request at a time: each may change the links."""

    def __init__(
        self, orb: Orb, factory: str, bridges: Bridges, settings: Callable[[], Settings], listener: BridgeListener
    ) -> None:
        """`factory` is where the channels are; `settings` are those that run now."""
        self._factory = factory
        self._bridges = bridges
        self._settings = settings
        self._listener = listener
        self._requests = ThreadPoolExecutor(1, "bridge-request")
        self._part = HostedPart(orb, "bridges", PLACE, self._part_settings(), self._heard)

    def start(self) -> str:
        """The factory's reference. Raises StopError or ReconnectError."""
        reference: str = self._part.start()
        return reference

    def stop(self) -> None:
        self._part.stop()
        self._requests.shutdown(wait=False, cancel_futures=True)

    def _part_settings(self) -> str:
        bridges = [[bridge.id, list(bridge.source), list(bridge.sink)] for bridge in self._bridges.all()]
        return json.dumps({"factory": self._factory, "secret": self._bridges.secret, "bridges": bridges})

    def _heard(self, _: str, number: int, operation: str, arguments: list[Any]) -> None:
        with suppress(RuntimeError):  # it has stopped
            self._requests.submit(self._do, number, operation, arguments)

    def _do(self, number: int, operation: str, arguments: list[Any]) -> None:
        value: Any = None
        refusal: list[Any] | None = None
        try:
            value = self._done(operation, arguments)
        except InvalidEndPoints as error:
            refusal = ["InvalidExternalEndPoints", [[int(role), int(code)] for role, code in error.errors]]
            self._listener.bridge_refused(operation, error)
        except BridgeState as error:
            refusal = [error.name, []]
        except BridgeNotFound:
            refusal = ["gone", []]
        except Exception as error:  # noqa: BLE001 - the client must hear that it was not done
            refusal = ["failed", []]
            trouble = error if isinstance(error, IsthmusError) else IsthmusError("DOM-BRIDGE", f"unexpected: {error!r}")
            self._listener.bridge_refused(operation, trouble)
        with suppress(AdapterError):  # who asked has gone with the ORB's process
            self._part.resettle(self._part_settings())
            self._part.ask("answer", number, value, refusal)

    def _done(self, operation: str, arguments: list[Any]) -> Any:
        bridges = self._bridges
        if operation == "create":
            source, sink = (EndPoint(*plain) for plain in arguments)
            made: Bridge = bridges.create(self._settings(), source, sink)
            return made.id
        if operation == "start":
            bridges.start(self._settings(), *arguments)
        else:
            getattr(bridges, operation)(*arguments)
        return None
