"""Workers with a real JVM and no broker: what is told when something is missing, and that none stays behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.base import ReconnectError, StopError
from adapters.jms import pool
from adapters.jms.frames import FrameSocket
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.sink import JmsSink
from tests.contract.wires.jms_brokers import JVM
from tests.parts import activemq
from tests.parts.availability import available
from tests.parts.jms_client import FACTORIES

pytestmark = pytest.mark.java
PATIENCE_SECS = 30.0


@pytest.fixture(scope="module")
def jars() -> list[str]:
    return [str(jar) for jar in available(activemq.client_jars)]


def connect(jars: list[str], **settings: object) -> None:
    form = {"type": "jms", "classpath": jars, "factory": FACTORIES["activemq"], "jvm_options": JVM, **settings}
    sink = JmsSink(JmsEndpoint.model_validate(form), JmsChannel(endpoint="e", destination="queue://q"))
    sink.connect()
    sink.close()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"factory": "org.example.Missing"}, "JMS-FACTORY"),
        ({"factory": "java.lang.String", "url": "x"}, "JMS-FACTORY"),
        ({"factory": "java.lang.Object", "url": "x"}, "JMS-FACTORY"),
        ({"url": "tcp://127.0.0.1:1", "factory_properties": {"noSuchThing": 1}}, "JMS-FACTORY"),
        ({"url": "no url at all ://"}, "JMS-FACTORY"),
        ({"factory": None, "jndi": {"initial_context_factory": "a.B", "connection_factory": "x"}}, "JMS-JNDI-CONTEXT"),
        ({"java_home": "/no/such/folder", "url": "x"}, "JMS-JVM"),
        ({"classpath": ["/no/such.jar"]}, "JMS-CLASSPATH"),
    ],
)
def test_a_wrong_setting_stops_the_link(jars: list[str], settings: dict[str, object], code: str) -> None:
    with pytest.raises(StopError) as caught:
        connect(jars, **settings)
    assert caught.value.code == code
    assert caught.value.hint


def test_a_jvm_that_ends_at_once_tells_why(jars: list[str]) -> None:
    with pytest.raises((StopError, ReconnectError)) as caught:
        connect(jars, jvm_options=["-XX:NoSuchOption=3"], url="tcp://127.0.0.1:1")
    assert caught.value.code in ("JMS-JVM", "JMS-WORKER")


def test_jpype_that_is_missing_is_named(jars: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jpype.py").write_text("raise ModuleNotFoundError('No module named jpype', name='jpype')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(StopError) as caught:
        connect(jars, jvm_options=[*JVM, "-Dnew=jvm"], url="tcp://127.0.0.1:1")
    assert caught.value.code == "JMS-JPYPE"


def test_settings_of_the_factory_and_a_closed_port(jars: list[str]) -> None:
    """Its setter takes effect: the address is the one that it set."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ReconnectError) as caught:
            connect(jars, factory_properties={"brokerURL": url})
    assert caught.value.code == "JMS-UNREACHABLE"
    assert url in caught.value.message


def test_secrets_that_a_provider_quotes_are_not_told(jars: list[str]) -> None:
    url = "tcp://127.0.0.1:1?jms.noSuchPassword=s3cret"
    with pytest.raises((ReconnectError, StopError)) as caught:
        connect(jars, url=url, login="me", password="127.0.0.1")
    assert "s3cret" not in str(caught.value)
    assert "127.0.0.1" not in caught.value.message


@pytest.fixture
def garbage() -> Iterator[int]:
    """A server that answers with what is no protocol of anybody."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.sendall(os.urandom(4000))

    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(PATIENCE_SECS)


def test_a_peer_that_talks_garbage_is_not_a_provider(jars: list[str], garbage: int) -> None:
    with pytest.raises(ReconnectError):
        connect(jars, url=f"tcp://127.0.0.1:{garbage}", connect_timeout_ms=10_000)


def test_a_peer_that_is_silent_is_given_up(jars: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"tcp://127.0.0.1:{server.getsockname()[1]}?wireFormat.maxInactivityDurationInitalDelay=60000"
        with pytest.raises(ReconnectError) as caught:
            connect(jars, url=url, connect_timeout_ms=3_000)
    assert caught.value.code in ("JMS-NO-ANSWER", "JMS-UNREACHABLE")


def test_attempts_share_one_worker_until_it_dies(jars: list[str]) -> None:
    def attempt() -> int:
        with pytest.raises(ReconnectError):
            connect(jars, url="tcp://127.0.0.1:1", jvm_options=[*JVM, "-Dshared=1"])
        [worker] = [idle for idle in pool._idle if "-Dshared=1" in idle.jvm.options]
        return worker.pid

    first = attempt()
    assert attempt() == first
    os.kill(first, signal.SIGKILL)
    assert attempt() != first


PROGRAM = """
import sys, time
from adapters.jms import classpath, pool
from adapters.jms.worker_process import Jvm
jars = classpath.resolve(sys.argv[1:])
worker = pool.borrow(Jvm(jars, (), ("-Xmx64m",), None, ""), 30.0)  # whose connection nobody holds, it ends at once
print(worker.pid, flush=True)
time.sleep(60)
"""


def test_a_worker_ends_with_its_parent(jars: list[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *jars], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert _runs(worker)
        parent.kill()
    wait_until(lambda: not _runs(worker))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # of one that waits to be reaped it is empty
    except OSError:
        return False


def test_a_worker_that_nobody_needs_ends() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-m", "adapters.jms.worker", str(theirs.fileno()), "0.2"]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
    frames = FrameSocket(ours)
    frames.send(("ping",))
    assert frames.read(PATIENCE_SECS) == ("pong",)
    assert process.wait(PATIENCE_SECS) == 0
    frames.close()
