"""The intake of one source channel: its journal, the inlet that fills it, and the cursors of the links that take from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal

from adapters.base import Delivery, Form, Source, StopError
from adapters.settings_base import BackOff
from gateway.inlet.inlet import Inlet
from gateway.inlet.journalled_source import JournalledSource
from gateway.inlet.observer import InletObserver, OfChannel
from gateway.inlet.status import InletStatus
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.disk import Disk
from gateway.journal.errors import JournalError
from gateway.journal.journal import Journal
from gateway.journal.options import Options, Policy

Safe = Literal["by_event", "synced", "written"]


class Intake:
    """Open from the start; the inlet comes and goes, as the channel's settings do."""

    def __init__(
        self,
        channel: str,
        form: Form,
        folder: Path,
        options: Options,
        observer: InletObserver,
        disk: Disk | None = None,
    ) -> None:
        """Raises StopError where the journal cannot be opened."""
        self.channel = channel
        self._form: Form = form
        self._observer = observer
        self._told_of: set[str] = set()
        self.inlet: Inlet | None = None
        try:
            self._journal: Journal[Delivery] = Journal.open(
                folder, DeliveryCodec(), options, OfChannel(channel, observer), disk=disk
            )
        except JournalError as trouble:
            raise StopError(
                trouble.code, trouble.message, path=trouble.path or str(folder), hint=trouble.hint
            ) from None
        except OSError as trouble:
            raise StopError(
                "JNL-IO",
                f"the journal of channel {channel} cannot be opened: {trouble.strerror or trouble}",
                path=str(trouble.filename or folder),
                hint="give the gateway's user the right to write there, and room",
            ) from trouble

    @property
    def journal(self) -> Journal[Delivery]:
        return self._journal

    def source(self, link: str, policy: Policy) -> JournalledSource:
        """The journal as the source of a link; what is appended from now on is kept for it. Not while the link runs."""
        return JournalledSource(self._journal, link, self._form, policy)

    def begin(self, source: Source, safe: Collection[Safe], back_off: BackOff, drain_secs: float) -> None:
        """Fill the journal from this source."""
        assert self.inlet is None
        self.inlet = Inlet(self.channel, source, self._journal, durability(safe), back_off, self._observer, drain_secs)
        self.inlet.start()

    def end(self, timeout_secs: float) -> bool:
        """End the inlet, if there is one; the journal stays. True when it ended in time."""
        inlet, self.inlet = self.inlet, None
        if inlet is None:
            return True
        inlet.stop()
        return inlet.join(timeout_secs)

    def close(self) -> bool:
        """After `end`, and after the links have ended. True when everything is on disk."""
        return self._journal.close() == 0

    def status(self) -> InletStatus:
        if self.inlet is None:
            return InletStatus(self.channel, "down", None, 0, 0, self._journal.status())
        return self.inlet.status()

    def look_after(self, absent: Mapping[str, Policy], gone: Iterable[str], *, forget: bool) -> None:
        """Of links that do not run: `absent` ones stand in the configuration and keep their place, with their policy; those that
        are `gone` from it are forgotten when nothing is pending for them (or in any case), and else hold back nobody."""
        for link, policy in absent.items():
            self._journal.cursor(link, policy)
        places = {place.link: place for place in self._journal.status().links}
        for link in gone:
            if forget or not places[link].pending:
                self._journal.forget(link)
            else:
                self._journal.cursor(link, "drop_oldest")
                self._tell_of(link, places[link].pending)

    def links(self) -> list[str]:
        """Those that have a cursor in the journal."""
        return [place.link for place in self._journal.status().links]

    def _tell_of(self, link: str, pending: int) -> None:
        if link not in self._told_of:
            self._told_of.add(link)
            finding = JournalError(
                "JNL-LEFT",
                f"{pending} events are kept for link {link}, which does not take from this channel any more",
                path=self.channel,
                hint="bring the link back, export them (isthmus journal export --link), or set journal.removed_links: forget",
            )
            self._observer.journal_found(self.channel, finding)


def durability(safe: Collection[Safe]) -> Callable[[Delivery], bool]:
    """Of what the links of a channel say, the strictest counts."""
    if "synced" in safe:
        return lambda _: True
    if "by_event" in safe or not safe:
        return lambda delivery: delivery.persistent
    return lambda _: False
