"""Every operation of the IDL is called, and every exception that it declares is provoked, from another process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA, CosEventComm, CosNotification, CosNotifyComm
from tests.interop.notification_service.clients import AND_OP, Channel, constraint, event, property_
from tests.interop.notification_service.subjects import (
    ANY,
    BASES,
    FORM,
    MODULES,
    Operation,
    Subject,
    call,
    operations,
    pair,
)
from tests.interop.notification_service.typed_clients import ALARMS, ANSWERING, TypedChannel
from tests.parts import cos_idl
from tests.parts.availability import available

# ruff: isort: split
import CosTypedEventComm

OPERATIONS = operations()
DECLARED = [(operation, exception) for operation in OPERATIONS for exception in operation.exceptions]


def test_the_idl_is_the_one_we_know() -> None:
    """So that an empty list would not pass for a complete one: RULES.md 1.3, 1.4 and the Event Service."""
    interfaces = {(operation.module, operation.interface) for operation in OPERATIONS}
    assert len(interfaces) == (12 + 4) + 3 + (4 + 3) + 8 + 5
    assert len(OPERATIONS) > 400


@pytest.mark.parametrize("module", MODULES)
def test_nothing_that_the_idl_declares_is_missing(module: str) -> None:
    """The IDL files of the services themselves, against what is called and provoked below."""
    declared = cos_idl.declared_in(available(cos_idl.fetch), module)
    for interface in BASES:
        declared.pop(f"{module}::{interface}", None)
    ours: dict[str, dict[str, list[str]]] = {}
    for operation in OPERATIONS:
        if operation.module == module:
            exceptions = sorted(exception._NP_RepositoryId for exception in operation.exceptions)
            ours.setdefault(f"{module}::{operation.interface}", {})[operation.name] = exceptions
    assert ours == declared


@contextmanager
def subject(service: tuple[LocalOrb, str], operation: Operation) -> Iterator[Subject]:
    channel = (TypedChannel if operation.typed else Channel)(*service)
    yield Subject(channel, operation.module, operation.interface)
    channel.close()


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_every_operation(service: tuple[LocalOrb, str], operation: Operation) -> None:
    with subject(service, operation) as called:
        assert call(called, operation.name)


def deep() -> Any:
    value = ANY
    for _ in range(1500):
        value = CORBA.Any(CORBA.TC_any, value)
    return value


def unreadable() -> Any:
    bad = event(1)
    bad.filterable_data.append(CosNotification.Property("deep", deep()))
    return bad


def full(subject: Subject) -> Any:
    """An admin of a channel that takes no more clients."""
    limits = [property_(name, CORBA.TC_long, 1) for name in ("MaxConsumers", "MaxSuppliers")]
    subject.channel.reference.set_admin(limits)
    subject.channel.consumers.obtain_pull_supplier()
    subject.channel.suppliers.obtain_pull_consumer()
    return subject.object


def with_constraints(subject: Subject) -> Any:
    """A filter that has to look at the event."""
    if hasattr(subject.object, "add_mapping_constraints"):
        subject.object.add_mapping_constraints([pair("$n > 1")])
    else:
        subject.object.add_constraints([constraint("$n > 1")])
    return subject.object


def broken(subject: Subject, *, text: str = "((", value: Any = None) -> Any:
    """An info of a constraint that exists, with another text or value."""
    with_constraints(subject)
    get_all = getattr(subject.object, "get_all_mapping_constraints", None) or subject.object.get_all_constraints
    (info,) = get_all()
    info.constraint_expression.constraint_expr = text
    if value is not None:
        info.value = value
    return info


BAD_QOS = [property_("Nonsense", CORBA.TC_long, 1)]
BAD_TYPES = [CosNotification.EventType("d", "%ALL")]
LONG = CORBA.Any(CORBA.TC_long, 1)
NO_ID = 4711

PROVOKED: dict[tuple[str, str], Callable[[Subject], Any]] = {
    ("set_qos", "UnsupportedQoS"): lambda s: s.object.set_qos(BAD_QOS),
    ("validate_qos", "UnsupportedQoS"): lambda s: s.object.validate_qos(BAD_QOS),
    ("validate_event_qos", "UnsupportedQoS"): lambda s: s.object.validate_event_qos(BAD_QOS),
    ("set_admin", "UnsupportedAdmin"): lambda s: s.object.set_admin(BAD_QOS),
    ("create_channel", "UnsupportedQoS"): lambda s: s.object.create_channel(BAD_QOS, []),
    ("create_channel", "UnsupportedAdmin"): lambda s: s.object.create_channel([], BAD_QOS),
    ("get_event_channel", "ChannelNotFound"): lambda s: s.object.get_event_channel(NO_ID),
    ("create_typed_channel", "UnsupportedQoS"): lambda s: s.object.create_typed_channel(BAD_QOS, []),
    ("create_typed_channel", "UnsupportedAdmin"): lambda s: s.object.create_typed_channel([], BAD_QOS),
    ("get_typed_event_channel", "ChannelNotFound"): lambda s: s.object.get_typed_event_channel(NO_ID),
    ("get_consumeradmin", "AdminNotFound"): lambda s: s.object.get_consumeradmin(NO_ID),
    ("get_supplieradmin", "AdminNotFound"): lambda s: s.object.get_supplieradmin(NO_ID),
    ("get_proxy_supplier", "ProxyNotFound"): lambda s: s.object.get_proxy_supplier(NO_ID),
    ("get_proxy_consumer", "ProxyNotFound"): lambda s: s.object.get_proxy_consumer(NO_ID),
    ("get_filter", "FilterNotFound"): lambda s: s.object.get_filter(NO_ID),
    ("remove_filter", "FilterNotFound"): lambda s: s.object.remove_filter(NO_ID),
    ("offer_change", "InvalidEventType"): lambda s: s.object.offer_change(BAD_TYPES, []),
    ("subscription_change", "InvalidEventType"): lambda s: s.object.subscription_change([], BAD_TYPES),
    ("push", "Disconnected"): lambda s: s.object.push(ANY),
    ("pull", "Disconnected"): lambda s: s.object.pull(),
    ("try_pull", "Disconnected"): lambda s: s.object.try_pull(),
    ("push_structured_event", "Disconnected"): lambda s: s.object.push_structured_event(event(1)),
    ("push_structured_events", "Disconnected"): lambda s: s.object.push_structured_events([event(1)]),
    ("pull_structured_event", "Disconnected"): lambda s: s.object.pull_structured_event(),
    ("try_pull_structured_event", "Disconnected"): lambda s: s.object.try_pull_structured_event(),
    ("pull_structured_events", "Disconnected"): lambda s: s.object.pull_structured_events(1),
    ("try_pull_structured_events", "Disconnected"): lambda s: s.object.try_pull_structured_events(1),
    ("suspend_connection", "NotConnected"): lambda s: s.object.suspend_connection(),
    ("resume_connection", "NotConnected"): lambda s: s.object.resume_connection(),
    ("resume_connection", "ConnectionAlreadyActive"): lambda s: s.connected().resume_connection(),
    ("suspend_connection", "ConnectionAlreadyInactive"): lambda s: [
        s.connected().suspend_connection(),
        s.object.suspend_connection(),
    ],
    ("create_filter", "InvalidGrammar"): lambda s: s.object.create_filter("SQL"),
    ("create_mapping_filter", "InvalidGrammar"): lambda s: s.object.create_mapping_filter("SQL", ANY),
    ("add_constraints", "InvalidConstraint"): lambda s: s.object.add_constraints([constraint("((")]),
    ("modify_constraints", "InvalidConstraint"): lambda s: s.object.modify_constraints([], [broken(s)]),
    ("modify_constraints", "ConstraintNotFound"): lambda s: s.object.modify_constraints([NO_ID], []),
    ("get_constraints", "ConstraintNotFound"): lambda s: s.object.get_constraints([NO_ID]),
    ("detach_callback", "CallbackNotFound"): lambda s: s.object.detach_callback(NO_ID),
    ("match", "UnsupportedFilterableData"): lambda s: with_constraints(s).match(deep()),
    ("match_structured", "UnsupportedFilterableData"): lambda s: with_constraints(s).match_structured(unreadable()),
    ("match_typed", "UnsupportedFilterableData"): lambda s: s.object.match_typed([]),
    ("add_mapping_constraints", "InvalidConstraint"): lambda s: s.object.add_mapping_constraints([pair("((")]),
    ("add_mapping_constraints", "InvalidValue"): lambda s: s.object.add_mapping_constraints([pair(value=LONG)]),
    ("modify_mapping_constraints", "InvalidConstraint"): lambda s: s.object.modify_mapping_constraints([], [broken(s)]),
    ("modify_mapping_constraints", "InvalidValue"): lambda s: s.object.modify_mapping_constraints(
        [], [broken(s, text="", value=LONG)]
    ),
    ("modify_mapping_constraints", "ConstraintNotFound"): lambda s: s.object.modify_mapping_constraints([NO_ID], []),
    ("get_mapping_constraints", "ConstraintNotFound"): lambda s: s.object.get_mapping_constraints([NO_ID]),
}


def provoke(subject: Subject, operation: str, exception: str) -> None:
    """Raises KeyError for what nobody has thought of."""
    if exception == "AlreadyConnected":
        getattr(subject.connected(), operation)(subject.client)
    elif exception == "TypeError":
        wrong = subject.channel.reference._unchecked_narrow(type_of_parameter(subject, operation))
        getattr(subject.object, operation)(wrong)
    elif exception == "AdminLimitExceeded":
        getattr(full(subject), operation)(ALARMS if "typed" in operation else FORM)
    elif exception in ("InterfaceNotSupported", "NoSuchImplementation"):
        getattr(subject.object, operation)(ANSWERING)
    else:
        PROVOKED[operation, exception](subject)


def type_of_parameter(subject: Subject, operation: str) -> Any:
    """The stub that `connect_*` takes."""
    assert subject.kind is not None
    style, side, form = subject.kind
    name = f"{style.capitalize()}{side.capitalize()}"
    if form.startswith("typed"):
        return getattr(CosTypedEventComm, f"Typed{name}")
    if form in ("any", "plain"):
        return getattr(CosEventComm, name)
    assert form in operation
    return getattr(CosNotifyComm, form.capitalize() + name)


@pytest.mark.parametrize(("operation", "exception"), DECLARED, ids=lambda part: getattr(part, "__name__", str(part)))
def test_every_declared_exception(service: tuple[LocalOrb, str], operation: Operation, exception: Any) -> None:
    with subject(service, operation) as called, pytest.raises(exception):
        provoke(called, operation.name, exception.__name__)


def test_default_admins_cannot_be_destroyed(service: tuple[LocalOrb, str]) -> None:
    channel = Channel(*service)
    for admin in (channel.consumers, channel.suppliers):
        with pytest.raises(CORBA.NO_PERMISSION):
            admin.destroy()
    other, id_ = channel.reference.new_for_suppliers(AND_OP)
    other.destroy()
    assert id_ not in channel.reference.get_all_supplieradmins()
    channel.close()
