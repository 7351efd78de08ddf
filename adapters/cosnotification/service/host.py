"""The Notification Service: a factory and its channels, hosted in the ORB of this process."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Final

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.channel import Channel, EventChannel
from adapters.cosnotification.service.engine.inlet import Inlet
from adapters.cosnotification.service.engine.outlet import Outlet, RetryPolicy
from adapters.cosnotification.service.factory import EventChannelFactory
from adapters.cosnotification.service.objects import Numbers
from adapters.cosnotification.service.pull_consumers import PullConsumer
from adapters.cosnotification.service.push_suppliers import PushSupplier
from adapters.cosnotification.service.typed_channel import TypedEventChannel
from adapters.cosnotification.typed.interface import TypedInterface

QUEUE_LIMIT: Final = 100_000  # events that wait for one consumer, where no MaxEventsPerConsumer says otherwise
DRAIN_SECS: Final = 2.0
FAREWELLS_AT_ONCE: Final = 16
FAREWELL_SECS: Final = 3.0  # clients that are not told by then find out by themselves
END_SECS: Final = 5.0


class ServiceHost:
    """`start`, give `factory_ior` to clients, `stop`. Channels have ids from 0 on."""

    def __init__(
        self,
        orb: LocalOrb,
        *,
        channels: int = 1,
        typed_channels: int = 0,
        interfaces: Sequence[TypedInterface] = (),
        secret: bytes | None = None,
        queue_limit: int = QUEUE_LIMIT,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.orb = orb
        self._secret = secret or secrets.token_bytes(32)
        self.queue_limit = queue_limit
        self.retry = retry or RetryPolicy()
        self._initial_channels = channels
        self._initial_typed_channels = typed_channels
        self._interfaces = tuple(interfaces)
        self._ids = Numbers(0)
        self._typed_ids = Numbers(0)
        self._lock = threading.Lock()
        self._channels: dict[int, EventChannel] = {}
        self._typed_channels: dict[int, TypedEventChannel] = {}
        self._factory: EventChannelFactory | None = None
        self._farewells = ThreadPoolExecutor(FAREWELLS_AT_ONCE, "farewell")
        self._under_way: set[Future[None]] = set()

    def key(self, place: str) -> bytes:
        """The object key of what stands there: nobody else can guess it, and with the same secret it is the same again."""
        return b"notify-" + hmac.new(self._secret, place.encode(), "sha256").hexdigest()[:32].encode()

    def start(self) -> None:
        """The ORB must be running."""
        self._factory = EventChannelFactory(self)
        for _ in range(self._initial_channels):
            self.create_channel()
        for _ in range(self._initial_typed_channels):
            self.create_typed_channel()

    def stop(self) -> None:
        """Deliver what waits, for a moment; then every client is told that it is over. Twice is fine."""
        factory, self._factory = self._factory, None
        if factory is None:
            return
        factory.end()
        self._drain()
        proxies = [proxy for channel in self.all_channels for proxy in channel.proxies]
        threads: list[Outlet | Inlet] = [
            proxy.outlet for proxy in proxies if isinstance(proxy, PushSupplier) and proxy.outlet is not None
        ]
        threads += [proxy.inlet for proxy in proxies if isinstance(proxy, PullConsumer) and proxy.inlet is not None]
        for channel in self.all_channels:
            channel.dismiss()
        with self._lock:
            farewells = list(self._under_way)
        wait(farewells, FAREWELL_SECS)
        self._farewells.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + END_SECS
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    @property
    def factory(self) -> EventChannelFactory:
        assert self._factory is not None, "the service is not running"
        return self._factory

    @property
    def factory_ior(self) -> str:
        return self.orb.to_string(self.factory.reference)

    @property
    def channels(self) -> list[EventChannel]:
        with self._lock:
            return list(self._channels.values())

    @property
    def typed_channels(self) -> list[TypedEventChannel]:
        with self._lock:
            return list(self._typed_channels.values())

    @property
    def all_channels(self) -> list[Channel]:
        return [*self.channels, *self.typed_channels]

    def create_channel(self) -> EventChannel:
        channel = EventChannel(self, self._ids.take())
        with self._lock:
            self._channels[channel.id] = channel
        return channel

    def create_typed_channel(self) -> TypedEventChannel:
        """Typed channels have ids of their own, from 0 on."""
        channel = TypedEventChannel(self, self._typed_ids.take())
        with self._lock:
            self._typed_channels[channel.id] = channel
        return channel

    def forget(self, channel: Channel) -> None:
        channels: dict[int, Any] = self._typed_channels if isinstance(channel, TypedEventChannel) else self._channels
        with self._lock:
            channels.pop(channel.id, None)

    def interface(self, key: str) -> TypedInterface | None:
        """The interface `<I>` that a client of a typed channel names; None for one that is not known, or cannot carry events."""
        return next((each for each in self._interfaces if each.is_called(key) and not each.troubles), None)

    def farewell(self, call: Callable[[], None]) -> None:
        """Tell a client that its connection is over: on another thread, many at a time, for clients may hang."""
        with suppress(RuntimeError):  # the service has stopped: clients find out by themselves
            farewell = self._farewells.submit(call)
            with self._lock:
                self._under_way.add(farewell)
            farewell.add_done_callback(self._forget_farewell)

    def _forget_farewell(self, farewell: Future[None]) -> None:
        with self._lock:
            self._under_way.discard(farewell)

    def queued(self) -> int:
        """Events that wait for a consumer, those under way included."""
        return sum(route.waiting for channel in self.all_channels for route in channel.hub.routes)

    def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECS
        while self.queued() and time.monotonic() < deadline:
            time.sleep(0.01)
