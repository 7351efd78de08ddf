"""CosNotifyFilter::MappingFilter: the value of the first constraint that matches, in the order in which they were added."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adapters.base import DeadLetterError
from adapters.cosnotification.service.constraints import GRAMMAR, Constraint, Constraints, event_of_typed, found_in
from adapters.cosnotification.service.engine.carried_event import CarriedAny, CarriedEvent, carried
from adapters.cosnotification.service.objects import ServiceObject
from adapters.cosnotification.service.store.kept import Find, any_from, any_text
from adapters.cosnotification.service.stubs import CosNotifyFilter, CosNotifyFilter__POA

if TYPE_CHECKING:
    from adapters.cosnotification.service.filter_factory import FilterFactory
    from adapters.cosnotification.service.host import ServiceHost


class MappingFilter(ServiceObject, CosNotifyFilter__POA.MappingFilter):  # type: ignore[misc]
    def __init__(self, factory: FilterFactory, id_: int, default_value: Any) -> None:
        self._factory = factory
        self._default = default_value
        self._constraints = Constraints(lambda: None)
        super().__init__(factory.service, f"{factory.channel.place}/mapping-filter/{id_}")

    # What clients call

    def _get_constraint_grammar(self) -> str:
        return GRAMMAR

    def _get_value_type(self) -> Any:
        return self._default.typecode()

    def _get_default_value(self) -> Any:
        return self._default

    def add_mapping_constraints(self, pair_list: Any) -> Any:
        items = [(pair.constraint_expression, pair.result_to_set) for pair in pair_list]
        for expression, value in items:
            self._check(expression, value)
        added = _infos(self._constraints.add(items))
        self.changed()
        return added

    def modify_mapping_constraints(self, del_list: Any, modify_list: Any) -> None:
        changed = [(info.constraint_id, info.constraint_expression, info.value) for info in modify_list]
        for _, expression, value in changed:
            self._check(expression, value)
        self._constraints.modify(list(del_list), changed)
        self.changed()

    def get_mapping_constraints(self, id_list: Any) -> Any:
        return _infos(self._constraints.get(list(id_list)))

    def get_all_mapping_constraints(self) -> Any:
        return _infos(self._constraints.all())

    def remove_all_mapping_constraints(self) -> None:
        self._constraints.clear()
        self.changed()

    def destroy(self) -> None:
        self.finish()
        self.changed()

    def finish(self) -> None:
        if self.end():
            self._factory.forget(self)

    def match(self, filterable_data: Any) -> tuple[bool, Any]:
        return self._match(CarriedAny(filterable_data))

    def match_structured(self, filterable_data: Any) -> tuple[bool, Any]:
        return self._match(carried(filterable_data))

    def match_typed(self, filterable_data: Any) -> tuple[bool, Any]:
        return self._match(event_of_typed(filterable_data))

    # What the store asks

    @property
    def kept(self) -> bool:
        return self.alive and self._factory.channel.kept

    def state(self) -> dict[str, Any]:
        return {**super().state(), "default": any_text(self._default), "constraints": self._constraints.state()}

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        filter_ = cls(parent.filter_factory, id_, any_from(state["default"]))
        parent.filter_factory.add(filter_)
        return filter_

    def restored(self, state: dict[str, Any], find: Find) -> None:
        self._constraints.restore(state["constraints"])

    # What the service calls

    def value_for(self, event: CarriedEvent) -> Any | None:
        """None where nothing matches, or it has been destroyed."""
        if not self.alive:
            return None
        with suppress(DeadLetterError):
            found = self._constraints.find(event)
            return found.value.value() if found is not None else None
        return None

    def _match(self, event: CarriedEvent) -> tuple[bool, Any]:
        found = found_in(self._constraints, event)
        return (False, self._default) if found is None else (True, found.value)

    def _check(self, expression: Any, value: Any) -> None:
        if not value.typecode().equivalent(self._default.typecode()):
            raise CosNotifyFilter.InvalidValue(expression, value)


def _infos(constraints: list[Constraint]) -> Any:
    return [
        CosNotifyFilter.MappingConstraintInfo(constraint.expression, constraint.id, constraint.value)
        for constraint in constraints
    ]
