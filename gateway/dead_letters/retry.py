"""Sends letters again: they are appended to the journal that their link takes from, and its next start delivers them.

That is safe only while no gateway runs, because one process at a time writes to a journal: the caller holds the run folder. Other
links of the channel have had these events, or dead letters of their own, so for them they are settled at once, as duplicates. A
crash in between leaves a letter both in the journal and in the file: rather twice than never.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from adapters.base import Delivery
from gateway.dead_letters.letters import DeadLettersError, Letter
from gateway.dead_letters.removal import remove
from gateway.inlet.intakes import options_of
from gateway.journal.cursor_state import LARGEST_WINDOW
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.journal import Journal
from gateway.settings.settings import Settings

SAFE_SECS: Final = 30.0
BATCH: Final = 500


def check_retry(settings: Settings, link: str) -> None:
    """Raises DeadLettersError where a link cannot get its letters again."""
    if not settings.journalled(link):
        raise DeadLettersError(
            "DLQ-NO-JOURNAL",
            f"link {link} takes from its source itself, so there is no journal to put its letters into",
            path=f"links.{link}",
            hint="export them and send them by other means; or add `journal: {}` to the configuration",
        )


def retry(settings: Settings, link: str, letters: Sequence[Letter]) -> list[DeadLettersError]:
    """Put these letters of a link into its journal, and take them out of the file; those that cannot be are told and stay.

    Raises JournalError, OSError and DeadLettersError: then nothing was taken out of the file.
    """
    check_retry(settings, link)
    deliveries: list[Delivery] = []
    keys: list[str] = []
    refused: list[DeadLettersError] = []
    for letter in letters:
        try:
            deliveries.append(letter.delivery())
            keys.append(letter.key)
        except DeadLettersError as unfit:
            refused.append(unfit)
    if deliveries:
        its = settings.links[link]
        journal = Journal.open(settings.journal_path(its.source), DeliveryCodec(), options_of(settings.journal_options))
        try:
            journal.cursor(link, its.delivery.journal.when_full)
            for start in range(0, len(deliveries), BATCH):
                _append(journal, link, deliveries[start : start + BATCH])
        finally:
            journal.close()
        remove(settings.dead_letter_path(link), frozenset(keys))
    return refused


def _append(journal: Journal[Delivery], link: str, deliveries: Sequence[Delivery]) -> None:
    status = journal.status()
    others = [place for place in status.links if place.link != link]
    for place in others:
        # Settling far ahead of what a link has read is more than a cursor can hold.
        if status.last + len(deliveries) - place.position > LARGEST_WINDOW:
            raise DeadLettersError(
                "DLQ-BEHIND",
                f"link {place.link}, which takes from the same channel, is {place.pending} events behind: it would get "
                "these too",
                path=link,
                hint="start the gateway and let it catch up first",
            )
    safe = threading.Event()
    sequences = journal.append(deliveries, on_safe=safe.set)
    if not safe.wait(SAFE_SECS):
        held = journal.held
        raise DeadLettersError(
            "DLQ-NOT-WRITTEN",
            f"the journal does not take them{f': {held.message}' if held else ''}",
            path=link,
            hint="make room, and try again; nothing was taken out of the dead letters",
        )
    for place in others:
        journal.cursor(place.link, place.policy).settle(sequences, "duplicate")
