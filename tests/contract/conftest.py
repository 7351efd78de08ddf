"""Runs the one suite on every wire. A wire that cannot be had here skips with its reason (and fails when CI=true)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module

import pytest

from adapters.cosnotification.orb import Orb
from tests.contract.wires.base import Wire
from tests.contract.wires.cosnotification import Service, stage
from tests.contract.wires.cosnotification import jacorb_stage as start_jacorb_stage
from tests.parts.availability import available

STAGES = {"cosnotification": "cosnotification_stage", "jacorb": "jacorb_stage"}
WIRES = {
    "memory-events": "tests.contract.wires.memory:events",
    "memory-messages": "tests.contract.wires.memory:messages",
    "stomp-embedded": "tests.contract.wires.stomp:embedded",
    "stomp-durable": "tests.contract.wires.stomp:durable",
    "stomp-activemq": "tests.contract.wires.stomp_brokers:activemq",
    "stomp-artemis": "tests.contract.wires.stomp_brokers:artemis",
    "stomp-rabbitmq": "tests.contract.wires.stomp_brokers:rabbitmq",
    "jms-activemq": "tests.contract.wires.jms_brokers:activemq",
    "jms-artemis": "tests.contract.wires.jms_brokers:artemis",
    **{
        f"{service}-{kind}-{style}": "tests.contract.wires.cosnotification:combination"
        for service in STAGES
        for kind in ("any", "structured", "sequence", "plain")
        for style in ("push", "pull")
    },
    **{
        f"cosnotification-{kind}-{style}": "tests.contract.wires.cosnotification:combination"
        for kind in ("typed", "plaintyped")
        for style in ("push", "pull")
    },
    "mq-ibmmq": "tests.contract.wires.mq:in_process",
    "mq-pymqi": "tests.contract.wires.mq:in_process_pymqi",
}
if "ISTHMUS_MQ_QUEUE_MANAGER" in os.environ:  # a queue manager of somebody's own: see docs/mq.md
    WIRES["mq-environment"] = "tests.contract.wires.mq_environment:environment"
PARTS = {
    **{name: pytest.mark.java for name in WIRES if name.startswith("jacorb")},
    "stomp-activemq": pytest.mark.java,
    "stomp-artemis": pytest.mark.java,
    "stomp-rabbitmq": pytest.mark.rabbitmq,
    "jms-activemq": pytest.mark.java,
    "jms-artemis": pytest.mark.java,
}  # brokers of tests/parts; their makers get the fixture request


@pytest.fixture(params=[pytest.param(name, marks=PARTS.get(name, ())) for name in WIRES])
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    module, maker = WIRES[request.param].split(":")
    make = getattr(import_module(module), maker)
    if maker == "combination":
        service, _, name = request.param.partition("-")
        made = make(name, *request.getfixturevalue(STAGES[service]))
    else:
        made = make(request) if request.param in PARTS else make()
    with made as wire:
        yield wire


@pytest.fixture(scope="session")
def cosnotification_stage() -> Iterator[tuple[Orb, Service]]:
    """One ORB and one peer for all kinds and styles: to start them takes longer than the tests."""
    with stage() as made:
        yield made


@pytest.fixture(scope="session")
def jacorb_stage() -> Iterator[tuple[Orb, Service]]:
    """The same with JacORB's service, which is not ours."""
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(start_jacorb_stage()))
