"""What a link tells of every event, so that its traffic can be kept (`gateway.capture`).

Calls come from the link's own thread, for a batch at a time where the link has one, so they must cost next to nothing, never block
and never raise. Every delivery is `received` once and then is in one of `settled`, `dead_lettered` and `left`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from adapters.base import Delivery, Outgoing
from gateway.links.accounts import Outcome
from mappings.errors import IsthmusError


class Recorder(Protocol):
    """Keeps what it is given a reference to: nobody changes it afterwards."""

    def received(self, deliveries: Sequence[Delivery]) -> None:
        """The link took these from its source, in this order."""

    def settled(self, outcome: Outcome, deliveries: Sequence[Delivery], sent: Sequence[Outgoing]) -> None:
        """These came to their end. `sent`: what they became, one by one, where they were delivered; else nothing."""

    def dead_lettered(self, delivery: Delivery, error: IsthmusError, outgoing: Outgoing | None) -> None:
        """This one can never pass. `outgoing`: what it became, where it got that far."""

    def left(self, deliveries: Sequence[Delivery]) -> None:
        """The link ends, and these stay with the source (or go to the link that goes on with it)."""


class SilentRecorder:
    def received(self, deliveries: Sequence[Delivery]) -> None:
        pass

    def settled(self, outcome: Outcome, deliveries: Sequence[Delivery], sent: Sequence[Outgoing]) -> None:
        pass

    def dead_lettered(self, delivery: Delivery, error: IsthmusError, outgoing: Outgoing | None) -> None:
        pass

    def left(self, deliveries: Sequence[Delivery]) -> None:
        pass
