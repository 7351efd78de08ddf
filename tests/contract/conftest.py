"""Runs the one suite on every wire. A wire that cannot be had here skips with its reason (and fails when CI=true)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.contract.wires.base import Wire

WIRES = {
    "memory-events": "tests.contract.wires.memory:events",
    "memory-messages": "tests.contract.wires.memory:messages",
    "stomp-embedded": "tests.contract.wires.stomp:embedded",
}


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    module, maker = WIRES[request.param].split(":")
    with getattr(import_module(module), maker)() as wire:
        yield wire
