from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.event_domains.plant import Plant, plant


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """For tests that make domains and channels of their own and leave the gateway as it is."""
    with plant(Path(tmp_path_factory.mktemp("plant"))) as found:
        yield found


@pytest.fixture(params=["isthmus"])
def channel_factory(request: pytest.FixtureRequest, shared: Plant) -> Any:
    """Where the members of the domains come from."""
    return shared.channels
