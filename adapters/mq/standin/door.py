"""How the libraries come to the stand-in: modules in the place of their C parts, put there before they are imported.

The Python parts of `ibmmq` and `pymqi` are the real ones. One process has either the stand-in or IBM's client, never both: the
modules find their queue manager by its name among those that were registered here.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import struct
import sys
import types
from typing import Any, Final

from adapters.mq.mqi import MQCC_FAILED, MQRC_FUNCTION_NOT_SUPPORTED, MQRC_HCONN_ERROR, MQRC_HOST_NOT_AVAILABLE
from adapters.mq.standin.connections import Login
from adapters.mq.standin.manager import StandInQueueManager, nothing_of
from adapters.mq.standin.structures import OD, SD, Layout, name

MARK: Final = "isthmus_stand_in"
"""An attribute of the modules that are none of IBM's."""

_STRUCTURE_VERSIONS: Final = {
    "bno": 1, "cbc": 2, "cbd": 1, "cd": 13, "cfh": 3, "cih": 2, "cmho": 1, "cno": 8, "csp": 3, "ctlo": 1, "dlh": 1, "dmho": 1,
    "dmpo": 1, "gmo": 4, "iih": 1, "impo": 1, "md": 2, "mde": 2, "od": 4, "pd": 1, "pmo": 3, "sco": 7, "sd": 1, "smpo": 1,
    "sro": 1, "sts": 2, "tm": 1, "tmc": 2, "xqh": 1,
}  # fmt: skip
_LEVELS: Final = ("5.0", "5.1", "5.2", "5.3", "6.0", "7.0", "7.1", "7.5", "8.0.0")
_managers: Final[dict[str, StandInQueueManager]] = {}
_owners: Final[dict[int, StandInQueueManager]] = {}  # by handle of the connection


class error(Exception):
    """A structure has the wrong size."""


def register(manager: StandInQueueManager) -> None:
    _managers[manager.name] = manager


def registered(name_: str) -> StandInQueueManager | None:
    return _managers.get(name_)


def unregister(manager: StandInQueueManager) -> None:
    if _managers.get(manager.name) is manager:
        del _managers[manager.name]


def install() -> None:
    """Put the modules in their places, unless IBM's own are there already. Raises RuntimeError."""
    for path, make in (("ibmmq.ibmmqc", _ibmmqc), ("pymqi.pymqe", _pymqe)):
        present = sys.modules.get(path)
        if present is None:
            sys.modules[path] = make()
        elif not hasattr(present, MARK):
            raise RuntimeError(f"{path} is loaded: a process cannot have both a stand-in and a real queue manager")


def _connect(name_: Any, login: Login) -> tuple[Any, ...]:
    wanted = name_.decode() if isinstance(name_, bytes) else name_
    wanted = wanted.rstrip(" \0")
    manager = _managers.get(wanted.lstrip("*"))
    if manager is None and not wanted.lstrip("*") and len(_managers) == 1:
        manager = next(iter(_managers.values()))
    if manager is None:
        return -1, MQCC_FAILED, MQRC_HOST_NOT_AVAILABLE
    result = manager.call("MQCONNX", wanted, login)
    if result[-2] != MQCC_FAILED:
        _owners[result[0]] = manager
    return result


def _call(verb: str, handle: int, *arguments: Any) -> tuple[Any, ...]:
    manager = _owners.get(handle)
    if manager is None:
        return *nothing_of(verb, (handle, *arguments)), MQCC_FAILED, MQRC_HCONN_ERROR
    result = manager.call(verb, handle, *arguments)
    if verb == "MQDISC":
        _owners.pop(handle, None)
    return result


def _text(structure: bytes, layout: Layout, field: str) -> str:
    """An MQCHARV: its pointer is into this very process."""
    fields = layout.unpack(structure)
    pointer, length = fields[field + "Ptr"], fields[field + "Length"]
    if not pointer or not length:
        return ""
    octets = ctypes.string_at(pointer) if length == -1 else ctypes.string_at(pointer, length)
    return octets.decode("utf-8", "replace")


def _sized(structure: Any, size: int, what: str) -> bytes:
    if not isinstance(structure, bytes):
        raise TypeError(f"a bytes-like object is required, not {type(structure).__name__!r}")
    if len(structure) != size:
        raise error(f"{what} wrong size. Given: {len(structure)}, expected {size}")
    return structure


def _login(cd: bytes | None, user: str | None, password: str | None, application: str = "") -> Login:
    if not cd:
        return Login(user=user, password=password, application=application)
    return Login(name(cd[:20]), name(cd[1024:1288]), user, password, application, name(cd[1688:1720]))


def _common() -> dict[str, Any]:
    def MQOPEN(handle: int, od: bytes, options: int) -> tuple[Any, ...]:
        return _call("MQOPEN", handle, _sized(od, 424, "MQOD"), options, _text(od, OD, "ObjectString"))

    def MQPUT(handle: int, object_: int, md: bytes, pmo: bytes, data: bytes) -> tuple[Any, ...]:
        return _call("MQPUT", handle, object_, _sized(md, 364, "MQMD"), _sized(pmo, 184, "MQPMO"), data)

    def MQPUT1(handle: int, od: bytes, md: bytes, pmo: bytes, data: bytes) -> tuple[Any, ...]:
        _sized(od, 424, "MQOD"), _sized(md, 364, "MQMD"), _sized(pmo, 184, "MQPMO")
        return _call("MQPUT1", handle, od, md, pmo, data, _text(od, OD, "ObjectString"))

    def MQGET(handle: int, object_: int, md: bytes, gmo: bytes, length: int) -> tuple[Any, ...]:
        return _call("MQGET", handle, object_, _sized(md, 364, "MQMD"), _sized(gmo, 112, "MQGMO"), length)

    def MQSUB(handle: int, sd: bytes, object_: int) -> tuple[Any, ...]:
        _sized(sd, 344, "MQSD")
        return _call("MQSUB", handle, sd, object_, _text(sd, SD, "ObjectString"), _text(sd, SD, "SubName"))

    def not_supported(*_: Any) -> tuple[int, int]:
        return MQCC_FAILED, MQRC_FUNCTION_NOT_SUPPORTED

    return {
        "MQCONN": lambda name_: _connect(name_, Login()),
        "MQDISC": lambda handle: _call("MQDISC", handle),
        "MQCMIT": lambda handle: _call("MQCMIT", handle),
        "MQBACK": lambda handle: _call("MQBACK", handle),
        "MQBEGIN": lambda handle, *_: _call("MQBEGIN", handle),
        "MQCLOSE": lambda handle, object_, options: _call("MQCLOSE", handle, object_, options),
        "MQOPEN": MQOPEN, "MQPUT": MQPUT, "MQPUT1": MQPUT1, "MQGET": MQGET, "MQSUB": MQSUB,
        "MQCRTMH": lambda *_: (-1, *not_supported()),
        "MQCB": not_supported, "MQCTL": not_supported, "MQDLTMH": not_supported,
        "error": error, MARK: True,
    }  # fmt: skip


def _ibmmqc() -> types.ModuleType:
    def MQCONNX(name_: Any, cno: bytes, cd: bytes | None, csp: bytes, _sco: Any, _bno: Any) -> tuple[Any, ...]:
        user = password = None
        if csp and struct.unpack_from("i", csp, 8)[0] == 1:  # MQCSP_AUTH_USER_ID_AND_PWD
            user, password = _pointed(csp, 16), _pointed(csp, 40)
        application = name(cno[224:252]) if len(cno) >= 252 else ""
        return _connect(name_, _login(cd, user, password, application))

    def MQINQ(
        handle: int, object_: int, selectors: Any, found: list[int], _n: int, _m: int, size: int
    ) -> tuple[Any, ...]:
        numbers, texts, completion, reason = _call("MQINQ", handle, object_, tuple(selectors))
        found.extend(numbers)
        return found, texts.ljust(size, b"\0"), completion, reason

    module = types.ModuleType("ibmmq.ibmmqc", "Stand-in for the C part of ibmmq.")
    module.__dict__.update(
        _common(),
        MQCONNX=MQCONNX,
        MQINQ=MQINQ,
        MQSET=lambda handle, object_, s, n, c: _call("MQSET", handle, object_, tuple(s), tuple(n), c),
        MQCBINIT=lambda _: None,
        MQLOGCF=lambda *_: (0,),
        __version__=_version("ibmmq"),
        __cmdlevel__=1000,
        __mqbuild__="common",
        __strucversions__=dict(_STRUCTURE_VERSIONS),
    )
    return module


def _pymqe() -> types.ModuleType:
    def MQCONNX(name_: Any, _options: int, cd: bytes, login: dict[str, Any], _sco: Any = None) -> tuple[Any, ...]:
        user, password = (
            value.decode() if isinstance(value, bytes) else value
            for value in (login.get("user"), login.get("password"))
        )
        return _connect(name_, _login(cd, user, password))

    def MQINQ(handle: int, object_: int, selector: int) -> tuple[Any, ...]:
        numbers, texts, completion, reason = _call("MQINQ", handle, object_, (selector,))
        return (numbers[0] if numbers else texts), completion, reason

    module = types.ModuleType("pymqi.pymqe", "Stand-in for the C part of pymqi.")
    module.__dict__.update(
        _common(),
        MQCONNX=MQCONNX,
        MQINQ=MQINQ,
        MQSET=lambda handle, object_, selector, value: _call("MQSET", handle, object_, (selector,), (value,), b""),
        __version__="stand-in",
        __mqlevels__=_LEVELS,
        __mqbuild__="client",
    )
    return module


def _pointed(structure: bytes, offset: int) -> str | None:
    """A pointer, an offset that we never use, and a length."""
    pointer, _, length = struct.unpack_from("@Pii", structure, offset)
    return ctypes.string_at(pointer, length).decode() if pointer else None


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "0"
