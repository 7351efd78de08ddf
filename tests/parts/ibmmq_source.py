"""IBM's own tests of ibmmq, out of the source distribution of the version that is installed."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from tests.parts import source_distribution


def fetch() -> Path:
    """A folder with its tests."""
    return source_distribution.fetch("ibmmq", importlib.metadata.version("ibmmq"), "code/tests")
