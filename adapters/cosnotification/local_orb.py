"""The CORBA ORB of this process: shared by everybody who asks with the same settings, destroyed with the last of them.

omniORB allows one ORB in a process at a time, and an ORB that is not destroyed can abort the process at its end.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from adapters.base import StopError
from adapters.cosnotification import shims
from adapters.cosnotification.giop.doorway import Doorway
from adapters.cosnotification.giop.visitor import Handler
from adapters.cosnotification.ior import decode_ior
from adapters.cosnotification.own_address import EVERYWHERE, own_address
from adapters.cosnotification.settings import OrbSettings
from adapters.cosnotification.stubs import CORBA, BiDirPolicy, PortableServer, omniORB

_LOOPBACK: Final = "127.0.0.1"


class LocalOrb:
    """A share in the ORB of this process. `start` and `stop` pair up; `stop` twice is fine."""

    def __init__(self, settings: OrbSettings | None = None, *, held: Sequence[str] = (), doorway: bool = False) -> None:
        """`held`: names of rooms whose callers wait until the room is opened. `doorway`: pushes may be taken as octets."""
        self.settings: Final = settings or OrbSettings()
        self._held = tuple(held)
        self._doorway = doorway
        self._core: _Core | None = None

    def start(self) -> None:
        """Raises StopError where the address cannot be had, or the process has an ORB with other settings."""
        if self._core is None:
            self._core = _acquire(self.settings, self._held, self._doorway)

    def stop(self) -> None:
        core, self._core = self._core, None
        if core is not None:
            _release(core)

    @property
    def running(self) -> bool:
        return self._core is not None

    @property
    def corba(self) -> Any:
        """The CORBA.ORB. Raises StopError when it is not running."""
        return self._running().orb

    def activate(self, servant: Any, key: bytes) -> Any:
        """A reference to the servant, whose object key is chosen by us: it stays the same over a restart on the same port."""
        poa = self._running().poa
        poa.activate_object_with_id(key, servant)
        return poa.id_to_reference(key)

    def deactivate(self, key: bytes) -> None:
        """No new call gets through; calls that run go on. Nothing happens where there is no such object."""
        if self._core is not None:
            with suppress(CORBA.SystemException, PortableServer.POA.ObjectNotActive):
                self.forget_octets(self._core.poa.id_to_reference(key))
                self._core.poa.deactivate_object(key)

    def room(self, name: str) -> Room:
        """The objects of one service, apart from all others."""
        return self._running().room(name)

    def serve_octets(self, reference: Any, operation: str, handler: Handler) -> None:
        """An operation of an object of ours is asked of the handler first (`giop/visitor.py`), on the doorway's one thread: it must
        not block. Without a doorway nobody asks it."""
        doorway = self._running().doorway
        if doorway is not None:
            doorway.handlers[self._key(reference), operation.encode()] = handler

    def forget_octets(self, reference: Any) -> None:
        doorway = None if self._core is None else self._core.doorway
        if doorway is not None:
            key = self._key(reference)
            for called in [called for called in tuple(doorway.handlers) if called[0] == key]:
                doorway.handlers.pop(called, None)

    def octets_handler(self, key: bytes, operation: str) -> Handler | None:
        """Of an object of ours, for those who are in this process too."""
        doorway = None if self._core is None else self._core.doorway
        return None if doorway is None else doorway.handlers.get((key, operation.encode()))

    def _key(self, reference: Any) -> bytes:
        return decode_ior(self.to_string(reference)).profiles[0].key

    def to_string(self, reference: Any) -> str:
        return str(self.corba.object_to_string(reference))

    def _running(self) -> _Core:
        if self._core is None:
            raise StopError("COR-ORB", "the ORB is not running")
        return self._core


class Room:
    """An object adapter for the objects of one service, under keys that the service chooses.

    A service that brings its objects back after a crash must not be called while it does: whoever came too early would be told
    OBJECT_NOT_EXIST, and give up for good. Hence a room may be held: its callers wait until it is opened.
    """

    def __init__(self, name: str, root: Any, policies: list[Any], *, held: bool) -> None:
        self._poa = root.create_POA(name, None, policies)
        if not held:
            self.open()

    def open(self) -> None:
        self._poa._get_the_POAManager().activate()

    def refuse(self) -> None:
        """From now on callers hear TRANSIENT: what they call is there, but not now."""
        self._poa._get_the_POAManager().discard_requests(False)

    def activate(self, servant: Any, key: bytes) -> Any:
        self._poa.activate_object_with_id(key, servant)
        return self._poa.id_to_reference(key)

    def deactivate(self, key: bytes) -> None:
        """No new call gets through; calls that run go on. Nothing happens where there is no such object."""
        with suppress(CORBA.SystemException, PortableServer.POA.ObjectNotActive):
            self._poa.deactivate_object(key)

    def servant_of(self, reference: Any) -> Any | None:
        """The object of this room behind a reference, None where it is another's."""
        try:
            return self._poa.reference_to_servant(reference)
        except (PortableServer.POA.WrongAdapter, PortableServer.POA.ObjectNotActive):
            return None


class _Core:
    def __init__(self, settings: OrbSettings, held: Sequence[str], *, doorway: bool) -> None:
        shims.install()
        for id_ in settings.value_boxes:
            shims.allow_value_box(id_)
        self.settings = settings
        self.users = 0
        self._lock = threading.Lock()
        self.doorway = _doorway(settings) if doorway else None
        with ExitStack() as until_up:
            address = None if self.doorway is None else until_up.enter_context(_free_port())
            self._start(settings, held, address)

    def _start(self, settings: OrbSettings, held: Sequence[str], address: tuple[str, int] | None) -> None:
        self.orb = CORBA.ORB_init(_options(settings, self.doorway, address), CORBA.ORB_ID)
        try:
            root = self.orb.resolve_initial_references("RootPOA")
            manager = root._get_the_POAManager()
            policies = [
                root.create_lifespan_policy(PortableServer.PERSISTENT),
                root.create_id_assignment_policy(PortableServer.USER_ID),
            ]
            if settings.bidirectional:
                both = CORBA.Any(CORBA.TC_ushort, BiDirPolicy.BOTH)
                policies.append(self.orb.create_policy(BiDirPolicy.BIDIRECTIONAL_POLICY_TYPE, both))
            self.poa = root.create_POA("isthmus", manager, policies)
            self._make_room: Callable[..., Room] = lambda name, *, held: Room(name, root, policies, held=held)
            self._rooms = {name: self._make_room(name, held=True) for name in held}  # before anybody can call
            manager.activate()
            if self.doorway is not None and address is not None:
                self.doorway.start(address)
        except CORBA.SystemException as error:
            self.destroy()
            raise _cannot_listen(settings, error) from error

    def room(self, name: str) -> Room:
        with self._lock:
            if name not in self._rooms:
                self._rooms[name] = self._make_room(name, held=False)
            return self._rooms[name]

    def destroy(self) -> None:
        """Calls that run are answered."""
        if self.doorway is not None:
            self.doorway.shut()
        self.orb.destroy()
        if self.doorway is not None:
            self.doorway.stop()


def _doorway(settings: OrbSettings) -> Doorway | None:
    """Not where peers are called over connections that they have made, and not for other code sets than those of octets that are
    read without the library."""
    if settings.bidirectional or settings.code_set != "UTF-8":
        return None
    host, _, port = settings.listen.rpartition(":")
    try:
        return Doorway((host.strip("[]"), int(port)), longest=settings.max_message_bytes, allow=settings.allow)
    except (OSError, ValueError) as error:
        raise _cannot_listen(settings, error) from error


def _published(settings: OrbSettings, port: int) -> str:
    if settings.publish is not None:
        return settings.publish
    host = settings.listen.rpartition(":")[0]
    if host.strip("[]") in EVERYWHERE:
        host = own_address(host.strip("[]"))
        host = f"[{host}]" if ":" in host else host
    return f"{host}:{port}"


def _cannot_listen(settings: OrbSettings, error: Exception) -> StopError:
    return StopError(
        "COR-ORB", f"the ORB cannot listen on {settings.listen}: {error}", hint="is the address free and ours?"
    )


@contextmanager
def _free_port() -> Iterator[tuple[str, int]]:
    """Nobody else is given it meanwhile; the library may have it all the same, for neither of the two sockets listens yet."""
    with socket.socket() as chosen:
        chosen.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        chosen.bind((_LOOPBACK, 0))
        yield _LOOPBACK, chosen.getsockname()[1]


def _options(settings: OrbSettings, doorway: Doorway | None, address: tuple[str, int] | None) -> list[str]:
    options = {
        "configFile": "none",  # what stands in /etc/omniORB.cfg is not ours
        "traceLevel": "0",
        "endPoint": _end_point(settings.listen),
        "nativeCharCodeSet": settings.code_set,
        "giopMaxMsgSize": str(settings.max_message_bytes),
        "clientCallTimeOutPeriod": str(settings.call_timeout_ms),
        "clientConnectTimeOutPeriod": "0",  # any other value would replace the call's own time-out when it has to connect
        "maxGIOPConnectionPerServer": str(settings.connections_per_peer),
        "maxServerThreadPerConnection": str(settings.server_threads),
        "maxServerThreadPoolSize": str(settings.server_threads),
        "threadPerConnectionUpperLimit": str(settings.max_connections),
        "threadPerConnectionLowerLimit": str(max(1, settings.max_connections * 9 // 10)),
        "useTypeCodeIndirections": "0",  # TAO refuses a TypeCode that points back to an enum
    }
    if settings.bidirectional:
        options |= {
            "offerBiDirectionalGIOP": "1",
            "acceptBiDirectionalGIOP": "1",
            "clientTransportRule": "* bidir,tcp",
            "serverTransportRule": "* tcp,bidir",
        }
    if settings.publish is not None:
        options["endPointPublish"] = _end_point(settings.publish)
    allow = [*(settings.allow or ())]  # with the first rule of ours, what no rule names is refused
    if doorway is not None and address is not None:
        allow = [doorway.comes_from]
        options["endPoint"] = _end_point(f"{address[0]}:{address[1]}")
        options["endPointPublish"] = _end_point(_published(settings, doorway.port))
        options["inConScanPeriod"] = "0"  # the doorway knows better who is idle
    arguments = ["isthmus"]
    for name, value in options.items():
        arguments += [f"-ORB{name}", value]
    for network in allow:
        arguments += ["-ORBserverTransportRule", f"{network} tcp"]
    return arguments


def _end_point(address: str) -> str:
    host, _, port = address.rpartition(":")
    return f"giop:tcp:{host}:{'' if port == '0' else port}"


_lock = threading.Lock()
_current: _Core | None = None  # the one ORB of the process; guarded by _lock


def _acquire(settings: OrbSettings, held: Sequence[str], doorway: bool) -> _Core:
    global _current
    with _lock:
        if _current is None:
            _current = _Core(settings, held, doorway=doorway)
        elif _current.settings != settings:
            raise StopError(
                "COR-ORB",
                "this process has an ORB with other settings",
                hint="one process has one ORB: use the same settings",
            )
        _current.users += 1
        return _current


def _release(core: _Core) -> None:
    global _current
    with _lock:
        core.users -= 1
        if core.users == 0:
            _current = None
            core.destroy()


def set_time_out(reference: Any, timeout_ms: int) -> None:
    """No call through this reference takes longer."""
    omniORB.setClientCallTimeout(reference, timeout_ms)
