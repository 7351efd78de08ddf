"""What the gateway tells the part that it hosts in the ORB's process; apart from the servants, which need an ORB."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class PartSettings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    store: str
    check_interval_secs: float
    on_demand: bool
    specified_defaults: bool
    changeable_cycle_detection: bool
    max_channels: int | None
    max_connections: int | None
    configured: dict[str, Any]  # gateway.domain.configured_form
