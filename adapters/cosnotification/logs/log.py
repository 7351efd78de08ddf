"""NotifyLog and TypedNotifyLog: event channels of our service that record what passes through them."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import omniORB

from adapters.cosnotification import shims
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.logs.duty import UNIX_EPOCH, Duty, duty_from_json
from adapters.cosnotification.logs.operations import LogOperations, to_client
from adapters.cosnotification.logs.records import LogFile, Records
from adapters.cosnotification.logs.stubs import (
    CORBA,
    DsLogAdmin,
    DsNotifyLogAdmin__POA,
    DsTypedNotifyLogAdmin__POA,
)
from adapters.cosnotification.logs.trouble import FULL, NOT_WRITTEN
from adapters.cosnotification.service.channel import EventChannel
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.filter_set import Test
from adapters.cosnotification.service.filter import Filter
from adapters.cosnotification.service.filter_admin import FOREIGN_CALL_MS, foreign_test
from adapters.cosnotification.service.host import ServiceHost
from adapters.cosnotification.service.typed_channel import TypedEventChannel

UNITS_PER_SEC: Final = 10_000_000
WRAP, HALT = 0, 1
NO_ATTRIBUTES: Final[list[Any]] = []


class Settings(NamedTuple):
    """What clients set, and is kept. Sizes in octets; 0: no limit."""

    full_action: int = WRAP
    max_size: int = 0
    max_life_secs: int = 0
    locked: bool = False
    forwarding: bool = True
    thresholds: tuple[int, ...] = ()
    duty: Duty = Duty()

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "duty": self.duty.to_json()}


def settings_from_json(form: dict[str, Any]) -> Settings:
    return Settings(**{**form, "thresholds": tuple(form["thresholds"]), "duty": duty_from_json(form["duty"])})


class LogNumber(int):
    """The id of a log. In IDL `id` is an operation of a log; of a channel it is this number: so it is both."""

    def __call__(self) -> int:
        return int(self)


class LogChannel(LogOperations):
    """What both kinds have beside the operations of DsLogAdmin::Log; mixed into a channel."""

    KIND: str
    orb: Any
    id: Any
    place: str
    service: Any
    hub: Any

    def init_log(self, factory: Any, file: LogFile, settings: Settings, changed: Callable[[], None]) -> None:
        self.log_factory = factory
        self.hub.record = self.record
        self.records = Records(file, f"{self.KIND}/{int(self.id)}")
        self.settings = settings
        self.full = False
        self.failing = False
        self.unrecorded = 0  # events that a log did not take because it was full, or its file failed
        self._settings_changed = changed
        self._write_lock = threading.RLock()
        self._filter: Any = None
        self._test: Test | None = None

    def set(self, **changes: Any) -> None:
        before = self.settings
        self.settings = before._replace(**changes)
        try:
            with to_client():
                self._settings_changed()
        except CORBA.PERSIST_STORE:
            self.settings = before
            raise

    # The filter of what is recorded

    def get_filter(self) -> Any:
        return self._filter

    def set_filter(self, filter: Any) -> None:
        """Nil: everything is recorded. A filter in another process that fails lets an event be recorded."""
        if shims.is_nil(filter):
            self._filter = self._test = None
            return
        servant = self.service.room.servant_of(filter)
        if isinstance(servant, Filter):
            self._test = servant.passes
        else:
            set_time_out(filter, FOREIGN_CALL_MS)
            self._test = foreign_test(filter)
        self._filter = filter

    # Recording

    def record(self, events: Sequence[CarriedEvent]) -> bool:
        """Whether the events are to be passed on. A log that cannot record now lets them pass."""
        if not self.settings.locked and self.on_duty:
            test = self._test
            wanted = [event for event in events if test is None or test(event)]
            if wanted:
                self.unrecorded += len(wanted) - self._written(wanted)
        return self.settings.forwarding

    def _written(self, events: Sequence[CarriedEvent]) -> int:
        """A file that cannot be written holds back no event: the channel lives on, its log does not."""
        try:
            return self.write([(event.any, NO_ATTRIBUTES) for event in events])
        except sqlite3.Error:
            return 0

    def write(self, contents: Sequence[tuple[Any, Any]]) -> int:
        """Anys with attributes; how many there was room for. Raises sqlite3.Error: then it recorded nothing."""
        now = UNIX_EPOCH + time.time_ns() // 100
        encoded = [
            (now, _encoded(DsLogAdmin._tc_NVList, attributes), _encoded(CORBA.TC_any, info))
            for info, attributes in contents
        ]
        with self._write_lock:
            try:
                self.forget_old(now)
                fitting = self._make_room(encoded)
                if fitting:
                    self.records.add(encoded[:fitting])
            except sqlite3.Error as error:
                self._set_state(failing=str(error))
                raise
            self._set_state(full=fitting < len(encoded))
        return fitting

    def forget_old(self, now: int) -> None:
        if self.settings.max_life_secs:
            self.records.remove_before(now - self.settings.max_life_secs * UNITS_PER_SEC)

    @property
    def on_duty(self) -> bool:
        return self.settings.duty.covers(UNIX_EPOCH + time.time_ns() // 100)

    def _make_room(self, encoded: Sequence[tuple[int, bytes, bytes]]) -> int:
        """How many of them fit, after the oldest records were removed where the log wraps."""
        limit = self.settings.max_size
        if not limit:
            return len(encoded)
        sizes = [len(attributes) + len(info) for _, attributes, info in encoded]
        if self.settings.full_action == WRAP:
            needed = self.records.size + sum(sizes) - limit
            if needed > 0 and sum(sizes) <= limit:
                self.records.remove_oldest(needed)
        fitting, size = 0, self.records.size
        for its in sizes:
            if size + its > limit:
                break
            size += its
            fitting += 1
        return fitting

    def _set_state(self, *, full: bool = False, failing: str = "") -> None:
        changed = (full, bool(failing)) != (self.full, self.failing)
        self.full, self.failing = full, bool(failing)
        if changed:
            code = NOT_WRITTEN if failing else FULL if full else ""
            self.log_factory.told(f"{self.KIND} {int(self.id)}", code, failing)


class NotifyLog(LogChannel, EventChannel, DsNotifyLogAdmin__POA.NotifyLog):  # type: ignore[misc]
    KIND = PLACE = "log"

    def __init__(self, service: ServiceHost, id_: int, *log: Any) -> None:
        EventChannel.__init__(self, service, LogNumber(id_))
        self.init_log(*log)

    def destroy(self) -> None:
        """The log and its records."""
        EventChannel.destroy(self)
        self.log_factory.forget(self)


class TypedNotifyLog(LogChannel, TypedEventChannel, DsTypedNotifyLogAdmin__POA.TypedNotifyLog):  # type: ignore[misc]
    KIND = PLACE = "typed-log"

    def __init__(self, service: ServiceHost, id_: int, *log: Any) -> None:
        TypedEventChannel.__init__(self, service, LogNumber(id_))
        self.init_log(*log)

    def destroy(self) -> None:
        TypedEventChannel.destroy(self)
        self.log_factory.forget(self)


def _encoded(type_code: Any, value: Any) -> bytes:
    data: bytes = omniORB.cdrMarshal(type_code, value)
    return data
