"""`host:port`, as every address of a configuration is written; an IPv6 address stands in brackets: `[::1]:61613`."""

from __future__ import annotations

import ipaddress
import re
from typing import Final, NamedTuple

_FORM: Final = re.compile(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<name>[^\[\]:]*)):(?P<port>[0-9]{1,6})")
_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")


class Address(NamedTuple):
    host: str  # without brackets
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class AddressError(ValueError):
    """Says what is wrong without quoting the address, which may come from a secret."""


def parse_address(text: str, *, any_port: bool = False) -> Address:
    """Raises AddressError. With `any_port`, port 0 is allowed: the system chooses one."""
    found = _FORM.fullmatch(text)
    if found is None:
        if "://" in text:
            raise AddressError("nothing stands before the host: no tcp://, no other scheme")
        if text.count(":") > 1 and "[" not in text:
            raise AddressError("an IPv6 address needs brackets: [::1]:61613")
        raise AddressError("it is not host:port")
    lowest = 0 if any_port else 1
    port = int(found["port"])
    if not lowest <= port <= 65535:
        raise AddressError(f"the port must be from {lowest} to 65535")
    if found["v6"] is not None:
        try:
            ipaddress.IPv6Address(found["v6"])
        except ValueError:
            raise AddressError("what stands in brackets is no IPv6 address") from None
        return Address(found["v6"], port)
    if not _NAME.fullmatch(found["name"]) or len(found["name"]) > 253:
        raise AddressError("the host is neither a name nor an address")
    if _looks_like_ipv4(found["name"]):
        try:
            ipaddress.IPv4Address(found["name"])
        except ValueError:
            raise AddressError("the host is no IPv4 address") from None
    return Address(found["name"], port)


def address_in(text: str) -> Address | None:
    """The address that a text is, port 0 allowed; None where it is none."""
    try:
        return parse_address(text, any_port=True)
    except AddressError:
        return None


def overlap(one: Address, other: Address) -> bool:
    """Whether two listeners would want the same address: same port, and the same host or one that stands for all."""
    if one.port != other.port or one.port == 0:
        return False
    return one.host.lower() == other.host.lower() or is_any_host(one.host) or is_any_host(other.host)


def leads_to(address: Address, listener: Address) -> bool:
    """Whether a client of this machine that connects to the address reaches the listener, as far as names tell."""
    if overlap(address, listener):
        return True
    return address.port == listener.port != 0 and is_loopback(address.host) and is_loopback(listener.host)


def is_any_host(host: str) -> bool:
    """Whether a listener on it listens on every address of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether only this machine itself can reach it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def _looks_like_ipv4(name: str) -> bool:
    return all(part.isdigit() for part in name.split("."))
