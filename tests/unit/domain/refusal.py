"""What an event domain says to something that it may refuse."""

from __future__ import annotations

from collections.abc import Callable

from gateway.domain.errors import DomainError


def refusal(operation: Callable[..., object], *arguments: object) -> DomainError | None:
    """The error that an operation raises, if it does."""
    try:
        operation(*arguments)
    except DomainError as error:
        return error
    return None
