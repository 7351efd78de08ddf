"""A provider that is full fails what is under way: nothing that comes later may overtake it, however early the link sends again."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import pytest

from adapters.base import Confirmation, Outgoing, RetryLaterError
from adapters.jms import sink as sink_module
from adapters.jms.frames import Frame
from adapters.jms.provider_errors import Report, classify
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.sink import JmsSink
from mappings.model import Message

PATIENCE_SECS = 30.0
FULL = ("send", ("javax.jms.ResourceAllocationException", "javax.jms.JMSException"), "full")


class Worker:
    """Stands in for the worker process: it keeps what it is sent, and says what the test wants."""

    def __init__(self) -> None:
        self.sent = 0
        self.says: queue.Queue[Frame] = queue.Queue()

    def send_encoded(self, data: bytes) -> None:
        self.sent += 1

    def read(self, timeout_secs: float, wake: int) -> Frame | None:
        try:
            return self.says.get(timeout=0.02)
        except queue.Empty:
            return None


class Connection:
    answer_timeout_secs = PATIENCE_SECS

    def __init__(self, endpoint: JmsEndpoint, channel: JmsChannel, role: str) -> None:
        self.worker = Worker()

    def open(self) -> None: ...

    def close(self) -> None: ...

    def error(self, frame: Frame) -> Any:
        return classify(Report(*frame[1]), "queue://q")


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Iterator[JmsSink]:
    monkeypatch.setattr(sink_module, "Connection", Connection)
    endpoint = JmsEndpoint.model_validate({"type": "jms", "classpath": ["x.jar"], "factory": "x"})
    made = JmsSink(endpoint, JmsChannel(endpoint="e", destination="queue://q"))
    made.connect()
    yield made
    made.close()


def worker(sink: JmsSink) -> Worker:
    connection: Any = sink._connection
    assert isinstance(connection, Connection)
    return connection.worker


def batch(number: int) -> list[Outgoing]:
    return [Outgoing(Message(), f"event-{number}")]


def refused(sink: JmsSink, number: int) -> bool:
    try:
        sink.send(batch(number))
    except RetryLaterError:
        return True
    return False


def told(sink: JmsSink) -> None:
    """The sink's thread has told all that it has to tell."""
    with sink._changed:
        assert sink._changed.wait_for(lambda: not sink._failing, PATIENCE_SECS)


def test_a_later_batch_waits_until_the_failed_ones_were_told_and_sent_again(sink: JmsSink) -> None:
    early: list[bool] = []

    def impatient(_: Confirmation) -> None:
        """The link has heard of the first batch alone, and sends what it has not sent yet, again and again."""
        early.extend(refused(sink, 3) for _ in range(3))

    first, second = sink.send(batch(1)), sink.send(batch(2))
    first.add_done_callback(impatient)
    worker(sink).says.put(("retry", FULL, 1))
    for confirmation in (first, second):
        assert isinstance(confirmation.exception(PATIENCE_SECS), RetryLaterError)
    assert early == [True, True, True]
    told(sink)
    assert refused(sink, 3), "the link may have looked at its flights before the second batch was told"
    assert not refused(sink, 1)
    assert not refused(sink, 2)
    assert not refused(sink, 3)
    assert worker(sink).sent == 5


def test_what_is_not_sent_again_holds_nothing_back(sink: JmsSink) -> None:
    first = sink.send(batch(1))
    worker(sink).says.put(("retry", FULL, 1))
    assert isinstance(first.exception(PATIENCE_SECS), RetryLaterError)
    told(sink)
    assert refused(sink, 2)
    assert not refused(sink, 2), "the first was dead-lettered meanwhile"


def test_those_that_fail_again_are_not_overtaken_by_those_that_failed_with_them(sink: JmsSink) -> None:
    confirmations = [sink.send(batch(number)) for number in (1, 2, 3, 4)]
    worker(sink).says.put(("retry", FULL, 1))
    for confirmation in confirmations:
        assert isinstance(confirmation.exception(PATIENCE_SECS), RetryLaterError)
    told(sink)
    again = [sink.send(batch(number)) for number in (1, 2)]
    worker(sink).says.put(("retry", FULL, 2))
    for confirmation in again:
        assert isinstance(confirmation.exception(PATIENCE_SECS), RetryLaterError)
    told(sink)
    assert refused(sink, 3), "the link was about to send the third when the first two came back"
    assert [refused(sink, number) for number in (1, 2, 3, 4)] == [False] * 4


def test_of_those_that_failed_the_first_may_be_given_up(sink: JmsSink) -> None:
    confirmations = [sink.send(batch(number)) for number in (1, 2, 3)]
    worker(sink).says.put(("retry", FULL, 1))
    for confirmation in confirmations:
        assert isinstance(confirmation.exception(PATIENCE_SECS), RetryLaterError)
    told(sink)
    assert refused(sink, 2)
    assert [refused(sink, number) for number in (2, 3)] == [False, False]
