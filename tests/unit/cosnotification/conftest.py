from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.cosnotification.orb import Orb


@pytest.fixture
def orb() -> Iterator[Orb]:
    orb = Orb()
    orb.start()
    yield orb
    orb.stop()
