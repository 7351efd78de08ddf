"""Typed clients: operations of an interface `<I>` at a typed channel; Pull<I> where events are pulled (RULES.md section 2).

The channel is of a Notification Service, or of a plain Event Service (CosTypedEvent).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final

from adapters.base import DeadLetterError, ReconnectError
from adapters.cosnotification.codec import untyped_from_orb
from adapters.cosnotification.encoding import property_to_orb
from adapters.cosnotification.kinds.kind import Hearing, Intake, Kind, Place, Role, Shelf, Style, event_service_places
from adapters.cosnotification.kinds.nothing import NO_ANY
from adapters.cosnotification.kinds.untyped import ANY as ANY_CLIENTS
from adapters.cosnotification.kinds.untyped import PLAIN
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosTypedEventChannelAdmin,
    CosTypedEventComm__POA,
    CosTypedNotifyChannelAdmin,
    CosTypedNotifyComm__POA,
    omniORB,
)
from adapters.cosnotification.typed.dynamic import Form, forms, invoke, is_a, pull_servant, push_servant, try_pull
from adapters.cosnotification.typed.interface import TypedInterface
from mappings.checking import check_value
from mappings.errors import MappingError
from mappings.event_forms import to_typed
from mappings.idl_types import ANY, IdlType, unalias
from mappings.model import Any_, Property, StructuredEvent, TypedEvent
from mappings.type_equivalence import equivalent

KEPT_KINDS: Final = 64

Encoded = tuple[Form, list[Any]]
"""An operation, and its parameters as anys."""


@lru_cache(KEPT_KINDS)
def typed(interface: TypedInterface) -> Kind:
    return Kind(
        channel=CosTypedNotifyChannelAdmin.TypedEventChannel,
        places={
            (role, style): _place(interface, role, style)
            for role in ("consumer", "supplier")
            for style in ("push", "pull")
        },
        push_consumer=partial(_PushConsumer, interface),
        pull_consumer=ANY_CLIENTS.pull_consumer,
        pull=partial(_pull, interface),
        encode=partial(_encode, interface),
        type_code=None,
        push_supplier=ANY_CLIENTS.push_supplier,
        push=_push,
        pull_supplier=partial(_PullSupplier, interface),
        factory=CosTypedNotifyChannelAdmin.TypedEventChannelFactory,
        get_channel="get_typed_event_channel",
        companion=lambda servant: servant.typed() if hasattr(servant, "typed") else None,
        partner=partial(_partner, interface),
    )


@lru_cache(KEPT_KINDS)
def plain_typed(interface: TypedInterface) -> Kind:
    """At a typed channel of the Event Service (CosTypedEvent)."""
    return typed(interface)._replace(
        channel=CosTypedEventChannelAdmin.TypedEventChannel,
        places=event_service_places("typed_", _plain_proxy, interface.id),
        push_consumer=partial(_PlainPushConsumer, interface),
        pull_consumer=PLAIN.pull_consumer,
        push_supplier=PLAIN.push_supplier,
        pull_supplier=partial(_PlainPullSupplier, interface),
    )


def _plain_proxy(name: str) -> Any:
    """Only proxies that hand out a typed object have an interface of their own."""
    return getattr(CosTypedEventChannelAdmin, f"Typed{name}", None) or getattr(CosEventChannelAdmin, name)


def _place(interface: TypedInterface, role: Role, style: Style) -> Place:
    theirs = "supplier" if role == "consumer" else "consumer"
    admin = f"new_for_typed_notification_{role}s"
    obtain = f"obtain_typed_notification_{style}_{theirs}"
    return Place(
        lambda channel: getattr(channel, admin)(CosNotifyChannelAdmin.AND_OP)[0],
        lambda admin: getattr(admin, obtain)(interface.id)[0],
        getattr(CosTypedNotifyChannelAdmin, f"TypedProxy{style.title()}{theirs.title()}"),
        f"connect_typed_{style}_{role}",
        f"disconnect_{style}_{theirs}",
    )


def _partner(interface: TypedInterface, proxy: Any, timeout_ms: int) -> Any:
    """The typed object of a proxy that has one: of `<I>` to push to, of Pull<I> to pull from. Raises ReconnectError."""
    if hasattr(proxy, "get_typed_consumer"):
        found, id_ = proxy.get_typed_consumer(), interface.id
    elif hasattr(proxy, "get_typed_supplier"):
        found, id_ = proxy.get_typed_supplier(), interface.pull_id
    else:
        return proxy
    if found is not None:
        set_time_out(found, timeout_ms)
    if not is_a(found, id_):
        raise ReconnectError("COR-INTERFACE", f"the typed object of the proxy is no {id_}")
    return found


# As a consumer --------------------------------------------------------------------------------------------------------------


class _TakesOperations:
    companion: Any = None

    def __init__(self, interface: TypedInterface, intake: Intake) -> None:
        self._interface = interface
        self._intake = intake
        self.push: Final = intake.untyped
        self.disconnect_push_consumer: Final = intake.disconnected

    def typed(self) -> Any:
        return push_servant(self._interface, lambda form, anys: _take(self._interface, form, anys, self._intake))

    def get_typed_consumer(self) -> Any:
        return self.companion


class _PushConsumer(_TakesOperations, Hearing, CosTypedNotifyComm__POA.TypedPushConsumer):  # type: ignore[misc]
    pass


class _PlainPushConsumer(_TakesOperations, CosTypedEventComm__POA.TypedPushConsumer):  # type: ignore[misc]
    pass


def _pull(interface: TypedInterface, partner: Any, _: int, intake: Intake) -> bool:
    """One event of each operation: their order among each other is not to be had."""
    found = False
    for form in forms(interface).values():
        anys = try_pull(partner, form)
        if anys is not None:
            _take(interface, form, anys, intake)
            found = True
    return found


def _take(interface: TypedInterface, form: Form, anys: Sequence[Any], intake: Intake) -> None:
    try:
        parameters = [untyped_from_orb(any_) for any_ in anys]
    except DeadLetterError as error:
        intake.unreadable(error, _octets(anys))
        return
    names = (name for name, _ in form.operation.parameters)
    properties = tuple(Property(name, any_.type, any_.value) for name, any_ in zip(names, parameters, strict=True))
    intake.headless(TypedEvent(interface.id, form.operation.scoped_name, properties))


def _octets(anys: Sequence[Any]) -> bytes | None:
    try:
        return b"".join(bytes(omniORB.cdrMarshal(CORBA.TC_any, any_)) for any_ in anys)
    except CORBA.Exception:
        return None


# As a supplier --------------------------------------------------------------------------------------------------------------


def _push(partner: Any, events: list[Encoded]) -> None:
    ((form, anys),) = events
    invoke(partner, form.operation.name, anys)


class _GivesOperations:
    """Events leave in order: an operation has nothing to give while an event of another is the next."""

    companion: Any = None

    def __init__(self, interface: TypedInterface, shelf: Shelf) -> None:
        self._interface = interface
        self._shelf = shelf
        self.disconnect_pull_supplier: Final = shelf.disconnected

    def typed(self) -> Any:
        return pull_servant(self._interface, self._wait, self._look)

    def get_typed_supplier(self) -> Any:
        return self.companion

    def _wait(self, form: Form) -> list[Any] | None:
        return self._from(self._shelf.wait, form)

    def _look(self, form: Form) -> list[Any] | None:
        return self._from(self._shelf.look, form)

    def _from(self, give: Callable[..., list[Any]], form: Form) -> list[Any] | None:
        try:
            events = give(1, lambda event: event[0] is form)
        except CosEventComm.Disconnected:  # which operations of Pull<I> do not declare
            raise CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO) from None
        return events[0][1] if events else None

    def pull(self) -> Any:
        """Untyped events are not on offer."""
        raise CORBA.NO_IMPLEMENT(0, CORBA.COMPLETED_NO)

    def try_pull(self) -> tuple[Any, bool]:
        return NO_ANY, False


class _PullSupplier(_GivesOperations, Hearing, CosTypedNotifyComm__POA.TypedPullSupplier):  # type: ignore[misc]
    pass


class _PlainPullSupplier(_GivesOperations, CosTypedEventComm__POA.TypedPullSupplier):  # type: ignore[misc]
    pass


def _encode(interface: TypedInterface, event: StructuredEvent) -> Encoded:
    """Raises DeadLetterError where the event spells no operation of `<I>`, or a parameter does not fit."""
    operation = to_typed(event)
    if operation is None:
        raise DeadLetterError(
            "COR-TYPED",
            "the event spells no operation: the first of its filterable data must be called `operation`, and be a string",
        )
    name = operation.operation.rpartition("::")[2]
    form = forms(interface).get(name)
    if form is None:
        raise DeadLetterError("COR-TYPED", f"{interface.scoped_name} has no operation {name}")
    anys = [
        _parameter(parameter, type_, given)
        for (parameter, type_), given in zip(form.operation.parameters, _given(form, operation), strict=True)
    ]
    for any_ in anys:
        try:
            omniORB.cdrMarshal(CORBA.TC_any, any_)  # what the ORB cannot write must be known before a peer waits for it
        except Exception as error:
            raise DeadLetterError("COR-VALUE", f"a parameter of {name} cannot be sent: {error}") from error
    return form, anys


def _given(form: Form, event: TypedEvent) -> Sequence[Property]:
    """The parameters in the order of the IDL: by name where they have its names, else as they stand."""
    names = [name for name, _ in form.operation.parameters]
    by_name = {given.name: given for given in event.parameters}
    if len(event.parameters) != len(names):
        raise DeadLetterError(
            "COR-TYPED", f"{form.operation.name} has {len(names)} parameters, and the event {len(event.parameters)}"
        )
    if set(by_name) == set(names):
        return [by_name[name] for name in names]
    return event.parameters


def _parameter(name: str, type_: IdlType, given: Property) -> Any:
    if equivalent(given.type, type_):
        return property_to_orb(given.type, given.value)
    value = Any_(given.type, given.value) if unalias(type_) == ANY else given.value
    try:
        check_value(type_, value, name)
    except MappingError as error:
        raise DeadLetterError("COR-TYPED", f"a parameter does not fit: {error.message}", path=error.path) from error
    return property_to_orb(type_, value)
