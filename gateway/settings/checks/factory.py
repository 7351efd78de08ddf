"""References to Notification Services: what can be told to be no reference without asking anybody."""

from __future__ import annotations

import re
from typing import Final

from adapters.cosnotification.settings import CosNotificationEndpoint
from gateway.settings.report import Report
from gateway.settings.settings import Settings

_IOR: Final = re.compile(r"IOR:(?:[0-9A-F]{2}){8,}\s*", re.IGNORECASE)


def check_factories(settings: Settings, report: Report) -> None:
    for id_, endpoint in settings.endpoints.items():
        if isinstance(endpoint, CosNotificationEndpoint):
            wrong = _wrong_with(endpoint.factory)
            if wrong is not None:
                report.error("CFG-FACTORY", ("endpoints", id_, "factory"), *wrong)


def _wrong_with(factory: str) -> tuple[str, str] | None:
    """What is wrong, and what to do; None where nothing is, or where it is the path of a file."""
    scheme = factory.partition(":")[0].lower()
    if scheme == "ior" and not _IOR.fullmatch(factory):
        return (
            "this is no IOR: it is cut, or has characters other than hexadecimal digits",
            "copy it again, as one line",
        )
    if scheme == "corbaloc" and not re.fullmatch(r"[^/]+/.+", factory):
        return "corbaloc without the key of an object", "write corbaloc::host:port/key"
    if scheme == "corbaname" and not re.fullmatch(r"[^#]+#.+", factory):
        return "corbaname without the name of an object", "write corbaname::host:port#name"
    return None
