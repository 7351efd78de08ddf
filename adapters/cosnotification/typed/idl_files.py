"""From IDL files to the interfaces in them. They are read again when a file has changed, and never compiled into this process."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from adapters.base import StopError
from adapters.cosnotification.typed.interface import TypedInterface

READ_SECS: Final = 30.0
SHOWN_TROUBLES: Final = 5
_PLACE: Final = re.compile(r"(?P<place>[^\s:][^:]*:\d+): (?P<message>.*)")

_Key = tuple[tuple[str, int, int], ...]

_lock = threading.Lock()
_kept: dict[tuple[_Key, tuple[str, ...]], tuple[TypedInterface, ...]] = {}


def read_interfaces(files: Sequence[str], include: Sequence[str] = ()) -> tuple[TypedInterface, ...]:
    """Every interface in these files and in what they include. Raises StopError (COR-IDL) with the place of the first error."""
    stamps = []
    for file in files:
        try:
            status = Path(file).stat()
        except OSError as error:
            raise StopError("COR-IDL", f"the file cannot be read: {error.strerror}", path=file) from error
        stamps.append((file, status.st_mtime_ns, status.st_size))
    key = (tuple(stamps), tuple(include))
    with _lock:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = _read(files, include)
        return found


def find_interface(key: str, files: Sequence[str], include: Sequence[str] = ()) -> TypedInterface:
    """The interface of this name or repository id, which can carry events. Raises StopError (COR-IDL)."""
    interfaces = read_interfaces(files, include)
    for interface in interfaces:
        if interface.is_called(key):
            if interface.troubles:
                place, message = _split(interface.troubles[0])
                more = f" (and {len(interface.troubles) - 1} more)" if len(interface.troubles) > 1 else ""
                raise StopError(
                    "COR-IDL",
                    f"{interface.scoped_name} cannot carry events: {message}{more}",
                    path=place,
                    hint="operations of a typed channel return void, have `in` parameters only, and raise nothing",
                )
            return interface
    names = ", ".join(interface.scoped_name for interface in interfaces) or "none at all"
    raise StopError(
        "COR-IDL", f"there is no interface {key}", path=", ".join(files), hint=f"the interfaces there are: {names}"
    )


def _read(files: Sequence[str], include: Sequence[str]) -> tuple[TypedInterface, ...]:
    command = [sys.executable, "-P", "-m", "adapters.cosnotification.typed.idl_reader", *(f"-I{f}" for f in include)]
    try:
        reader = subprocess.run([*command, "--", *files], capture_output=True, timeout=READ_SECS, check=False)
    except subprocess.TimeoutExpired as error:
        raise StopError("COR-IDL", "the IDL compiler does not come to an end", path=", ".join(files)) from error
    if reader.returncode == 0:
        return tuple(pickle.loads(reader.stdout))  # from our own process
    lines = [line.strip() for line in reader.stderr.decode(errors="replace").splitlines() if line.strip()]
    troubles = [line for line in lines if _PLACE.fullmatch(line)] or lines[-1:] or [f"status {reader.returncode}"]
    place, message = _split(troubles[0])
    further = "".join(f"; {trouble}" for trouble in troubles[1:SHOWN_TROUBLES])
    raise StopError(
        "COR-IDL", message + further, path=place or ", ".join(files), hint="mend the IDL, or give `include`"
    )


def _split(trouble: str) -> tuple[str, str]:
    found = _PLACE.fullmatch(trouble)
    return (found["place"], found["message"]) if found else ("", trouble)
