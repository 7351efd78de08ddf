"""Addresses: every host:port has the right form, and no two listeners want the same one."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.cosnotification.settings import CosNotificationEndpoint, OrbOverrides
from adapters.stomp.settings import StompEndpoint
from gateway.settings.addresses import (
    Address,
    AddressError,
    address_in,
    is_any_host,
    is_loopback,
    overlap,
    parse_address,
)
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_addresses(settings: Settings, report: Report) -> None:
    listeners: list[tuple[Path, Address]] = []
    for path, text in _listeners(settings):
        address = _parsed(report, path, text, any_port=True)
        if address is None:
            continue
        for other, taken in listeners:
            if overlap(address, taken):
                report.error(
                    "CFG-LISTEN-TWICE",
                    path,
                    f"{_dotted(path)} wants the same address as {_dotted(other)} in line {report.key(other).line}",
                    "give each listener a port of its own",
                )
                break
        listeners.append((path, address))
    for path, text in _published(settings):
        address = _parsed(report, path, text, any_port=False)
        if address is not None and is_any_host(address.host):
            hint = "name the host or the address by which peers reach this machine"
            report.error("CFG-ADDRESS", path, f"{report.document.shown(path)} is an address that nobody can call", hint)
    for id_, endpoint in settings.endpoints.items():
        if isinstance(endpoint, StompEndpoint):
            for index, host in enumerate(endpoint.hosts):
                _parsed(report, ("endpoints", id_, "hosts", index), host, any_port=False)


def check_admin_is_private(settings: Settings, report: Report) -> None:
    if settings.admin is None:
        return
    address = address_in(settings.admin.listen)
    if address is not None and not is_loopback(address.host):
        report.warning(
            "CFG-ADMIN-EXPOSED",
            ("admin", "listen"),
            "the admin interface has no login, and this address is not on loopback",
            "listen on 127.0.0.1, or put a proxy with a login before it",
        )


def _listeners(settings: Settings) -> Iterator[tuple[Path, str]]:
    yield ("orb", "listen"), settings.orb.listen
    for path, own in _orbs_of_endpoints(settings):
        if own.listen is not None:
            yield (*path, "listen"), own.listen
    if settings.services.broker is not None:
        yield ("services", "broker", "listen"), settings.services.broker.listen
    if settings.admin is not None:
        yield ("admin", "listen"), settings.admin.listen


def _published(settings: Settings) -> Iterator[tuple[Path, str]]:
    if settings.orb.publish is not None:
        yield ("orb", "publish"), settings.orb.publish
    for path, own in _orbs_of_endpoints(settings):
        if own.publish is not None:
            yield (*path, "publish"), own.publish


def _orbs_of_endpoints(settings: Settings) -> Iterator[tuple[Path, OrbOverrides]]:
    """Endpoints that need the ORB otherwise in the same way share one."""
    seen: list[OrbOverrides] = []
    for id_, endpoint in settings.endpoints.items():
        own = endpoint.orb if isinstance(endpoint, CosNotificationEndpoint) else None
        if own is not None and own not in seen:
            seen.append(own)
            yield ("endpoints", id_, "orb"), own


def _parsed(report: Report, path: Path, text: str, *, any_port: bool) -> Address | None:
    try:
        return parse_address(text, any_port=any_port)
    except AddressError as error:
        hint = "write host:port, such as 127.0.0.1:5555 or [::1]:5555"
        report.error("CFG-ADDRESS", path, f"{report.document.shown(path)} is no address: {error}", hint)
        return None


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
