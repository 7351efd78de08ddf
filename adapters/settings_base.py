"""What the configuration models of all wires share.

Each wire keeps the models of its own `endpoints:` and `channels:` entries in its `settings.py`, which imports no wire library, so
that `isthmus lint` needs none.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class StrictModel(BaseModel):
    """Unknown keys are findings; text is never taken for a number, nor a number for text."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    def __repr__(self) -> str:
        """Which keys were given, and no value: any text may have come from a `${…}` reference, and be a secret."""
        return f"{type(self).__name__}({', '.join(sorted(self.model_fields_set))})"

    __str__ = __repr__


class BackOff(StrictModel):
    """Pauses between attempts to connect: doubled each time up to the longest, each shortened by chance by up to a half."""

    first_ms: int = Field(default=250, ge=1, description="Pause after the first failure.")
    longest_ms: int = Field(default=30_000, ge=1, description="No pause is longer than this.")


class EndpointBase(StrictModel):
    """What every endpoint has, whatever its wire."""

    back_off: BackOff = Field(default=BackOff(), description="Pauses between attempts to connect.")


class ChannelBase(StrictModel):
    """What every channel has, whatever its wire."""

    endpoint: str = Field(description="Id of the endpoint that this channel belongs to.")
    confidential: bool = Field(
        default=False, description="Nothing of its traffic is shown or captured unless somebody says so elsewhere."
    )


Profile = Literal["borland", "strict", "mq"]
"""How property names are spelt (RULES.md 5.3)."""
