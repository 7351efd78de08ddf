"""Who may see events: the admin right.

With `admin.token` whoever shows it (`Authorization: Bearer …`). Without one, only who is on this machine: the connection comes from
loopback, was not passed on by a proxy, and names this machine as its host, so that no web page can make a browser ask.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Final

from gateway.settings.addresses import is_loopback

_PASSED_ON: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


def refusal(headers: Mapping[str, str], client: str | None, token: str | None) -> str | None:
    """Why this request has no admin right; None where it has. `headers` by their names in small letters."""
    if token is not None:
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(shown.strip().encode(), token.encode()):
            return None
        return "it needs the token of `admin.token` (Authorization: Bearer …; isthmus tap --token-file)"
    if client is None or not is_loopback(client):
        return "there is no `admin.token`, so only this machine may ask"
    if any(name in headers for name in _PASSED_ON):
        return "there is no `admin.token`, and a proxy passed this on from somewhere else"
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    if not (host == "localhost" or is_loopback(host.strip("[]"))):
        return "there is no `admin.token`, and the request names another host than this machine"
    return None
