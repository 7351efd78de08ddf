"""What a capture, and every job on it, is told of a link: its mapping as data."""

from __future__ import annotations

from importlib.metadata import version

from gateway.links.translation import translation_of
from gateway.settings.settings import Settings
from gateway.settings.wires import Channel
from mappings.captures.specification import End, Specification


def specification_of(settings: Settings, link: str) -> Specification:
    """What a capture, and every job on it, needs of a link of a configuration that has been checked."""
    its = settings.links[link]
    source, sink = settings.channels[its.source], settings.channels[its.sink]
    return Specification(
        settings.name,
        link,
        End(its.source, address(source)),
        End(its.sink, address(sink)),
        translation_of(settings, link),
        version("isthmus"),
    )


def address(channel: Channel) -> str:
    """What names a channel at its far side."""
    for option in ("destination", "name", "channel"):
        value = getattr(channel, option, None)
        if value is not None:
            return str(value)
    return ""
