from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.cdr.omniorb_model import plain_orb


@pytest.fixture(scope="module")
def orb() -> Iterator[Any]:
    with plain_orb() as orb:
        yield orb
