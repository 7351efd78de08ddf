"""What one link knows of duplicates: which of its deliveries have arrived before, or are on their way already.

drop               by the event's own id, which gateways pass on: one copy by whatever way it comes
drop_redelivered   by the link and the id that the delivery has at its source: what is delivered again after a lost connection
                   or a crash, and nothing else
pass               nothing is looked at
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from adapters.base import Delivery, Outgoing
from gateway.links.duplicate_window import Answer, DuplicateWindow, digest_of


class Duplicates:
    """Belongs to the link's thread; the window is shared."""

    def __init__(self, window: DuplicateWindow, key: Callable[[Delivery, Outgoing], str]) -> None:
        self._window = window
        self._key = key
        self._claimed: dict[Delivery, bytes] = {}
        self._awaited: dict[Delivery, bytes] = {}

    def admit(self, delivery: Delivery, outgoing: Outgoing) -> Answer:
        """`new`: it is ours to send, until `arrived` or `failed`. `claimed`: somebody else is sending it, ask again."""
        if delivery in self._claimed:
            return "new"
        digest = digest_of(self._key(delivery, outgoing))
        answer = self._window.claim(digest, delivery)
        if answer == "new":
            self._claimed[delivery] = digest
        elif answer == "claimed":
            self._awaited[delivery] = digest
        return answer

    def released(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Of those that were claimed by somebody else, the ones about which it is time to ask again."""
        released = [delivery for delivery in deliveries if not self._window.is_claimed(self._awaited[delivery])]
        for delivery in released:
            del self._awaited[delivery]
        return released

    def arrived(self, deliveries: Iterable[Delivery]) -> None:
        """Raises OSError when it could not be written down; it is remembered all the same."""
        digests = [digest for delivery in deliveries if (digest := self._claimed.pop(delivery, None)) is not None]
        if digests:
            self._window.remember(digests)

    def failed(self, deliveries: Iterable[Delivery]) -> None:
        """They ended, and did not arrive: another copy may."""
        digests = [digest for delivery in deliveries if (digest := self._claimed.pop(delivery, None)) is not None]
        if digests:
            self._window.give_back(digests)

    def leave(self) -> None:
        """The link ends: what it had on its way is anybody's again."""
        self.failed(list(self._claimed))


class DuplicateWindows:
    """The windows of a gateway, one for each channel that a link leads to and that drops duplicates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._windows: dict[str, DuplicateWindow] = {}

    def of_link(self, link: str, sink: str, policy: str, size: int) -> Duplicates | None:
        """Raises OSError where the window cannot be opened."""
        if policy == "pass":
            return None
        window = self._windows.get(sink)
        if window is None:
            window = self._windows[sink] = DuplicateWindow(self._folder, sink, size)
        if policy == "drop":
            return Duplicates(window, lambda delivery, outgoing: f"event\n{outgoing.id}")
        return Duplicates(window, lambda delivery, outgoing: f"link\n{link}\n{delivery.id}")

    def keep(self, sinks: Collection[str]) -> None:
        """Close the windows of other channels."""
        for sink in [sink for sink in self._windows if sink not in sinks]:
            self._windows.pop(sink).close()

    def close(self) -> None:
        self.keep(())
