"""One session, and one capture, for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.parts.cache import PartUnavailable
from tests.parts.captures import alarm, capture, configuration, expired
from tests.parts.spark import local_session
from tests.parts.yarn import fetch
from tests.unit.spark.conftest import LINK

PATIENCE_SECS = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(PATIENCE_SECS))  # a JVM takes its time on a busy machine


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch what YARN needs now, where no test's time-out runs; its fixture deals with what is missing."""
    wanted = any("yarn_conf" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        with suppress(PartUnavailable):
            fetch()


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with local_session(tmp_path_factory.mktemp("spark")) as spark:
        yield spark


@pytest.fixture(scope="session")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traffic")
    return capture(folder, configuration(folder, link=LINK), [*(alarm(n) for n in range(900)), expired(905)])
