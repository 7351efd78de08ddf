"""A consumer in this process is given octets, or is the library's to call."""

from __future__ import annotations

import pytest

from adapters.cosnotification.giop.neighbour import Neighbour, NotNow


def test_it_gets_the_octets() -> None:
    got: list[tuple[bytes, bool]] = []

    def take(arguments: bytes, little: bool) -> bool:
        got.append((arguments, little))
        return True

    Neighbour(lambda: take, 100).call(b"octets", little=False)
    assert got == [(b"octets", False)]


def test_what_it_does_not_take_is_the_librarys() -> None:
    def stumble(arguments: bytes, little: bool) -> bool:
        raise LookupError

    for handler in (None, stumble, lambda arguments, little: False):
        with pytest.raises(NotNow):
            Neighbour(lambda handler=handler: handler, 100).call(b"octets", little=True)  # type: ignore[misc]


def test_it_may_have_another_handler_since() -> None:
    handlers = [lambda arguments, little: False, lambda arguments, little: True]
    neighbour = Neighbour(lambda: handlers.pop(0), 100)
    with pytest.raises(NotNow):
        neighbour.call(b"octets", little=True)
    neighbour.call(b"octets", little=True)
