"""What the appliance tells the world about itself; what its links tell is `gateway.links.observer`."""

from __future__ import annotations

from typing import Protocol

from gateway.links.observer import LinkObserver


class Listener(LinkObserver, Protocol):
    """Calls come on changes of state only, and must not block."""

    def service_changed(self, service: str, state: str, **facts: object) -> None:
        """A service that this process hosts is ready, or has stopped; `facts` name its address or the file of its reference."""
