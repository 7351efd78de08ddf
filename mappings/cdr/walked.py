"""What is said of an event that was walked: read to its end, judged, and not made."""

from __future__ import annotations

from typing import NamedTuple


class Walked(NamedTuple):
    """Where an event ends, and what can be said of it without making it."""

    domain_name: str
    type_name: str
    plain_header: bool  # its variable_header is empty
    end: int
    movable: bool  # its octets, pads before them not counted, say the same at every offset that 4 divides
