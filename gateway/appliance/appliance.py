"""The appliance: one configuration, running.

    run folder ─▶ services that we host ─▶ journals, inlets, links ─▶ admin interface    (start; stop in the reverse order)

The thread that made it drives it: `start`, `reload`, `stop`. Links and services have threads of their own; that of the bridges may
have their links taken over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from adapters.base import Source, StopError
from gateway.appliance.applying import Removal
from gateway.appliance.changes import Changes, changes, running_links, same_source
from gateway.appliance.listener import Listener
from gateway.appliance.run_dir import RunDir
from gateway.appliance.services import Services
from gateway.appliance.wiring import Wiring
from gateway.dead_letters.keeper import Keeper
from gateway.dead_letters.letters import DeadLettersError
from gateway.dead_letters.passing_on import PassingOn
from gateway.dead_letters.retry import check_retry, retry_running
from gateway.inlet.intakes import Intakes
from gateway.journal.disk import Disk
from gateway.links.accounts import Accounts
from gateway.links.dead_letter_file import DeadLetterFile
from gateway.links.demand import Demand, gated
from gateway.links.demand_terms import asked_for_everything, source_of, terms_of
from gateway.links.duplicates import Duplicates, DuplicateWindows
from gateway.links.link import Handover, Link, LinkStatus
from gateway.links.numbered import Numbers, watching
from gateway.links.pace import Pace
from gateway.links.replies import replies_of
from gateway.links.sealed_bodies import sealing_of, with_sealed_bodies
from gateway.links.start_time import holding
from gateway.links.step import PatientStep
from gateway.links.tap import Taps
from gateway.links.translation import compile_step, holds_back, translation_of
from gateway.notices.teller import Teller
from gateway.settings.addresses import parse_address
from gateway.settings.settings import Settings
from mappings.errors import IsthmusError

if TYPE_CHECKING:
    from gateway.bridges.registry import Bridges
    from gateway.capture.captures import Captures

JOIN_MARGIN_SECS = 15.0  # beyond its drain time, for closing connections to peers that do not answer


class Appliance:
    def __init__(
        self,
        settings: Settings,
        listener: Listener,
        *,
        drain_secs: float = 10.0,
        disk: Disk | None = None,
        leads: Callable[[], bool] | None = None,
    ) -> None:
        """`disk` is what journals are written to, and `leads` asked before anything is sent, where there is a standby. Raises
        StopError where the bridges of an earlier run cannot be read."""
        self._bridges = _bridges_of(settings, self._bridges_changed)
        self._configured = settings  # without the bridges
        self._driving = threading.RLock()
        self._is_running = False
        if self._bridges is not None:
            settings = self._bridges.over(settings, listener.bridge_refused)
        self.settings = settings
        self._listener = self._teller = listener = Teller(listener, lambda: self.settings, self.statuses)
        self._drain_secs = drain_secs
        self._run_dir = RunDir(Path(settings.run_dir))
        self._services = Services(settings, listener)
        self._wiring = Wiring(settings, self._services, self._teller.tray.peer, leads=leads)
        self._demand = Demand(listener.demand_changed)
        self._intakes = Intakes(self._channel_source, listener, drain_secs, disk)
        self._links: dict[str, Link] = {}
        self._accounts: dict[str, Accounts] = {}
        self._numbers: dict[str, Numbers] = {}  # of links whose source numbers its events
        self._captures: Captures | None = None
        self._windows = DuplicateWindows(Path(settings.run_dir) / "duplicates")
        self._taps = Taps()
        self._keeper: Keeper | None = None
        self._undo: list[Callable[[], object]] = []

    @property
    def wiring(self) -> Wiring:
        return self._wiring

    def statuses(self) -> list[LinkStatus]:
        return [self._seen(link.status()) for link in list(self._links.values())]

    def retry(self, link: str, letters: Collection[str]) -> list[DeadLettersError]:
        """Send these dead letters of a link again, by their keys; those that cannot be are told and stay. From any thread. Raises
        DeadLettersError and OSError: then none was taken out of the file."""
        settings = self.settings
        if link not in settings.links:
            raise DeadLettersError("DLQ-NO-LINK", f"there is no link {link!r} in this gateway", path=link)
        check_retry(settings, link)
        journal = self._intakes.journal_of(link)
        if journal is None:
            raise DeadLettersError(
                "DLQ-NOT-STARTED", f"link {link} does not run", path=f"links.{link}", hint="enable it, and reload"
            )
        return retry_running(journal, settings, link, letters)

    def start(self) -> None:
        """Raises StopError, with nothing left behind, where a part that a person must mend does not come up. A peer that is away is
        no such part: its links say so and keep trying."""
        with self._driving:
            self._start()
            self._is_running = True

    def _start(self) -> None:
        try:
            self._step(self._run_dir.acquire, self._run_dir.release)
            self._step(self._teller.start, self._teller.stop)
            self._step(self._services.start, self._services.stop)
            self._start_capture()
            self._undo.append(self._windows.close)
            self._step(self._keep_letters, self._end_letters)
            self._undo.append(self._demand.stop)
            self._undo.append(self._end_all_links)
            self._begin(running_links(self.settings))
            self._intakes.begin(self.settings, tuple(self._links))
            self._demand.settle(self._links.keys(), asked_for_everything(self.settings))
            self._start_bridges()
            self._start_admin()
        except BaseException:
            self.stop()
            raise

    def reload(self, settings: Settings) -> Changes:
        """Take over the links of another configuration; links that do not change are not disturbed."""
        with self._driving:
            self._configured = settings
            return self._take_over(self._with_bridges(settings))

    def unsubscribe(self, settings: Settings, subscriptions: Iterable[tuple[str, str, str]]) -> list[Removal]:
        """Have peers forget durable subscriptions of an earlier configuration, whose links have ended: channel, topic and name."""
        wiring = Wiring(settings, self._services, self._teller.tray.peer)
        removals = []
        for channel, topic, name in subscriptions:
            try:
                wiring.source(channel).unsubscribe()
            except (IsthmusError, ImportError) as trouble:
                removals.append(Removal(channel, topic, name, str(trouble)))
            else:
                removals.append(Removal(channel, topic, name))
        return removals

    def _bridges_changed(self) -> None:
        """On a thread of the bridges."""
        with self._driving:
            if self._is_running:
                self._take_over(self._with_bridges(self._configured))

    def _with_bridges(self, settings: Settings) -> Settings:
        return settings if self._bridges is None else self._bridges.over(settings, self._listener.bridge_refused)

    def _start_bridges(self) -> None:
        its = self.settings.services.bridges
        if its is not None and self._bridges is not None:
            self._services.start_bridges(its, self._bridges, lambda: self.settings)

    def _take_over(self, settings: Settings) -> Changes:
        difference = changes(self.settings, settings)
        kept = {part: getattr(self.settings, part) for part in difference.needs_restart}
        settings = settings.model_copy(update=kept)
        settings.model_fields_set.difference_update(kept.keys() - self.settings.model_fields_set)  # absent is not null
        kept_sources = {id_ for id_ in difference.ended if same_source(self.settings, settings, id_)}
        handovers = self._end(difference.ended, kept_sources)
        self.settings = self._wiring.settings = settings
        self._intakes.end(settings, [id_ for id_ in running_links(settings) if settings.journalled(id_)])
        with suppress(IsthmusError, ImportError):
            self._keep_letters()
        for id_ in difference.begun:
            try:
                self._begin([id_], handovers)
            except (IsthmusError, ImportError) as trouble:  # the others go on; a restart would have refused to start
                if id_ in handovers:
                    handovers[id_].source.close()
                error = StopError("LNK-NOT-STARTED", str(trouble), path=f"links.{id_}")
                self._listener.link_changed(id_, "stopped", error)
        self._services.configure(settings)
        with suppress(IsthmusError, ImportError):  # the listener was told
            self._intakes.begin(settings, tuple(self._links))
        self._demand.settle(self._links.keys(), asked_for_everything(settings))
        return difference

    def stop(self) -> bool:
        """Drain the links, then end everything; True when every link had come to its end in time. Twice is fine."""
        with self._driving:
            self._is_running = False
        drained = True
        while self._undo:
            drained = self._undo.pop()() is not False and drained
        return drained

    def _step(self, do: Callable[[], object], undo: Callable[[], object]) -> None:
        do()
        self._undo.append(undo)

    def _start_capture(self) -> None:
        if self.settings.capture is not None:
            from gateway.capture.captures import Captures

            self._captures = captures = Captures(self.settings, self._listener)
            self._step(captures.start, captures.stop)

    def _seen(self, status: LinkStatus) -> LinkStatus:
        """With what the link itself does not know."""
        if self._captures is not None:
            status = replace(status, capture=self._captures.status(status.id))
        if (numbers := self._numbers.get(status.id)) is not None:
            status = replace(status, missing=numbers.missing)
        return self._intakes.seen(status)

    def _start_admin(self) -> None:
        if self.settings.admin is None:
            return
        from gateway.admin.server import AdminServer

        listen = parse_address(self.settings.admin.listen, any_port=True)
        admin = AdminServer(listen.host, listen.port, self.statuses, lambda: self.settings, self._taps, self.retry)
        self._step(admin.start, admin.stop)
        self._listener.service_changed("admin", "ready", address=f"http://{admin.address}")

    def _begin(self, links: Sequence[str], handovers: Mapping[str, Handover] = MappingProxyType({})) -> None:
        for id_ in links:
            self._links[id_] = link = self._make_link(id_, handovers.get(id_))
            link.start()

    def _make_link(self, id_: str, handover: Handover | None) -> Link:
        settings = self.settings
        its = settings.links[id_]
        source, sink = (settings.channels[channel] for channel in (its.source, its.sink))
        pace = Pace(
            window=its.delivery.window,
            batch=its.delivery.batch,
            drain_secs=self._drain_secs,
            source_back_off=settings.endpoints[source.endpoint].back_off,
            sink_back_off=settings.endpoints[sink.endpoint].back_off,
            retry=its.delivery.retry.back_off,
            max_age_secs=its.delivery.retry.max_age_secs,
            breaker=its.delivery.retry.breaker,
            dead_letter_expired=its.dead_letter.expired,
            stop_at_ratio=its.dead_letter.stop_at_ratio,
            stop_after=its.dead_letter.stop_after,
        )
        outlet = self._wiring.sink(id_)
        watch = self._services.watch_wanted(settings, id_, outlet)
        gate = self._demand.begin(id_, terms_of(settings, id_), outlet, watch)
        step = self._step_of(id_)
        return Link(
            id_,
            self._source(id_, handover),
            outlet,
            gated(step, gate) if its.on_demand else step,
            DeadLetterFile(settings.dead_letter_path(id_)),
            self._listener,
            pace,
            self._accounts.setdefault(id_, Accounts()),
            handover.unsettled if handover else None,
            self._captures.recorder(settings, id_) if self._captures is not None else None,
            duplicates=self._duplicates(id_),
            tap=self._taps.of_link(id_),
        )

    def _keep_letters(self) -> None:
        """Begin to look after the dead letters of all links; again after a reload."""
        self._end_letters()
        settings = self.settings
        keep_secs: dict[str, tuple[Path, int]] = {}
        passing_on: dict[str, PassingOn] = {}
        for id_, link in settings.links.items():
            path = settings.dead_letter_path(id_)
            if link.dead_letter.keep_secs is not None:
                keep_secs[id_] = (path, link.dead_letter.keep_secs)
            if link.dead_letter.channel is not None and link.enabled:
                sink = self._wiring.sink_of(link.dead_letter.channel)
                back_off = settings.endpoints[settings.channels[link.dead_letter.channel].endpoint].back_off
                passing_on[id_] = PassingOn(id_, path, sink, back_off, self._listener)
        self._keeper = Keeper(keep_secs, passing_on, self._listener)
        self._keeper.start()

    def _end_letters(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.stop()

    def _step_of(self, link: str) -> PatientStep:
        translation = translation_of(self.settings, link)
        step = compile_step(translation, replies_of(self.settings, link))
        step = with_sealed_bodies(step, *sealing_of(self.settings, link))
        its = self.settings.links[link]
        patient = holding(step, its.delivery.hold_secs) if holds_back(translation) else step
        self._numbers.pop(link, None)
        if its.numbered is None:
            return patient
        tell = partial(self._listener.numbers_missing, link)
        self._numbers[link] = numbers = Numbers(its.numbered.field, its.numbered.by, tell)
        return watching(patient, numbers)

    def _duplicates(self, link: str) -> Duplicates | None:
        settings = self.settings
        sink = settings.first_id(settings.links[link].sink)
        try:
            return self._windows.of_link(link, sink, settings.duplicates_of(link), settings.domain.duplicate_window)
        except OSError as trouble:
            raise StopError(
                "LNK-DUPLICATES",
                f"the ids of events that channel {sink} has had cannot be kept: {trouble.strerror or trouble}",
                path=str(trouble.filename or self._run_dir.path),
                hint="give the gateway's user the right to write there, and room",
            ) from trouble

    def _source(self, link: str, handover: Handover | None) -> Source:
        if self.settings.journalled(link):
            return self._intakes.source(self.settings, link)
        source = handover.source if handover else self._wiring.source(self.settings.links[link].source)
        self._demand.source(source_of(self.settings, link), source)
        return source

    def _channel_source(self, channel: str) -> Source:
        """For its inlet."""
        source = self._wiring.source(channel)
        self._demand.source(f"channel {channel}", source)
        return source

    def _end_all_links(self) -> bool:
        """True when all ended in time, and what the journals took is on disk."""
        links = list(self._links.values())
        self._intakes.stop_receiving()
        self._end(tuple(self._links))
        ended = self._intakes.end()
        return all(link.join(0.0) for link in links) and ended

    def _end(self, links: Sequence[str], keep_sources: Set[str] = frozenset()) -> dict[str, Handover]:
        """Drain these links side by side; what they leave to those that go on with their sources."""
        ending = [self._links[id_] for id_ in links]
        for link in ending:
            link.stop(keep_source=link.id in keep_sources)
        deadline = time.monotonic() + self._drain_secs + JOIN_MARGIN_SECS
        handovers: dict[str, Handover] = {}
        for link in ending:
            ended = link.join(max(0.0, deadline - time.monotonic()))
            if ended and link.handover is not None:
                handovers[link.id] = link.handover
            del self._links[link.id]
            self._accounts[link.id].give_back()
        return handovers


def _bridges_of(settings: Settings, changed: Callable[[], None]) -> Bridges | None:
    its = settings.services.bridges
    if its is None:
        return None
    from gateway.bridges.registry import Bridges

    return Bridges(Path(its.store) if its.store is not None else Path(settings.run_dir) / "bridges.json", changed)
