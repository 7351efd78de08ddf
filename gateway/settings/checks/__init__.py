"""What no single model can see: each file holds the checks of one idea, over all that is valid of a configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gateway.settings.report import Report
from gateway.settings.settings import Settings

CHECKS: Final[tuple[Callable[[Settings, Report], None], ...]] = ()
