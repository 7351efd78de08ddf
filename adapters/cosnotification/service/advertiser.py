"""What the advertiser tells: event types offered and wanted, by whom, and how many events of each have passed (RULES.md 1.9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.advertiser_stubs import ChannelReport, Party, TypeReport
from adapters.cosnotification.service.consumer_admin import ConsumerAdmin
from adapters.cosnotification.service.event_types import TypeBoard
from adapters.cosnotification.service.peer import is_visible
from adapters.cosnotification.service.proxy_supplier import ProxySupplier
from mappings.filters.event_types import EventType

if TYPE_CHECKING:
    from adapters.cosnotification.service.channel import Channel


def report(channel: Channel) -> ChannelReport:
    """Of others the caller learns only how many there are, where the service hides them."""
    offers, wants = _by_type(channel.offers), _by_type(channel.subscriptions)
    passed = dict(channel.hub.passed)
    types = [
        TypeReport(
            *type_,
            len(offers[type_]),
            len(wants[type_]),
            passed.get(type_, 0),
            _parties(channel, offers[type_]),
            _parties(channel, wants[type_]),
        )
        for type_ in sorted({*offers, *wants, *(EventType(*each) for each in passed)})
    ]
    consumers = channel.clients_of(ConsumerAdmin)
    suppliers = len(channel.proxies) - consumers
    waiting = sum(route.waiting for route in channel.hub.routes)
    losses = channel.past_losses.total
    for proxy in channel.proxies:
        if isinstance(proxy, ProxySupplier):
            losses = losses.plus(proxy.losses)
    return ChannelReport(channel.PLACE, channel.id, suppliers, consumers, channel.hub.accepted, waiting, *losses, types)


def _by_type(board: TypeBoard) -> dict[EventType, list[Any]]:
    found: dict[EventType, list[Any]] = defaultdict(list)
    for who, types in board.contributions().items():
        for type_ in types:
            found[type_].append(who)
    return found


def _parties(channel: Channel, who: Iterable[Any]) -> list[Party]:
    hides = channel.service.hides_others
    seen = [each for each in who if not hides or is_visible(each)]
    return sorted(
        (Party(each.place.removeprefix(f"{channel.place}/"), each.owner) for each in seen),
        key=lambda party: party.place,
    )
