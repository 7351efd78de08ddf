"""The broker: a listener and a thread of its own with an asyncio loop, on which all of the state lives."""

from __future__ import annotations

import asyncio
import hmac
import socket
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Final

from adapters.base import StopError
from adapters.embedded_broker.listening import Heard, Listening
from adapters.embedded_broker.messages import StoredMessage
from adapters.embedded_broker.queues import TEMPORARY, Destinations, Limits, Queue, durable_key
from adapters.embedded_broker.session import Session
from adapters.embedded_broker.store import DurableSubscription, Store

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
        store: Path | None,
    ) -> None:
        self.loop = loop
        self.heartbeat_ms = heartbeat_ms
        self.max_head_bytes = max_head_bytes
        self.max_body_bytes = max_body_bytes
        self.destinations = Destinations(Limits(max_queue_messages, max_queue_bytes, self.settled))
        self.listening = Listening(self.destinations)
        self._login = login
        self._password = password
        self._max_clients = max_clients
        self._sessions: set[Session] = set()
        self._run = uuid.uuid4().hex[:12]  # ids do not repeat after a restart
        self._messages = 0
        self._session_numbers = 0
        self._failure: str | None = None
        self._store: Store | None = None if store is None else Store(store, loop, self._store_failed)
        if self._store is not None:
            self._recover(self._store)

    def _recover(self, store: Store) -> None:
        for kept in store.subscriptions():
            self.destinations.listen_durably(*kept)
        queues = {queue.key: queue for queue in self.destinations.durable_queues()}
        for key, message in store.messages():
            queue = queues[key] if key in queues else self.destinations.queue(key)
            queue.put(message)
            self._messages = max(self._messages, message.sequence)

    def _store_failed(self, reason: str) -> None:
        """Nothing can be promised any more: say so to everybody, now and later."""
        self._failure = f"the broker's store failed: {reason}"
        for session in list(self._sessions):
            session.end(self._failure)

    def admits(self, login: str, password: str) -> bool:
        if self._login is None:
            return True
        right_login = hmac.compare_digest(login.encode(), self._login.encode())
        return hmac.compare_digest(password.encode(), (self._password or "").encode()) and right_login

    def joined(self, session: Session) -> str | None:
        """Why it may not; None: it may."""
        if self._failure is not None:
            return self._failure
        if len(self._sessions) >= self._max_clients:
            return "the broker has as many clients as it takes"
        self._sessions.add(session)
        return None

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
        for queue in queues:
            copy = message if len(queues) == 1 else message.copy()
            if self._store is not None and copy.persistent and queue.key is not None:
                self._store.put(queue.key, copy)
            queue.put(copy)
        return queues

    def settled(self, queue: Queue, messages: list[StoredMessage]) -> None:
        """Nobody needs these any more."""
        if self._store is not None and queue.key is not None:
            for message in messages:
                if message.persistent:
                    self._store.remove(queue.key, message)

    def when_safe(self, action: Callable[[], None]) -> None:
        """Call it when all that happened before is as safe as it gets: on disk, where there is a store."""
        if self._store is None:
            action()
        else:
            self._store.when_safe(action)

    def queue_of(self, destination: str, client_id: str, durable_name: str | None) -> Queue:
        if destination.startswith(("/queue/", TEMPORARY)):
            return self.destinations.queue(destination)
        if durable_name is None:
            return self.destinations.listen(destination)
        queue = self.destinations.durable(client_id, durable_name, destination)
        if queue is None:
            self.end_durable(client_id, durable_name)
            queue = self.destinations.listen_durably(client_id, durable_name, destination)
            if self._store is not None:
                self._store.subscribe(DurableSubscription(client_id, durable_name, destination))
        return queue

    def end_durable(self, client_id: str, name: str) -> None:
        self.destinations.end_durable(client_id, name)
        if self._store is not None:
            self._store.unsubscribe(client_id, name, durable_key(client_id, name))

    def abandoned(self, queue: Queue) -> None:
        """A subscription has left it."""
        if queue.name.startswith(TEMPORARY):
            return  # it ends with its session
        if queue.name.startswith("/queue/") or not self.destinations.is_durable(queue):
            self.destinations.forget(queue)

    async def written(self) -> None:
        if self._store is not None:
            await self._store.drained()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

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
        max_head_bytes: int = 4 * 1024 * 1024,
        max_body_bytes: int = 64 * 1024 * 1024,
        max_clients: int = 1000,
        store: Path | None = None,
    ) -> None:
        """`store`: a file that keeps persistent messages and durable subscriptions over a restart."""
        self._host = host
        self._port = port
        self._make_core = partial(
            BrokerCore,
            login=login,
            password=password,
            heartbeat_ms=heartbeat_ms,
            max_queue_messages=max_queue_messages,
            max_queue_bytes=max_queue_bytes,
            max_head_bytes=max_head_bytes,
            max_body_bytes=max_body_bytes,
            max_clients=max_clients,
            store=store,
        )
        self._core: BrokerCore | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> str:
        """Listen; the address is `host:port`, the port chosen by the system where it was 0. Raises StopError (address, store)."""
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
        loop = asyncio.new_event_loop()
        try:
            self._core = self._make_core(loop)
        except BaseException:
            listener.close()
            loop.close()
            raise
        port = listener.getsockname()[1]
        started: Future[None] = Future()
        arguments = (self._core, listener, started)
        self._thread = threading.Thread(target=_run, args=arguments, name="embedded-broker", daemon=True)
        self._thread.start()
        started.result()
        return f"[{self._host}]:{port}" if ":" in self._host else f"{self._host}:{port}"

    def stop(self) -> None:
        """End every connection and the thread. Twice too, and before start."""
        thread, self._thread = self._thread, None
        if thread is not None and self._core is not None:
            self._core.loop.call_soon_threadsafe(self._core.loop.stop)
            thread.join(STOP_SECS)

    def watch_topic(self, who: str, topic: str, heard: Heard) -> None:
        """Tell whether anybody listens to the topic NAME, in place of what the same one has watched before."""
        if self._core is not None:
            self._core.loop.call_soon_threadsafe(self._core.listening.watch, who, f"/topic/{topic}", heard)

    def depths(self) -> dict[str, int]:
        """How many messages wait in each queue, and for each topic."""
        core = self._core
        if core is None:
            return {}
        asked: Future[dict[str, int]] = Future()
        core.loop.call_soon_threadsafe(lambda: asked.set_result(core.destinations.depths()))
        return asked.result(STOP_SECS)


def _run(core: BrokerCore, listener: socket.socket, started: Future[None]) -> None:
    """The broker's thread."""
    loop = core.loop
    asyncio.set_event_loop(loop)
    server = loop.run_until_complete(loop.create_server(lambda: Session(core), sock=listener))
    loop.call_soon(started.set_result, None)
    try:
        loop.run_forever()
    finally:
        server.close()
        core.end_all()
        loop.run_until_complete(core.written())
        loop.run_until_complete(asyncio.sleep(0.05))  # what is written gets out
        loop.close()
        core.close()
