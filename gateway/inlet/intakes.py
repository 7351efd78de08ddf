"""The intakes of a gateway: one for each source channel that at least one running link takes from by way of the journal.

A reload calls, in this order: `end` with the new configuration, `source` for each link that begins, `begin`. Inlets whose channel
and endpoint are the same stay connected through all of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace

from adapters.base import Delivery, Source, StopError
from gateway.inlet.intake import Intake, durability
from gateway.inlet.journalled_source import JournalledSource
from gateway.inlet.observer import InletObserver
from gateway.journal.disk import Disk
from gateway.journal.envelope import key_from_text
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from gateway.links.link import LinkStatus
from gateway.settings.journal import JournalSettings
from gateway.settings.settings import Settings
from gateway.settings.wires import capabilities_of
from mappings.errors import IsthmusError

END_MARGIN_SECS = 15.0  # beyond its drain time, for closing connections to peers that do not answer


class Intakes:
    def __init__(
        self,
        make_source: Callable[[str], Source],
        observer: InletObserver,
        drain_secs: float,
        disk: Disk | None = None,
    ) -> None:
        """`make_source` makes the source of a channel; `disk` is what the journals are written to."""
        self._disk = disk
        self._make_source = make_source
        self._observer = observer
        self._drain_secs = drain_secs
        self._intakes: dict[str, Intake] = {}
        self._footprints: dict[str, object] = {}  # of running inlets
        self._channels: dict[str, str] = {}  # by link that takes from one

    def source(self, settings: Settings, link: str) -> JournalledSource:
        """The source of a link that is about to run. Opens the journal. Raises StopError."""
        its = settings.links[link]
        intake = self._intakes.get(its.source)
        if intake is None:
            intake = self._intakes[its.source] = Intake(
                its.source,
                capabilities_of(settings.channels[its.source]).form,
                settings.journal_path(its.source),
                options_of(settings.journal_options),
                self._observer,
                self._disk,
            )
        self._channels[link] = its.source
        return intake.source(link, its.delivery.journal.when_full)

    def journal_of(self, link: str) -> Journal[Delivery] | None:
        """The journal that a running link takes from; None where it takes from none. From any thread."""
        intake = self._intakes.get(self._channels.get(link, ""))
        return intake.journal if intake is not None else None

    def begin(self, settings: Settings, running: Collection[str]) -> None:
        """Start the inlets that these links need and that do not run. Raises StopError and ImportError for the first that cannot,
        after all the others."""
        self._channels = {link: channel for link, channel in self._channels.items() if link in running}
        trouble: IsthmusError | ImportError | None = None
        for channel, intake in self._intakes.items():
            links = [link for link in running if self._channels.get(link) == channel]
            safe = [settings.links[link].delivery.journal.safe for link in links]
            self._look_after_others(intake, settings, links)
            if intake.inlet is not None:
                intake.inlet.is_durable = durability(safe)
            elif links:
                try:
                    source = self._make_source(channel)
                except (IsthmusError, ImportError) as wrong:
                    error = StopError("LNK-NOT-STARTED", str(wrong), path=f"channels.{channel}")
                    self._observer.inlet_changed(channel, "stopped", error, 0)
                    trouble = trouble or wrong
                    continue
                back_off = settings.endpoints[settings.channels[channel].endpoint].back_off
                intake.begin(source, safe, back_off, self._drain_secs)
                self._footprints[channel] = footprint(settings, channel)
        if trouble is not None:
            raise trouble

    def end(self, settings: Settings | None = None, running: Collection[str] = ()) -> bool:
        """End the inlets that the links of this configuration do not need, or whose channel is another by now, and close the
        journals that nobody takes from. After their links have ended. True when all of it ended in time."""
        needed = {settings.links[link].source for link in running} if settings is not None else set()
        ending = []
        for channel, intake in self._intakes.items():
            if channel in needed and settings and self._footprints.get(channel) == footprint(settings, channel):
                continue
            ending.append(intake)
            self._footprints.pop(channel, None)
            if intake.inlet is not None:
                intake.inlet.stop()  # side by side
        deadline = time.monotonic() + self._drain_secs + END_MARGIN_SECS
        in_time = True
        for intake in ending:
            in_time &= intake.end(max(0.0, deadline - time.monotonic()))
            if intake.channel not in needed:
                in_time &= intake.close()
                del self._intakes[intake.channel]
        return in_time

    def stop_receiving(self) -> None:
        """Returns at once; `end` waits."""
        for intake in self._intakes.values():
            if intake.inlet is not None:
                intake.inlet.stop()

    def seen(self, status: LinkStatus) -> LinkStatus:
        """The status of a link with that of its inlet: to an operator, that is the link's source."""
        intake = self._intakes.get(self._channels.get(status.id, ""))
        if intake is None:
            return status
        inlet = intake.status()
        seen = replace(status, inlet=inlet, source=inlet.state, source_error=inlet.error or inlet.journal.held)
        if status.state != "ready" or inlet.state in ("ready", "draining"):
            return seen
        stopped = inlet.state == "stopped" and inlet.error is not None
        return replace(seen, state="stopped" if stopped else "down", error=inlet.error if stopped else None)

    def _look_after_others(self, intake: Intake, settings: Settings, running: Collection[str]) -> None:
        others = [link for link in intake.links() if link not in running]
        absent = {
            link: its.delivery.journal.when_full
            for link in others
            if (its := settings.links.get(link)) and its.source == intake.channel and settings.journalled(link)
        }
        gone = [link for link in others if link not in absent]
        intake.look_after(absent, gone, forget=settings.journal_options.removed_links == "forget")


def options_of(settings: JournalSettings) -> Options:
    """Of settings that were checked."""
    secrets = [settings.secret_key] if settings.secret_key is not None else []
    return Options(
        segment_bytes=settings.segment_bytes,
        max_bytes=settings.max_bytes,
        keep_secs=settings.keep_secs,
        keep_bytes=settings.keep_bytes,
        relaxed_sync_secs=settings.sync_ms / 1000,
        compression=settings.compression,
        keys=tuple(key_from_text(secret.get_secret_value()) for secret in (*secrets, *settings.older_secret_keys)),
    )


def footprint(settings: Settings, channel: str) -> object:
    """Everything that bears on the connection of an inlet."""
    its = settings.channels[channel]
    return its, settings.endpoints[its.endpoint]
