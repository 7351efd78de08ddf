"""The attributes priority_filter and lifetime_filter of ConsumerAdmin and ProxySupplier (RULES.md 1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.filter_admin import Mapping, mapping_again
from adapters.cosnotification.service.store.kept import Find, KeptObject

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost


class MappedQos(KeptObject):
    """Values outside the range of Priority (short) or Timeout (TimeT) count as no match."""

    def init_mappings(self, service: ServiceHost) -> None:
        self._mapping_service = service
        self._mappings: dict[str, Mapping] = {}
        self._set("priority", None)
        self._set("lifetime", None)

    def _get_priority_filter(self) -> Any:
        return self._mappings["priority"].reference

    def _set_priority_filter(self, value: Any) -> None:
        self._set("priority", value)
        self.mappings_changed()
        self.changed()

    def _get_lifetime_filter(self) -> Any:
        return self._mappings["lifetime"].reference

    def _set_lifetime_filter(self, value: Any) -> None:
        self._set("lifetime", value)
        self.mappings_changed()
        self.changed()

    def mappings_changed(self) -> None:
        raise NotImplementedError

    def mapping(self, which: str) -> Mapping:
        return self._mappings[which]

    @property
    def has_foreign_mappings(self) -> bool:
        return any(mapping.is_foreign for mapping in self._mappings.values())

    def mappings_state(self) -> dict[str, Any]:
        return {which: mapping.state(self._mapping_service) for which, mapping in self._mappings.items()}

    def restore_mappings(self, state: dict[str, Any], find: Find) -> None:
        for which in self._mappings:
            self._set(which, mapping_again(self._mapping_service, state[which], find))

    def _set(self, which: str, reference: Any) -> None:
        valid = range(-32767, 32768) if which == "priority" else range(2**64)
        self._mappings[which] = Mapping(self._mapping_service, reference, valid.__contains__)
