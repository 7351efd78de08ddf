"""CosNotifyFilter::FilterFactory: one for each channel, whose filters end with it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.announcer import Announcer
from adapters.cosnotification.service.constraints import GRAMMAR
from adapters.cosnotification.service.filter import Filter
from adapters.cosnotification.service.mapping_filter import MappingFilter
from adapters.cosnotification.service.objects import Numbers, ServiceObject
from adapters.cosnotification.service.stubs import CosNotifyFilter, CosNotifyFilter__POA

if TYPE_CHECKING:
    from adapters.cosnotification.service.channel import Channel


class FilterFactory(ServiceObject, CosNotifyFilter__POA.FilterFactory):  # type: ignore[misc]
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.announcer = Announcer(f"filters-{channel.id}")
        self.ids = Numbers(1)
        self._filters: set[Filter | MappingFilter] = set()
        self._lock = threading.Lock()
        place = f"{channel.place}/filter-factory"
        super().__init__(channel.service, place, fixed=True)

    def create_filter(self, constraint_grammar: str) -> Any:
        _check(constraint_grammar)
        self.check_alive()
        return self._keep(Filter(self, self.ids.take()))

    def create_mapping_filter(self, constraint_grammar: str, default_value: Any) -> Any:
        _check(constraint_grammar)
        self.check_alive()
        return self._keep(MappingFilter(self, self.ids.take(), default_value))

    @property
    def channel(self) -> Channel:
        return self._channel

    @property
    def filters(self) -> list[Filter | MappingFilter]:
        with self._lock:
            return list(self._filters)

    def add(self, filter_: Filter | MappingFilter) -> None:
        with self._lock:
            self._filters.add(filter_)

    def forget(self, filter_: Filter | MappingFilter) -> None:
        with self._lock:
            self._filters.discard(filter_)

    def dismiss(self) -> None:
        if self.end():
            for filter_ in self.filters:
                filter_.finish()

    def _keep(self, filter_: Filter | MappingFilter) -> Any:
        self.add(filter_)
        self._channel.changed(filter_)  # its number, too
        return filter_.reference


def _check(grammar: str) -> None:
    if grammar != GRAMMAR:
        raise CosNotifyFilter.InvalidGrammar
