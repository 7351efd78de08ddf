"""Who is calling: the address at the other end of the connection, as the system sees it."""

from __future__ import annotations

import ipaddress
from typing import Any

from adapters.cosnotification.stubs import omniORB


def peer_host() -> str:
    """An IP address; empty where nobody calls over the wire."""
    info = omniORB.currentCallInfo()
    return host_in(info.get("peer_address", "")) if info is not None else ""


def host_in(uri: str) -> str:
    """Of `giop:tcp:HOST:PORT`; an IPv4 address in an IPv6 one is an IPv4 address. Empty where there is none."""
    host = uri.partition("tcp:")[2].rpartition(":")[0].strip("[]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def is_visible(each: Any) -> bool:
    """Whether the caller may know of an admin or a proxy: it was obtained from the caller's address."""
    return bool(each.owner == peer_host())
