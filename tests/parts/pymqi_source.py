"""The Python part of pymqi, out of its source distribution: to build it needs IBM's headers, to run it over a stand-in does not."""

from __future__ import annotations

from pathlib import Path

from tests.parts import source_distribution

VERSION = "1.12.13"


def fetch() -> Path:
    """A folder for sys.path."""
    return source_distribution.fetch("pymqi", VERSION, "code")
