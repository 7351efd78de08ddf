"""One disaster after another around a link between two channels: what was accepted arrives, in order, and the accounts add up."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.orb import Orb
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.settings import OrbSettings
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.cosnotification.stubs import CORBA, CosEventComm
from gateway.links.link import Link, Pace
from tests.chaos.stomp_proxy import Proxy
from tests.chaos.test_cosnotification_isolation import crashing_event, worker_pid
from tests.chaos.test_cosnotification_links import QUICK, channel, endpoint, event, until
from tests.parts.ports import ReservedPort
from tests.unit.links.rig import Recorder, as_it_is

PATIENCE_SECS = 60.0
BUFFER, WINDOW, BATCH = 50, 20, 10
ROUNDS, IN_A_ROUND = 12, 20


class Scene:
    """Both channels, the gateway's ORB, and what stands between them. The test is the channel that the link takes from."""

    def __init__(self, host: ServiceHost, orb: Orb, to_peer: Proxy, to_us: Proxy) -> None:
        self.host = host
        self.orb = orb
        self.to_peer = to_peer
        self.to_us = to_us
        self.arrived: list[int] = []
        hub = host.channels[1].hub
        hub.send = self._take  # type: ignore[method-assign]
        hub.send_many = lambda events: [self._take(event) for event in events]  # type: ignore[method-assign,assign,misc]

    def _take(self, carried: CarriedEvent) -> None:
        self.arrived.append(carried.structured.filterable_data[0].value.value())

    @property
    def proxy(self) -> Any:
        """That of the gateway at the first channel; None while it is away."""
        proxies = self.host.channels[0].proxies
        return proxies[-1] if proxies else None

    def accept(self, number: int) -> None:
        """Pushed until the gateway has said that it has it, as a channel does for a consumer that it waits for."""
        deadline = time.monotonic() + PATIENCE_SECS
        while True:
            proxy = self.proxy
            try:
                if proxy is not None and proxy._consumer is not None:
                    return proxy._consumer.push_structured_event(
                        event_to_orb(event(number, persistent=number % 3 == 0))
                    )
            except (CORBA.SystemException, CosEventComm.Disconnected):
                pass
            assert time.monotonic() < deadline
            time.sleep(0.02)

    # Disasters

    def poison(self) -> None:
        """Trap 1, or whatever it is to the one who reads it."""
        proxy = self.proxy
        try:
            if proxy is not None:
                proxy._consumer.push_structured_event(crashing_event())
        except (CORBA.SystemException, CosEventComm.Disconnected):
            pass

    def killed_worker(self) -> None:
        if self.orb._worker is not None:
            os.kill(worker_pid(self.orb), signal.SIGKILL)

    def disconnected(self) -> None:
        for side in self.host.channels:
            for proxy in side.proxies:
                proxy.dismiss()

    def cut_to_peer(self) -> None:
        self.to_peer.cut_after(500)

    def cut_to_us(self) -> None:
        self.to_us.cut_after(900)

    def mute_for_a_while(self) -> None:
        """Longer than a call may take."""
        self.to_peer.freeze()
        time.sleep(1.5)
        self.to_peer.thaw()
        self.to_peer.cut()


@pytest.fixture
def scene() -> Iterator[Scene]:
    theirs, ours = ReservedPort(), ReservedPort()
    with Proxy(f"127.0.0.1:{theirs.number}") as to_peer, Proxy(f"127.0.0.1:{ours.number}") as to_us:
        local = LocalOrb(
            OrbSettings(listen=f"127.0.0.1:{theirs.number}", publish=to_peer.address, call_timeout_ms=2000)
        )
        local.start()
        host = ServiceHost(local, channels=2)
        host.start()
        orb = Orb(OrbSettings(listen=f"127.0.0.1:{ours.number}", publish=to_us.address))
        orb.start()
        yield Scene(host, orb, to_peer, to_us)
        orb.stop()
        host.stop()
        local.stop()
        theirs.close()
        ours.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1, 2])
def test_one_disaster_after_another(scene: Scene, seed: int) -> None:
    disasters: list[Callable[[], None]] = [
        scene.poison,
        scene.killed_worker,
        scene.disconnected,
        scene.cut_to_peer,
        scene.cut_to_us,
        scene.mute_for_a_while,
    ]
    plan = disasters * (ROUNDS // len(disasters))
    random.Random(seed).shuffle(plan)
    peer = endpoint(scene.host.factory_ior).model_copy(update={"call_timeout_ms": 1000})
    source = CosNotificationSource(scene.orb, peer, channel(buffer=BUFFER, hold_ms=300))
    sink = CosNotificationSink(scene.orb, peer, channel(1))
    recorder = Recorder()
    pace = Pace(window=WINDOW, batch=BATCH, source_back_off=QUICK, sink_back_off=QUICK, retry=QUICK)
    link = Link("l", source, sink, as_it_is, recorder, recorder, pace)
    link.start()
    balances = []
    try:
        until(lambda: link.status().source == link.status().sink == "ready")
        number = 0
        for disaster in plan:
            for _ in range(IN_A_ROUND):
                scene.accept(number)
                number += 1
                balances.append(link.balance())
                assert len(source._waiting) + len(source._handed) <= BUFFER + WINDOW + BATCH
            disaster()
        until(lambda: set(range(number)) <= set(scene.arrived))
        until(lambda: link.balance().pending == 0)
        assert list(dict.fromkeys(n for n in scene.arrived if n >= 0)) == list(range(number)), (
            "in order, but for what comes twice"
        )
        assert all(balance.holds for balance in balances)
        last = link.balance()
        assert last.holds
        assert last.received == last.delivered + last.dead_lettered
        assert last.delivered <= len(scene.arrived)
        assert last.received >= number
    finally:
        link.stop()
        link.join(PATIENCE_SECS)
