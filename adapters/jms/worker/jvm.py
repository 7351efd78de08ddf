"""Starts the JVM of this process."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final

import jpype

DEFAULTS: Final = (
    "-Xrs",  # signals stay Python's
    "-Xmx256m",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    f"-XX:ErrorFile={tempfile.gettempdir()}/isthmus-jms-hs_err_pid%p.log",
)
_COLLECTOR: Final = re.compile(r"-XX:\+Use\w+GC")


def start(classpath: tuple[str, ...], options: tuple[str, ...], java_home: str | None, serial_filter: str) -> str:
    """Returns the version of Java."""
    arguments = list(DEFAULTS)
    if not any(_COLLECTOR.fullmatch(option) for option in options):
        arguments.append("-XX:+UseSerialGC")  # the least memory and threads
    if serial_filter:
        arguments.append(f"-Djdk.serialFilter={serial_filter}")
    library = jpype.getDefaultJVMPath() if java_home is None else _library(Path(java_home))
    jpype.startJVM(library, *arguments, *options, classpath=list(classpath), convertStrings=True)
    return str(jpype.JClass("java.lang.System").getProperty("java.version"))


def _library(home: Path) -> str:
    found = sorted(home.expanduser().glob("**/libjvm.so"), key=lambda path: "server" not in path.parts)
    if not found:
        raise FileNotFoundError(f"there is no libjvm.so below {home}")
    return str(found[0])
