"""What a missing part means for a test: skipped with a reason by hand, failed in CI."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.parts.cache import PartUnavailable

T = TypeVar("T")


def available(make: Callable[[], T]) -> T:
    """What `make` returns; when the part cannot be had the test is skipped, or, with CI=true, fails."""
    try:
        return make()
    except PartUnavailable as reason:
        if os.environ.get("CI") == "true":
            pytest.fail(f"a part of this test cannot be had: {reason}", pytrace=False)
        pytest.skip(f"a part of this test cannot be had: {reason}")
