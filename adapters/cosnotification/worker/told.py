"""Errors as plain tuples, to cross between the gateway and the worker."""

from __future__ import annotations

from typing import Final

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError, StopError

Told = tuple[str, str, str, str, str]

_KINDS: Final = {kind.__name__: kind for kind in (ReconnectError, RetryLaterError, DeadLetterError, StopError)}


def told(error: AdapterError) -> Told:
    return (type(error).__name__, error.code, error.message, error.path, error.hint)


def heard(error: Told) -> AdapterError:
    kind, code, message, path, hint = error
    return _KINDS[kind](code, message, path=path, hint=hint)
