"""The `capture:` of a configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from adapters.settings_base import StrictModel


class CaptureSettings(StrictModel):
    """Every event with the message that it became, as Parquet files for Spark (docs/capture.md)."""

    folder: str = Field(
        default="capture", min_length=1, description="Where the files lie; a relative path is inside run_dir."
    )
    roll_secs: float = Field(default=60.0, gt=0, description="When a file is sealed, and so is seen, at the latest.")
    roll_rows: int = Field(default=500_000, ge=1, description="With how many rows a file is sealed at the latest.")
    queue_events: int = Field(
        default=20_000,
        ge=1,
        description="Events of one link that may wait to be written; more are not captured, and counted.",
    )
    compression: Literal["none", "snappy", "gzip", "lz4", "zstd"] = Field(
        default="zstd", description="Of the sealed files."
    )
    level: int = Field(default=1, ge=1, le=19, description="How hard zstd and gzip try.")
    keep_days: int | None = Field(default=None, ge=1, description="Older days are thrown away; absent: kept for ever.")
    keep_bytes: int | None = Field(
        default=None,
        ge=1_000_000,
        description="Where all sealed files together are larger, the oldest are thrown away; absent: no bound.",
    )
    leave_free_bytes: int = Field(
        default=256 * 1024 * 1024,
        ge=0,
        description="Nothing is captured while the disk has less room than this: the journal may need it.",
    )
    secret_key: SecretStr | None = Field(
        default=None,
        description="Encrypts events and messages: 64 hexadecimal digits, only as ${env:NAME} or ${file:PATH}; absent: plain.",
    )
