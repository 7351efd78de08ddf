"""One connection to a provider, held by a worker: opened once, closed once, for a source or for a sink."""

from __future__ import annotations

from typing import Any, Final, Literal

from adapters.base import AdapterError, ReconnectError
from adapters.jms import classpath, pool
from adapters.jms.frames import Frame
from adapters.jms.provider_errors import Report, classify, shown_url
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.jms.worker_process import Jvm, Worker
from adapters.topic_patterns import Topics

GOODBYE_SECS: Final = 3.0


class Connection:
    """Not for two threads at once, except that one may send while another reads."""

    def __init__(self, endpoint: JmsEndpoint, channel: JmsChannel, role: Literal["source", "sink"]) -> None:
        self._endpoint = endpoint
        self._channel = channel
        self._role = role
        self._worker: Worker | None = None
        self.answer_timeout_secs = endpoint.answer_timeout_ms / 1000
        self.topics = Topics(channel.destination, None if endpoint.ways is None else endpoint.ways.wildcards)

    @property
    def path(self) -> str:
        """What errors are about."""
        return shown_url(self._endpoint.url) if self._endpoint.url else self._channel.destination

    @property
    def worker(self) -> Worker:
        assert self._worker is not None
        return self._worker

    def open(self, *, unsubscribing: bool = False) -> None:
        """`unsubscribing`: for no more than having the provider forget the durable subscription. Raises ReconnectError or
        StopError, and leaves nothing behind then."""
        endpoint = self._endpoint
        timeout_secs = endpoint.connect_timeout_ms / 1000
        jars = classpath.resolve(endpoint.classpath)
        options = tuple(endpoint.jvm_options)
        jvm = Jvm(jars, classpath.fingerprint(jars), options, endpoint.java_home, endpoint.serial_filter)
        worker = pool.borrow(jvm, timeout_secs)
        try:
            worker.set_patience(self.answer_timeout_secs)
            worker.send(("open", self._role, {**self._parameters(), "unsubscribe": unsubscribing}))
            answer = worker.expect(("opened", "failed"), timeout_secs)
        except BaseException:
            worker.kill()
            raise
        if answer[0] == "failed":
            pool.give_back(worker)  # it is the provider that failed
            raise self.error(answer)
        self._worker = worker

    def close(self) -> None:
        """The worker rolls back, disconnects, and waits for its next connection; one that cannot is ended."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if worker.hangs:
            worker.kill()
            return
        try:
            worker.set_patience(GOODBYE_SECS)
            worker.send(("close",))
            worker.expect(("closed",), GOODBYE_SECS)
        except ReconnectError:
            worker.kill()
        else:
            pool.give_back(worker)

    def error(self, frame: Frame) -> AdapterError:
        """What a `failed` or `retry` frame tells."""
        return classify(Report(*frame[1]), self.path)

    def lost(self, frame: Frame) -> ReconnectError:
        """The connection of a `failed` frame is of no use any more, whatever the provider says of the reason."""
        error = self.error(frame)
        if isinstance(error, ReconnectError):
            return error
        return ReconnectError(error.code, error.message, path=error.path, hint=error.hint)

    def _parameters(self) -> dict[str, Any]:
        endpoint, channel = self._endpoint, self._channel
        taking = self._role == "source"
        ways = endpoint.ways
        durable = channel.subscription if taking else None
        return {
            "factory": endpoint.factory,
            "url": endpoint.url,
            "factory_properties": dict(endpoint.factory_properties),
            "jndi": None if endpoint.jndi is None else endpoint.jndi.model_dump(),
            "login": endpoint.login,
            "password": None if endpoint.password is None else endpoint.password.get_secret_value(),
            "client_id": (endpoint.client_id or durable) if durable is not None else None,
            "destination": self.topics.subscribed if taking else channel.destination,
            "duplicate_property": None if ways is None else ways.duplicate_property,
            "selector": channel.selector if taking else None,
            "subscription": durable,
            "receive_batch": channel.receive_batch,
        }
