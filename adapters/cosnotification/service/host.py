"""The Notification Service: a factory and its channels, hosted in the ORB of this process."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from adapters.cosnotification.local_orb import LocalOrb, Room
from adapters.cosnotification.service.boxing import Boxing, boxed_servant
from adapters.cosnotification.service.channel import Channel, EventChannel
from adapters.cosnotification.service.engine.inlet import Inlet
from adapters.cosnotification.service.engine.outlet import Outlet, RetryPolicy
from adapters.cosnotification.service.factory import EventChannelFactory
from adapters.cosnotification.service.objects import Numbers
from adapters.cosnotification.service.proxy import Proxy
from adapters.cosnotification.service.pull_consumers import PullConsumer
from adapters.cosnotification.service.push_consumers import StructuredProxyPushConsumer
from adapters.cosnotification.service.push_suppliers import PushSupplier
from adapters.cosnotification.service.store.database import Store
from adapters.cosnotification.service.store.ledger import Ledger
from adapters.cosnotification.service.store.revival import Revival
from adapters.cosnotification.service.typed_channel import TypedEventChannel
from adapters.cosnotification.typed.interface import TypedInterface

C = TypeVar("C", bound=Channel)

ROOM: Final = "notification"
QUEUE_LIMIT: Final = 100_000  # events that wait for one consumer, where no MaxEventsPerConsumer says otherwise
IN_MEMORY: Final = 10_000  # of them, where the rest is in the store
DRAIN_SECS: Final = 2.0
FAREWELLS_AT_ONCE: Final = 16
FAREWELL_SECS: Final = 3.0  # clients that are not told by then find out by themselves
END_SECS: Final = 5.0


class ServiceHost:
    """`start`, give `factory_ior` to clients, `stop`. Channels have ids from 0 on."""

    room: Room

    def __init__(
        self,
        orb: LocalOrb,
        *,
        channels: int = 1,
        typed_channels: int = 0,
        interfaces: Sequence[TypedInterface] = (),
        secret: bytes | None = None,
        store: Path | None = None,
        hides_others: bool = False,
        boxing: Boxing | None = None,
        queue_limit: int = QUEUE_LIMIT,
        in_memory: int = IN_MEMORY,
        retry: RetryPolicy | None = None,
        store_changed: Callable[[str], None] = lambda reason: None,
        client_lost: Callable[[str, str, int], None] = lambda place, address, waiting: None,
        room: str = ROOM,
    ) -> None:
        """`secret`: keys of what is made at every start come from it, where there is no store that has one.

        `store_changed` is told why the store cannot be written, and "" when it can be again; `client_lost` whose connection was
        given up, from which address it came, and how many events waited for it. They must not block.
        """
        self.orb = orb
        self._secret = secret or secrets.token_bytes(32)
        self._room_name = room
        self.boxing = boxing or Boxing()
        self._store_path = store
        self._store_changed = store_changed
        self.client_lost = client_lost
        self.store: Store | None = None
        self.ledger: Ledger | None = None
        self.reviving = False
        self.takes_calls = False  # the room is open
        self._keys: dict[str, bytes] = {}  # by place, of what comes back from the store
        self.hides_others = hides_others
        self.queue_limit = queue_limit
        self.in_memory = in_memory
        self.retry = retry or RetryPolicy()
        self.initial: dict[str, int] = {EventChannel.PLACE: channels, TypedEventChannel.PLACE: typed_channels}
        self._interfaces = tuple(interfaces)
        self.ids = Numbers(0)
        self.typed_ids = Numbers(0)
        self._lock = threading.Lock()
        self._channels: dict[int, EventChannel] = {}
        self._typed_channels: dict[int, TypedEventChannel] = {}
        self._factory: EventChannelFactory | None = None
        self._farewells = ThreadPoolExecutor(FAREWELLS_AT_ONCE, "farewell")
        self._under_way: set[Future[None]] = set()

    def fixed_key(self, place: str) -> bytes:
        """The object key of what is made at every start: nobody else can guess it, and with the same secret it is the same."""
        return b"notify-" + hmac.new(self._secret, place.encode(), "sha256").hexdigest()[:32].encode()

    def new_key(self, place: str) -> bytes:
        """Nobody can guess it; what comes back from the store has the one that it had."""
        return self._keys.get(place) or b"notify-" + secrets.token_hex(16).encode()

    def start(self) -> None:
        """The ORB must be running. Raises StopError where the store cannot be used."""
        self.room = self.orb.room(self._room_name)
        revival: Revival | None = None
        if self._store_path is not None:
            self.store = store = Store(self._store_path, self.orb.settings.code_set, self._store_changed)
            self._secret = store.secret
            self.ledger = Ledger(store)
            revival = Revival(store)
            self._keys = revival.keys
            self.reviving = True
        self._factory = EventChannelFactory(self)
        for kind, ids in ((EventChannel, self.ids), (TypedEventChannel, self.typed_ids)):
            for id_ in range(self.initial[kind.PLACE]):
                self.add_channel(kind(self, id_))
            ids.restart(self.initial[kind.PLACE])
        if revival is not None and self.ledger is not None:
            revival.objects(self)
            revival.events(self.ledger)
            self._keys = {}
            self.reviving = False
            channels = self.all_channels
            self._factory.changed(*channels, *(admin for channel in channels for admin in channel.admins))
            revival.start()
        self.room.open()
        self.takes_calls = True

    def stop(self) -> None:
        """Deliver what waits, for a moment; then every client is told that it is over. Twice is fine."""
        factory, self._factory = self._factory, None
        if factory is None:
            return
        if self.store is not None:
            self._rest(self.store)
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

    def _rest(self, store: Store) -> None:
        """What is kept stays connected: clients hear TRANSIENT until the next process is there. All others are told."""
        self.takes_calls = False
        self.room.refuse()
        self._drain()
        threads: list[Outlet | Inlet | None] = []
        ended: list[Proxy] = []
        for proxy in [proxy for channel in self.all_channels for proxy in channel.proxies]:
            if isinstance(proxy, PushSupplier | PullConsumer):
                threads.append(proxy.outlet if isinstance(proxy, PushSupplier) else proxy.inlet)
                proxy.rest()
            if not proxy.kept:
                ended.append(proxy)
        deadline = time.monotonic() + END_SECS
        for thread in threads:
            if thread is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
        store.close()
        for proxy in ended:
            proxy.dismiss()
        with self._lock:
            farewells = list(self._under_way)
        wait(farewells, FAREWELL_SECS)
        self._farewells.shutdown(wait=False, cancel_futures=True)

    def boxed_consumer(self, channel: int, interface_id: str) -> str:
        """The reference of an object of that remote interface, to which suppliers by RMI push what goes into the channel."""
        place = f"boxed/{channel}"
        (admin,) = [each for each in self._channels[channel].supplier_admins if each.id == 0]
        proxy = admin.own_proxy(StructuredProxyPushConsumer)
        proxy.connect(None)
        servant = boxed_servant(interface_id, self.boxing, proxy.take_structured, lambda: None)
        return self.orb.to_string(self.room.activate(servant, self.fixed_key(place)))

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
        return self.add_channel(EventChannel(self, self.ids.take()))

    def create_typed_channel(self) -> TypedEventChannel:
        """Typed channels have ids of their own, from 0 on."""
        return self.add_channel(TypedEventChannel(self, self.typed_ids.take()))

    def add_channel(self, channel: C) -> C:
        with self._lock:
            self._kept_in(type(channel))[channel.id] = channel
        return channel

    def channel(self, kind: type[Channel], id_: int) -> Channel | None:
        with self._lock:
            found: Channel | None = self._kept_in(kind).get(id_)
            return found

    def _kept_in(self, kind: type[Channel]) -> dict[int, Any]:
        channels: dict[int, Any] = self._typed_channels if issubclass(kind, TypedEventChannel) else self._channels
        return channels

    def forget(self, channel: Channel) -> None:
        with self._lock:
            self._kept_in(type(channel)).pop(channel.id, None)

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

    @property
    def unreadable(self) -> int:
        """Events that were in the store at the start, and stay there, because they cannot be read."""
        return 0 if self.ledger is None else self.ledger.unreadable

    def queued(self) -> int:
        """Events that wait for a consumer, those under way included."""
        return sum(route.waiting for channel in self.all_channels for route in channel.hub.routes)

    def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECS
        while self.queued() and time.monotonic() < deadline:
            time.sleep(0.01)
