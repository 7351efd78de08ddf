"""What differs between JMS providers, where JMS itself says nothing: patterns of topics, and duplicates that the broker drops."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

from adapters.topic_patterns import ARROW, HASH, Wildcards

Provider: TypeAlias = Literal["activemq", "artemis", "fioranomq"]


class Ways(NamedTuple):
    wildcards: Wildcards | None  # None: its patterns are ours
    duplicate_property: str | None = None  # it drops a message whose value of this it has seen


WAYS: Final[dict[Provider, Ways]] = {
    "activemq": Ways(ARROW),
    "artemis": Ways(HASH, "_AMQ_DUPL_ID"),
    "fioranomq": Ways(None),
}

_PACKAGES: Final[tuple[tuple[str, Provider], ...]] = (
    ("org.apache.activemq.artemis.", "artemis"),
    ("org.apache.activemq.", "activemq"),
    ("fiorano.", "fioranomq"),
    ("com.fiorano.", "fioranomq"),
)


def provider_of(class_: str) -> Provider | None:
    """By the class of its connection factory, or of its JNDI context."""
    return next((provider for package, provider in _PACKAGES if class_.startswith(package)), None)
