"""Who is calling, where the doorway stands between: the library sees connections of the doorway's."""

from __future__ import annotations

import ipaddress
from typing import Final

callers: Final[dict[tuple[str, int], str]] = {}
"""The host of the peer behind a connection to the library, by the address that this comes from: of the last one that had it, for a
call may be served when its connection has gone."""


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An IPv4 address in an IPv6 one is an IPv4 address. None where it is no address at all."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
