"""An event of a typed supplier inside the channel, and what a typed consumer sees of events of any form (RULES.md 2)."""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from typing import Any, Final

from adapters.base import DeadLetterError
from adapters.cosnotification.service.engine.carried_event import (
    EVENT_CODE,
    UNPACKED,
    CarriedEvent,
    CarriedStructured,
    now,
)
from adapters.cosnotification.service.stubs import CORBA, CosNotification
from adapters.cosnotification.stubs import omniORB
from adapters.cosnotification.typed.dynamic import Form, forms
from adapters.cosnotification.typed.interface import TypedInterface
from mappings.event_forms import ANY_TYPE_NAME, OPERATION, TYPED_TYPE_NAME

_TK_STRING: Final = 18
_TK_SEQUENCE: Final = 19
_TK_ALIAS: Final = 21
_PROPERTY: Final = CosNotification.Property._NP_RepositoryId


class CarriedOperation(CarriedStructured):
    """`op(p1, …)`: a `%TYPED` event to structured consumers, its PropertySeq to untyped ones."""

    is_typed = True
    __slots__ = ("_interface_id",)

    def __init__(self, interface: TypedInterface, form: Form, anys: Sequence[Any]) -> None:
        operation = form.operation
        name = CosNotification.Property(OPERATION, CORBA.Any(CORBA.TC_string, operation.scoped_name))
        parameters = [
            CosNotification.Property(parameter, any_)
            for (parameter, _), any_ in zip(operation.parameters, anys, strict=True)
        ]
        super().__init__("", TYPED_TYPE_NAME, "", [], [name, *parameters], CORBA.Any(CORBA.TC_null, None))
        self.arrived = now()
        self._interface_id = interface.id

    @property
    def any(self) -> Any:
        return CORBA.Any(CosNotification._tc_PropertySeq, self.filterable_data)

    def packed(self) -> tuple[str, bytes]:
        content = omniORB.cdrMarshal(EVENT_CODE, self, True)
        return "typed", marshal.dumps((self._interface_id, content))

    @property
    def typed(self) -> Any:
        """What match_typed of a filter in another process is given."""
        operation, *parameters = self.filterable_data
        event_type = CosNotification.EventType(self._interface_id, operation.value.value())
        type_ = CosNotification.Property("event_type", CORBA.Any(CosNotification._tc_EventType, event_type))
        return [type_, *parameters]


def _unpacked(octets: bytes) -> CarriedOperation:
    interface_id, content = marshal.loads(octets)
    is_ = omniORB.cdrUnmarshal(EVENT_CODE, content, True)
    event = CarriedOperation.__new__(CarriedOperation)
    CarriedStructured.__init__(event, "", TYPED_TYPE_NAME, "", [], is_.filterable_data, is_.remainder_of_body)
    event._interface_id = interface_id
    return event


UNPACKED["typed"] = _unpacked


def operation_in(event: CarriedEvent, interface: TypedInterface) -> tuple[Form, list[Any]] | None:
    """The operation of `<I>` that an event of any form spells, and its parameters; None where it spells none."""
    if not event.can_be_given:
        return None
    properties = _properties(event)
    if not properties or properties[0].name != OPERATION:
        return None
    name = properties[0].value.value()
    if not isinstance(name, str) or _kind(properties[0].value) != _TK_STRING:
        return None
    form = forms(interface).get(name.rpartition("::")[2])
    if form is None:
        return None
    anys = [item.value for item in properties[1:]]
    try:
        return (form, anys) if form.fits(anys) else None
    except DeadLetterError:  # a type that cannot be read
        return None


def _properties(event: CarriedEvent) -> Any:
    if not event.is_untyped:
        structured = event.structured
        if structured.type_name != ANY_TYPE_NAME:
            return structured.filterable_data
    any_ = event.any
    descriptor = _plain(any_)
    if isinstance(descriptor, tuple) and descriptor[0] == _TK_SEQUENCE:
        element = descriptor[1]
        if isinstance(element, tuple) and len(element) > 2 and element[2] == _PROPERTY:
            return any_.value()
    return None


def _kind(any_: Any) -> int:
    descriptor = _plain(any_)
    return descriptor if isinstance(descriptor, int) else int(descriptor[0])


def _plain(any_: Any) -> Any:
    """The descriptor behind typedefs."""
    descriptor = any_.typecode()._d
    while isinstance(descriptor, tuple) and descriptor[0] == _TK_ALIAS:
        descriptor = descriptor[3]
    return descriptor
