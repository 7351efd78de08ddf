"""References to Notification Services and their channels: what can be told to be none without asking anybody."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings

_SCHEMES: Final = ("ior", "corbaloc", "corbaname", "http", "https")
_OUR_NAMING: Final = re.compile(r"corba(?:loc|name):rir:", re.IGNORECASE)  # "starts at orb.naming_service"
_IOR: Final = re.compile(r"IOR:(?:[0-9A-F]{2}){8,}\s*", re.IGNORECASE)


def check_factories(settings: Settings, report: Report) -> None:
    if settings.orb.naming_service is not None:
        _check(settings.orb.naming_service, ("orb", "naming_service"), report)
        if _OUR_NAMING.match(settings.orb.naming_service):
            report.error(
                "CFG-FACTORY",
                ("orb", "naming_service"),
                "the naming service cannot be found through itself",
                "write corbaloc::host:2809/NameService",
            )
    for id_, endpoint in settings.endpoints.items():
        if isinstance(endpoint, CosNotificationEndpoint):
            if endpoint.factory is not None:
                _check(endpoint.factory, ("endpoints", id_, "factory"), report, settings)
            if endpoint.factory is not None and endpoint.service == "event":
                report.error(
                    "CFG-CHANNEL-REFERENCE",
                    ("endpoints", id_, "factory"),
                    "a plain Event Service has no factory",
                    "leave it out, and give each channel its `reference`",
                )


def check_channel_references(settings: Settings, report: Report) -> None:
    """A channel is named once: by its id at a factory, or by its own reference."""
    for id_, channel in settings.channels.items():
        endpoint = settings.endpoints.get(channel.endpoint)
        if not isinstance(channel, CosNotificationChannel) or not isinstance(endpoint, CosNotificationEndpoint):
            continue
        path = ("channels", id_)
        for index, name in enumerate(channel.event_types):
            if name.count("/") != 1:
                report.error(
                    "CFG-EVENT-TYPE",
                    (*path, "event_types", index),
                    "an event type is a domain and a type name, with one / between them",
                    "write Telecom/Alarm, or Telecom/* for a whole domain",
                )
        if channel.reference is not None:
            _check(channel.reference, (*path, "reference"), report, settings)
            if channel.channel is not None:
                report.error(
                    "CFG-CHANNEL-REFERENCE",
                    path,
                    "`channel` and `reference` both name the channel",
                    "leave one of them out",
                )
        elif (
            channel.channel is None and report.document.node((*path, "channel")) is None
        ):  # else: it is wrong, and said so
            report.error(
                "CFG-CHANNEL-REFERENCE",
                path,
                "nothing says which channel of the peer is meant",
                "write `channel: 0` for the one with that ChannelID, or `reference` where the channel has one of its own",
            )
        elif channel.channel is not None and endpoint.factory is None:
            report.error(
                "CFG-CHANNEL-REFERENCE",
                path,
                "a ChannelID needs the factory that it is known to, and the endpoint has none",
                "give the endpoint its `factory`, or the channel its `reference`",
            )


def _check(reference: str, path: Path, report: Report, settings: Settings | None = None) -> None:
    wrong = _wrong_with(reference)
    if settings is not None and settings.orb.naming_service is None and _OUR_NAMING.match(reference):
        wrong = (
            "there is no naming service to look it up at",
            "set orb.naming_service, or write corbaname::host:port#name",
        )
    if wrong is not None:
        report.error("CFG-FACTORY", path, *wrong)


def _wrong_with(reference: str) -> tuple[str, str] | None:
    """What is wrong, and what to do; None where nothing is, or where it is the path of a file."""
    scheme = reference.partition(":")[0].lower()
    if scheme == "ior" and not _IOR.fullmatch(reference):
        return (
            "this is no IOR: it is cut, or has characters other than hexadecimal digits",
            "copy it again, as one line",
        )
    if scheme == "corbaloc" and not re.fullmatch(r"[^/]+/.+", reference):
        return "corbaloc without the key of an object", "write corbaloc::host:port/key"
    if scheme == "corbaname" and not re.fullmatch(r"[^#]+#.+", reference):
        return "corbaname without the name of an object", "write corbaname::host:port#name"
    if ":" in reference and scheme not in _SCHEMES:
        return _wrong_scheme(scheme, reference)
    return None


def _wrong_scheme(scheme: str, reference: str) -> tuple[str, str] | None:
    """A misspelt reference would be taken for the path of a file, and waited for until somebody writes it."""
    message = "this is no reference, and would be the path of a file"
    if meant := get_close_matches(scheme, _SCHEMES, 1, 0.7):
        return message, f"did you mean {meant[0]}:?"
    if f"{scheme}://" in reference.lower():
        return message, "for a file write its path alone"
    return None
