"""Hears what links, inlets and services tell, passes it on to the log, and makes notices of it.

A link that carries notices tells of itself too, but not of its dead letters: each would make another one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from adapters.base import Delivery, EventTypes
from adapters.notices.settings import NoticesChannel
from gateway.notices.absences import STARTED, Absences
from gateway.notices.notice import Fact, Severity, notice
from gateway.notices.tally import Tallies
from gateway.notices.tray import Tray
from gateway.settings.wires import capabilities_of
from mappings.captures.errors import CaptureError
from mappings.errors import IsthmusError
from mappings.model import StructuredEvent

if TYPE_CHECKING:
    from gateway.appliance.listener import Listener
    from gateway.journal.errors import JournalError
    from gateway.links.link import LinkStatus
    from gateway.links.observer import Side, State
    from gateway.settings.settings import Settings

LETTERS_SECS: Final = 10.0  # dead letters of one link for one reason: one notice in so long a time
LOOK_SECS: Final = 0.5


class Teller:
    """A Listener in front of another one. `start` and `stop` pair up."""

    def __init__(
        self, listener: Listener, settings: Callable[[], Settings], statuses: Callable[[], list[LinkStatus]]
    ) -> None:
        self._listener = listener
        self._settings = settings
        self._statuses = statuses
        self._absences = Absences()
        self._letters: Tallies[tuple[str, str, IsthmusError]] = Tallies(LETTERS_SECS)
        self._stopped_links: set[str] = set()
        self._troubled_services: set[str] = set()
        self._tray: Final = Tray(self._notice_of_lost)
        self._beats: dict[str, float] = {}  # by channel: when the next is due
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def tray(self) -> Tray:
        return self._tray

    def start(self) -> None:
        self._ending.clear()
        self._thread = threading.Thread(target=self._run, name="notices", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._ending.set()
            thread.join()

    # What is told

    def side_changed(self, link: str, side: Side, state: State, error: IsthmusError | None, attempts: int) -> None:
        self._listener.side_changed(link, side, state, error, attempts)
        settings = self._settings()
        its = settings.links.get(link)
        if its is None:
            return
        if side in ("dead-letters", "duplicates"):
            self._store(side, link, error, Link=link)
        elif side == "sink":
            self._peer(its.sink, state, error, attempts, Link=link, Side=side)
        elif not settings.journalled(link):  # a journal is no peer
            self._peer(its.source, state, error, attempts, Link=link, Side=side)
            self._absence(its.source, f"link {link}", state, error, Link=link)

    def inlet_changed(self, channel: str, state: State, error: IsthmusError | None, attempts: int) -> None:
        self._listener.inlet_changed(channel, state, error, attempts)
        if isinstance(self._settings().channels.get(channel), NoticesChannel):
            return
        self._peer(channel, state, error, attempts, Side="source")
        self._absence(channel, f"inlet {channel}", state, error)

    def link_changed(self, link: str, state: State, error: IsthmusError | None) -> None:
        self._listener.link_changed(link, state, error)
        if state == "stopped" and error is not None:
            self._stopped_links.add(link)
            self._post("LinkStopped", link, "critical", f"link {link} has stopped", error, State=state, Link=link)
        elif state == "ready" and link in self._stopped_links:
            self._stopped_links.discard(link)
            self._post("LinkStopped", link, "cleared", f"link {link} runs again", None, State=state, Link=link)

    def dead_lettered(self, link: str, delivery: Delivery, error: IsthmusError) -> None:
        self._listener.dead_lettered(link, delivery, error)
        settings = self._settings()
        its = settings.links.get(link)
        if its is None or isinstance(settings.channels.get(its.source), NoticesChannel):
            return
        letter = link, delivery.id, error
        if self._letters.first(f"{link} {error.code}", letter):
            self._letters_put_aside(letter, 1)

    def demand_changed(self, link: str, types: EventTypes) -> None:
        self._listener.demand_changed(link, types)

    def numbers_missing(self, link: str, by: str, first: int, last: int) -> None:
        self._listener.numbers_missing(link, by, first, last)
        count = last - first + 1
        text = f"{count} events of {by or 'the source'} did not come: numbers {first} to {last}"
        its = self._settings().links.get(link)
        channel = None if its is None else its.source
        self._post(
            "NumbersMissing", link, "major", text, None,
            Link=link, Channel=channel, By=by or None, First=first, Last=last, Count=count,
        )  # fmt: skip

    def journal_found(self, channel: str, finding: JournalError) -> None:
        self._listener.journal_found(channel, finding)
        self._post("JournalFinding", channel, "warning", f"journal of {channel}", finding, Channel=channel)

    def journal_held(self, channel: str, reason: JournalError) -> None:
        self._listener.journal_held(channel, reason)
        self._store("journal", channel, reason, Channel=channel)

    def journal_released(self, channel: str, held_secs: float) -> None:
        self._listener.journal_released(channel, held_secs)
        self._store("journal", channel, None, Channel=channel, Secs=round(held_secs, 3))

    def capture_changed(self, error: CaptureError | None, uncaptured: int) -> None:
        self._listener.capture_changed(error, uncaptured)
        self._store("capture", "capture", error, Missed=uncaptured)

    def letters_expired(self, link: str, count: int) -> None:
        self._listener.letters_expired(link, count)

    def service_changed(self, service: str, state: str, error: IsthmusError | None = None, **facts: object) -> None:
        self._listener.service_changed(service, state, error, **facts)
        severity: Severity = "indeterminate"
        if error is not None:
            severity = "major"
            self._troubled_services.add(service)
        elif service in self._troubled_services:
            severity = "cleared"
            self._troubled_services.discard(service)
        self._post("ServiceChanged", service, severity, f"{service} is {state}", error, State=state)

    def service_found(self, service: str, error: IsthmusError) -> None:
        self._listener.service_found(service, error)
        self._post("ServiceFinding", service, "warning", f"service {service}", error)

    def service_store_changed(self, service: str, error: IsthmusError | None) -> None:
        self._listener.service_store_changed(service, error)
        self._store("store", service, error)

    def bridge_refused(self, operation: str, error: IsthmusError) -> None:
        self._listener.bridge_refused(operation, error)

    def domain_connection_changed(self, domain: str, connection: int, state: str, trouble: str) -> None:
        self._listener.domain_connection_changed(domain, connection, state, trouble)
        text = f"connection {connection} of {domain} is {state}{f': {trouble}' if trouble else ''}"
        severity: Severity = "major" if trouble else "cleared"
        self._post(
            "DomainConnectionChanged", f"{domain} connection {connection}", severity, text, None,
            Domain=domain, Connection=connection, State=state, Reason=trouble or None,
        )  # fmt: skip

    def domain_answer_cut(self, domain: str, operation: str, answers: int) -> None:
        self._listener.domain_answer_cut(domain, operation, answers)

    # What becomes of it

    def _peer(self, channel: str, state: State, error: IsthmusError | None, attempts: int, **facts: Fact) -> None:
        if error is None and state != "ready":
            return  # on its way to be ready, or ended by us
        severity: Severity = "cleared" if error is None else "critical" if state == "stopped" else "major"
        text = f"{facts['Side']} {channel} is {state}"
        endpoint = its.endpoint if (its := self._settings().channels.get(channel)) is not None else None
        self._post(
            "PeerChanged", channel, severity, text, error,
            Channel=channel, Endpoint=endpoint, State=state, Attempts=attempts or None, **facts,
        )  # fmt: skip

    def _absence(self, channel: str, name: str, state: State, error: IsthmusError | None, **facts: Fact) -> None:
        absence = self._absences.changed(name, state, error.code if error is not None else None)
        its = self._settings().channels.get(channel)
        if absence is None or its is None or isinstance(its, NoticesChannel) or capabilities_of(its).keeps:
            return
        now = time.time()
        if absence.since is None:
            text, since = f"what {channel} sent before this gateway was there is not known", {}
        else:
            since = {"Since": int(absence.since * 1000), "Secs": round(now - absence.since, 3)}
            text = f"what {channel} sent in the last {now - absence.since:.1f} s may be missing"
        severity: Severity = "indeterminate" if absence.reason == STARTED else "warning"
        self._post(
            "PossibleGap", channel, severity, text, None,
            Channel=channel, Endpoint=its.endpoint, Until=int(now * 1000), Cause=absence.reason, **since, **facts,
        )  # fmt: skip

    def _store(self, store: str, about: str, error: IsthmusError | None, **facts: Fact) -> None:
        severity: Severity = "cleared" if error is None else "critical"
        text = f"the {store} of {about} {'is written again' if error is None else 'cannot be written'}"
        self._post(
            "StoreChanged", about, severity, text, error,
            Store=store, State="ready" if error is None else "down", **facts,
        )  # fmt: skip

    def _letters_put_aside(self, letter: tuple[str, str, IsthmusError], count: int) -> None:
        link, id_, error = letter
        text = f"{count} dead letter{'' if count == 1 else 's'} of link {link}"
        self._post("DeadLetters", link, "warning", text, error, Link=link, Count=count, Event=id_)

    def _notice_of_lost(self, count: int) -> StructuredEvent:
        text = f"{count} notices could not be kept"
        return notice(self._settings().name, "NoticesLost", "notices", "warning", text, {"Count": count})

    def _post(
        self, kind: str, about: str, severity: Severity, text: str, error: IsthmusError | None, **facts: Fact
    ) -> None:
        channels = self._channels()
        if not channels:
            return
        if error is not None:
            text = f"{text}: {error.code}: {error.message}"
            facts |= {"Code": error.code, "Reason": error.message, "Hint": error.hint or None}
        event = notice(self._settings().name, kind, about, severity, text, facts)
        self._tray.post(channels.keys(), event)

    def _channels(self) -> Mapping[str, NoticesChannel]:
        """Those that a running link takes from."""
        settings = self._settings()
        sources = {its.source for its in settings.links.values() if its.enabled}
        return {id_: its for id_ in sources if isinstance(its := settings.channels.get(id_), NoticesChannel)}

    # The thread

    def _run(self) -> None:
        while not self._ending.wait(LOOK_SECS):
            self._tell_tallies()
            self._beat()
        self._tell_tallies(all_of_them=True)

    def _tell_tallies(self, *, all_of_them: bool = False) -> None:
        for letter, count in self._letters.due(all_of_them=all_of_them):
            self._letters_put_aside(letter, count)

    def _beat(self) -> None:
        now = time.monotonic()
        for id_, channel in self._channels().items():
            if channel.heartbeat_secs is None:
                continue
            due = self._beats.setdefault(id_, now)
            if now >= due:
                self._beats[id_] = max(due + channel.heartbeat_secs, now)
                self._tray.post([id_], self._heartbeat())

    def _heartbeat(self) -> StructuredEvent:
        statuses = self._statuses()
        ready = sum(status.state == "ready" for status in statuses)
        oldest = max((status.oldest_pending_secs or 0.0 for status in statuses), default=0.0)
        pending = sum(status.balance.pending for status in statuses)
        text = f"{ready} of {len(statuses)} links are ready, {pending} events are pending"
        return notice(
            self._settings().name, "Heartbeat", "gateway", "indeterminate", text,
            {
                "Links": len(statuses), "Ready": ready, "Pending": pending, "OldestPendingSecs": round(oldest, 3),
                "DeadLettered": sum(status.balance.dead_lettered for status in statuses),
            },
        )  # fmt: skip
