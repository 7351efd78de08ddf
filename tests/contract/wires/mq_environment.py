"""MQ to whatever queue manager the environment names: a real one, or a stand-in behind a client library of ours.

ISTHMUS_MQ_QUEUE_MANAGER    its name; without it this wire is not there
ISTHMUS_MQ_CHANNEL, ISTHMUS_MQ_HOSTS, ISTHMUS_MQ_USER, ISTHMUS_MQ_PASSWORD, ISTHMUS_MQ_CLIENT_FOLDER
ISTHMUS_MQ_TOKEN, ISTHMUS_MQ_CCDT    a JSON Web Token instead of user and password; a URL instead of channel and hosts
ISTHMUS_MQ_KEY_REPOSITORY    with it TLS is used; then also ISTHMUS_MQ_CIPHER_SPEC, ISTHMUS_MQ_KEY_REPOSITORY_PASSWORD,
                             ISTHMUS_MQ_CERTIFICATE_LABEL, ISTHMUS_MQ_PEER_NAME
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
    form |= _given("channel", "user", "password", "token", "ccdt", "client_folder")
    if tls := _given("key_repository", "cipher_spec", "key_repository_password", "certificate_label", "peer_name"):
        form["tls"] = tls
    if hosts := given("ISTHMUS_MQ_HOSTS"):
        form["hosts"] = hosts.split(",")
    if given("ISTHMUS_MQ_STAND_IN"):
        form["stand_in"] = {"where": "client"}
    return MqEndpoint.model_validate(form)


def _given(*options: str) -> dict[str, str]:
    found = {option: os.environ.get(f"ISTHMUS_MQ_{option.upper()}") for option in options}
    return {option: value for option, value in found.items() if value}


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
