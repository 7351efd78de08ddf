"""An event inside the channel: the ORB's own value, as it arrived, and what the channel has to know of it.

Every consumer that takes the form in which the event came gets that very value. The other form is made when the first consumer
needs it, the model's when the first filter does; both once for all (RULES.md 2).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from adapters.base import DeadLetterError
from adapters.cosnotification.codec import PERSISTENT, event_from_orb
from adapters.cosnotification.decoding import any_from_orb
from adapters.cosnotification.service.stubs import CORBA, CosNotification
from adapters.cosnotification.stubs import omniORB
from mappings.event_forms import ANY_TYPE_NAME, MAX_ANY_LAYERS
from mappings.filters.etcl import UNIX_EPOCH
from mappings.model import StructuredEvent, UntypedEvent

if TYPE_CHECKING:
    from adapters.cosnotification.service.store.ledger import Debt

_TK_ALIAS: Final = 21
_TK_ANY: Final = 11


class CarriedEvent:
    """Times are TimeBase::TimeT: 100 ns since 1582. What the header does not say is None."""

    is_typed = False  # as it came: an operation of a typed channel's interface

    __slots__ = (
        "_any",
        "_model",
        "_structured",
        "arrived",
        "debt",
        "is_untyped",
        "persistent",
        "priority",
        "start",
        "stop",
        "timeout",
    )

    def __init__(self, structured: Any, any_: Any = None) -> None:
        self._structured = structured
        self._any = any_
        self.is_untyped = structured is None  # as it came
        self._model: StructuredEvent | UntypedEvent | DeadLetterError | None = None
        self.arrived = UNIX_EPOCH + time.time_ns() // 100
        self.priority: int | None = None
        self.timeout: int | None = None
        self.start: int | None = None
        self.stop: int | None = None
        self.persistent: bool | None = None  # EventReliability
        self.debt: Debt | None = None  # who has not got it yet, where it is in the store
        if structured is not None and structured.header.variable_header:
            self._read_header(structured.header.variable_header)

    def _read_header(self, fields: Any) -> None:
        """Fields of these names and another type say nothing to the channel. `tdf` is no part of an instant (RULES.md 1.6)."""
        for field in fields:
            match field.name:
                case "Priority":
                    self.priority = _number(field.value.value())
                case "Timeout":
                    self.timeout = _number(field.value.value()) or None  # 0: none
                case "EventReliability":
                    said = _number(field.value.value())
                    self.persistent = None if said is None else said == PERSISTENT
                case "StartTime":
                    self.start = _number(getattr(field.value.value(), "time", None))
                case "StopTime":
                    self.stop = _number(getattr(field.value.value(), "time", None))

    @property
    def structured(self) -> Any:
        """What a structured consumer sees."""
        if self._structured is None:
            self._structured = CosNotification.StructuredEvent(
                CosNotification.EventHeader(
                    CosNotification.FixedEventHeader(CosNotification.EventType("", ANY_TYPE_NAME), ""), []
                ),
                [],
                _unwrapped(self._any),
            )
        return self._structured

    @property
    def any(self) -> Any:
        """What an untyped consumer sees. A `%ANY` event is unwrapped, so that it crosses several channels unchanged."""
        if self._any is None:
            event = self._structured
            if event.header.fixed_header.event_type.type_name == ANY_TYPE_NAME:
                self._any = _unwrapped(event.remainder_of_body)
            else:
                self._any = CORBA.Any(CosNotification._tc_StructuredEvent, event)
        return self._any

    @property
    def event_type(self) -> tuple[str, str]:
        if self.is_untyped:
            return "", ANY_TYPE_NAME
        event_type = self._structured.header.fixed_header.event_type
        return event_type.domain_name, event_type.type_name

    @property
    def model(self) -> StructuredEvent | UntypedEvent:
        """What filters look at. Raises DeadLetterError where the event holds what cannot be read."""
        model = self._model
        if model is None:
            try:
                model = _model_of_any(self._any) if self.is_untyped else event_from_orb(self._structured)
            except DeadLetterError as error:
                model = error
            self._model = model
        if isinstance(model, DeadLetterError):
            raise model
        return model

    @property
    def is_plain(self) -> bool:
        """Nothing delays it, and nothing ends it."""
        return self.start is None and self.stop is None and self.timeout is None

    def packed(self) -> tuple[str, bytes]:
        """For the store: a form, and its octets. Another kind of event names a form of its own, and adds it to UNPACKED."""
        if self.is_untyped:
            return "any", omniORB.cdrMarshal(CORBA.TC_any, self._any, True)
        return "structured", omniORB.cdrMarshal(CosNotification._tc_StructuredEvent, self._structured, True)


UNPACKED: Final[dict[str, Callable[[bytes], CarriedEvent]]] = {
    "any": lambda octets: CarriedEvent(None, omniORB.cdrUnmarshal(CORBA.TC_any, octets, True)),
    "structured": lambda octets: CarriedEvent(omniORB.cdrUnmarshal(CosNotification._tc_StructuredEvent, octets, True)),
}
"""By form: how an event comes back from the store."""


def carried_any(any_: Any) -> CarriedEvent:
    """An untyped event. One that holds a StructuredEvent stays an untyped event."""
    return CarriedEvent(None, any_)


def no_structured_event() -> Any:
    """What try_pull gives where there is none (RULES.md 1.10)."""
    return CosNotification.StructuredEvent(
        CosNotification.EventHeader(CosNotification.FixedEventHeader(CosNotification.EventType("", ""), ""), []),
        [],
        no_any(),
    )


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
