"""Clients of a Notification Service, of every kind, and a channel of their own in a service in another process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

# ruff: noqa: I001 - omniORB has to come first
from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventComm,
    CosNotification,
    CosNotifyChannelAdmin,
    CosNotifyComm__POA,
)
import CosEventComm__POA
from mappings.idl_types import LONG, IdlType
from mappings.model import Property, StructuredEvent

PATIENCE_SECS = 20.0
FORMS = {
    "any": CosNotifyChannelAdmin.ANY_EVENT,
    "structured": CosNotifyChannelAdmin.STRUCTURED_EVENT,
    "sequence": CosNotifyChannelAdmin.SEQUENCE_EVENT,
}
AND_OP, OR_OP = CosNotifyChannelAdmin.AND_OP, CosNotifyChannelAdmin.OR_OP


def event(number: int, domain: str = "d", type_: str = "t", **fields: tuple[IdlType, Any]) -> Any:
    """A StructuredEvent of the ORB; its number is the field `n`, and others follow."""
    properties = [Property("n", LONG, number), *(Property(name, *value) for name, value in fields.items())]
    return event_to_orb(StructuredEvent(domain, type_, f"e{number}", (), tuple(properties)))


def number_of(event: Any) -> int:
    return int(event.filterable_data[0].value.value())


def property_(name: str, type_: Any, value: Any) -> Any:
    return CosNotification.Property(name, CORBA.Any(type_, value))


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class _Client:
    def __init__(self) -> None:
        self.got: list[Any] = []
        self.calls: list[int] = []  # events per call
        self.changes: list[tuple[set[tuple[str, str]], set[tuple[str, str]]]] = []
        self.disconnected = threading.Event()

    def offer_change(self, added: Any, removed: Any) -> None:
        self.changes.append((_types(added), _types(removed)))

    subscription_change = offer_change

    def _farewell(self) -> None:
        self.disconnected.set()

    @property
    def numbers(self) -> list[int]:
        return [number_of(event) for event in self.got]


def _types(types: Any) -> set[tuple[str, str]]:
    return {(type_.domain_name, type_.type_name) for type_ in types}


class _PushConsumer(_Client):
    def push(self, data: Any) -> None:
        self._take([data])

    push_structured_event = push

    def push_structured_events(self, notifications: Any) -> None:
        self._take(notifications)

    def _take(self, events: list[Any]) -> None:
        self.calls.append(len(events))
        self.got += events


class AnyPushConsumer(_PushConsumer, CosNotifyComm__POA.PushConsumer):  # type: ignore[misc]
    disconnect_push_consumer = _Client._farewell


class StructuredPushConsumer(_PushConsumer, CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    disconnect_structured_push_consumer = _Client._farewell


class SequencePushConsumer(_PushConsumer, CosNotifyComm__POA.SequencePushConsumer):  # type: ignore[misc]
    disconnect_sequence_push_consumer = _Client._farewell


class PlainPushConsumer(_PushConsumer, CosEventComm__POA.PushConsumer):  # type: ignore[misc]
    """Of the Event Service: it has no offer_change."""

    disconnect_push_consumer = _Client._farewell


class AnyPullConsumer(_Client, CosNotifyComm__POA.PullConsumer):  # type: ignore[misc]
    disconnect_pull_consumer = _Client._farewell


class StructuredPullConsumer(_Client, CosNotifyComm__POA.StructuredPullConsumer):  # type: ignore[misc]
    disconnect_structured_pull_consumer = _Client._farewell


class SequencePullConsumer(_Client, CosNotifyComm__POA.SequencePullConsumer):  # type: ignore[misc]
    disconnect_sequence_pull_consumer = _Client._farewell


class PlainPullConsumer(_Client, CosEventComm__POA.PullConsumer):  # type: ignore[misc]
    disconnect_pull_consumer = _Client._farewell


class AnyPushSupplier(_Client, CosNotifyComm__POA.PushSupplier):  # type: ignore[misc]
    disconnect_push_supplier = _Client._farewell


class StructuredPushSupplier(_Client, CosNotifyComm__POA.StructuredPushSupplier):  # type: ignore[misc]
    disconnect_structured_push_supplier = _Client._farewell


class SequencePushSupplier(_Client, CosNotifyComm__POA.SequencePushSupplier):  # type: ignore[misc]
    disconnect_sequence_push_supplier = _Client._farewell


class PlainPushSupplier(_Client, CosEventComm__POA.PushSupplier):  # type: ignore[misc]
    disconnect_push_supplier = _Client._farewell


class _PullSupplier(_Client):
    """Has what is put into `stock`."""

    def __init__(self) -> None:
        super().__init__()
        self.stock: deque[Any] = deque()
        self.asked = 0

    def try_pull(self) -> tuple[Any, bool]:
        self.asked += 1
        if self.stock:
            return self.stock.popleft(), True
        return CORBA.Any(CORBA.TC_null, None), False

    def try_pull_structured_event(self) -> tuple[Any, bool]:
        self.asked += 1
        return (self.stock.popleft(), True) if self.stock else (event(-1), False)

    def try_pull_structured_events(self, max_number: int) -> tuple[Any, bool]:
        self.asked += 1
        batch = [self.stock.popleft() for _ in range(min(max_number, len(self.stock)))]
        return batch, bool(batch)

    def pull(self) -> Any:
        raise CosEventComm.Disconnected

    pull_structured_event = pull

    def pull_structured_events(self, max_number: int) -> Any:
        raise CosEventComm.Disconnected


class AnyPullSupplier(_PullSupplier, CosNotifyComm__POA.PullSupplier):  # type: ignore[misc]
    disconnect_pull_supplier = _Client._farewell


class StructuredPullSupplier(_PullSupplier, CosNotifyComm__POA.StructuredPullSupplier):  # type: ignore[misc]
    disconnect_structured_pull_supplier = _Client._farewell


class SequencePullSupplier(_PullSupplier, CosNotifyComm__POA.SequencePullSupplier):  # type: ignore[misc]
    disconnect_sequence_pull_supplier = _Client._farewell


class PlainPullSupplier(_PullSupplier, CosEventComm__POA.PullSupplier):  # type: ignore[misc]
    disconnect_pull_supplier = _Client._farewell


CLIENTS: dict[tuple[str, str], dict[str, Any]] = {
    ("push", "consumer"): {
        "any": AnyPushConsumer,
        "structured": StructuredPushConsumer,
        "sequence": SequencePushConsumer,
        "plain": PlainPushConsumer,
    },
    ("pull", "consumer"): {
        "any": AnyPullConsumer,
        "structured": StructuredPullConsumer,
        "sequence": SequencePullConsumer,
        "plain": PlainPullConsumer,
    },
    ("push", "supplier"): {
        "any": AnyPushSupplier,
        "structured": StructuredPushSupplier,
        "sequence": SequencePushSupplier,
        "plain": PlainPushSupplier,
    },
    ("pull", "supplier"): {
        "any": AnyPullSupplier,
        "structured": StructuredPullSupplier,
        "sequence": SequencePullSupplier,
        "plain": PlainPullSupplier,
    },
}


class Channel:
    """A new channel, and the clients that a test makes for it."""

    _keys = 0

    def __init__(self, orb: LocalOrb, factory_ior: str, qos: Any = (), admin: Any = ()) -> None:
        self.orb = orb
        self.factory = resolve(orb, factory_ior, CosNotifyChannelAdmin.EventChannelFactory, 5000)
        self.reference, self.id = self.factory.create_channel(list(qos), list(admin))
        self._activated: list[bytes] = []

    def close(self) -> None:
        if not self.reference._non_existent():
            self.reference.destroy()
        for key in self._activated:
            self.orb.deactivate(key)

    def activate(self, servant: Any) -> Any:
        Channel._keys += 1
        key = b"client-%d" % Channel._keys
        self._activated.append(key)
        return self.orb.activate(servant, key)

    @property
    def consumers(self) -> Any:
        return self.reference._get_default_consumer_admin()

    @property
    def suppliers(self) -> Any:
        return self.reference._get_default_supplier_admin()

    def proxy(self, style: str, side: str, form: str, admin: Any = None) -> Any:
        """The proxy for a client that is a consumer or supplier; `plain` is the Event Service's."""
        admin = admin or (self.consumers if side == "consumer" else self.suppliers)
        other = "supplier" if side == "consumer" else "consumer"
        if form == "plain":
            return getattr(admin, f"obtain_{style}_{other}")()
        found, _ = getattr(admin, f"obtain_notification_{style}_{other}")(FORMS[form])
        prefix = "" if form == "any" else form.capitalize()
        interface = f"{prefix}Proxy{style.capitalize()}{other.capitalize()}"
        return found._narrow(getattr(CosNotifyChannelAdmin, interface))

    def join(self, style: str, side: str, form: str, admin: Any = None) -> tuple[Any, Any]:
        """A connected client, and its proxy."""
        client, proxy = CLIENTS[style, side][form](), self.proxy(style, side, form, admin)
        connect(proxy, style, side, form, self.activate(client))
        return client, proxy

    def consumer(self, form: str = "structured", admin: Any = None) -> tuple[Any, Any]:
        return self.join("push", "consumer", form, admin)

    def supplier(self, form: str = "structured", admin: Any = None) -> Any:
        """A proxy to push to."""
        proxy = self.proxy("push", "supplier", form, admin)
        connect(proxy, "push", "supplier", form, None)
        return proxy

    def puller(self, form: str = "structured", admin: Any = None) -> Any:
        """A proxy to pull from."""
        proxy = self.proxy("pull", "consumer", form, admin)
        connect(proxy, "pull", "consumer", form, None)
        return proxy

    def filter(self, *constraints: str | tuple[str, list[tuple[str, str]]]) -> Any:
        """A filter of the service, with constraints: expressions, with event types or without."""
        made = self.reference._get_default_filter_factory().create_filter("EXTENDED_TCL")
        made.add_constraints([constraint(text) for text in constraints])
        return made


def constraint(spec: str | tuple[str, list[tuple[str, str]]]) -> Any:
    import CosNotifyFilter

    text, types = (spec, []) if isinstance(spec, str) else spec
    return CosNotifyFilter.ConstraintExp([CosNotification.EventType(*type_) for type_ in types], text)


def connect(proxy: Any, style: str, side: str, form: str, client: Any) -> None:
    middle = "" if form.endswith("plain") else f"{form}_"
    getattr(proxy, f"connect_{middle}{style}_{side}")(client)


def drain(proxy: Any, count: int) -> list[int]:
    """The numbers of the next events of a structured pull supplier, which must be there."""
    numbers = []
    for _ in range(count):
        found, has_event = proxy.try_pull_structured_event()
        assert has_event
        numbers.append(number_of(found))
    assert not proxy.try_pull_structured_event()[1]
    return numbers
