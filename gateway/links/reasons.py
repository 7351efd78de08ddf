"""Why a link gives events up though nothing is wrong with them."""

from __future__ import annotations

from adapters.base import DeadLetterError


def too_old(max_age_secs: float) -> DeadLetterError:
    return DeadLetterError(
        "LNK-TOO-OLD",
        f"it could not be sent within {max_age_secs:g} s",
        path="delivery.retry.max_age_secs",
        hint="see the link's log lines for what kept it",
    )


def journal_full() -> DeadLetterError:
    return DeadLetterError(
        "LNK-JOURNAL-FULL",
        "the journal is full, and this was among the oldest events that the link had not sent",
        path="delivery.journal.when_full",
        hint="see the link's log lines for what kept it; give the journal more room (journal.max_bytes)",
    )
