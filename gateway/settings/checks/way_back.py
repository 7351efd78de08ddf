"""A Notification Service calls the gateway: the address in our references must be one that it can reach."""

from __future__ import annotations

import re
from typing import Final

from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from gateway.settings.addresses import address_in, is_loopback
from gateway.settings.document import quoted
from gateway.settings.report import Report
from gateway.settings.settings import Settings

_CORBA_URL: Final = re.compile(
    r"corba(?:loc|name):(?:iiop|ssliop)?:(?:[0-9.]+@)?(?P<host>\[[^\]]*\]|[^:/#,]+)", re.IGNORECASE
)


def check_way_back(settings: Settings, report: Report) -> None:
    key = "publish" if settings.orb.publish else "listen"
    ours = address_in(settings.orb.publish or settings.orb.listen)
    if ours is None or not is_loopback(ours.host):
        return
    for link in settings.links.values():
        channel = settings.channels.get(link.source)
        endpoint = settings.endpoints.get(channel.endpoint) if channel is not None else None
        if not isinstance(channel, CosNotificationChannel) or not isinstance(endpoint, CosNotificationEndpoint):
            continue
        if channel.style == "pull" or not _is_elsewhere(channel.reference or endpoint.factory or ""):
            continue
        path = ("endpoints", channel.endpoint)
        report.warning(
            "CFG-WAY-BACK",
            path,
            f"the Notification Service of endpoint {quoted(channel.endpoint)} is on another machine and cannot call us: "
            f"orb.{key} is on loopback",
            "set orb.listen to a fixed port on an address that it can reach, and orb.publish where it reaches us by another",
            at=report.key(path),
        )
        return


def _is_elsewhere(factory: str) -> bool:
    """Whether it surely is: what stands in an IOR or in a file is not looked at."""
    found = _CORBA_URL.match(factory)
    return found is not None and not is_loopback(found["host"].strip("[]"))
