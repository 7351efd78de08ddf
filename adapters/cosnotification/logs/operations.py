"""The operations of DsLogAdmin::Log, under their IDL names."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import omniORB

from adapters.base import DeadLetterError
from adapters.cosnotification.decoding import any_from_orb
from adapters.cosnotification.logs.duty import UNIX_EPOCH, Duty, Mask, is_valid_days
from adapters.cosnotification.logs.iterator import RecordIterator
from adapters.cosnotification.logs.records import Record, Records
from adapters.cosnotification.logs.stubs import CORBA, DsLogAdmin
from mappings.errors import FilterError
from mappings.filters.etcl import EtclFilter, compile_etcl
from mappings.model import UntypedEvent

if TYPE_CHECKING:
    from adapters.cosnotification.logs.log import Settings

MOST_AT_ONCE: Final = 1000
"""Records in one answer; an iterator has the others."""


class LogOperations:
    log_factory: Any
    records: Records
    settings: Settings
    full: bool
    failing: bool

    # What it is

    def my_factory(self) -> Any:
        return self.log_factory.reference

    def get_log_qos(self) -> Any:
        return [DsLogAdmin.QoSReliability, DsLogAdmin.QoSFlush]

    def set_log_qos(self, qos: Any) -> None:
        unknown = [each for each in qos if each > DsLogAdmin.QoSReliability]
        if unknown:
            raise DsLogAdmin.UnsupportedQoS(unknown)

    def get_max_record_life(self) -> int:
        return self.settings.max_life_secs

    def set_max_record_life(self, life: int) -> None:
        """In seconds; 0: for ever."""
        self.set(max_life_secs=life)

    def get_max_size(self) -> int:
        return self.settings.max_size

    def set_max_size(self, size: int) -> None:
        if size and size < self.records.size:
            raise DsLogAdmin.InvalidParam(f"the log holds {self.records.size} octets")
        self.set(max_size=size)

    def get_current_size(self) -> int:
        return self.records.size

    def get_n_records(self) -> int:
        self.forget_old(_now())
        return self.records.count

    def get_log_full_action(self) -> int:
        return self.settings.full_action

    def set_log_full_action(self, action: int) -> None:
        if action not in (DsLogAdmin.wrap, DsLogAdmin.halt):
            raise DsLogAdmin.InvalidLogFullAction
        self.set(full_action=action)

    def get_administrative_state(self) -> Any:
        return DsLogAdmin.locked if self.settings.locked else DsLogAdmin.unlocked

    def set_administrative_state(self, state: Any) -> None:
        self.set(locked=state == DsLogAdmin.locked)

    def get_forwarding_state(self) -> Any:
        return DsLogAdmin.on if self.settings.forwarding else DsLogAdmin.off

    def set_forwarding_state(self, state: Any) -> None:
        self.set(forwarding=state == DsLogAdmin.on)

    def get_operational_state(self) -> Any:
        """Disabled while its file cannot be written."""
        return DsLogAdmin.disabled if self.failing else DsLogAdmin.enabled

    def get_interval(self) -> Any:
        return DsLogAdmin.TimeInterval(self.settings.duty.start, self.settings.duty.stop)

    def set_interval(self, interval: Any) -> None:
        if interval.stop and interval.stop <= interval.start:
            raise DsLogAdmin.InvalidTimeInterval
        self.set(duty=self.settings.duty._replace(start=interval.start, stop=interval.stop))

    def get_availability_status(self) -> Any:
        return DsLogAdmin.AvailabilityStatus(not self.on_duty, self.full)

    def get_capacity_alarm_thresholds(self) -> Any:
        return list(self.settings.thresholds)

    def set_capacity_alarm_thresholds(self, threshs: Any) -> None:
        self.set(thresholds=checked_thresholds(threshs))

    def get_week_mask(self) -> Any:
        return [
            DsLogAdmin.WeekMaskItem(
                mask.days,
                [
                    DsLogAdmin.Time24Interval(
                        DsLogAdmin.Time24(*divmod(begin, 60)), DsLogAdmin.Time24(*divmod(end, 60))
                    )
                    for begin, end in mask.spans
                ],
            )
            for mask in self.settings.duty.masks
        ]

    def set_week_mask(self, masks: Any) -> None:
        self.set(duty=Duty(self.settings.duty.start, self.settings.duty.stop, tuple(map(_mask, masks))))

    # Records

    def query(self, grammar: str, c: str) -> tuple[Any, Any]:
        return self._answer([record.id for record in self._matching(grammar, c)])

    def retrieve(self, from_time: int, how_many: int) -> tuple[Any, Any]:
        """The first so many from this time on; a negative number: so many before it, the youngest first."""
        self.forget_old(_now())
        if how_many < 0:
            return self._answer(self.records.ids_before(from_time, -how_many))
        return self._answer(self.records.ids_from(from_time, how_many))

    def match(self, grammar: str, c: str) -> int:
        return sum(1 for _ in self._matching(grammar, c))

    def delete_records(self, grammar: str, c: str) -> int:
        with to_client():
            return self.records.remove([record.id for record in self._matching(grammar, c)])

    def delete_records_by_id(self, ids: Any) -> int:
        with to_client():
            return self.records.remove(list(ids))

    def write_records(self, records: Any) -> None:
        self._write([(info, []) for info in records])

    def write_recordlist(self, list: Any) -> None:
        """Ids and times are the log's own."""
        self._write([(record.info, record.attr_list) for record in list])

    def set_record_attribute(self, id: int, attr_list: Any) -> None:
        self._set_attributes(self._record(id), attr_list)

    def set_records_attribute(self, grammar: str, c: str, attr_list: Any) -> int:
        found = list(self._matching(grammar, c))
        for record in found:
            self._set_attributes(record, attr_list)
        return len(found)

    def get_record_attribute(self, id: int) -> Any:
        return to_orb(self._record(id)).attr_list

    def flush(self) -> None:
        self.records.file.flush()

    def copy(self) -> tuple[Any, int]:
        """A new log with the same settings, without records."""
        made = self.log_factory.make(None, self.settings)
        return made.reference, int(made.id)

    def copy_with_id(self, id: int) -> Any:
        return self.log_factory.make(id, self.settings).reference

    # For those who mix it in

    id: Any

    @property
    def on_duty(self) -> bool:
        raise NotImplementedError

    def set(self, **changes: Any) -> None:
        raise NotImplementedError

    def write(self, contents: Any) -> int:
        raise NotImplementedError

    def forget_old(self, now: int) -> None:
        raise NotImplementedError

    # Inside

    def _write(self, contents: Any) -> None:
        if self.settings.locked:
            raise DsLogAdmin.LogLocked
        if not self.on_duty:
            raise DsLogAdmin.LogOffDuty
        with to_client():
            written = self.write(contents)
        if written < len(contents):
            raise DsLogAdmin.LogFull(min(written, 2**15 - 1))

    def _answer(self, ids: list[int]) -> tuple[Any, Any]:
        first = [to_orb(record) for record in self.records.by_id(ids[:MOST_AT_ONCE])]
        if len(ids) <= MOST_AT_ONCE:
            return first, None
        return first, self.log_factory.iterate(RecordIterator(self.records, ids))

    def _matching(self, grammar: str, text: str) -> Iterator[Record]:
        """Records that the constraint matches, as structs `{id, time, attr_list, info}`. Raises before the first is looked at."""
        if grammar != DsLogAdmin.default_grammar:
            raise DsLogAdmin.InvalidGrammar
        try:
            filter_ = compile_etcl(text) if text.strip() else None
        except FilterError:
            raise DsLogAdmin.InvalidConstraint from None
        self.forget_old(_now())
        return self._walk(filter_)

    def _walk(self, filter_: EtclFilter | None) -> Iterator[Record]:
        after = 0
        while found := self.records.all(after):
            after = found[-1].id
            yield from (record for record in found if filter_ is None or _matches(filter_, record))

    def _record(self, id_: int) -> Record:
        found = self.records.by_id([id_])
        if not found:
            raise DsLogAdmin.InvalidRecordId
        return found[0]

    def _set_attributes(self, record: Record, attr_list: Any) -> None:
        """Those of the same name are replaced."""
        merged = {pair.name: pair for pair in [*to_orb(record).attr_list, *attr_list]}
        with to_client():
            self.records.set_attributes(record.id, omniORB.cdrMarshal(DsLogAdmin._tc_NVList, list(merged.values())))


def to_orb(record: Record) -> Any:
    attributes = omniORB.cdrUnmarshal(DsLogAdmin._tc_NVList, record.attributes)
    info = omniORB.cdrUnmarshal(CORBA.TC_any, record.info)
    return DsLogAdmin.LogRecord(record.id, record.time, attributes, info)


def checked_thresholds(thresholds: Any) -> tuple[int, ...]:
    """Percentages, each greater than the one before. Raises InvalidThreshold."""
    found = tuple(thresholds)
    if any(not 0 <= each <= 100 for each in found) or list(found) != sorted(set(found)):
        raise DsLogAdmin.InvalidThreshold
    return found


def _matches(filter_: EtclFilter, record: Record) -> bool:
    """A record that cannot be read has no match."""
    try:
        return filter_.matches(UntypedEvent(any_from_orb(CORBA.Any(DsLogAdmin._tc_LogRecord, to_orb(record)))))
    except (DeadLetterError, CORBA.SystemException):
        return False


def _mask(item: Any) -> Mask:
    if not is_valid_days(item.days):
        raise DsLogAdmin.InvalidMask
    spans = []
    for interval in item.intervals:
        begin, end = (at.hour * 60 + at.minute for at in (interval.start, interval.stop))
        if any(at.hour > 24 or at.minute > 59 for at in (interval.start, interval.stop)) or end > 24 * 60:
            raise DsLogAdmin.InvalidTime
        if begin >= end:
            raise DsLogAdmin.InvalidTimeInterval
        spans.append((begin, end))
    return Mask(item.days, tuple(spans))


def _now() -> int:
    return UNIX_EPOCH + time.time_ns() // 100


@contextmanager
def to_client() -> Iterator[None]:
    """What the file does not take, as whoever called hears it: it has not happened."""
    try:
        yield
    except sqlite3.Error:
        raise CORBA.PERSIST_STORE(0, CORBA.COMPLETED_NO) from None
