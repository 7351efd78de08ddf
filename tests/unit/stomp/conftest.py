from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from adapters.embedded_broker import Broker
from tests.unit.stomp.raw_client import RawClient


@pytest.fixture
def start_broker() -> Iterator[Callable[..., str]]:
    """Start an embedded broker with the given options; its address."""
    with ExitStack() as ends:

        def start(**options: object) -> str:
            broker = Broker("127.0.0.1", 0, **options)  # type: ignore[arg-type]
            ends.callback(broker.stop)
            return broker.start()

        yield start


@pytest.fixture
def address(start_broker: Callable[..., str]) -> str:
    return start_broker()


@pytest.fixture
def client(address: str) -> Iterator[RawClient]:
    with RawClient(address) as client:
        assert client.connect().command == b"CONNECTED"
        yield client
