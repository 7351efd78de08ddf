"""From a configuration to what bears on the demand of its links (`demand.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint, event_types_of
from gateway.links.demand import Terms
from mappings.filters.event_types import EventTypes
from mappings.filters.type_tests import may_pass

if TYPE_CHECKING:
    from gateway.settings import Settings


def terms_of(settings: Settings, link: str) -> Terms:
    """Of a link of a configuration that has been checked."""
    its = settings.links[link]
    ends = [settings.channels[its.source], settings.channels[its.sink]]
    tell = all(tells_types(settings, end) for end in (its.source, its.sink))
    keep_types = all(getattr(end, "events", None) in ("structured", "sequence") for end in ends)
    texts = [text for text in (its.filter, getattr(ends[0], "constraint", None)) if text is not None]
    types = event_types_of(ends[0]) if isinstance(ends[0], CosNotificationChannel) else ()
    covers = EventTypes(types).covers

    def may_be_passed(domain: str, type_: str) -> bool:
        return covers(domain, type_) and all(may_pass(text, domain, type_) for text in texts)

    return Terms(
        source=source_of(settings, link),
        sink=its.sink,
        on_demand=its.on_demand,
        by_type=tell and keep_types,
        passes_offers=tell,
        may_pass=may_be_passed,
    )


def source_of(settings: Settings, link: str) -> str:
    """Who asks the peer: the inlet of the link's channel, or the link itself."""
    return f"channel {settings.links[link].source}" if settings.journalled(link) else f"link {link}"


def asked_for_everything(settings: Settings) -> set[str]:
    """Those whose journal keeps everything for a link that does not run just now."""
    return {
        source_of(settings, id_)
        for id_, its in settings.links.items()
        if not its.enabled and not its.on_demand and settings.journalled(id_)
    }


def tells_types(settings: Settings, channel: str) -> bool:
    """Whether the peer of a channel speaks of event types at all: a Notification Service does."""
    endpoint = settings.endpoints[settings.channels[channel].endpoint]
    return isinstance(endpoint, CosNotificationEndpoint) and endpoint.service == "notification"
