"""Whether an address can be reached: what its text says, whether its name is known, whether somebody answers there."""

from __future__ import annotations

import ipaddress
import socket
from typing import Final

from adapters.cosnotification.doctor.diagnosis import Diagnosis
from adapters.cosnotification.ior import Address

HERE: Final = "localhost"
LAST_PORT: Final = 65535


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == HERE


def examine(address: Address, timeout_secs: float, diagnosis: Diagnosis, *, offline: bool = False) -> bool:
    """Whether somebody listens there."""
    wrong = _wrong_with(address)
    if wrong is not None:
        diagnosis.add("address", "error", f"{address}: {wrong[0]}", wrong[1])
        return False
    if is_loopback(address.host):
        diagnosis.add("address", "note", f"{address} leads nowhere but to the machine that it is used on")
    if offline:
        return False
    try:
        socket.create_connection((address.host, address.port), timeout_secs).close()
    except socket.gaierror:
        diagnosis.add(
            "address",
            "error",
            f"{address}: this machine does not know the name {address.host}",
            "let the server publish an address that its clients can resolve, or enter the name in DNS or the hosts file",
        )
    except TimeoutError:
        diagnosis.add(
            "address",
            "error",
            f"{address}: no answer in {timeout_secs:.0f} s",
            "a firewall drops the packets, or the address is of another network (NAT, a container)",
        )
    except OSError as error:
        diagnosis.add(
            "address", "error", f"{address}: {error.strerror or error}", "is the server running, on this port?"
        )
    else:
        diagnosis.add("address", "ok", f"{address} answers")
        return True
    return False


def _wrong_with(address: Address) -> tuple[str, str] | None:
    if address.port == 0:
        return "there is no port", "the server listens with TLS alone: put a TLS tunnel in front of the gateway"
    if address.port > LAST_PORT:
        return "there is no such port", f"ports end at {LAST_PORT}"
    if not address.host:
        return "there is no host", "let the server publish its own address"
    try:
        ip = ipaddress.ip_address(address.host)
    except ValueError:
        return None
    if ip.is_unspecified:
        return "this is the address of every machine, and so of none", "let the server publish its own address"
    if ip.is_link_local:
        return "a link-local address is known on its own network segment only", "let the server publish another address"
    return None
