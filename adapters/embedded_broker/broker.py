"""The broker: a listener and a thread of its own with an asyncio loop, on which all of the state lives."""

from __future__ import annotations

import asyncio
import hmac
import socket
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from adapters.base import StopError
from adapters.embedded_broker.messages import StoredMessage
from adapters.embedded_broker.queues import Destinations, Queue
from adapters.embedded_broker.session import Session

STOP_SECS: Final = 5.0


class BrokerCore:
    """What sessions share. Only ever touched on the loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        login: str | None,
        password: str | None,
        heartbeat_ms: int,
        max_queue_messages: int,
        max_queue_bytes: int,
        max_head_bytes: int,
        max_body_bytes: int,
        max_clients: int,
    ) -> None:
        self.loop = loop
        self.heartbeat_ms = heartbeat_ms
        self.max_head_bytes = max_head_bytes
        self.max_body_bytes = max_body_bytes
        self.destinations = Destinations(max_queue_messages, max_queue_bytes)
        self._login = login
        self._password = password
        self._max_clients = max_clients
        self._sessions: set[Session] = set()
        self._run = uuid.uuid4().hex[:12]  # ids do not repeat after a restart
        self._messages = 0
        self._session_numbers = 0

    def admits(self, login: str, password: str) -> bool:
        if self._login is None:
            return True
        right_login = hmac.compare_digest(login.encode(), self._login.encode())
        return hmac.compare_digest(password.encode(), (self._password or "").encode()) and right_login

    def joined(self, session: Session) -> bool:
        if len(self._sessions) >= self._max_clients:
            return False
        self._sessions.add(session)
        return True

    def left(self, session: Session) -> None:
        self._sessions.discard(session)
        self.destinations.release(session)

    def next_session(self) -> str:
        self._session_numbers += 1
        return f"{self._run}-{self._session_numbers}"

    def next_message(self) -> tuple[int, bytes]:
        """Its place among all messages, and its id."""
        self._messages += 1
        return self._messages, f"{self._run}-{self._messages}".encode()

    def put(self, message: StoredMessage) -> list[Queue]:
        queues = self.destinations.queues_for(message.destination)
        if len(queues) == 1:
            queues[0].put(message)
        else:
            for queue in queues:
                queue.put(message.copy())
        return queues

    def settled(self, queue: Queue, messages: list[StoredMessage]) -> None:
        """Acknowledged: nobody needs these any more."""

    def confirm(self, session: Session, receipt: str) -> None:
        session.send_receipt(receipt)

    def when_confirmed(self, action: Callable[[], None]) -> None:
        action()

    def queue_of(self, destination: str, client_id: str, durable_name: str | None) -> Queue:
        if destination.startswith("/queue/"):
            return self.destinations.queue(destination)
        if durable_name is not None:
            return self.destinations.listen_durably(client_id, durable_name, destination)
        return self.destinations.listen(destination)

    def abandoned(self, queue: Queue) -> None:
        """A subscription has left it."""
        if queue.name.startswith("/queue/") or not self.destinations.is_durable(queue):
            self.destinations.forget(queue)

    def end_all(self) -> None:
        for session in list(self._sessions):
            session.end()


class Broker:
    """Start it, stop it; from any thread. What is in it ends with it."""

    def __init__(
        self,
        host: str,
        port: int,
        login: str | None = None,
        password: str | None = None,
        *,
        heartbeat_ms: int = 10_000,
        max_queue_messages: int = 100_000,
        max_queue_bytes: int = 256 * 1024 * 1024,
        max_head_bytes: int = 256 * 1024,
        max_body_bytes: int = 64 * 1024 * 1024,
        max_clients: int = 1000,
    ) -> None:
        self._host = host
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._core = BrokerCore(
            self._loop,
            login=login,
            password=password,
            heartbeat_ms=heartbeat_ms,
            max_queue_messages=max_queue_messages,
            max_queue_bytes=max_queue_bytes,
            max_head_bytes=max_head_bytes,
            max_body_bytes=max_body_bytes,
            max_clients=max_clients,
        )
        self._thread: threading.Thread | None = None

    def start(self) -> str:
        """Listen; the address is `host:port`, the port chosen by the system where it was 0. Raises StopError."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self._host, self._port))
            listener.listen(128)
        except OSError as error:
            listener.close()
            raise StopError(
                "STO-LISTEN",
                f"the embedded broker cannot listen: {error.strerror or error}",
                path=f"{self._host}:{self._port}",
                hint="choose another port",
            ) from None
        port = listener.getsockname()[1]
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(listener, started), name="embedded-broker", daemon=True)
        self._thread.start()
        started.result()
        return f"[{self._host}]:{port}" if ":" in self._host else f"{self._host}:{port}"

    def stop(self) -> None:
        """End every connection and the thread. Twice too, and before start."""
        thread, self._thread = self._thread, None
        if thread is None:
            if not self._loop.is_closed() and not self._loop.is_running():
                self._loop.close()
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        thread.join(STOP_SECS)

    def depths(self) -> dict[str, int]:
        """How many messages wait in each queue, and for each topic."""
        asked: Future[dict[str, int]] = Future()
        self._loop.call_soon_threadsafe(lambda: asked.set_result(self._core.destinations.depths()))
        return asked.result(STOP_SECS)

    def _run(self, listener: socket.socket, started: Future[None]) -> None:
        """The broker's thread."""
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self._loop.create_server(lambda: Session(self._core), sock=listener))
        self._loop.call_soon(started.set_result, None)
        try:
            self._loop.run_forever()
        finally:
            server.close()
            self._core.end_all()
            self._loop.run_until_complete(asyncio.sleep(0.05))  # what is written gets out
            self._loop.close()
