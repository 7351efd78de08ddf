"""StructuredEvents as RMI-IIOP carries them: boxed in a valuetype, for consumers and suppliers that are Java remote interfaces.

An EJB that declares push_structured_event(StructuredEvent) gets its parameter by RMI's rules, as a value (RULES.md section 7). The
id of the box tells the class of that value, and its versions. Whoever reads a box must know its id beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from adapters.cosnotification import shims
from adapters.cosnotification.ior import BadReference, decode_ior
from adapters.cosnotification.service.stubs import CORBA, CosEventComm, CosNotification
from adapters.cosnotification.settings import DEFAULT_RMI_ID
from adapters.cosnotification.stubs import PortableServer, omniORB

PUSH: Final = "push_structured_event"
FAREWELL: Final = "disconnect_structured_push_consumer"
_DISCONNECTED: Final = {CosEventComm.Disconnected._NP_RepositoryId: CosEventComm._d_Disconnected}
_PLAIN: Final = ((CosNotification._d_StructuredEvent,), (), _DISCONNECTED)
_NOTHING: Final = ((), (), None)


class Boxing:
    """`id_` is what we send, `read` what others may send too; `untyped`: references without a type are taken for RMI's."""

    def __init__(self, id_: str = DEFAULT_RMI_ID, read: Sequence[str] = (), *, untyped: bool = False) -> None:
        self._untyped = untyped
        self.operation: Final = ((_box(id_),), (), _DISCONNECTED)
        for each in read:
            _box(each)

    def is_for(self, ior: str) -> bool:
        """Whether a consumer with this reference gets boxes."""
        try:
            type_id = decode_ior(ior).type_id
        except BadReference:
            return False
        return type_id.startswith("RMI:") or (not type_id and self._untyped)


def _box(id_: str) -> Any:
    descriptor = (30, shims.createUnknownValue(id_, 0), id_, "StructuredEvent", CosNotification._d_StructuredEvent)
    omniORB.registerType(id_, descriptor, 1)
    shims.allow_value_box(id_)
    return descriptor


class RmiConsumer:
    """A consumer that gets boxes, as long as it takes them: one that does not take the first is tried without.

    `reference` is a plain object: through a stub the library would ask it whether it is of a CORBA interface, which it is not.
    """

    def __init__(self, reference: Any, boxing: Boxing) -> None:
        self._object = reference._obj
        self._boxing = boxing
        self._boxed = True
        self._settled = False

    def push(self, event: Any) -> None:
        try:
            self._push(event)
        except CORBA.MARSHAL:
            if self._settled:
                raise
            self._boxed = not self._boxed
            try:
                self._push(event)
            except CORBA.Exception:
                self._boxed = not self._boxed
                raise
        self._settled = True

    def disconnect(self) -> None:
        self._object.invoke(FAREWELL, _NOTHING, ())

    def _push(self, event: Any) -> None:
        self._object.invoke(PUSH, self._boxing.operation if self._boxed else _PLAIN, (event,))


def boxed_servant(
    interface_id: str, boxing: Boxing, push: Callable[[Any], None], disconnect: Callable[[], None]
) -> Any:
    """What a supplier by RMI calls: an object of its remote interface. A null in place of an event is BAD_PARAM."""

    def take(_self: Any, event: Any) -> None:
        if event is None:
            raise CORBA.BAD_PARAM(0, CORBA.COMPLETED_NO)
        push(event)

    names: dict[str, Any] = {
        PUSH: take,
        FAREWELL: lambda _self: disconnect(),
        "_NP_RepositoryId": interface_id,
        "_omni_op_d": {PUSH: boxing.operation, FAREWELL: _NOTHING},
    }
    made: Any = type("BoxedConsumer", (PortableServer.Servant,), names)
    made._omni_skeleton = made
    return made()
