from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.cosnotification.local_orb import LocalOrb


@pytest.fixture
def orb() -> Iterator[LocalOrb]:
    orb = LocalOrb()
    orb.start()
    yield orb
    orb.stop()
