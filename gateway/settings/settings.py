"""The whole configuration. Made by `gateway.settings.load`, which checks what no single model can see."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field

from adapters.settings_base import StrictModel
from adapters.stomp.settings import StompEndpoint
from gateway.settings.addresses import address_in, leads_to
from gateway.settings.capture import CaptureSettings
from gateway.settings.journal import JournalSettings
from gateway.settings.link_tests import LinkTest
from gateway.settings.links import Duplicates, LinkSettings
from gateway.settings.services import AdminSettings, OrbSettings, Services, StandbySettings
from gateway.settings.wires import Channel, Endpoint, address_of, capabilities_of

ID_PATTERN: Final = r"^[A-Za-z][A-Za-z0-9_.-]*$"
Id = Annotated[str, Field(pattern=ID_PATTERN)]


class Domain(StrictModel):
    """What the channels and links may look like as a graph."""

    cycles: Literal["forbid", "allow"] = Field(default="forbid", description="Links that lead back to their channel.")
    diamonds: Literal["forbid", "allow"] = Field(
        default="forbid", description="Two ways between the same channels: every event would arrive twice."
    )
    duplicates: Duplicates = Field(
        default="drop_redelivered",
        description="What links do not send again: what its source delivers again (drop_redelivered), every event that has arrived"
        " in their channel by whatever way (drop), or nothing (pass).",
    )
    duplicate_window: int = Field(
        default=50_000,
        ge=1_000,
        le=10_000_000,
        description="How many of the last events of each channel are known for that, over restarts too.",
    )


class ForeignLink(StrictModel):
    """A bridge that somebody else runs. The gateway does nothing with it but count it as a connection of the event domain."""

    source: str = Field(alias="from", description="Id of the channel that it takes events from.")
    sink: str = Field(alias="to", description="Id of the channel that it passes them to.")
    operator: str | None = Field(default=None, description="Who runs it, for people.")


class Settings(StrictModel):
    """Configuration of an Isthmus gateway."""

    name: Id = Field(description="Name of this gateway; it marks what it has passed on.")
    production: bool = Field(
        default=False,
        description="Refuse what is for trials only: stand-ins for a queue manager, the embedded broker, stores in memory.",
    )
    run_dir: str = Field(
        default="run", min_length=1, description="Folder for what the gateway writes; from where it is started."
    )
    environment: Literal["production", "test"] = Field(
        default="production",
        description="What it is for; captured traffic is played into production only when asked twice.",
    )
    orb: OrbSettings = Field(default=OrbSettings(), description="How CORBA peers reach the gateway.")
    services: Services = Field(default=Services(), description="What the gateway hosts for others.")
    admin: AdminSettings | None = Field(default=None, description="Health, links and metrics over HTTP.")
    standby: StandbySettings | None = Field(
        default=None, description="Share `run_dir` with other gateways of this configuration, and lead one at a time."
    )
    journal: JournalSettings | None = Field(
        default=None,
        description="Store and forward on disk, for every link; absent: for links whose source forgets what it has handed over"
        " (CosNotification); null: for none, a source is acknowledged when the sink has confirmed.",
    )
    capture: CaptureSettings | None = Field(
        default=None, description="Traffic as Parquet files, for Spark; absent: nothing is captured."
    )
    endpoints: dict[Id, Annotated[Endpoint, Field(discriminator="type")]] = Field(
        default={}, description="Systems that we connect to."
    )
    domain: Domain = Field(default=Domain(), description="What the links may look like as a whole.")
    channels: dict[Id, Channel] = Field(default={}, description="Members of the event domain, at the endpoints.")
    links: dict[Id, LinkSettings] = Field(default={}, description="Connections of the event domain.")
    foreign_links: dict[Id, ForeignLink] = Field(
        default={}, description="Connections of the event domain that others run: bridges, virtual topics, diverts."
    )
    tests: list[LinkTest] = Field(default=[], description="What the links must do; run by `isthmus test`.")

    def dead_letter_path(self, link: str) -> Path:
        """The file that takes the dead letters of a link."""
        return Path(self.run_dir) / (self.links[link].dead_letter.file or f"dead-letters/{link}.jsonl")

    def first_id(self, channel: str) -> str:
        """Of all entries of `channels:` that name the same channel of the far side, the first."""
        return self._first_ids[channel]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """What was worked out of the channels that were is worked out anew: pydantic would copy it too."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("_first_ids", None)
        return copy

    @cached_property
    def _first_ids(self) -> dict[str, str]:
        firsts: dict[Hashable, str] = {}
        return {
            id_: firsts.setdefault(address_of(self.endpoints[its.endpoint], its), id_)
            for id_, its in self.channels.items()
        }

    def duplicates_of(self, link: str) -> Duplicates:
        """What a link does not send again."""
        return self.links[link].duplicates or self.domain.duplicates

    def is_own_broker(self, endpoint: str) -> bool:
        """Whether an endpoint is the broker that this gateway hosts."""
        service, its = self.services.broker, self.endpoints.get(endpoint)
        listener = None if service is None else address_in(service.listen)
        if listener is None or not isinstance(its, StompEndpoint):
            return False
        hosts = [address_in(host) for host in its.hosts]
        return any(host is not None and leads_to(host, listener) for host in hosts)

    def journal_path(self, channel: str) -> Path:
        """The folder of the journal of a source channel."""
        return Path(self.run_dir) / self.journal_options.folder / channel

    def capture_path(self) -> Path:
        """The folder of the capture."""
        assert self.capture is not None
        return Path(self.run_dir) / self.capture.folder

    def captured(self, link: str) -> bool:
        """Whether the traffic of a link is captured: what it says itself counts, and else nothing confidential is."""
        its = self.links[link]
        if self.capture is None or its.capture is not None:
            return self.capture is not None and its.capture is True
        ends = (self.channels[its.source], self.channels[its.sink])
        return not any(channel.confidential for channel in ends)

    @property
    def journal_options(self) -> JournalSettings:
        """Those that are given, or the defaults."""
        return self.journal if self.journal is not None else _DEFAULT_JOURNAL

    def journalled(self, link: str) -> bool:
        """Whether a link takes from the journal of its source channel, and not from the source itself."""
        its = self.links[link]
        if its.delivery.journal.enabled is not None:
            return its.delivery.journal.enabled
        if "journal" in self.model_fields_set:
            return self.journal is not None
        return not capabilities_of(self.channels[its.source]).keeps


_DEFAULT_JOURNAL: Final = JournalSettings()
