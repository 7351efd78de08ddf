"""One capture for all tests here: events that are delivered, filtered, expired and dead-lettered; and messages on the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.parts.captures import alarm, capture, configuration, expired

LINK: dict[str, Any] = {"filter": "$Severity > 0", "rules": [{"copy_header": "JMSPriority", "to": "priority"}]}


@pytest.fixture(scope="session")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 alarms and one that is expired, through one link, in files of 400 rows."""
    folder = tmp_path_factory.mktemp("traffic")
    return capture(folder, configuration(folder, link=LINK), [*(alarm(n) for n in range(900)), expired(905)])
