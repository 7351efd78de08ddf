"""`POST /dlq/retry`: dead letters of a running gateway are sent again. `{"link": "alarms", "letters": ["0123456789ab"]}`

It changes something, so beside the admin right it wants what a page in somebody's browser cannot send: JSON, and no Origin.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from gateway.dead_letters.letters import DeadLettersError
from mappings.errors import IsthmusError

LARGEST_BODY_BYTES: Final = 4 * 1024 * 1024
MOST_LETTERS: Final = 100_000

Retry = Callable[[str, Collection[str]], Sequence[IsthmusError]]


def from_a_browser(headers: Mapping[str, str]) -> bool:
    """`headers` by their names in small letters."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return "origin" in headers or kind != "application/json"


def too_long() -> DeadLettersError:
    return DeadLettersError("DLQ-REQUEST", "the request names too many letters at once", hint="name fewer")


def asked(body: bytes) -> tuple[str, list[str]]:
    """The link, and the keys of letters. Raises DeadLettersError."""
    try:
        form = json.loads(body)
        link, letters = form["link"], form["letters"]
        if not isinstance(link, str) or not isinstance(letters, list) or len(letters) > MOST_LETTERS:
            raise TypeError
        if not all(isinstance(key, str) for key in letters):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DeadLettersError(
            "DLQ-REQUEST", 'the request is not {"link": "…", "letters": ["…"]}', hint="use isthmus dlq retry"
        ) from None
    return link, letters


def answer(retry: Retry, link: str, letters: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """The status and the form."""
    try:
        refused = retry(link, letters)
    except IsthmusError as error:
        return 409, {"error": error.to_json()}
    except OSError as trouble:
        unread = DeadLettersError(
            "DLQ-IO", f"the dead letters cannot be read or written: {trouble.strerror or trouble}", path=link
        )
        return 409, {"error": unread.to_json()}
    return 200, {
        "link": link,
        "to_be_sent_again": len(set(letters)) - len(refused),
        "refused": [error.to_json() for error in refused],
    }
