"""Sends letters again: they are appended to the journal that their link takes from, for that link alone.

While no gateway runs the journal is opened here (the caller holds the run folder), and the next start delivers them; a running
gateway does the same with the journal that it has open. A crash in between leaves a letter both in the journal and in the file:
rather twice than never.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import Final

from adapters.base import Delivery
from gateway.dead_letters.letters import DeadLettersError, Letter, letters_in
from gateway.dead_letters.removal import remove
from gateway.inlet.intakes import options_of
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.errors import JournalClosed, JournalHeld, LinkBehind
from gateway.journal.journal import Journal
from gateway.settings.settings import Settings
from mappings.errors import IsthmusError

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
    its = settings.links[link]
    journal = Journal.open(settings.journal_path(its.source), DeliveryCodec(), options_of(settings.journal_options))
    try:
        journal.cursor(link, its.delivery.journal.when_full)
        return retry_into(journal, settings, link, letters)
    finally:
        journal.close()


def retry_running(
    journal: Journal[Delivery], settings: Settings, link: str, keys: Collection[str]
) -> list[DeadLettersError]:
    """The same for the letters with these keys, in the gateway that has the journal open and runs the link."""
    wanted = frozenset(keys)
    found = [letter for letter in letters_in(settings.dead_letter_path(link), link) if letter.key in wanted]
    gone = wanted.difference(letter.key for letter in found)
    if gone:
        raise DeadLettersError(
            "DLQ-NO-LETTER", f"there is no letter {min(gone)}", path=link, hint="isthmus dlq list shows those there are"
        )
    return retry_into(journal, settings, link, found)


def retry_into(
    journal: Journal[Delivery], settings: Settings, link: str, letters: Sequence[Letter]
) -> list[DeadLettersError]:
    deliveries: list[Delivery] = []
    keys: list[str] = []
    refused: list[DeadLettersError] = []
    for letter in letters:
        try:
            deliveries.append(letter.delivery())
            keys.append(letter.key)
        except DeadLettersError as unfit:
            refused.append(unfit)
    for start in range(0, len(deliveries), BATCH):
        _append(journal, link, deliveries[start : start + BATCH])
    if keys:
        remove(settings.dead_letter_path(link), frozenset(keys))
    return refused


def _append(journal: Journal[Delivery], link: str, deliveries: Sequence[Delivery]) -> None:
    safe = threading.Event()
    held: IsthmusError | None = None
    try:
        journal.append(deliveries, on_safe=safe.set, only=link)
    except LinkBehind as behind:
        raise DeadLettersError(
            "DLQ-BEHIND",
            f"link {behind.link}, which takes from the same channel, is {behind.pending} events behind: it would get "
            "these too",
            path=link,
            hint="start the gateway and let it catch up first",
        ) from None
    except (JournalHeld, JournalClosed) as full:
        held = full
    if held is None and not safe.wait(SAFE_SECS):
        held = journal.held
    if not safe.is_set():
        raise DeadLettersError(
            "DLQ-NOT-WRITTEN",
            f"the journal does not take them{f': {held.message}' if held else ''}",
            path=link,
            hint="make room, and try again; nothing was taken out of the dead letters",
        )
