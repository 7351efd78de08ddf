"""`/tap`: events while they pass, as server-sent events.

data: {"link": …, "stage": …, "at": …, "id": …, "event": …}     one for each event
event: missed    data: {"missed": 17}                            so many were too many
: still here                                                     every few seconds, so that a client that is gone is noticed
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from gateway.links.payload_form import payload_to_json
from gateway.links.tap import STAGES, Listener, Seen, Stage, Taps
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of
from mappings.errors import FilterError, IsthmusError
from mappings.model import Message, StructuredEvent

POLL_SECS: Final = 0.1
STILL_HERE_SECS: Final = 5.0
BATCH: Final = 200

Chosen = Callable[[Seen], bool]


class TapError(IsthmusError):
    """What was asked for cannot be shown (LNK-TAP-…)."""


def wanted(settings: Settings, what: str, stage: str | None) -> frozenset[tuple[str, Stage]]:
    """The stages of the links that a link's or channel's id, and a stage or none, mean. Raises TapError.

    A link: what it received, if nothing else is said. A channel: what its links received from it and sent to it.
    """
    if stage is not None and stage not in STAGES:
        raise TapError("LNK-TAP-STAGE", f"there is no stage {stage!r}", hint=f"one of {', '.join(STAGES)}")
    found: set[tuple[str, Stage]] = set()
    for id_, link in settings.links.items():
        if what == id_:
            found.update((id_, known) for known in STAGES if known == (stage or "received"))
        if what == link.source and stage in (None, "received"):
            found.add((id_, "received"))
        if what == link.sink and stage != "received":
            found.update((id_, known) for known in STAGES if known == (stage or "sent"))
    if not found:
        raise TapError(
            "LNK-TAP-UNKNOWN",
            f"there is no link {what!r}, and no channel of that name that a link uses so",
            hint=f"links: {', '.join(settings.links)}",
        )
    if settings.admin is None or not settings.admin.tap_confidential:
        for id_, _ in found:
            for channel in (settings.links[id_].source, settings.links[id_].sink):
                if settings.channels[channel].confidential:
                    raise TapError(
                        "LNK-TAP-CONFIDENTIAL",
                        f"channel {channel} is confidential",
                        path=f"links.{id_}",
                        hint="admin.tap_confidential: true shows such events too",
                    )
    return frozenset(found)


def chooser(settings: Settings, stages: frozenset[tuple[str, Stage]], text: str | None) -> Chosen:
    """A filter over what is seen: ETCL where that is events, a selector where it is messages. Raises TapError."""
    if text is None:
        return lambda seen: True
    forms = set()
    for id_, stage in stages:
        link = settings.links[id_]
        forms.add(capabilities_of(settings.channels[link.source if stage == "received" else link.sink]).form)
    if len(forms) > 1:
        raise TapError("LNK-TAP-FILTER", "both events and messages are seen here", hint="name one --stage")
    from mappings.filters import compile_etcl, compile_selector

    try:
        if forms == {"event"}:
            etcl = compile_etcl(text)
            return lambda seen: isinstance(seen.payload, StructuredEvent) and etcl.matches(seen.payload)
        selector = compile_selector(text)
        return lambda seen: isinstance(seen.payload, Message) and selector.matches(seen.payload)
    except FilterError as wrong:
        raise TapError(wrong.code, wrong.message, path=wrong.path, hint=wrong.hint) from wrong


async def stream(taps: Taps, listener: Listener, chosen: Chosen, limit: int | None) -> AsyncIterator[str]:
    """Until `limit` events were told, or whoever listens is gone."""
    taps.join(listener)
    try:
        silent_secs = 0.0
        yield ": listening\n\n"
        while limit is None or limit > 0:
            seen, missed = listener.take(BATCH)
            told = [one for one in seen if chosen(one)][:limit]
            text = "".join(f"data: {json.dumps(seen_to_json(one), ensure_ascii=False)}\n\n" for one in told)
            if missed:
                text += f'event: missed\ndata: {{"missed": {missed}}}\n\n'
            if limit is not None:
                limit -= len(told)
            if text:
                silent_secs = 0.0
                yield text
            if len(seen) == BATCH:
                await asyncio.sleep(0)
                continue
            await asyncio.sleep(POLL_SECS)
            silent_secs += POLL_SECS
            if silent_secs >= STILL_HERE_SECS:
                silent_secs = 0.0
                yield ": still here\n\n"
    finally:
        taps.leave(listener)


def seen_to_json(seen: Seen) -> dict[str, Any]:
    delivery = seen.delivery
    return {
        "link": seen.link,
        "stage": seen.stage,
        "at": seen.at,
        "id": delivery.id,
        "received_at": delivery.received_at,
        "persistent": delivery.persistent,
        "redelivered": delivery.redelivered,
        **(payload_to_json(seen.payload) or {}),
        **({"error": delivery.error.to_json()} if delivery.error is not None else {}),
    }
