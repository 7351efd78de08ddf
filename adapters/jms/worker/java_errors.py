"""Exceptions as plain values: see adapters.jms.provider_errors.Report."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

MOST_CAUSES: Final = 10
MOST_TEXT: Final = 2000
NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def describe(
    trouble: BaseException, phase: str, hidden: Mapping[str, str] = NOTHING
) -> tuple[str, tuple[str, ...], str]:
    """Phase, names of classes from the innermost cause outwards, text, in which stand-ins take the place of what is hidden."""
    classes: list[str] = []
    texts: list[str] = []
    for cause in _causes(trouble):
        classes = [*_names(cause), *classes]
        text = _text(cause)
        if text and not any(text in said for said in texts):
            texts.append(text)
    text = " - ".join(texts)
    for secret, stand_in in hidden.items():
        text = text.replace(secret, stand_in)
    return phase, tuple(classes), text[:MOST_TEXT]


def _causes(trouble: BaseException) -> list[Any]:
    found: list[Any] = [trouble]
    while len(found) < MOST_CAUSES:
        inner = None
        for getter in ("getCause", "getLinkedException"):  # the latter is how JMS 1.1 tells its causes
            get = getattr(found[-1], getter, None)
            inner = get() if inner is None and callable(get) else inner
        if inner is None or any(inner is known or inner == known for known in found):
            return found
        found.append(inner)
    return found


def _names(trouble: Any) -> list[str]:
    """Its class and what that extends."""
    if not hasattr(trouble, "getClass"):
        return [f"python.{type(trouble).__name__}"]
    names = []
    class_ = trouble.getClass()
    while class_ is not None and str(class_.getName()) != "java.lang.Object":
        names.append(str(class_.getName()))
        class_ = class_.getSuperclass()
    return names


def _text(trouble: Any) -> str:
    if hasattr(trouble, "getClass"):
        return str(trouble.getMessage() or trouble.getClass().getSimpleName())
    return str(trouble) or type(trouble).__name__
