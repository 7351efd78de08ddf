"""The bridges that there are, kept in a file; who starts or stops one has the gateway take over its links."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from adapters.base import StopError
from gateway.appliance.run_dir import write_whole
from gateway.bridges.bridge import (
    Bridge,
    BridgeNotFound,
    BridgeState,
    EndPoint,
    InvalidEndPoints,
    bridge_from_json,
    check_end_points,
)
from gateway.bridges.overlay import channel_of, with_bridges
from gateway.bridges.topology import check_topology
from gateway.settings.settings import Settings


class Bridges:
    """Safe for threads. `changed` is called after every change of links, outside of the lock."""

    def __init__(self, path: Path, changed: Callable[[], None]) -> None:
        """Raises StopError where the file cannot be read."""
        self._path = path
        self._changed = changed
        self._lock = threading.Lock()
        self._bridges: dict[int, Bridge] = {}
        self._next = 0
        self._without_place: dict[int, str] = {}  # bridges that are started and have no link, with the reason
        self.secret = secrets.token_hex(32)
        if path.exists():
            self._read()

    def all(self) -> list[Bridge]:
        with self._lock:
            return list(self._bridges.values())

    def get(self, id_: int) -> Bridge:
        with self._lock:
            return self._get(id_)

    def create(self, settings: Settings, source: EndPoint, sink: EndPoint) -> Bridge:
        """Raises InvalidEndPoints; what is refused uses up no id."""
        errors = check_end_points(source, sink)
        if errors:
            raise InvalidEndPoints(errors)
        with self._lock:
            bridge = Bridge(self._next, source, sink)
            for end in ("source", "sink"):
                channel_of(settings, bridge, end)
            self._bridges[bridge.id] = bridge
            self._next += 1
            self._write()
        return bridge

    def start(self, settings: Settings, id_: int) -> None:
        """`settings` as they run now. Raises BridgeState, InvalidEndPoints."""
        with self._lock:
            bridge = self._get(id_)
            if bridge.started:
                raise BridgeState("BridgeAlreadyStarted")
            bridge = bridge._replace(started=True)
            for end in ("source", "sink"):
                channel_of(settings, bridge, end)
            check_topology(settings, bridge)
            self._put(bridge)
        self._changed()

    def stop(self, id_: int) -> None:
        """Returns when its link has drained. Raises BridgeState."""
        with self._lock:
            bridge = self._get(id_)
            if not bridge.started:
                raise BridgeState("BridgeInactive")
            self._put(bridge._replace(started=False))
        self._changed()

    def destroy(self, id_: int) -> None:
        with self._lock:
            bridge = self._get(id_)
            del self._bridges[id_]
            self._write()
        if bridge.started:
            self._changed()

    def enable_transaction(self, id_: int, events: int, timeout_ms: int) -> None:
        """Messages are sent in transactions of so many, or of those that came within the time. Raises BridgeState."""
        with self._lock:
            bridge = self._get(id_)
            if not bridge.sink.is_jms or not events:
                raise BridgeState("UnsupportedTransaction")
            if bridge.events:
                raise BridgeState("TransactionAlreadyActive")
            self._put(bridge._replace(events=events, timeout_ms=timeout_ms))
        if bridge.started:
            self._changed()

    def disable_transaction(self, id_: int) -> None:
        """Not while the bridge runs: a transaction may be open. Raises BridgeState."""
        with self._lock:
            bridge = self._get(id_)
            if bridge.started and bridge.events:
                raise BridgeState("TransactionActive")
            self._put(bridge._replace(events=0, timeout_ms=0))

    def over(self, settings: Settings, refused: Callable[[str, InvalidEndPoints], None]) -> Settings:
        """The configuration with the links of the bridges that are started. One that the configuration leaves no place has none:
        its broker has gone, or it would close a cycle or make a diamond. `refused` hears of it, once."""
        for bridge in self.all():
            if not bridge.started:
                continue
            try:
                for end in ("source", "sink"):
                    channel_of(settings, bridge, end)
                check_topology(settings, bridge)
            except InvalidEndPoints as error:
                if self._without_place.get(bridge.id) != error.message:
                    self._without_place[bridge.id] = error.message
                    refused(bridge.link, error)
            else:
                self._without_place.pop(bridge.id, None)
                settings = with_bridges(settings, [bridge])
        return settings

    # Inside, with the lock held

    def _get(self, id_: int) -> Bridge:
        if id_ not in self._bridges:
            raise BridgeNotFound(id_)
        return self._bridges[id_]

    def _put(self, bridge: Bridge) -> None:
        self._bridges[bridge.id] = bridge
        self._write()

    def _write(self) -> None:
        form = {
            "next": self._next,
            "secret": self.secret,
            "bridges": [bridge.to_json() for bridge in self._bridges.values()],
        }
        write_whole(self._path, json.dumps(form) + "\n")

    def _read(self) -> None:
        try:
            form = json.loads(self._path.read_text(encoding="utf-8"))
            self._next, self.secret = int(form["next"]), str(form["secret"])
            self._bridges = {each["id"]: bridge_from_json(each) for each in form["bridges"]}
            bytes.fromhex(self.secret)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StopError(
                "DOM-BRIDGE-STORE",
                f"the file cannot be used: {error}",
                path=str(self._path),
                hint="take it back from a copy, or move it away and make the bridges anew",
            ) from error
