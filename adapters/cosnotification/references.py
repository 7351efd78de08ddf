"""Finds objects by what a person writes in a configuration. Everything is looked up anew at every call: peers restart.

IOR:…                            as it stands
corbaloc:…  corbaname:…          by the ORB; corbaname:rir:#ctx/name, corbaloc:rir:/NameService: at `orb.naming_service`
http://…  https://…              a document that holds one of the above
anything else                    the path of a file that holds one of the above
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from adapters.base import ReconnectError, StopError
from adapters.cosnotification.faults import on_connect, spell
from adapters.cosnotification.ior import shorten
from adapters.cosnotification.kinds.kind import Kind
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.stubs import CORBA, CosNaming, omniORB
from adapters.cosnotification.web import LONGEST_TEXT_BYTES, fetch

_SCHEMES: Final = ("ior:", "corbaloc:", "corbaname:")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf".decode("latin-1")  # of UTF-8
_DIGITS: Final = re.compile("[0-9A-Fa-f]+")
_WEB: Final = ("http://", "https://")
_OUR_NAMING: Final = re.compile(r"corba(?:loc:rir:/NameService|name:rir:(?:/NameService)?#(?P<name>.*))", re.IGNORECASE)


def find_channel(
    orb: LocalOrb,
    endpoint: CosNotificationEndpoint,
    channel: CosNotificationChannel,
    kind: Kind,
    timeout_ms: int,
) -> Any:
    """By its own reference, or by its id at the factory. Raises ReconnectError, StopError, or what the factory raises."""
    if channel.reference is not None:
        return resolve(orb, channel.reference, kind.channel, timeout_ms)
    if endpoint.factory is None or channel.channel is None:
        raise StopError("COR-REFERENCE", "neither a factory and a ChannelID nor a reference is given")
    factory = resolve(orb, endpoint.factory, kind.factory, timeout_ms)
    found = getattr(factory, kind.get_channel)(channel.channel)
    if found is None:
        raise ReconnectError("COR-PEER", "the factory gave no channel", path=shorten(endpoint.factory))
    set_time_out(found, timeout_ms)
    return found


def read_reference(written: str, timeout_ms: int, ca_file: str | None = None) -> str:
    """IOR:…, corbaloc:… or corbaname:…, maybe out of a file or a document. Raises ReconnectError or StopError."""
    text = written.strip()
    return text if _is_reference(text) else _read(text, timeout_ms, ca_file)


def find_object(orb: LocalOrb, reference: str, timeout_ms: int) -> Any:
    """As `resolve`, and nobody is asked whether it is of some interface."""
    return _find(orb, reference.strip(), timeout_ms)


def resolve(orb: LocalOrb, reference: str, interface: Any, timeout_ms: int) -> Any:
    """The object, narrowed to the interface, its calls bounded in time. Raises ReconnectError or StopError."""
    written = reference.strip()
    found = _find(orb, written, timeout_ms)
    return narrow(found, interface, timeout_ms, shorten(written))


def _find(orb: LocalOrb, written: str, timeout_ms: int) -> Any:
    text = read_reference(written, timeout_ms, orb.settings.ca_file)
    ours = _OUR_NAMING.fullmatch(text)
    if ours is not None:
        return _at_our_naming_service(orb, written, ours["name"], timeout_ms)
    try:
        return orb.corba.string_to_object(text)
    except CORBA.BAD_PARAM as error:
        if text.lower().startswith("corbaname:") and omniORB.minorCodeToString(error) == "BAD_PARAM_BadURIOther":
            raise _no_such_name(text.partition("#")[2]) from error
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


def _at_our_naming_service(orb: LocalOrb, written: str, name: str | None, timeout_ms: int) -> Any:
    """What has this name there; without a name, the naming service itself."""
    there = orb.settings.naming_service
    if there is None:
        raise StopError(
            "COR-REFERENCE",
            "there is no naming service to look it up at",
            path=shorten(written),
            hint="set orb.naming_service, or write corbaname::host:port#name",
        )
    if _OUR_NAMING.fullmatch(there.strip()):
        raise StopError(
            "COR-REFERENCE",
            "the naming service cannot be found through itself",
            path="orb.naming_service",
            hint="write corbaloc::host:2809/NameService",
        )
    return _find(orb, there.strip(), timeout_ms) if name is None else _by_name(orb, there, unquote(name), timeout_ms)


def _by_name(orb: LocalOrb, naming_service: str, name: str, timeout_ms: int) -> Any:
    root = resolve(orb, naming_service, CosNaming.NamingContext, timeout_ms)
    try:
        return root.resolve(_components(name))
    except CosNaming.NamingContext.NotFound as error:
        raise _no_such_name(name) from error
    except CORBA.Exception as error:
        raise on_connect(error, f"looking up {name} at the naming service") from error


def _no_such_name(name: str) -> ReconnectError:
    return ReconnectError(
        "COR-REFERENCE",
        "the naming service has no such name",
        path=name,
        hint="has the peer registered itself? a name is written context/name.kind",
    )


def _components(name: str) -> list[Any]:
    """`id.kind/id.kind`, with a backslash before a `/`, `.` or backslash that is meant as it is (Naming Service, 2.4)."""
    components: list[list[str]] = [[""]]
    characters = iter(name)
    for character in characters:
        if character == "/":
            components.append([""])
        elif character == ".":
            components[-1].append("")
        else:
            components[-1][-1] += next(characters, "") if character == "\\" else character
    return [CosNaming.NameComponent(parts[0], ".".join(parts[1:])) for parts in components]


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


def peer_of(endpoint: CosNotificationEndpoint, channel: CosNotificationChannel) -> str:
    """The channel, for messages."""
    if channel.reference is not None:
        return shorten(channel.reference)
    return f"channel {channel.channel} of {shorten(endpoint.factory or '')}"


def _is_reference(text: str) -> bool:
    return text.lower().startswith(_SCHEMES)


def _read(name: str, timeout_ms: int, ca_file: str | None) -> str:
    if not name:
        raise StopError(
            "COR-REFERENCE", "the reference is empty", hint="write IOR:…, corbaloc:…, or a file that holds one"
        )
    on_the_web = name.lower().startswith(_WEB)
    content = fetch(name, timeout_ms, ca_file) if on_the_web else _read_file(name)
    text = _first_reference(content.decode("latin-1").removeprefix(_BYTE_ORDER_MARK))
    if not _is_reference(text):
        what = "document" if on_the_web else "file"
        raise ReconnectError("COR-REFERENCE", f"the {what} holds no reference", path=shorten(name))
    return text


def _first_reference(text: str) -> str:
    """Without what programs and editors leave around it: empty lines, NULs, and breaks within the digits of an IOR."""
    lines = text.replace("\0", "").split() or [""]
    if not lines[0].lower().startswith("ior:"):
        return lines[0]
    digits = itertools.takewhile(_DIGITS.fullmatch, lines[1:])
    return "".join((lines[0], *digits))


def _read_file(name: str) -> bytes:
    try:
        with Path(name.removeprefix("file://")).open("rb") as file:
            return file.read(LONGEST_TEXT_BYTES)
    except OSError as error:
        raise ReconnectError(
            "COR-REFERENCE",
            f"the file cannot be read: {error.strerror}",
            path=name,
            hint="is the service running that writes it? (what begins with none of IOR:, corbaloc:, corbaname:, http: is a file)",
        ) from error
