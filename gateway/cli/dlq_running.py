"""`isthmus dlq retry` while the gateway runs: it is asked over its admin interface."""

from __future__ import annotations

import http.client
import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from gateway.cli.links import unavailable
from gateway.dead_letters.letters import DeadLettersError
from gateway.settings.addresses import AddressError, parse_address

if TYPE_CHECKING:
    from gateway.settings import Settings

TIMEOUT_SECS: Final = 120.0  # it is answered when the letters are safe in the journal
LARGEST_ANSWER_BYTES: Final = 16 * 1024 * 1024
AT_ONCE: Final = 10_000
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def retry_in_running(settings: Settings, admin: str | None, link: str, keys: list[str]) -> int:
    """How many could not be sent again; they were told. Raises DeadLettersError."""
    refused = 0
    for start in range(0, len(keys), AT_ONCE):
        answer = _ask(settings, admin, {"link": link, "letters": keys[start : start + AT_ONCE]})
        if "error" in answer:
            error = answer["error"]
            raise DeadLettersError(
                str(error.get("code", "DLQ-REQUEST")),
                str(error.get("message", "")),
                path=error.get("path", ""),
                hint=error.get("hint", ""),
            )
        for error in answer["refused"]:
            print(f"isthmus: {error['code']}: {error['message']}", file=sys.stderr)
        refused += len(answer["refused"])
    return refused


def _ask(settings: Settings, admin: str | None, question: dict[str, Any]) -> dict[str, Any]:
    try:
        address = parse_address(admin or (settings.admin.listen if settings.admin is not None else ""), any_port=True)
    except AddressError as wrong:
        raise DeadLettersError("DLQ-RUNNING", f"--admin: {wrong}", hint="give host:port of the gateway") from None
    headers = {"Content-Type": "application/json"}
    if settings.admin is not None and settings.admin.token is not None:
        headers["Authorization"] = f"Bearer {settings.admin.token.get_secret_value()}"
    host = _EVERYWHERE.get(address.host, address.host)
    try:
        with closing(http.client.HTTPConnection(host, address.port, timeout=TIMEOUT_SECS)) as connection:
            connection.request("POST", "/dlq/retry", json.dumps(question), headers)
            answer = json.loads(connection.getresponse().read(LARGEST_ANSWER_BYTES))
    except (OSError, http.client.HTTPException, ValueError) as trouble:
        unavailable(address, str(trouble) or type(trouble).__name__)
    if not isinstance(answer, dict) or not {"error", "refused"} & answer.keys():
        unavailable(address, "the answer is not that of a gateway that sends letters again")
    return answer
