"""The start of a service that has a store: everything is as it was, before the first client can call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.proxy_supplier import ProxySupplier
from adapters.cosnotification.service.store.database import SavedObject, Store
from adapters.cosnotification.service.store.kept import KINDS, KeptObject
from adapters.cosnotification.service.store.ledger import Ledger

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost


class Revival:
    """`keys` first, then `objects`, `events`, `start`."""

    def __init__(self, store: Store) -> None:
        self._saved = sorted(store.objects(), key=_generation)
        self._objects: dict[str, KeptObject] = {}

    @property
    def keys(self) -> dict[str, bytes]:
        """By place."""
        return {saved.place: saved.state["key"].encode() for saved in self._saved}

    def objects(self, service: ServiceHost) -> None:
        """What was in the middle of being removed, and has lost its parent, is left out."""
        for place, kind, state in self._saved:
            above, _, id_ = place.rpartition("/")
            parent = self._objects.get(above.rpartition("/")[0])
            if parent is not None or "/" not in above:
                number = int(id_) if above else 0  # the factory has none
                self._objects[place] = KINDS[kind].revived(service, parent, number, state)
        for place, _, state in self._saved:
            found = self._objects.get(place)
            if found is not None:
                found._noted = True
                found.restored(state, self._objects.get)

    def events(self, ledger: Ledger) -> None:
        suppliers: dict[tuple[str, Any], ProxySupplier] = {
            (found.channel.place, found.route.id): found
            for found in self._objects.values()
            if isinstance(found, ProxySupplier)
        }
        routes: dict[str, set[Any]] = {}
        for channel, route in suppliers:
            routes.setdefault(channel, set()).add(route)
        for channel, event in ledger.read(routes):
            assert event.debt is not None
            for route in tuple(event.debt.owing):
                suppliers[channel, route].route.again(event)

    def start(self) -> None:
        for found in self._objects.values():
            found.started()


def _generation(saved: SavedObject) -> tuple[int, int, str]:
    return saved.place.count("/"), KINDS[saved.kind].RANK, saved.place
