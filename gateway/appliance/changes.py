"""What a new configuration changes in a running gateway: which links must end, which must start, and what needs a restart."""

from __future__ import annotations

from typing import Final, NamedTuple

from gateway.settings.settings import Settings

FIXED_PARTS: Final = ("name", "run_dir", "orb", "services", "admin", "standby", "journal", "capture")
"""Parts that are made at the start and hold addresses or files that others know: they change with a restart only."""


class Changes(NamedTuple):
    ended: tuple[str, ...]  # links that are gone, switched off, or must be made anew
    begun: tuple[str, ...]  # links that are new, switched on, or made anew
    needs_restart: tuple[str, ...]  # parts of the configuration that differ and are not taken over


def changes(old: Settings, new: Settings) -> Changes:
    """A link is made anew when its own settings, one of its channels or one of their endpoints differ; others are not touched."""
    before = {link: _footprint(old, link) for link in running_links(old)}
    after = {link: _footprint(new, link) for link in running_links(new)}
    return Changes(
        ended=tuple(link for link, footprint in before.items() if after.get(link) != footprint),
        begun=tuple(link for link, footprint in after.items() if before.get(link) != footprint),
        needs_restart=tuple(part for part in FIXED_PARTS if getattr(old, part) != getattr(new, part)),
    )


def running_links(settings: Settings) -> list[str]:
    return [link for link, its in settings.links.items() if its.enabled]


def same_source(old: Settings, new: Settings, link: str) -> bool:
    """Whether a link that is made anew goes on with the source that it had. One that takes from a journal has none of its own."""

    def source(settings: Settings) -> tuple[object, ...]:
        channel = settings.channels[settings.links[link].source]
        return channel, settings.endpoints[channel.endpoint]

    if link not in running_links(old) or link not in running_links(new):
        return False
    return not old.journalled(link) and not new.journalled(link) and source(old) == source(new)


def _footprint(settings: Settings, link: str) -> tuple[object, ...]:
    """Everything that bears on a link."""
    its = settings.links[link]
    ends = [settings.channels[its.source], settings.channels[its.sink]]
    answers = settings.links.get(its.replies or "")
    return (
        its,
        settings.duplicates_of(link),
        *map(settings.first_id, (its.source, its.sink)),
        *ends,
        *(settings.endpoints[channel.endpoint] for channel in ends),
        None if answers is None else settings.channels[answers.source],  # which questions name
        any(other.replies == link for other in settings.links.values()),
    )
