"""NotifyLogFactory and TypedNotifyLogFactory: they make logs, know them, and bring them back after a restart."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar, Final

from adapters.cosnotification.logs.iterator import RecordIterator
from adapters.cosnotification.logs.log import (
    HALT,
    WRAP,
    LogChannel,
    NotifyLog,
    Settings,
    TypedNotifyLog,
    settings_from_json,
)
from adapters.cosnotification.logs.operations import checked_thresholds, to_client, to_orb
from adapters.cosnotification.logs.records import LogFile
from adapters.cosnotification.logs.stubs import (
    CosNotification,
    DsLogAdmin,
    DsNotifyLogAdmin__POA,
    DsTypedNotifyLogAdmin__POA,
)
from adapters.cosnotification.service.host import ServiceHost

MOST_ITERATORS: Final = 100  # clients forget to destroy them: the oldest then goes


class LogFactory:
    """Mixed into both servants."""

    LOG: ClassVar[Any]

    def __init__(self, service: ServiceHost, file: LogFile, told: Callable[[str, str, str], None]) -> None:
        """`told` hears of a log that it cannot record, by the code of the trouble, and that it can again, without one."""
        self._service = service
        self.told = told
        self._orb = service.orb
        self._file = file
        self._lock = threading.RLock()
        self._logs: dict[int, Any] = {}
        self._iterators: OrderedDict[bytes, RecordIterator] = OrderedDict()
        self._key = service.fixed_key(f"{self.LOG.KIND}-factory")
        self.reference = self._orb.activate(self, self._key)
        for id_, settings in file.logs(self.LOG.KIND):
            self._put(id_, settings_from_json(settings))

    # What clients call

    def create(
        self, full_action: int, max_size: int, thresholds: Any, initial_qos: Any, initial_admin: Any
    ) -> tuple[Any, int]:
        log = self._create(None, full_action, max_size, thresholds, initial_qos, initial_admin)
        return log.reference, int(log.id)

    def create_with_id(
        self, id: int, full_action: int, max_size: int, thresholds: Any, initial_qos: Any, initial_admin: Any
    ) -> Any:
        return self._create(id, full_action, max_size, thresholds, initial_qos, initial_admin).reference

    def list_logs(self) -> Any:
        with self._lock:
            return [log.reference for log in self._logs.values()]

    def find_log(self, id: int) -> Any:
        """Nil where there is none."""
        found = self._logs.get(id)
        return None if found is None else found.reference

    def list_logs_by_id(self) -> list[int]:
        with self._lock:
            return list(self._logs)

    # What logs and the service call

    def make(self, id_: int | None, settings: Settings) -> Any:
        """With an id that is not in use. Raises LogIdAlreadyExists."""
        with self._lock, to_client():
            if id_ is None:
                id_ = int(self._file.fact(f"next-log/{self.LOG.KIND}", "0"))
                while id_ in self._logs:
                    id_ += 1
                self._file.set_fact(f"next-log/{self.LOG.KIND}", str(id_ + 1))
            elif id_ in self._logs:
                raise DsLogAdmin.LogIdAlreadyExists
            self._file.put_log(self.LOG.KIND, id_, settings.to_json())
            return self._put(id_, settings)

    def forget(self, log: LogChannel) -> None:
        with self._lock:
            if self._logs.pop(int(log.id), None) is not None:
                self._file.remove_log(self.LOG.KIND, int(log.id))

    def iterate(self, iterator: RecordIterator) -> Any:
        key = b"iterator-" + secrets.token_hex(12).encode()
        iterator.to_orb = to_orb
        iterator.ended = lambda: self._end_iterator(key)
        with self._lock:
            self._iterators[key] = iterator
            oldest = next(iter(self._iterators)) if len(self._iterators) > MOST_ITERATORS else None
        if oldest is not None:
            self._end_iterator(oldest)
        return self._orb.activate(iterator, key)

    def end(self) -> None:
        """The service stops; logs keep their records."""
        self._orb.deactivate(self._key)
        for log in list(self._logs.values()):
            log.dismiss()

    # Inside

    def _create(
        self, id_: int | None, full_action: int, max_size: int, thresholds: Any, initial_qos: Any, initial_admin: Any
    ) -> Any:
        if full_action not in (WRAP, HALT):
            raise DsLogAdmin.InvalidLogFullAction
        settings = Settings(full_action, max_size, thresholds=checked_thresholds(thresholds))
        log = self.make(id_, settings)
        try:
            log.set_qos(initial_qos)
            log.set_admin(initial_admin)
        except (CosNotification.UnsupportedQoS, CosNotification.UnsupportedAdmin):
            log.destroy()
            raise
        return log

    def _put(self, id_: int, settings: Settings) -> Any:
        log = self.LOG(self._service, id_, self, self._file, settings, lambda: self._keep(id_))
        self._logs[id_] = log
        return log

    def _keep(self, id_: int) -> None:
        log = self._logs.get(id_)
        if log is not None:
            self._file.put_log(self.LOG.KIND, id_, log.settings.to_json())

    def _end_iterator(self, key: bytes) -> None:
        with self._lock:
            self._iterators.pop(key, None)
        self._orb.deactivate(key)


class NotifyLogFactory(LogFactory, DsNotifyLogAdmin__POA.NotifyLogFactory):  # type: ignore[misc]
    LOG = NotifyLog


class TypedNotifyLogFactory(LogFactory, DsTypedNotifyLogAdmin__POA.TypedNotifyLogFactory):  # type: ignore[misc]
    LOG = TypedNotifyLog
