"""The `journal:` of a configuration, and what a link may say about it under `delivery.journal`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from adapters.settings_base import StrictModel


class JournalSettings(StrictModel):
    """Store and forward: what a source delivers is kept on disk until every link has settled it (docs/journal.md)."""

    folder: str = Field(
        default="journal",
        min_length=1,
        description="Inside run_dir; each source channel has a folder of its own in it.",
    )
    max_bytes: int | None = Field(
        default=4 * 1024**3, ge=1024**2, description="Bound for each source channel; null: as large as the disk."
    )
    segment_bytes: int = Field(default=64 * 1024**2, ge=64 * 1024, description="When a new segment file is begun.")
    keep_secs: int = Field(default=0, ge=0, description="How long what every link has settled stays, for export.")
    keep_bytes: int | None = Field(
        default=None, ge=0, description="Up to which size of the journal it stays; null: any."
    )
    sync_ms: int = Field(default=200, ge=1, description="How soon best-effort events are synced to disk.")
    compression: Literal["none", "zlib", "zstd"] = Field(default="none", description="Of what is written from now on.")
    secret_key: SecretStr | None = Field(
        default=None,
        description="Encrypts what is written: 64 hexadecimal digits, only as ${env:NAME} or ${file:PATH}; absent: plain.",
    )
    older_secret_keys: list[SecretStr] = Field(
        default=[], description="Keys that were in use before, as long as records of theirs are in the journal."
    )
    removed_links: Literal["keep", "forget"] = Field(
        default="keep",
        description="Links that are no more: keep what is pending for them, or forget them at the next start or reload.",
    )


class LinkJournal(StrictModel):
    """How a link uses the journal."""

    enabled: bool | None = Field(
        default=None,
        description="Whether the link takes from its source by way of the journal; absent: where there is a `journal:`, and where"
        " nothing is said about a journal but the source forgets what it has handed over (CosNotification).",
    )
    when_full: Literal["block", "drop_oldest", "dead_letter"] = Field(
        default="block",
        description="When the journal is full and this link is behind: hold back the source, drop its oldest events, or dead-letter"
        " them.",
    )
    safe: Literal["by_event", "synced", "written"] = Field(
        default="by_event",
        description="When the source is acknowledged: persistent events when synced to disk and others when written (by_event), or"
        " all alike. The strictest of a source's links counts.",
    )
