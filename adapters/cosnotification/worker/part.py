"""Parts of the gateway that live in the ORB's process, beside the sources, sinks and the Notification Service.

The gateway names the class; the worker makes it. So servants of the gateway share the one ORB and its one address, and come back
with it when the process has died.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast

from adapters.cosnotification.local_orb import LocalOrb

Tell = Callable[..., None]
"""Sends plain values to the gateway, which does not answer. Raises Closed where it has gone."""


class Part(Protocol):
    """Made with the ORB, which runs, with `Tell`, and with settings as JSON. Calls come from many threads.

    Raises AdapterErrors for the gateway to hear; arguments and answers are plain values.
    """

    def start(self) -> Any: ...

    def ask(self, question: str, *arguments: Any) -> Any:
        """A question of the gateway's, or a change that it makes."""

    def stop(self) -> None:
        """Twice is fine."""


def make_part(place: str, orb: LocalOrb, tell: Tell, settings: str) -> Part:
    """`place` is `module:Class`."""
    module, _, name = place.partition(":")
    return cast(Part, getattr(import_module(module), name)(orb, tell, settings))
