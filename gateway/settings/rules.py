"""The rules of a link: small changes to the message that the mapping makes, in the order in which they stand.

Each entry is told apart by its first word; NAMEs are message property names as they are sent.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag

from adapters.settings_base import StrictModel

PropertyName = Annotated[str, Field(min_length=1)]


class RenameRule(StrictModel):
    """Send a property under another name."""

    rename: PropertyName = Field(description="Name of the property.")
    to: PropertyName = Field(description="Its new name.")


class DropRule(StrictModel):
    """Leave a property out."""

    drop: PropertyName = Field(description="Name of the property.")


class ConstantRule(StrictModel):
    """Add a property that is the same for every message."""

    constant: PropertyName = Field(description="Name of the property.")
    type: Literal["boolean", "byte", "short", "int", "long", "float", "double", "String"] = Field(
        default="String", description="JMS type of the value."
    )
    value: bool | int | float | str = Field(description="true or false, a number, or text.")


class CopyHeaderRule(StrictModel):
    """Send a header field as a property too."""

    copy_header: Literal[
        "JMSType", "JMSDeliveryMode", "JMSPriority", "JMSTimeToLive", "JMSMessageID", "JMSTimestamp", "JMSExpiration",
        "JMSDestination", "JMSCorrelationID", "JMSReplyTo", "JMSRedelivered",
    ] = Field(description="The header field.")  # fmt: skip
    to: PropertyName = Field(description="Name of the property.")


class RouteRule(StrictModel):
    """Send to another destination than the channel's own, where the selector matches; the first match wins."""

    route: str = Field(pattern=r"^(queue|topic)://.+", description="queue://NAME or topic://NAME.")
    when: str = Field(description="JMS selector over the message that would be sent.")


class BodyRule(StrictModel):
    """Choose the kind of body."""

    body: Literal["text", "bytes", "map", "stream"] = Field(description="The kind.")


RULES: Final[dict[str, type[StrictModel]]] = {
    "rename": RenameRule,
    "drop": DropRule,
    "constant": ConstantRule,
    "copy_header": CopyHeaderRule,
    "route": RouteRule,
    "body": BodyRule,
}
"""By the word that tells them apart."""


def word_of(entry: Any) -> str | None:
    """Which rule an entry is; None where it is none, or more than one."""
    if isinstance(entry, StrictModel):
        return next(word for word, model in RULES.items() if type(entry) is model)
    words = [word for word in RULES if word in entry] if isinstance(entry, dict) else []
    return words[0] if len(words) == 1 else None


Rule = Annotated[
    Annotated[RenameRule, Tag("rename")]
    | Annotated[DropRule, Tag("drop")]
    | Annotated[ConstantRule, Tag("constant")]
    | Annotated[CopyHeaderRule, Tag("copy_header")]
    | Annotated[RouteRule, Tag("route")]
    | Annotated[BodyRule, Tag("body")],
    Discriminator(word_of),
]
