"""BridgeFactory and Bridge, in the ORB's process: they ask the gateway, which has the links."""

from __future__ import annotations

import hmac
import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import Any, ClassVar, Final

from adapters.base import AdapterError
from adapters.cosnotification.compiled_idl import compile_idl
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin
from adapters.cosnotification.worker.frames import Closed

compile_idl("CosBridgeAdmin")

# ruff: isort: split
# ruff: noqa: E402 - they are there from now on
import BridgeTransactionMgmt
import BridgeTransactionMgmt__POA
import CosBridgeAdmin
import CosBridgeAdmin__POA

ANSWER_SECS: Final = 90.0  # links are drained meanwhile

Ask = Callable[..., Any]


class BridgeServant(CosBridgeAdmin__POA.Bridge, BridgeTransactionMgmt__POA.TransactionManagement):  # type: ignore[misc]
    """Its reference says Bridge; when asked it is a TransactionManagement too."""

    _omni_op_d: ClassVar = {
        **CosBridgeAdmin__POA.Bridge._omni_op_d,
        **BridgeTransactionMgmt__POA.TransactionManagement._omni_op_d,
    }

    def __init__(self, part: BridgesPart, id_: int, source: Any, sink: Any) -> None:
        self._part = part
        self._id = id_
        self._source, self._sink = source, sink

    def _get_end_point_receiver(self) -> Any:
        return self._source

    def _get_end_point_sender(self) -> Any:
        return self._sink

    def start_bridge(self) -> None:
        self._part.check_channels(self._source, self._sink)
        self._part.request("start", self._id)

    def stop_bridge(self) -> None:
        self._part.request("stop", self._id)

    def destroy(self) -> None:
        self._part.request("destroy", self._id)
        self._part.forget(self._id)

    def enable_transaction(self, events: int, timeout: int) -> None:
        self._part.request("enable_transaction", self._id, events, timeout)

    def disable_transaction(self) -> None:
        self._part.request("disable_transaction", self._id)


BridgeServant._omni_skeleton = BridgeServant  # the library asks this one whether it is a certain interface


class BridgeFactoryServant(CosBridgeAdmin__POA.BridgeFactory):  # type: ignore[misc]
    def __init__(self, part: BridgesPart) -> None:
        self._part = part

    def create_bridge(self, source: Any, sink: Any) -> tuple[Any, int]:
        id_ = self._part.request("create", end_to_plain(source), end_to_plain(sink))
        self._part.check_channels(source, sink, undo=lambda: self._part.request("destroy", id_))
        return self._part.serve(id_, source, sink), id_

    def get_bridge_with_id(self, id: int) -> Any:
        return self._part.reference(id)

    def get_all_bridges(self) -> list[int]:
        return self._part.ids


class BridgesPart:
    def __init__(self, orb: LocalOrb, tell: Callable[..., None], settings: str) -> None:
        self._orb = orb
        self._tell = tell
        self._settings = json.loads(settings)
        self._secret = bytes.fromhex(self._settings["secret"])
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._references: dict[int, Any] = {}

    def start(self) -> str:
        for id_, source, sink in self._settings["bridges"]:
            self.serve(id_, end_from_plain(source), end_from_plain(sink))
        return self._orb.to_string(self._orb.activate(BridgeFactoryServant(self), self._key("factory")))

    def ask(self, question: str, *arguments: Any) -> None:
        """The gateway's answer to a request."""
        number, value, refusal = arguments
        with self._lock:
            waiting = self._waiting.pop(number, None)
        if waiting is not None:
            waiting.set_result((value, refusal))

    def stop(self) -> None:
        for id_ in list(self._references):
            self.forget(id_)
        self._orb.deactivate(self._key("factory"))

    # For the servants

    def request(self, operation: str, *arguments: Any) -> Any:
        """Raises what the gateway refuses, as exceptions of the IDL."""
        number = next(self._numbers)
        answer: Future[Any] = Future()
        with self._lock:
            self._waiting[number] = answer
        try:
            self._tell("request", number, operation, list(arguments))
            value, refusal = answer.result(ANSWER_SECS)
        except (Closed, Late):
            with self._lock:
                self._waiting.pop(number, None)
            raise CORBA.TIMEOUT(0, CORBA.COMPLETED_MAYBE) from None
        if refusal is None:
            return value
        raise _refusal(*refusal)

    def check_channels(self, source: Any, sink: Any, undo: Callable[[], object] = lambda: None) -> None:
        """A channel that its factory does not know is refused; a factory that is away may come back."""
        errors = []
        for end in (source, sink):
            if end.type != CosBridgeAdmin.JMS_MESSAGE and self._is_unknown(end.connector._v):
                errors.append(CosBridgeAdmin.ExternalEndpointError(end.role, CosBridgeAdmin.INVALID_CHANNELID))
        if errors:
            undo()
            raise CosBridgeAdmin.InvalidExternalEndPoints(errors)

    def serve(self, id_: int, source: Any, sink: Any) -> Any:
        reference = self._orb.activate(BridgeServant(self, id_, source, sink), self._key(f"bridge/{id_}"))
        with self._lock:
            self._references[id_] = reference
        return reference

    def forget(self, id_: int) -> None:
        with self._lock:
            self._references.pop(id_, None)
        self._orb.deactivate(self._key(f"bridge/{id_}"))

    def reference(self, id_: int) -> Any:
        with self._lock:
            if id_ not in self._references:
                raise CosBridgeAdmin.BridgeNotFound
            return self._references[id_]

    @property
    def ids(self) -> list[int]:
        with self._lock:
            return sorted(self._references)

    def _is_unknown(self, channel: int) -> bool:
        timeout_ms = self._orb.settings.call_timeout_ms
        interface = CosNotifyChannelAdmin.EventChannelFactory
        try:
            resolve(self._orb, self._settings["factory"], interface, timeout_ms).get_event_channel(channel)
        except CosNotifyChannelAdmin.ChannelNotFound:
            return True
        except (AdapterError, CORBA.Exception):
            return False
        return False

    def _key(self, place: str) -> bytes:
        return b"bridge-" + hmac.new(self._secret, place.encode(), "sha256").hexdigest()[:32].encode()


def end_to_plain(end: Any) -> list[Any]:
    """In the order of gateway.bridges.bridge.EndPoint."""
    kind = end.connector._d._v
    plain = [end.role._v, end.type._v, end.style._v, kind]
    if end.connector._d != CosBridgeAdmin.JMS_MESSAGE:
        return [*plain, end.connector._v]
    its = end.connector._v
    type_ = "queue" if its.destination_type == CosBridgeAdmin.QUEUE else "topic"
    return [*plain, 0, type_, its.destination_name, its.factory_name]


def end_from_plain(plain: list[Any]) -> Any:
    role, type_, style, kind, *rest = plain
    discriminator = CosBridgeAdmin.MessageType._item(kind)
    if discriminator == CosBridgeAdmin.JMS_MESSAGE:
        _, destination_type, name, factory = rest
        known = CosBridgeAdmin.QUEUE if destination_type == "queue" else CosBridgeAdmin.TOPIC
        value = CosBridgeAdmin.JMSDestination(known, name, factory)
    else:
        value = rest[0]
    return CosBridgeAdmin.ExternalEndpoint(
        CosBridgeAdmin.ExternalEndpointRole._item(role),
        CosBridgeAdmin.ExternalEndpointConnector(discriminator, value),
        CosBridgeAdmin.FlowStyle._item(style),
        CosBridgeAdmin.MessageType._item(type_),
    )


def _refusal(name: str, errors: list[tuple[int, int]]) -> Exception:
    """An exception of the IDL, by its name."""
    if name == "InvalidExternalEndPoints":
        return CosBridgeAdmin.InvalidExternalEndPoints(  # type: ignore[no-any-return]
            [
                CosBridgeAdmin.ExternalEndpointError(
                    CosBridgeAdmin.ExternalEndpointRole._item(role),
                    CosBridgeAdmin.ExternalEndpointErrorCode._item(code),
                )
                for role, code in errors
            ]
        )
    for module in (CosBridgeAdmin, BridgeTransactionMgmt):
        if hasattr(module, name):
            return getattr(module, name)()  # type: ignore[no-any-return]
    return CORBA.INTERNAL(0, CORBA.COMPLETED_MAYBE) if name != "gone" else CORBA.OBJECT_NOT_EXIST(0, CORBA.COMPLETED_NO)  # type: ignore[no-any-return]
