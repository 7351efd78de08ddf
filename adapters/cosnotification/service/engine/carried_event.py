"""An event inside the channel: what arrived, as the ORB made it, and what the channel has to know of it.

Every consumer that takes the form in which the event came gets that very value. The other form is made when a consumer needs it,
the model's when the first filter does (RULES.md 2).

A StructuredEvent is one object here, not five. On the wire a struct is its members one after the other, so the ORB may be told of a
flat one in place of the nested ones of the IDL: what it makes of a push is then a CarriedStructured at once, and what it sends is
that object again. That is a third of what an event costs in the channel, and of what the collector of garbage has to look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from adapters.base import DeadLetterError
from adapters.cosnotification.codec import event_from_orb
from adapters.cosnotification.decoding import any_from_orb
from adapters.cosnotification.descriptors import type_code
from adapters.cosnotification.reliability import PERSISTENT
from adapters.cosnotification.service.stubs import CORBA, CosNotification
from adapters.cosnotification.stubs import omniORB
from mappings.event_forms import ANY_TYPE_NAME, MAX_ANY_LAYERS
from mappings.filters.etcl import UNIX_EPOCH
from mappings.model import StructuredEvent, UntypedEvent

if TYPE_CHECKING:
    from adapters.cosnotification.service.store.ledger import Debt

_TK_ALIAS: Final = 21
_TK_ANY: Final = 11
_TK_STRING: Final = (18, 0)

TOLD: Final = frozenset(("Priority", "Timeout", "EventReliability", "StartTime", "StopTime"))
"""What the variable_header of an event says to the channel."""


def now() -> int:
    return UNIX_EPOCH + time.time_ns() // 100


class CarriedEvent:
    """Times are TimeBase::TimeT: 100 ns since 1582. What the header does not say is None."""

    is_typed = False  # as it came: an operation of a typed channel's interface
    is_untyped = False  # as it came: an any

    __slots__ = ("_model", "arrived", "debt", "persistent", "plain", "priority", "start", "stop", "timeout")

    # The type and, of an event of either form, what it looks like
    domain_name: str
    type_name: str
    structured: Any
    any: Any

    arrived: int
    plain: bool  # nothing delays, ends or prefers it: it leaves a queue in its turn
    priority: int | None
    timeout: int | None
    start: int | None
    stop: int | None
    persistent: bool | None  # EventReliability
    debt: Debt | None  # who has not got it yet, where it is in the store

    def set_defaults(self, priority: int | None, timeout: int | None) -> None:
        """What is said elsewhere, for an event that says nothing."""
        if priority is not None and self.priority is None:
            self.priority, self.plain = priority, False
        if timeout is not None and self.timeout is None:
            self.timeout, self.plain = timeout, False

    def read_header(self, said: Iterable[tuple[str, Any]], instant: Callable[[Any], Any]) -> None:
        """Values of the fields TOLD, and what such a value is as a TimeT, or None; `tdf` is no part of an instant (RULES.md 1.6).

        Fields of these names and another type say nothing to the channel.
        """
        for name, value in said:
            match name:
                case "Priority":
                    self.priority = _number(value)
                case "Timeout":
                    self.timeout = _number(value) or None  # 0: none
                case "EventReliability":
                    number = _number(value)
                    self.persistent = None if number is None else number == PERSISTENT
                case "StartTime":
                    self.start = _number(instant(value))
                case "StopTime":
                    self.stop = _number(instant(value))
        self.plain = self.priority is None and self.timeout is None and self.start is None and self.stop is None

    @property
    def type_key(self) -> tuple[str, str]:
        return self.domain_name, self.type_name

    @property
    def model(self) -> StructuredEvent | UntypedEvent:
        """What filters look at. Raises DeadLetterError where the event holds what cannot be read."""
        model = self._model
        if model is None:
            try:
                model = self._read_model()
            except DeadLetterError as error:
                model = error
            self._model = model
        if isinstance(model, DeadLetterError):
            raise model
        return model

    _model: StructuredEvent | UntypedEvent | DeadLetterError | None

    def _read_model(self) -> StructuredEvent | UntypedEvent:
        raise NotImplementedError

    def packed(self) -> tuple[str, bytes]:
        """For the store: a form, and its octets. Another kind of event names a form of its own, and adds it to UNPACKED."""
        raise NotImplementedError

    @property
    def can_be_given(self) -> bool:
        """Whether the ORB library can carry it."""
        return True

    def parted(self) -> None:
        """It may have to wait longer than those that came with it, whose memory it must not hold."""


class CarriedStructured(CarriedEvent):
    """To whoever looks for the nested structs of the IDL it is each of them.

    The ORB makes it of a push, and leaves `arrived` to the proxy.
    """

    __slots__ = ("domain_name", "event_name", "filterable_data", "remainder_of_body", "type_name", "variable_header")

    def __init__(
        self,
        domain_name: str,
        type_name: str,
        event_name: str,
        variable_header: list[Any],
        filterable_data: list[Any],
        remainder_of_body: Any,
    ) -> None:
        self.domain_name = domain_name
        self.type_name = type_name
        self.event_name = event_name
        self.variable_header = variable_header
        self.filterable_data = filterable_data
        self.remainder_of_body = remainder_of_body
        self._model = self.debt = None
        self.priority = self.timeout = self.start = self.stop = self.persistent = None
        self.plain = True
        if variable_header:
            said = [(field.name, field.value.value()) for field in variable_header if field.name in TOLD]
            self.read_header(said, _instant)

    @property
    def structured(self) -> CarriedStructured:
        """What a structured consumer sees."""
        return self

    header = fixed_header = event_type = structured

    @property
    def any(self) -> Any:
        """What an untyped consumer sees. A `%ANY` event is unwrapped, so that it crosses several channels unchanged.

        It is not kept: an event that held an any of itself would be garbage in a circle.
        """
        if self.type_name == ANY_TYPE_NAME:
            return _unwrapped(self.remainder_of_body)
        return CORBA.Any(CosNotification._tc_StructuredEvent, self)

    def _read_model(self) -> StructuredEvent | UntypedEvent:
        return event_from_orb(self)

    def packed(self) -> tuple[str, bytes]:
        return "structured", omniORB.cdrMarshal(EVENT_CODE, self, True)


class CarriedAny(CarriedEvent):
    """An untyped event. One that holds a StructuredEvent stays an untyped event."""

    is_untyped = True
    domain_name = ""
    type_name = ANY_TYPE_NAME

    __slots__ = ("_structured", "any")

    def __init__(self, any_: Any) -> None:
        self.any = any_
        self._structured: CarriedStructured | None = None
        self._model = self.debt = None
        self.priority = self.timeout = self.start = self.stop = self.persistent = None
        self.plain = True
        self.arrived = now()

    @property
    def structured(self) -> CarriedStructured:
        """What a structured consumer sees."""
        if self._structured is None:
            self._structured = CarriedStructured("", ANY_TYPE_NAME, "", [], [], _unwrapped(self.any))
        return self._structured

    def _read_model(self) -> UntypedEvent:
        return _model_of_any(self.any)

    def packed(self) -> tuple[str, bytes]:
        return "any", omniORB.cdrMarshal(CORBA.TC_any, self.any, True)


class _Property:
    """CosNotification::Property, in half the time."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value


def _flat(class_: type, like: Any, members: dict[str, Any]) -> tuple[Any, ...]:
    return (15, class_, like._NP_RepositoryId, like.__name__, *(part for member in members.items() for part in member))


_PROPERTIES: Final = (
    19,
    _flat(_Property, CosNotification.Property, {"name": _TK_STRING, "value": _TK_ANY}),
    0,
)
EVENT: Final = _flat(
    CarriedStructured,
    CosNotification.StructuredEvent,
    {
        "domain_name": _TK_STRING,
        "type_name": _TK_STRING,
        "event_name": _TK_STRING,
        "variable_header": _PROPERTIES,
        "filterable_data": _PROPERTIES,
        "remainder_of_body": _TK_ANY,
    },
)
"""The descriptor of a StructuredEvent with which the ORB reads and writes a CarriedStructured."""
EVENTS: Final = (19, EVENT, 0)
EVENT_CODE: Final = type_code(EVENT)

UNPACKED: Final[dict[str, Callable[[bytes], CarriedEvent]]] = {
    "any": lambda octets: CarriedAny(omniORB.cdrUnmarshal(CORBA.TC_any, octets, True)),
    "structured": lambda octets: omniORB.cdrUnmarshal(EVENT_CODE, octets, True),
}
"""By form: how an event comes back from the store. When it arrived is the store's to say."""


def carried(structured: Any) -> CarriedStructured:
    """A StructuredEvent of the stubs, or one that the ORB has made a CarriedStructured, as it arrives."""
    if isinstance(structured, CarriedStructured):
        event = structured
    else:
        header = structured.header
        fixed = header.fixed_header
        event = CarriedStructured(
            fixed.event_type.domain_name,
            fixed.event_type.type_name,
            fixed.event_name,
            header.variable_header,
            structured.filterable_data,
            structured.remainder_of_body,
        )
    event.arrived = now()
    return event


def no_structured_event() -> CarriedStructured:
    """What try_pull gives where there is none (RULES.md 1.10)."""
    return CarriedStructured("", "", "", [], [], no_any())


def no_any() -> Any:
    return CORBA.Any(CORBA.TC_null, None)


def _model_of_any(any_: Any) -> UntypedEvent:
    try:
        return UntypedEvent(any_from_orb(any_))
    except DeadLetterError:
        raise
    except RecursionError as error:
        raise DeadLetterError("COR-DEPTH", "a value refers to itself, or is nested too deeply") from error
    except Exception as error:
        raise DeadLetterError("COR-VALUE", f"a value cannot be read: {type(error).__name__}: {error}") from error


def _unwrapped(any_: Any) -> Any:
    for _ in range(MAX_ANY_LAYERS):
        kind = any_._t._d
        while isinstance(kind, tuple) and kind[0] == _TK_ALIAS:
            kind = kind[3]
        if kind != _TK_ANY:
            break
        any_ = any_._v
    return any_


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _instant(value: Any) -> Any:
    return getattr(value, "time", None)
