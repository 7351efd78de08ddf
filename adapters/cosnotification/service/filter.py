"""CosNotifyFilter::Filter."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adapters.base import DeadLetterError
from adapters.cosnotification import shims
from adapters.cosnotification.service.announcer import Listener, subscriptions_to
from adapters.cosnotification.service.constraints import GRAMMAR, Constraint, Constraints, event_of_typed, found_in
from adapters.cosnotification.service.engine.carried_event import CarriedAny, CarriedEvent, carried
from adapters.cosnotification.service.event_types import Types, types_to_orb
from adapters.cosnotification.service.objects import Numbers, ServiceObject
from adapters.cosnotification.service.store.kept import Find, reference_from, reference_text
from adapters.cosnotification.service.stubs import CORBA, CosNotifyFilter, CosNotifyFilter__POA

if TYPE_CHECKING:
    from adapters.cosnotification.service.filter_factory import FilterFactory
    from adapters.cosnotification.service.host import ServiceHost


class Filter(ServiceObject, CosNotifyFilter__POA.Filter):  # type: ignore[misc]
    """Without constraints it passes everything."""

    def __init__(self, factory: FilterFactory, id_: int) -> None:
        self._factory = factory
        self._constraints = Constraints(self._constraints_changed)
        self._types: Types = self._constraints.types
        self._callback_ids = Numbers(1)
        self._callbacks: dict[int, tuple[Any, Listener]] = {}
        self._owners: dict[object, Callable[[], None]] = {}  # objects of ours that have it among their filters
        self._lock = threading.Lock()
        super().__init__(factory.service, f"{factory.channel.place}/filter/{id_}")

    # What clients call

    def _get_constraint_grammar(self) -> str:
        return GRAMMAR

    def add_constraints(self, constraint_list: Any) -> Any:
        added = _infos(self._constraints.add([(expression, None) for expression in constraint_list]))
        self.changed()
        return added

    def modify_constraints(self, del_list: Any, modify_list: Any) -> None:
        changed = [(info.constraint_id, info.constraint_expression, None) for info in modify_list]
        self._constraints.modify(list(del_list), changed)
        self.changed()

    def get_constraints(self, id_list: Any) -> Any:
        return _infos(self._constraints.get(list(id_list)))

    def get_all_constraints(self) -> Any:
        return _infos(self._constraints.all())

    def remove_all_constraints(self) -> None:
        self._constraints.clear()
        self.changed()

    def destroy(self) -> None:
        self.finish()
        self.changed()

    def finish(self) -> None:
        """Those that had it among their filters have it no more."""
        if self.end():
            self._factory.forget(self)
            with self._lock:
                owners = list(self._owners)
            for owner in owners:
                owner.filter_destroyed(self)  # type: ignore[attr-defined]

    def match(self, filterable_data: Any) -> bool:
        return self._match(CarriedAny(filterable_data))

    def match_structured(self, filterable_data: Any) -> bool:
        return self._match(carried(filterable_data))

    def match_typed(self, filterable_data: Any) -> bool:
        return self._match(event_of_typed(filterable_data))

    def attach_callback(self, callback: Any) -> int:
        if shims.is_nil(callback):
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        id_ = self._callback_ids.take()
        with self._lock:
            self._callbacks[id_] = (callback, subscriptions_to(callback))
        self.changed()
        return id_

    def detach_callback(self, callback: int) -> None:
        with self._lock:
            if self._callbacks.pop(callback, None) is None:
                raise CosNotifyFilter.CallbackNotFound
        self.changed()

    def get_callbacks(self) -> list[int]:
        with self._lock:
            return list(self._callbacks)

    # What the store asks

    @property
    def kept(self) -> bool:
        return self.alive and self._factory.channel.kept

    def state(self) -> dict[str, Any]:
        with self._lock:
            callbacks = [(id_, reference_text(self.orb, callback)) for id_, (callback, _) in self._callbacks.items()]
        return {
            **super().state(),
            "constraints": self._constraints.state(),
            "callbacks": callbacks,
            "next callback": self._callback_ids.next,
        }

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        filter_ = cls(parent.filter_factory, id_)
        parent.filter_factory.add(filter_)
        return filter_

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self._constraints.restore(state["constraints"])
        for id_, text in state["callbacks"]:
            callback = reference_from(self.orb, text)
            self._callbacks[id_] = (callback, subscriptions_to(callback))
        self._callback_ids.restart(state["next callback"])

    # What the service calls

    def passes(self, event: CarriedEvent) -> bool:
        """An event that cannot be read has no match (RULES.md 3.5)."""
        if not len(self._constraints):
            return True
        with suppress(DeadLetterError):
            return self._constraints.find(event) is not None
        return False

    @property
    def types(self) -> Types:
        return self._types

    def attach(self, owner: object, changed: Callable[[], None]) -> None:
        with self._lock:
            self._owners[owner] = changed

    def detach(self, owner: object) -> None:
        with self._lock:
            self._owners.pop(owner, None)

    def _match(self, event: CarriedEvent) -> bool:
        return not len(self._constraints) or found_in(self._constraints, event) is not None

    def _constraints_changed(self) -> None:
        with self._lock:
            before, self._types = self._types, self._constraints.types
            added, removed = types_to_orb(self._types - before), types_to_orb(before - self._types)
            owners = list(self._owners.values())
            listeners = [listener for _, listener in self._callbacks.values()]
        if (not added and not removed) or self.service.reviving:
            return
        for changed in owners:
            changed()
        for listener in listeners:
            self._factory.announcer.tell(lambda listener=listener: listener.call(added, removed))  # type: ignore[misc]


def _infos(constraints: list[Constraint]) -> Any:
    return [CosNotifyFilter.ConstraintInfo(constraint.expression, constraint.id) for constraint in constraints]
