"""Why a link gives events up, or waits, though nothing is wrong with them."""

from __future__ import annotations

from adapters.base import DeadLetterError, RetryLaterError


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


def breaker_open(failures: int, pause_secs: float) -> RetryLaterError:
    return RetryLaterError(
        "LNK-BREAKER",
        f"the sink has failed {failures} times in a row: it is left alone for {pause_secs:.0f} s, then tried with one batch",
        path="delivery.retry.breaker",
        hint="see the lines before this one for how it failed; nothing is lost meanwhile",
    )
