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
from adapters.mq.standin import properties
from adapters.mq.standin.connections import Login, MqiError
from adapters.mq.standin.logins import Strings, login_of, strings_of
from adapters.mq.standin.manager import StandInQueueManager
from adapters.mq.standin.structures import OD, SD, Layout
from adapters.mq.standin.verbs import nothing_of

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


def _log_in(name_: Any, cno: bytes, cd: bytes | None, sco: bytes | None, strings: Strings) -> tuple[Any, ...]:
    wanted = (name_.decode() if isinstance(name_, bytes) else name_).rstrip(" \0")
    try:
        return _connect(wanted, login_of(wanted, cno, cd, sco, strings))
    except MqiError as failure:
        return -1, failure.completion, failure.reason


def _connect(wanted: str, login: Login) -> tuple[Any, ...]:
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

    def MQSETMP(
        handle: int, message: int, _smpo: bytes, name: bytes, _pd: bytes, type_: int, value: Any, length: int
    ) -> tuple[Any, ...]:
        return _call("MQSETMP", handle, message, name, type_, properties.packed(type_, value, length))

    def not_supported(*_: Any) -> tuple[int, int]:
        return MQCC_FAILED, MQRC_FUNCTION_NOT_SUPPORTED

    return {
        "MQCONN": lambda name_: _log_in(name_, b"", None, None, Strings()),
        "MQDISC": lambda handle: _call("MQDISC", handle),
        "MQCMIT": lambda handle: _call("MQCMIT", handle),
        "MQBACK": lambda handle: _call("MQBACK", handle),
        "MQBEGIN": lambda handle, *_: _call("MQBEGIN", handle),
        "MQCLOSE": lambda handle, object_, options: _call("MQCLOSE", handle, object_, options),
        "MQOPEN": MQOPEN, "MQPUT": MQPUT, "MQPUT1": MQPUT1, "MQGET": MQGET, "MQSUB": MQSUB,
        "MQCRTMH": lambda handle, cmho: _call("MQCRTMH", handle, cmho),
        "MQSETMP": MQSETMP,
        "MQCB": not_supported, "MQCTL": not_supported,
        "error": error, MARK: True,
    }  # fmt: skip


def _ibmmqc() -> types.ModuleType:
    def MQCONNX(name_: Any, cno: bytes, cd: bytes | None, csp: bytes, sco: bytes | None, _bno: Any) -> tuple[Any, ...]:
        return _log_in(name_, cno, cd, sco, strings_of(cno, cd, csp, sco))

    def MQINQ(
        handle: int, object_: int, selectors: Any, found: list[int], _n: int, _m: int, size: int
    ) -> tuple[Any, ...]:
        numbers, texts, completion, reason = _call("MQINQ", handle, object_, tuple(selectors))
        found.extend(numbers)
        return found, texts.ljust(size, b"\0"), completion, reason

    def MQINQMP(
        handle: int, message: int, impo: bytes, name: bytes, _pd: bytes, _type: int, room: int
    ) -> tuple[Any, ...]:
        options = struct.unpack_from("i", impo, 8)[0]
        value, length, type_, found, completion, reason = _call("MQINQMP", handle, message, options, name, room)
        shown = found.decode() if name.endswith(b"%") else None
        return properties.unpacked(type_, value), length, shown, completion, reason

    module = types.ModuleType("ibmmq.ibmmqc", "Stand-in for the C part of ibmmq.")
    module.__dict__.update(
        _common(),
        MQCONNX=MQCONNX,
        MQINQ=MQINQ,
        MQSET=lambda handle, object_, s, n, c: _call("MQSET", handle, object_, tuple(s), tuple(n), c),
        MQINQMP=MQINQMP,
        MQDLTMH=lambda handle, message, dmho: _call("MQDLTMH", handle, message, dmho),
        MQDLTMP=lambda handle, message, dmpo, name: _call("MQDLTMP", handle, message, dmpo, name),
        MQSUBRQ=lambda handle, object_, action, sro: _call("MQSUBRQ", handle, object_, action, sro),
        MQCBINIT=lambda _: None,
        MQLOGCF=lambda *_: (0,),
        __version__=_version("ibmmq"),
        __cmdlevel__=1000,
        __mqbuild__="common",
        __strucversions__=dict(_STRUCTURE_VERSIONS),
    )
    return module


def _pymqe() -> types.ModuleType:
    def MQCONNX(
        name_: Any, _options: int, cd: bytes, login: dict[str, Any], sco: bytes | None = None
    ) -> tuple[Any, ...]:
        user, password = (
            value.decode() if isinstance(value, bytes) else value
            for value in (login.get("user"), login.get("password"))
        )
        return _log_in(name_, b"", cd, sco, Strings(user, password))

    def MQINQ(handle: int, object_: int, selector: int) -> tuple[Any, ...]:
        numbers, texts, completion, reason = _call("MQINQ", handle, object_, (selector,))
        return (numbers[0] if numbers else texts), completion, reason

    def MQINQMP(
        handle: int, message: int, options: int, name: bytes, _pd: int, _type: int, room: int
    ) -> tuple[Any, ...]:
        value, length, type_, _, completion, reason = _call("MQINQMP", handle, message, options, name, room)
        return properties.unpacked(type_, value), length, completion, reason

    module = types.ModuleType("pymqi.pymqe", "Stand-in for the C part of pymqi.")
    module.__dict__.update(
        _common(),
        MQCONNX=MQCONNX,
        MQINQ=MQINQ,
        MQINQMP=MQINQMP,
        MQSET=lambda handle, object_, selector, value: _call("MQSET", handle, object_, (selector,), (value,), b""),
        __version__="stand-in",
        __mqlevels__=_LEVELS,
        __mqbuild__="client",
    )
    return module


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "0"
