"""Finds objects by what a person writes in a configuration. Everything is looked up anew at every call: peers restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from adapters.base import ReconnectError, StopError
from adapters.cosnotification.faults import on_connect, spell
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.stubs import CORBA

_SCHEMES: Final = ("IOR:", "corbaloc:", "corbaname:")
LONGEST_FILE_BYTES: Final = 1024 * 1024


def resolve(orb: LocalOrb, reference: str, interface: Any, timeout_ms: int) -> Any:
    """The object, narrowed to the interface, its calls bounded in time. Raises ReconnectError or StopError."""
    written = reference.strip()
    text = written if _is_reference(written) else _read_file(written)
    try:
        found = orb.corba.string_to_object(text)
    except CORBA.BAD_PARAM as error:
        message = f"cannot be read as a reference: {spell(error)}"
        if text is written and not written.lower().startswith("corbaname:"):
            raise StopError(
                "COR-REFERENCE", message, path=shorten(written), hint="mend it in the configuration"
            ) from error
        raise ReconnectError("COR-REFERENCE", message, path=shorten(written)) from error
    except CORBA.MARSHAL as error:
        raise ReconnectError("COR-REFERENCE", "the IOR is damaged", path=shorten(written)) from error
    except CORBA.Exception as error:
        raise on_connect(error, f"looking up {shorten(written)}") from error
    return narrow(found, interface, timeout_ms, shorten(written))


def narrow(reference: Any, interface: Any, timeout_ms: int, what: str) -> Any:
    """Asks the object whether it is one, where its reference does not say so."""
    if reference is None:
        raise ReconnectError("COR-REFERENCE", "there is no object", path=what)
    set_time_out(reference, timeout_ms)
    try:
        narrowed = reference._narrow(interface)
    except CORBA.Exception as error:
        raise on_connect(error, f"asking {what} for its interface") from error
    if narrowed is None:
        raise ReconnectError(
            "COR-INTERFACE",
            f"the object is no {interface._NP_RepositoryId.rpartition('/')[2].removesuffix(':1.0')}",
            path=what,
        )
    set_time_out(narrowed, timeout_ms)
    return narrowed


def shorten(reference: str) -> str:
    """For messages: an IOR is hundreds of characters of nothing to read."""
    return reference if len(reference) <= 80 else f"{reference[:60]}…"


def _is_reference(text: str) -> bool:
    return text.startswith(_SCHEMES) or text.lower().startswith("ior:")


def _read_file(name: str) -> str:
    try:
        with Path(name.removeprefix("file://")).open("rb") as file:
            content = file.read(LONGEST_FILE_BYTES)
    except OSError as error:
        raise ReconnectError(
            "COR-REFERENCE", f"the file cannot be read: {error.strerror}", path=name, hint="is the service running?"
        ) from error
    text = content.decode("latin-1").strip()
    if not _is_reference(text):
        raise ReconnectError("COR-REFERENCE", "the file holds no reference", path=name)
    return text
