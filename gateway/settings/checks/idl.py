"""The IDL files of typed channels: read, where the compiler is installed, and otherwise at least looked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path as FilePath

from adapters.base import StopError
from adapters.cosnotification.typed.idl_files import read_interfaces
from gateway.settings.nodes import Path
from gateway.settings.report import Report
from gateway.settings.settings import Settings


def check_idl(settings: Settings, report: Report) -> None:
    service = settings.services.notification
    if service is None:
        return
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
