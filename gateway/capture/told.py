"""What a recorder hands to the writer: references only, so that the link's thread spends nothing on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.base import Delivery, Outgoing
from mappings.captures.layout import Status
from mappings.errors import IsthmusError

if TYPE_CHECKING:
    from gateway.capture.recorder import LinkRecorder


class Told(NamedTuple):
    """One end for several events of a link."""

    recorder: LinkRecorder
    status: Status
    at: float  # seconds since 1970
    sequences: Sequence[int]
    deliveries: Sequence[Delivery]
    sent: Sequence[Outgoing | None]  # as long as the deliveries, or empty
    error: IsthmusError | None = None


class Uncaptured(NamedTuple):
    """Numbers of a run of which nothing else is kept."""

    first: int
    last: int
