"""An object of every interface that the service implements, and a call of every operation.

The tests read interfaces, operations and declared exceptions from the compiled IDL, and look up here how to call and provoke them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from adapters.cosnotification.stubs import CORBA, CosEventChannelAdmin, CosNotification, CosNotifyChannelAdmin
from tests.interop.notification_service.clients import (
    AND_OP,
    CLIENTS,
    Channel,
    connect,
    constraint,
    event,
    property_,
    until,
)
from tests.interop.notification_service.typed_clients import ALARMS, TypedChannel

# ruff: isort: split
import CosEventChannelAdmin__POA
import CosNotifyChannelAdmin__POA
import CosNotifyFilter
import CosNotifyFilter__POA
import CosTypedEventChannelAdmin
import CosTypedEventChannelAdmin__POA
import CosTypedNotifyChannelAdmin
import CosTypedNotifyChannelAdmin__POA

MODULES = {
    "CosNotifyChannelAdmin": (CosNotifyChannelAdmin__POA, CosNotifyChannelAdmin),
    "CosNotifyFilter": (CosNotifyFilter__POA, CosNotifyFilter),
    "CosEventChannelAdmin": (CosEventChannelAdmin__POA, CosEventChannelAdmin),
    "CosTypedNotifyChannelAdmin": (CosTypedNotifyChannelAdmin__POA, CosTypedNotifyChannelAdmin),
    "CosTypedEventChannelAdmin": (CosTypedEventChannelAdmin__POA, CosTypedEventChannelAdmin),
}
BASES = ("ProxyConsumer", "ProxySupplier", "FilterAdmin")  # no object has only these
_PROXY = re.compile("(Structured|Sequence|Typed|)Proxy(Push|Pull)(Consumer|Supplier)")


class Operation(NamedTuple):
    module: str
    interface: str
    name: str

    @property
    def typed(self) -> bool:
        return self.module.startswith("CosTyped")

    @property
    def exceptions(self) -> list[Any]:
        skeleton = getattr(MODULES[self.module][0], self.interface)
        return [descriptor[1] for descriptor in (skeleton._omni_op_d[self.name][2] or {}).values()]

    def __str__(self) -> str:
        return f"{self.module}::{self.interface}::{self.name}"


def operations() -> list[Operation]:
    """Of the compiled IDL, inherited ones included."""
    return [
        Operation(module, interface, operation)
        for module, (skeletons, _) in MODULES.items()
        for interface in sorted(vars(skeletons))
        if interface not in BASES and hasattr(getattr(skeletons, interface), "_omni_op_d")
        for operation in sorted(getattr(skeletons, interface)._omni_op_d)
    ]


class Subject:
    """An object to call, in a channel of its own; a proxy is not connected yet."""

    def __init__(self, channel: Channel, module: str, interface: str) -> None:
        self.channel = channel
        stub = getattr(MODULES[module][1], interface)
        self.kind = _kind(module, interface)
        self.object = self._make(interface)._narrow(stub)
        assert self.object is not None

    def _make(self, interface: str) -> Any:
        if self.kind is not None:
            return self.channel.proxy(*self.kind)
        channel = self.channel.reference
        filters = channel._get_default_filter_factory()
        makers: dict[str, Callable[[], Any]] = {
            "EventChannelFactory": lambda: self.channel.factory,
            "EventChannel": lambda: channel,
            "ConsumerAdmin": lambda: channel.new_for_consumers(AND_OP)[0],
            "SupplierAdmin": lambda: channel.new_for_suppliers(AND_OP)[0],
            "FilterFactory": lambda: filters,
            "Filter": lambda: filters.create_filter("EXTENDED_TCL"),
            "MappingFilter": lambda: filters.create_mapping_filter("EXTENDED_TCL", short(0)),
            "TypedEventChannelFactory": lambda: self.channel.factory,
            "TypedEventChannel": lambda: channel,
            "TypedConsumerAdmin": lambda: channel.new_for_typed_notification_consumers(AND_OP)[0],
            "TypedSupplierAdmin": lambda: channel.new_for_typed_notification_suppliers(AND_OP)[0],
        }
        return makers[interface]()

    @property
    def client(self) -> Any:
        assert self.kind is not None
        style, side, form = self.kind
        if isinstance(self.channel, TypedChannel) and form.startswith("typed"):
            return self.channel.activate(self.channel.client(style, side))
        return self.channel.activate(CLIENTS[style, side][form]())

    def connected(self) -> Any:
        assert self.kind is not None
        connect(self.object, *self.kind, self.client)
        return self.object

    def with_event(self) -> Any:
        """Connected, and one event waits."""
        proxy = self.connected()
        if isinstance(self.channel, TypedChannel):
            self.channel.alarms().named("x")
        else:
            self.channel.supplier().push_structured_event(event(1))
        return proxy


def _kind(module: str, interface: str) -> tuple[str, str, str] | None:
    """Of the client that this proxy is for."""
    found = _PROXY.fullmatch(interface)
    if found is None:
        return None
    form, style, proxy_side = (part.lower() for part in found.groups())
    side = "consumer" if proxy_side == "supplier" else "supplier"
    if module == "CosTypedEventChannelAdmin":
        return style, side, "typed plain"
    return style, side, "plain" if module == "CosEventChannelAdmin" else form or "any"


def short(value: int) -> Any:
    return CORBA.Any(CORBA.TC_short, value)


def pair(text: str = "$n > 1", value: Any = None) -> Any:
    return CosNotifyFilter.MappingConstraintPair(constraint(text), value or short(1))


def _types(*pairs: tuple[str, str]) -> list[Any]:
    return [CosNotification.EventType(*each) for each in pairs]


PRIORITY = [property_("Priority", CORBA.TC_short, 1)]
TYPED = [property_("operation", CORBA.TC_string, "op")]
ANY = CORBA.Any(CORBA.TC_long, 1)
FORM = CosNotifyChannelAdmin.STRUCTURED_EVENT
MODE = CosNotifyChannelAdmin.ALL_NOW_UPDATES_ON


def _with_filter(subject: Subject, use: Callable[[Any, int], Any]) -> Any:
    return use(subject.object, subject.object.add_filter(subject.channel.filter("TRUE")))


def _with_constraint(subject: Subject, use: Callable[[Any, Any], Any]) -> Any:
    filter_ = subject.object
    if isinstance(filter_, CosNotifyFilter._objref_MappingFilter):
        return use(filter_, filter_.add_mapping_constraints([pair()])[0])
    return use(filter_, filter_.add_constraints([constraint("$n > 1")])[0])


def _with_callback(subject: Subject, use: Callable[[Any, int], Any]) -> Any:
    listener = subject.channel.activate(CLIENTS["push", "supplier"]["structured"]())
    return use(subject.object, subject.object.attach_callback(listener))


def _set_mapping(subject: Subject, which: str) -> Any:
    factory = subject.channel.reference._get_default_filter_factory()
    getattr(subject.object, f"_set_{which}_filter")(factory.create_mapping_filter("EXTENDED_TCL", short(0)))
    return getattr(subject.object, f"_get_{which}_filter")() is not None


def suspended(subject: Subject) -> Any:
    proxy = subject.connected()
    proxy.suspend_connection()
    return proxy


def _obtained(subject: Subject) -> Any:
    admin = subject.object
    if isinstance(admin, CosNotifyChannelAdmin._objref_ConsumerAdmin):
        return admin.get_proxy_supplier(admin.obtain_notification_push_supplier(FORM)[1])
    return admin.get_proxy_consumer(admin.obtain_notification_push_consumer(FORM)[1])


# How each operation is called; each gives something true, or nothing where the operation does.
CALLS: dict[str, Callable[[Subject], Any]] = {
    "_get_MyAdmin": lambda s: not s.object._get_MyAdmin()._non_existent(),
    "_get_MyChannel": lambda s: s.object._get_MyChannel()._is_equivalent(s.channel.reference),
    "_get_MyFactory": lambda s: s.object._get_MyFactory()._is_equivalent(s.channel.factory),
    "_get_MyID": lambda s: s.object._get_MyID() > 0,
    "_get_MyOperator": lambda s: s.object._get_MyOperator() == AND_OP,
    "_get_MyType": lambda s: str(s.object._get_MyType()) == _proxy_type(s),
    "_get_constraint_grammar": lambda s: s.object._get_constraint_grammar() == "EXTENDED_TCL",
    "_get_default_consumer_admin": lambda s: s.object._get_default_consumer_admin()._get_MyID() == 0,
    "_get_default_filter_factory": lambda s: s.object._get_default_filter_factory(),
    "_get_default_supplier_admin": lambda s: s.object._get_default_supplier_admin()._get_MyID() == 0,
    "_get_default_value": lambda s: s.object._get_default_value().value() == 0,
    "_get_lifetime_filter": lambda s: s.object._get_lifetime_filter() is None,
    "_get_priority_filter": lambda s: s.object._get_priority_filter() is None,
    "_get_pull_consumers": lambda s: s.object._get_pull_consumers() == [],
    "_get_pull_suppliers": lambda s: s.object._get_pull_suppliers() == [],
    "_get_push_consumers": lambda s: _obtained(s) and len(s.object._get_push_consumers()) == 1,
    "_get_push_suppliers": lambda s: _obtained(s) and len(s.object._get_push_suppliers()) == 1,
    "_get_value_type": lambda s: s.object._get_value_type().equal(CORBA.TC_short),
    "_set_lifetime_filter": lambda s: _set_mapping(s, "lifetime"),
    "_set_priority_filter": lambda s: _set_mapping(s, "priority"),
    "add_constraints": lambda s: s.object.add_constraints([constraint("$n > 1")])[0].constraint_id > 0,
    "add_filter": lambda s: _with_filter(s, lambda _, id_: id_ > 0),
    "add_mapping_constraints": lambda s: s.object.add_mapping_constraints([pair()])[0].value.value() == 1,
    "attach_callback": lambda s: _with_callback(s, lambda _, id_: id_ > 0),
    "create_channel": lambda s: s.object.create_channel([], [])[0].destroy(),
    "create_filter": lambda s: s.object.create_filter("EXTENDED_TCL"),
    "create_mapping_filter": lambda s: s.object.create_mapping_filter("EXTENDED_TCL", short(0)),
    "create_typed_channel": lambda s: s.object.create_typed_channel([], [])[0].destroy(),
    "destroy": lambda s: s.object.destroy() or gone(s.object),
    "detach_callback": lambda s: _with_callback(s, lambda f, id_: f.detach_callback(id_) or f.get_callbacks() == []),
    "for_consumers": lambda s: s.object.for_consumers().obtain_pull_supplier(),
    "for_suppliers": lambda s: s.object.for_suppliers().obtain_pull_consumer(),
    "get_admin": lambda s: len(s.object.get_admin()) == 4,
    "get_all_channels": lambda s: s.channel.id in s.object.get_all_channels(),
    "get_all_constraints": lambda s: _with_constraint(s, lambda f, _: len(f.get_all_constraints()) == 1),
    "get_all_consumeradmins": lambda s: s.object.get_all_consumeradmins() == [0],
    "get_all_filters": lambda s: _with_filter(s, lambda o, id_: o.get_all_filters() == [id_]),
    "get_all_mapping_constraints": lambda s: _with_constraint(s, lambda f, _: f.get_all_mapping_constraints()),
    "get_all_supplieradmins": lambda s: s.object.get_all_supplieradmins() == [0],
    "get_callbacks": lambda s: _with_callback(s, lambda f, id_: f.get_callbacks() == [id_]),
    "get_constraints": lambda s: _with_constraint(s, lambda f, i: f.get_constraints([i.constraint_id])),
    "get_consumeradmin": lambda s: s.object.get_consumeradmin(0)._get_MyID() == 0,
    "get_event_channel": lambda s: s.object.get_event_channel(s.channel.id)._is_equivalent(s.channel.reference),
    "get_filter": lambda s: _with_filter(s, lambda o, id_: o.get_filter(id_).match(ANY)),
    "get_mapping_constraints": lambda s: _with_constraint(s, lambda f, i: f.get_mapping_constraints([i.constraint_id])),
    "get_proxy_consumer": _obtained,
    "get_proxy_supplier": _obtained,
    "get_qos": lambda s: len(s.object.get_qos()) >= 10,
    "get_supplieradmin": lambda s: s.object.get_supplieradmin(0)._get_MyID() == 0,
    "get_all_typed_channels": lambda s: s.channel.id in s.object.get_all_typed_channels(),
    "get_typed_consumer": lambda s: s.object.get_typed_consumer()._is_a(ALARMS),
    "get_typed_event_channel": lambda s: s.object.get_typed_event_channel(s.channel.id)._is_equivalent(
        s.channel.reference
    ),
    "get_typed_supplier": lambda s: s.object.get_typed_supplier()._is_a(ALARMS.replace("Alarms", "PullAlarms")),
    "match": lambda s: s.object.match(ANY),
    "match_structured": lambda s: s.object.match_structured(event(1)),
    "match_typed": lambda s: s.object.match_typed(TYPED),
    "modify_constraints": lambda s: _with_constraint(s, lambda f, i: f.modify_constraints([i.constraint_id], [])),
    "modify_mapping_constraints": lambda s: _with_constraint(
        s, lambda f, i: f.modify_mapping_constraints([i.constraint_id], [])
    ),
    "new_for_consumers": lambda s: s.object.new_for_consumers(AND_OP)[1] > 0,
    "new_for_suppliers": lambda s: s.object.new_for_suppliers(AND_OP)[1] > 0,
    "new_for_typed_notification_consumers": lambda s: s.object.new_for_typed_notification_consumers(AND_OP)[1] > 0,
    "new_for_typed_notification_suppliers": lambda s: s.object.new_for_typed_notification_suppliers(AND_OP)[1] > 0,
    "obtain_notification_pull_consumer": lambda s: s.object.obtain_notification_pull_consumer(FORM)[1] > 0,
    "obtain_notification_pull_supplier": lambda s: s.object.obtain_notification_pull_supplier(FORM)[1] > 0,
    "obtain_notification_push_consumer": lambda s: s.object.obtain_notification_push_consumer(FORM)[1] > 0,
    "obtain_notification_push_supplier": lambda s: s.object.obtain_notification_push_supplier(FORM)[1] > 0,
    "obtain_offered_types": lambda s: s.object.obtain_offered_types(MODE) == [],
    "obtain_pull_consumer": lambda s: s.object.obtain_pull_consumer(),
    "obtain_pull_supplier": lambda s: s.object.obtain_pull_supplier(),
    "obtain_push_consumer": lambda s: s.object.obtain_push_consumer(),
    "obtain_push_supplier": lambda s: s.object.obtain_push_supplier(),
    "obtain_subscription_types": lambda s: s.object.obtain_subscription_types(MODE) == [],
    "obtain_typed_notification_pull_consumer": lambda s: (
        s.object.obtain_typed_notification_pull_consumer(ALARMS)[1] > 0
    ),
    "obtain_typed_notification_pull_supplier": lambda s: (
        s.object.obtain_typed_notification_pull_supplier(ALARMS)[1] > 0
    ),
    "obtain_typed_notification_push_consumer": lambda s: (
        s.object.obtain_typed_notification_push_consumer(ALARMS)[1] > 0
    ),
    "obtain_typed_notification_push_supplier": lambda s: (
        s.object.obtain_typed_notification_push_supplier(ALARMS)[1] > 0
    ),
    "obtain_typed_pull_consumer": lambda s: s.object.obtain_typed_pull_consumer(ALARMS),
    "obtain_typed_pull_supplier": lambda s: s.object.obtain_typed_pull_supplier(ALARMS),
    "obtain_typed_push_consumer": lambda s: s.object.obtain_typed_push_consumer(ALARMS),
    "obtain_typed_push_supplier": lambda s: s.object.obtain_typed_push_supplier(ALARMS),
    "offer_change": lambda s: s.object.offer_change(_types(("d", "t")), []),
    "pull": lambda s: s.with_event().pull(),
    "pull_structured_event": lambda s: s.with_event().pull_structured_event(),
    "pull_structured_events": lambda s: len(s.with_event().pull_structured_events(9)) == 1,
    "push": lambda s: s.connected().push(ANY),
    "push_structured_event": lambda s: s.connected().push_structured_event(event(1)),
    "push_structured_events": lambda s: s.connected().push_structured_events([event(1)]),
    "remove_all_constraints": lambda s: s.object.remove_all_constraints() or s.object.get_all_constraints() == [],
    "remove_all_filters": lambda s: _with_filter(s, lambda o, _: o.remove_all_filters() or o.get_all_filters() == []),
    "remove_all_mapping_constraints": lambda s: s.object.remove_all_mapping_constraints(),
    "remove_filter": lambda s: _with_filter(s, lambda o, id_: o.remove_filter(id_) or o.get_all_filters() == []),
    "resume_connection": lambda s: suspended(s).resume_connection(),
    "set_admin": lambda s: s.object.set_admin([property_("MaxConsumers", CORBA.TC_long, 9)]),
    "set_qos": lambda s: s.object.set_qos(PRIORITY),
    "subscription_change": lambda s: s.object.subscription_change(_types(("d", "t")), []),
    "suspend_connection": lambda s: s.connected().suspend_connection(),
    "try_pull": lambda s: s.with_event().try_pull()[1],
    "try_pull_structured_event": lambda s: s.with_event().try_pull_structured_event()[1],
    "try_pull_structured_events": lambda s: s.with_event().try_pull_structured_events(9)[1],
    "validate_event_qos": lambda s: s.object.validate_event_qos(PRIORITY),
    "validate_qos": lambda s: s.object.validate_qos(PRIORITY),
}
NOTHING = {  # operations without a result, whose call above gives none either
    "create_channel", "create_typed_channel",
    "modify_constraints", "modify_mapping_constraints", "offer_change", "push", "push_structured_event",
    "push_structured_events", "remove_all_mapping_constraints", "resume_connection", "set_admin", "set_qos",
    "subscription_change", "suspend_connection",
}  # fmt: skip


def _proxy_type(subject: Subject) -> str:
    assert subject.kind is not None
    style, _, form = subject.kind
    return f"{style}_{form}".upper()


def gone(reference: Any) -> bool:
    """The ORB needs a moment to see the end of the call that ended an object."""
    until(reference._non_existent)
    return True


def call(subject: Subject, operation: str) -> Any:
    """Raises KeyError for an operation that nobody has thought of."""
    if operation.startswith("connect_"):
        return subject.connected() is not None
    if operation.startswith("disconnect_"):
        getattr(subject.connected(), operation)()
        return gone(subject.object)
    result = CALLS[operation](subject)
    return result is None if operation in NOTHING else result
