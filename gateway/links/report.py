"""The status of links as plain data, for the admin interface and for `isthmus links --json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gateway.inlet.status import InletStatus
from gateway.links.link import LinkStatus
from mappings.errors import IsthmusError


def status_to_json(status: LinkStatus) -> dict[str, Any]:
    return {
        "link": status.id,
        "state": status.state,
        "error": _error(status.error),
        "source": {"state": status.source, "error": _error(status.source_error)},
        "sink": {"state": status.sink, "error": _error(status.sink_error)},
        "accounts": {**status.balance._asdict(), "holds": status.balance.holds},
        "oldest_pending_secs": status.oldest_pending_secs,
        "held": status.held,
        "inlet": _inlet(status.inlet),
        "capture": asdict(status.capture) if status.capture is not None else None,
    }


def _inlet(status: InletStatus | None) -> dict[str, Any] | None:
    """None where the link takes from its source itself."""
    if status is None:
        return None
    journal = status.journal
    return {
        "channel": status.channel,
        "state": status.state,
        "error": _error(status.error),
        "held": _error(journal.held),
        "received": status.received,
        "unsafe": status.unsafe,
        "journal": {
            "first": journal.first,
            "last": journal.last,
            "segments": journal.segments,
            "size_bytes": journal.size_bytes,
        },
    }


def _error(error: IsthmusError | None) -> dict[str, str] | None:
    return error.to_json() if error else None
