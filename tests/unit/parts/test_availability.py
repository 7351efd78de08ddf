"""A missing part is a skip by hand and a failure in CI."""

from __future__ import annotations

import pytest

from tests.parts.availability import available
from tests.parts.cache import PartUnavailable


def _missing() -> None:
    raise PartUnavailable("no route to the repository")


def test_by_hand_it_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no route to the repository"):
        available(_missing)


def test_in_ci_it_fails_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no route to the repository"):
        available(_missing)


def test_what_is_there_is_returned() -> None:
    assert available(lambda: 7) == 7
