"""The attributes priority_filter and lifetime_filter of ConsumerAdmin and ProxySupplier (RULES.md 1.7)."""

from __future__ import annotations

from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.service.filter_admin import Mapping


class MappedQos:
    """Values outside the range of Priority (short) or Timeout (TimeT) count as no match."""

    def init_mappings(self, orb: LocalOrb) -> None:
        self._mapping_orb = orb
        self._mappings: dict[str, Mapping] = {}
        self._set("priority", None)
        self._set("lifetime", None)

    def _get_priority_filter(self) -> Any:
        return self._mappings["priority"].reference

    def _set_priority_filter(self, value: Any) -> None:
        self._set("priority", value)
        self.mappings_changed()

    def _get_lifetime_filter(self) -> Any:
        return self._mappings["lifetime"].reference

    def _set_lifetime_filter(self, value: Any) -> None:
        self._set("lifetime", value)
        self.mappings_changed()

    def mappings_changed(self) -> None:
        raise NotImplementedError

    def mapping(self, which: str) -> Mapping:
        return self._mappings[which]

    @property
    def has_foreign_mappings(self) -> bool:
        return any(mapping.is_foreign for mapping in self._mappings.values())

    def _set(self, which: str, reference: Any) -> None:
        valid = range(-32767, 32768) if which == "priority" else range(2**64)
        self._mappings[which] = Mapping(self._mapping_orb, reference, valid.__contains__)
