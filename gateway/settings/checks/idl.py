"""The IDL files of typed channels: read, where the compiler is installed, and otherwise at least looked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path as FilePath

from adapters.base import StopError
from adapters.cosnotification.settings import CosNotificationChannel
from adapters.cosnotification.typed.idl_files import find_interface, read_interfaces
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.services import NotificationServiceSettings
from gateway.settings.settings import Settings


def check_idl(settings: Settings, report: Report) -> None:
    for id_, channel in settings.channels.items():
        if isinstance(channel, CosNotificationChannel):
            _check_channel(("channels", id_), channel, report)
    service = settings.services.notification
    if service is not None:
        _check_service(service, report)


def _check_channel(path: Path, channel: CosNotificationChannel, report: Report) -> None:
    if channel.events != "typed":
        if channel.interface is not None or channel.idl:
            option = "interface" if channel.interface is not None else "idl"
            report.error("CFG-IDL", (*path, option), "only a typed client has an interface", "set events: typed")
        return
    if channel.interface is None or not channel.idl:
        report.error(
            "CFG-IDL",
            (*path, "events"),
            "a typed client needs an interface, and the IDL files in which it is declared",
            "set interface and idl",
        )
        return
    interface = channel.interface
    _check(report, (*path, "idl"), channel.idl, lambda: find_interface(interface, channel.idl, channel.include))


def _check_service(service: NotificationServiceSettings, report: Report) -> None:
    path = ("services", "notification")
    if service.typed_channels and not service.idl:
        report.error(
            "CFG-IDL",
            (*path, "typed_channels"),
            "typed channels need the interfaces that their clients speak",
            "name the IDL files in services.notification.idl",
        )
    _check(report, (*path, "idl"), service.idl, lambda: read_interfaces(service.idl, service.include))


def _check(report: Report, path: Path, files: list[str], read: Callable[[], object]) -> None:
    missing = [file for file in files if not FilePath(file).is_file()]
    for file in missing:
        report.error(
            "CFG-IDL", path, f"there is no file {file}", "paths are relative to the folder where isthmus is started"
        )
    if files and not missing and find_spec("jeteve_omniorb") is not None:
        try:
            read()
        except StopError as error:
            report.error("CFG-IDL", path, f"{error.path}: {error.message}", error.hint)
