"""Who is calling: the address at the other end of the connection, as the system sees it."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.giop.callers import address_of, callers
from adapters.cosnotification.stubs import omniORB


def peer_host() -> str:
    """An IP address; empty where nobody calls over the wire."""
    info = omniORB.currentCallInfo()
    return host_in(info.get("peer_address", "")) if info is not None else ""


def host_in(uri: str) -> str:
    """Of `giop:tcp:HOST:PORT`. Empty where there is none."""
    host, _, port = uri.partition("tcp:")[2].rpartition(":")
    host = host.strip("[]")
    if port.isdecimal():
        host = callers.get((host, int(port)), host)
    address = address_of(host)
    return "" if address is None else str(address)


def is_visible(each: Any) -> bool:
    """Whether the caller may know of an admin or a proxy: it was obtained from the caller's address."""
    return bool(each.owner == peer_host())
