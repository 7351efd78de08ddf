"""What we ask of a peer beyond a connection: quality of service, limits, the event types that we take or offer, and a filter.

All of it is asked before events flow. What the peer refuses for good is a StopError that says which property it was, and what the
peer could do instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from adapters.base import StopError
from adapters.cosnotification.faults import spell
from adapters.cosnotification.kinds.kind import Role
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.settings import AdminProperties, CosNotificationChannel, QoS, event_types_of
from adapters.cosnotification.stubs import CORBA, CosNotification, CosNotifyComm, CosNotifyFilter

UNITS_PER_MS: Final = 10_000  # TimeBase::TimeT counts 100 ns
GRAMMAR: Final = "EXTENDED_TCL"

_RELIABILITY: Final = {"best_effort": CosNotification.BestEffort, "persistent": CosNotification.Persistent}
_ORDER: Final = {
    "any": CosNotification.AnyOrder,
    "fifo": CosNotification.FifoOrder,
    "priority": CosNotification.PriorityOrder,
    "deadline": CosNotification.DeadlineOrder,
    "lifo": CosNotification.LifoOrder,
}
_UNSUPPORTED: Final = (
    CORBA.NO_IMPLEMENT,
    CORBA.BAD_OPERATION,
)  # an operation that the peer does not have (TAO: validate_qos)


def set_channel_terms(there: Any, channel: CosNotificationChannel) -> None:
    """On the channel itself. Raises StopError, or what the peer raises."""
    _set_qos(there, channel.channel_qos, "channel_qos")
    properties = _admin_properties(channel.channel_admin)
    if properties:
        try:
            there.set_admin(properties)
        except CosNotification.UnsupportedAdmin as error:
            raise _refused(error.admin_err, "channel_admin") from error


def set_proxy_terms(proxy: Any, channel: CosNotificationChannel, role: Role) -> None:
    """On our proxy, before it is connected. Raises StopError, or what the peer raises."""
    _set_qos(proxy, channel.qos, "qos")
    types = _event_types(channel)
    if not types:
        return
    everything = [CosNotification.EventType("*", "%ALL")]
    declare = proxy.subscription_change if role == "consumer" else proxy.offer_change
    try:
        declare(types, everything)
    except _UNSUPPORTED:
        pass  # a peer that does not want to know: the filter, and we ourselves, do what is needed
    except CosNotifyComm.InvalidEventType as error:
        type_ = f"{error.type.domain_name}/{error.type.type_name}"
        raise StopError("COR-FILTER", f"the peer refuses the event type {type_}", path="event_types") from error


def add_filter(proxy: Any, there: Any, channel: CosNotificationChannel, timeout_ms: int) -> Any:
    """The filter object that was made at the peer, ours to destroy; None where none is asked for."""
    types = _event_types(channel)
    if channel.constraint is None and not types:
        return None
    factory = there._get_default_filter_factory()
    set_time_out(factory, timeout_ms)
    text = channel.constraint or "TRUE"
    made = None
    try:
        made = factory.create_filter(GRAMMAR)
        set_time_out(made, timeout_ms)
        made.add_constraints([CosNotifyFilter.ConstraintExp(types, text)])
        proxy.add_filter(made)
    except CORBA.Exception as error:
        if made is not None:
            with suppress(CORBA.Exception):
                made.destroy()
        if isinstance(error, CosNotifyFilter.InvalidGrammar | CosNotifyFilter.InvalidConstraint | CORBA.UNKNOWN):
            raise StopError(
                "COR-FILTER",
                f"the peer refuses the filter {text!r}: {spell(error)}",
                path="constraint",
                hint="let the link's own `filter` do what this peer cannot",
            ) from error
        raise
    return made


def _set_qos(there: Any, qos: QoS, path: str) -> None:
    """All in one call: some services keep only what the latest call has set."""
    properties = _qos_properties(qos)
    if not properties:
        return
    try:
        with suppress(*_UNSUPPORTED, CORBA.UNKNOWN):  # JacORB fails on every call of it
            there.validate_qos(properties)
        there.set_qos(properties)
    except CosNotification.UnsupportedQoS as error:
        raise _refused(error.qos_err, path) from error


def _refused(errors: Any, path: str) -> StopError:
    reasons = "; ".join(_reason(error) for error in errors) or "no reason given"
    return StopError(
        "COR-QOS", f"the peer refuses {reasons}", path=path, hint="leave it out, or set what the peer can do"
    )


def _reason(error: Any) -> str:
    available = error.available_range
    low, high = available.low_val.value(), available.high_val.value()
    span = f" (it can do {low} to {high})" if low is not None and high is not None and low != high else ""
    return f"{error.name}: {error.code._n}{span}"


def _event_types(channel: CosNotificationChannel) -> list[Any]:
    return [CosNotification.EventType(*pair) for pair in event_types_of(channel)]


def _short(value: int) -> Any:
    return CORBA.Any(CORBA.TC_short, value)


def _long(value: int) -> Any:
    return CORBA.Any(CORBA.TC_long, value)


def _time(milliseconds: int) -> Any:
    return CORBA.Any(CORBA.TC_ulonglong, milliseconds * UNITS_PER_MS)


def _boolean(value: bool) -> Any:
    return CORBA.Any(CORBA.TC_boolean, value)


_QOS: Final[Mapping[str, tuple[str, Any]]] = {
    "event_reliability": (CosNotification.EventReliability, lambda word: _short(_RELIABILITY[word])),
    "connection_reliability": (CosNotification.ConnectionReliability, lambda word: _short(_RELIABILITY[word])),
    "priority": (CosNotification.Priority, _short),
    "timeout_ms": (CosNotification.Timeout, _time),
    "order_policy": (CosNotification.OrderPolicy, lambda word: _short(_ORDER[word])),
    "discard_policy": (CosNotification.DiscardPolicy, lambda word: _short(_ORDER[word])),
    "max_events_per_consumer": (CosNotification.MaxEventsPerConsumer, _long),
    "maximum_batch_size": (CosNotification.MaximumBatchSize, _long),
    "pacing_interval_ms": (CosNotification.PacingInterval, _time),
}
_ADMIN: Final[Mapping[str, tuple[str, Any]]] = {
    "max_queue_length": (CosNotification.MaxQueueLength, _long),
    "max_consumers": (CosNotification.MaxConsumers, _long),
    "max_suppliers": (CosNotification.MaxSuppliers, _long),
    "reject_new_events": (CosNotification.RejectNewEvents, _boolean),
}


def _qos_properties(qos: QoS) -> list[Any]:
    return [_property(*_QOS[name], value) for name, value in qos.model_dump(exclude_none=True).items()]


def _admin_properties(limits: AdminProperties) -> list[Any]:
    return [_property(*_ADMIN[name], value) for name, value in limits.model_dump(exclude_none=True).items()]


def _property(name: str, make: Any, value: Any) -> Any:
    return CosNotification.Property(name, make(value))
