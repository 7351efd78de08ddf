"""The appliance: one configuration, running.

    run folder ─▶ services that we host ─▶ links ─▶ admin interface        (start, in this order; stop, in the reverse order)

The thread that made it drives it: `start`, `reload`, `stop`. Links and services have threads of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from adapters.base import StopError
from gateway.appliance.changes import Changes, changes, running_links
from gateway.appliance.listener import Listener
from gateway.appliance.run_dir import RunDir
from gateway.appliance.services import Services
from gateway.appliance.wiring import Wiring
from gateway.links.accounts import Accounts
from gateway.links.dead_letter_file import DeadLetterFile
from gateway.links.link import Link, LinkStatus, Pace
from gateway.links.translation import compile_step, translation_of
from gateway.settings.addresses import parse_address
from gateway.settings.settings import Settings
from mappings.errors import IsthmusError

JOIN_MARGIN_SECS = 15.0  # beyond its drain time, for closing connections to peers that do not answer


class Appliance:
    def __init__(self, settings: Settings, listener: Listener, *, drain_secs: float = 10.0) -> None:
        self.settings = settings
        self._listener = listener
        self._drain_secs = drain_secs
        self._run_dir = RunDir(Path(settings.run_dir))
        self._services = Services(settings, listener)
        self._wiring = Wiring(settings, self._services)
        self._links: dict[str, Link] = {}
        self._accounts: dict[str, Accounts] = {}
        self._undo: list[Callable[[], object]] = []

    @property
    def wiring(self) -> Wiring:
        return self._wiring

    def statuses(self) -> list[LinkStatus]:
        return [link.status() for link in list(self._links.values())]

    def start(self) -> None:
        """Raises StopError, with nothing left behind, where a part that a person must mend does not come up. A peer that is away is
        no such part: its links say so and keep trying."""
        try:
            self._step(self._run_dir.acquire, self._run_dir.release)
            self._step(self._services.start, self._services.stop)
            self._undo.append(self._end_all_links)
            self._begin(running_links(self.settings))
            self._start_admin()
        except BaseException:
            self.stop()
            raise

    def reload(self, settings: Settings) -> Changes:
        """Take over the links of another configuration; links that do not change are not disturbed."""
        difference = changes(self.settings, settings)
        self._end(difference.ended)
        kept = {part: getattr(self.settings, part) for part in difference.needs_restart}
        self.settings = settings.model_copy(update=kept)
        self._wiring.settings = self.settings
        for id_ in difference.begun:
            try:
                self._begin([id_])
            except (IsthmusError, ImportError) as trouble:  # the others go on; a restart would have refused to start
                error = StopError("LNK-NOT-STARTED", str(trouble), path=f"links.{id_}")
                self._listener.link_changed(id_, "stopped", error)
        return difference

    def stop(self) -> bool:
        """Drain the links, then end everything; True when every link had come to its end in time. Twice is fine."""
        drained = True
        while self._undo:
            drained = self._undo.pop()() is not False and drained
        return drained

    def _step(self, do: Callable[[], object], undo: Callable[[], object]) -> None:
        do()
        self._undo.append(undo)

    def _start_admin(self) -> None:
        if self.settings.admin is None:
            return
        from gateway.admin.server import AdminServer

        listen = parse_address(self.settings.admin.listen, any_port=True)
        admin = AdminServer(listen.host, listen.port, self.statuses)
        self._step(admin.start, admin.stop)
        self._listener.service_changed("admin", "ready", address=f"http://{admin.address}")

    def _begin(self, links: list[str] | tuple[str, ...]) -> None:
        for id_ in links:
            self._links[id_] = link = self._make_link(id_)
            link.start()

    def _make_link(self, id_: str) -> Link:
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
        )
        return Link(
            id_,
            self._wiring.source(id_),
            self._wiring.sink(id_),
            compile_step(translation_of(settings, id_)),
            DeadLetterFile(settings.dead_letter_path(id_)),
            self._listener,
            pace,
            self._accounts.setdefault(id_, Accounts()),
        )

    def _end_all_links(self) -> bool:
        return self._end(tuple(self._links))

    def _end(self, links: tuple[str, ...]) -> bool:
        """Drain these links side by side; True when all ended in time."""
        ending = [self._links[id_] for id_ in links]
        for link in ending:
            link.stop()
        deadline = time.monotonic() + self._drain_secs + JOIN_MARGIN_SECS
        ended = [link.join(max(0.0, deadline - time.monotonic())) for link in ending]
        for link in ending:
            del self._links[link.id]
            self._accounts[link.id].give_back()
        return all(ended)
