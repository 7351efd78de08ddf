"""Plays a plan into a link: the link's own step and sink, with its window, order, reconnects, retries and dead letters."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from adapters.base import Delivery, Outgoing
from gateway.appliance.services import Services
from gateway.appliance.wiring import Wiring
from gateway.links.dead_letter_file import DeadLetterFile
from gateway.links.link import Link, LinkStatus
from gateway.links.observer import LinkObserver
from gateway.links.pace import Pace
from gateway.links.step import Step
from gateway.links.translation import compile_step, translation_of
from gateway.replay.plan_source import PlanSource
from gateway.settings.settings import Settings

POLL_SECS: Final = 0.2
DEAD_LETTERS: Final = "dead-letters.jsonl"
STOP_SECS: Final = 30.0

Shown = Callable[[LinkStatus, PlanSource], None]


def play(
    settings: Settings,
    services: Services,
    link_id: str,
    source: PlanSource,
    out: Path,
    observer: LinkObserver,
    shown: Shown,
) -> LinkStatus:
    """Until the plan is played, the link stops, or somebody interrupts; the status at the end. Raises StopError."""
    its = settings.links[link_id]
    sink_channel = settings.channels[its.sink]
    pace = Pace(
        window=its.delivery.window,
        batch=its.delivery.batch,
        sink_back_off=settings.endpoints[sink_channel.endpoint].back_off,
        retry=its.delivery.retry.back_off,
    )
    link = Link(
        link_id,
        source,
        Wiring(settings, services).sink(link_id),
        step_for(settings, link_id, as_sent=source.what == "sent"),
        DeadLetterFile(out / DEAD_LETTERS),
        observer,
        pace,
    )
    link.start()
    try:
        while not source.finished and link.status().state != "stopped":
            shown(link.status(), source)
            time.sleep(POLL_SECS)
    finally:
        link.stop()
        link.join(STOP_SECS)
    shown(link.status(), source)
    return link.status()


def step_for(settings: Settings, link: str, *, as_sent: bool) -> Step:
    """As the link is configured; or no translation, for messages that went through one."""
    return _as_sent if as_sent else compile_step(translation_of(settings, link))


def _as_sent(delivery: Delivery) -> Outgoing:
    assert delivery.payload is not None
    return Outgoing(delivery.payload, delivery.id)
