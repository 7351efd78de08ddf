"""MQ to whatever queue manager the environment names: a real one, or a stand-in behind a client library of ours.

ISTHMUS_MQ_QUEUE_MANAGER    its name; without it this wire is not there
ISTHMUS_MQ_CHANNEL, ISTHMUS_MQ_HOSTS, ISTHMUS_MQ_USER, ISTHMUS_MQ_PASSWORD, ISTHMUS_MQ_CLIENT_FOLDER
ISTHMUS_MQ_IN, ISTHMUS_MQ_OUT    two local queues that the tests may empty (default ISTHMUS.TEST.IN, ISTHMUS.TEST.OUT)
ISTHMUS_MQ_STOP, ISTHMUS_MQ_START    commands that end and start the queue manager; without them those tests are skipped
ISTHMUS_MQ_STAND_IN    any text, where the client library is a stand-in
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.mq.settings import MqEndpoint
from adapters.mq.source import MqSource
from tests.contract.wires.base import Wire
from tests.contract.wires.mq import MqWire, channel_of

COMMAND_SECS = 60.0


def endpoint() -> MqEndpoint:
    given = os.environ.get
    form: dict[str, object] = {
        "type": "mq",
        "queue_manager": os.environ["ISTHMUS_MQ_QUEUE_MANAGER"],
        "library": "ibmmq",
    }
    for key, variable in (
        ("channel", "CHANNEL"),
        ("user", "USER"),
        ("password", "PASSWORD"),
        ("client_folder", "CLIENT_FOLDER"),
    ):
        if value := given(f"ISTHMUS_MQ_{variable}"):
            form[key] = value
    if hosts := given("ISTHMUS_MQ_HOSTS"):
        form["hosts"] = hosts.split(",")
    if given("ISTHMUS_MQ_STAND_IN"):
        form["stand_in"] = {"where": "client"}
    return MqEndpoint.model_validate(form)


def queues() -> tuple[str, str]:
    given = os.environ.get
    return given("ISTHMUS_MQ_IN", "ISTHMUS.TEST.IN"), given("ISTHMUS_MQ_OUT", "ISTHMUS.TEST.OUT")


class EnvironmentWire(MqWire):
    def __init__(self) -> None:
        super().__init__(endpoint(), *queues())
        for queue in queues():
            source = MqSource(self.endpoint, channel_of(queue, backout_threshold=0))
            source.connect()
            while deliveries := source.receive(100, 0.2):
                source.acknowledge(deliveries)
            source.close()

    def stop_peer(self) -> None:
        _command("ISTHMUS_MQ_STOP")

    def start_peer(self) -> None:
        _command("ISTHMUS_MQ_START")


def _command(variable: str) -> None:
    command = os.environ.get(variable)
    if not command:
        pytest.skip(f"{variable} is not set")
    subprocess.run(shlex.split(command), check=True, timeout=COMMAND_SECS, stdin=subprocess.DEVNULL)


@contextmanager
def environment() -> Iterator[Wire]:
    yield EnvironmentWire()
