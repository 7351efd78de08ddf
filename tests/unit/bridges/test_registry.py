"""Bridges are in their file with every change, and a transaction is a batch of its link."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import StopError
from gateway.bridges.bridge import BridgeNotFound, BridgeState, InvalidEndPoints, Role
from gateway.bridges.overlay import with_bridges
from gateway.bridges.registry import Bridges
from tests.unit.bridges.test_topology import bridge, end
from tests.unit.bridges.test_topology import settings as configuration

OPERATIONS = ("create", "start", "stop", "destroy", "enable_transaction", "disable_transaction")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 3)), max_size=20))
def test_what_is_in_the_file_is_what_there_is(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    path = Path(tmp_path_factory.mktemp("bridges")) / "bridges.json"
    bridges = Bridges(path, lambda: None)
    bridges.create(configuration(), end(Role.SOURCE, 9), end(Role.SINK, "first"))
    made = 1
    for operation, id_ in steps:
        arguments: tuple[object, ...] = (id_,)
        if operation == "create":
            arguments = (configuration(), end(Role.SOURCE, 10 + made), end(Role.SINK, f"q{made}"))
        elif operation == "start":
            arguments = (configuration(), id_)
        elif operation == "enable_transaction":
            arguments = (id_, 5, 50)
        with suppress(BridgeNotFound, BridgeState, InvalidEndPoints):
            getattr(bridges, operation)(*arguments)
            made += operation == "create"
        again = Bridges(path, lambda: None)
        assert (again.all(), again.secret) == (bridges.all(), bridges.secret)
    assert Bridges(path, lambda: None).create(configuration(), end(Role.SOURCE, 8), end(Role.SINK, "last")).id == made


def test_a_file_that_was_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bridges.json"
    Bridges(path, lambda: None).create(configuration(), end(Role.SOURCE, 0), end(Role.SINK, "q"))
    path.write_text(path.read_text()[:-10])
    with pytest.raises(StopError) as refused:
        Bridges(path, lambda: None)
    assert (refused.value.code, refused.value.path) == ("DOM-BRIDGE-STORE", str(path))


def test_a_transaction_is_a_batch(tmp_path: Path) -> None:
    its = bridge(1, "far")
    plain = with_bridges(configuration(), [its]).links["bridge.0"].delivery
    link = with_bridges(configuration(), [its._replace(events=500, timeout_ms=70)]).links["bridge.0"]
    assert (link.delivery.batch, link.delivery.batch_wait_ms) == (500, 70)
    assert link.delivery.window >= 500 > plain.batch
