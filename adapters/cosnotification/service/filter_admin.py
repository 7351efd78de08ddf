"""CosNotifyFilter::FilterAdmin, mixed into admins and proxies; and filters that live elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from adapters.base import DeadLetterError
from adapters.cosnotification import shims
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.engine.carried_event import CarriedEvent
from adapters.cosnotification.service.engine.carried_operation import CarriedOperation
from adapters.cosnotification.service.engine.filter_set import Remembered, Test, any_of
from adapters.cosnotification.service.event_types import EVERYTHING, Types
from adapters.cosnotification.service.filter import Filter
from adapters.cosnotification.service.mapping_filter import MappingFilter
from adapters.cosnotification.service.objects import Numbers, ServiceObject
from adapters.cosnotification.service.store.kept import Find, KeptObject, reference_from, reference_text
from adapters.cosnotification.service.stubs import CORBA, CosNotifyFilter

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost

FOREIGN_CALL_MS: Final = 2_000


class FilterAdmin(KeptObject):
    """`filters_changed` is called after every change, of the set or of a filter's event types."""

    def init_filters(self) -> None:
        self._filter_ids = Numbers(1)
        self._filters: dict[int, tuple[Any, Filter | None]] = {}  # reference, and the servant where it is ours
        self._filter_lock = threading.Lock()
        self.test: Test | None = None
        self.has_foreign_filters = False

    # What clients call

    def add_filter(self, new_filter: Any) -> int:
        if shims.is_nil(new_filter):
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        servant = self.service.room.servant_of(new_filter)
        id_ = self._filter_ids.take()
        self._put(id_, new_filter, servant if isinstance(servant, Filter) else None)
        self._update()
        self.changed()
        return id_

    def remove_filter(self, filter: int) -> None:
        with self._filter_lock:
            removed = self._filters.pop(filter, None)
        if removed is None:
            raise CosNotifyFilter.FilterNotFound
        self._detach(removed[1])
        self._update()
        self.changed()

    def get_filter(self, filter: int) -> Any:
        found = self._filters.get(filter)
        if found is None:
            raise CosNotifyFilter.FilterNotFound
        return found[0]

    def get_all_filters(self) -> list[int]:
        with self._filter_lock:
            return list(self._filters)

    def remove_all_filters(self) -> None:
        self.drop_filters()
        self.changed()

    # What the store asks

    def filters_state(self) -> dict[str, Any]:
        with self._filter_lock:
            filters = [(id_, _saved(self.service, *pair)) for id_, pair in self._filters.items()]
        return {"filters": filters, "next filter": self._filter_ids.next}

    def restore_filters(self, state: dict[str, Any], find: Find) -> None:
        for id_, saved in state["filters"]:
            reference, own = _again(self.service, saved, find, CosNotifyFilter.Filter)
            if reference is not None:
                self._put(id_, reference, own)
        self._filter_ids.restart(state["next filter"])
        self._update()

    # What the service calls

    def drop_filters(self) -> None:
        with self._filter_lock:
            removed = list(self._filters.values())
            self._filters.clear()
        for _, own in removed:
            self._detach(own)
        self._update()

    def filters_changed(self) -> None:
        raise NotImplementedError

    def filter_destroyed(self, filter_: Filter) -> None:
        with self._filter_lock:
            self._filters = {id_: pair for id_, pair in self._filters.items() if pair[1] is not filter_}
        self._update()
        self.changed()

    @property
    def filter_types(self) -> Types:
        """Event types that the filters can pass; empty where there are no filters."""
        types: Types = frozenset()
        with self._filter_lock:
            for _, own in self._filters.values():
                types |= own.types if own is not None else EVERYTHING
        return types

    def _put(self, id_: int, reference: Any, own: Filter | None) -> None:
        if own is None:
            set_time_out(reference, FOREIGN_CALL_MS)
        else:
            own.attach(self, self.filters_changed)
        with self._filter_lock:
            self._filters[id_] = (reference, own)

    def _detach(self, own: Filter | None) -> None:
        if own is not None and all(other is not own for _, other in self._filters.values()):
            own.detach(self)

    def _update(self) -> None:
        with self._filter_lock:
            filters = list(self._filters.values())
            test = any_of(tuple(own.passes if own is not None else foreign_test(ref) for ref, own in filters))
            self.test = test and Remembered(test)
            self.has_foreign_filters = any(own is None for _, own in filters)
        self.filters_changed()


def _saved(service: ServiceHost, reference: Any, own: ServiceObject | None) -> dict[str, str | None]:
    """Ours by its place: a reference to it would be another where our address is."""
    return {"own": own.place} if own is not None else {"other": reference_text(service.orb, reference)}


def _again(service: ServiceHost, saved: dict[str, str | None], find: Find, interface: Any) -> tuple[Any, Any]:
    """Reference and servant; None, None where it was ours and is no more."""
    place = saved.get("own")
    if place is not None:
        own = find(place)
        return (None, None) if own is None else (own.reference, own)
    return reference_from(service.orb, saved["other"], interface), None


def foreign_test(reference: Any) -> Test:
    """A filter in another process. One that fails, or cannot be given the event, does not match (RULES.md 3.5)."""

    def test(event: CarriedEvent) -> bool:
        try:
            if event.is_untyped:
                return bool(reference.match(event.any))
            if isinstance(event, CarriedOperation):
                return bool(reference.match_typed(event.typed))
            return bool(reference.match_structured(event.structured))
        except (CORBA.Exception, DeadLetterError):
            return False

    return test


class Mapping:
    """A priority_filter or lifetime_filter: the attribute, and what it says of an event."""

    def __init__(self, service: ServiceHost, reference: Any, is_valid: Callable[[Any], bool]) -> None:
        self.reference: Any = None if shims.is_nil(reference) else reference
        self._is_valid = is_valid
        servant = None if self.reference is None else service.room.servant_of(reference)
        self._own = servant if isinstance(servant, MappingFilter) else None
        self.is_foreign = self.reference is not None and self._own is None
        if self.is_foreign:
            set_time_out(reference, FOREIGN_CALL_MS)

    def state(self, service: ServiceHost) -> dict[str, str | None] | None:
        return None if self.reference is None else _saved(service, self.reference, self._own)

    def value_for(self, event: CarriedEvent) -> int | None:
        value = self._own.value_for(event) if self._own is not None else self._ask(event)
        return value if isinstance(value, int) and self._is_valid(value) else None

    def _ask(self, event: CarriedEvent) -> Any | None:
        try:
            if event.is_untyped:
                matched, value = self.reference.match(event.any)
            elif isinstance(event, CarriedOperation):
                matched, value = self.reference.match_typed(event.typed)
            else:
                matched, value = self.reference.match_structured(event.structured)
        except (CORBA.Exception, DeadLetterError):
            return None
        return value.value() if matched else None


def mapping_again(service: ServiceHost, saved: dict[str, str | None] | None, find: Find) -> Any:
    """The reference of a mapping filter that the store has."""
    return None if saved is None else _again(service, saved, find, CosNotifyFilter.MappingFilter)[0]
