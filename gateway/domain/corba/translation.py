"""Between the data and exceptions of the core and those of the IDL, which bear the same names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from gateway.domain import errors
from gateway.domain.connection import ClientType, Connection, NotificationStyle
from gateway.domain.corba.stubs import (
    CORBA,
    CosEventDomainAdmin,
    CosNotification,
    CosNotifyChannelAdmin,
    CosTypedEventDomainAdmin,
)
from gateway.domain.qos import PropertyFault, QoSErrorCode, QoSProperty, UnsupportedQoS

_CODES: Final = {
    QoSErrorCode.UNSUPPORTED_VALUE: CosNotification.UNSUPPORTED_VALUE,
    QoSErrorCode.UNAVAILABLE_VALUE: CosNotification.UNAVAILABLE_VALUE,
    QoSErrorCode.BAD_PROPERTY: CosNotification.BAD_PROPERTY,
    QoSErrorCode.BAD_TYPE: CosNotification.BAD_TYPE,
}


class Failed(Exception):
    """A channel failed where it should not (RULES.md 4.3 step 7)."""


@contextmanager
def spoken() -> Iterator[None]:
    """What the core refuses, as the exceptions of the IDL; LimitExceeded is in no raises list: IMP_LIMIT."""
    try:
        yield
    except errors.ChannelNotFound:
        raise CosNotifyChannelAdmin.ChannelNotFound from None
    except errors.ConnectionNotFound:
        raise CosEventDomainAdmin.ConnectionNotFound from None
    except errors.DomainNotFound:
        raise CosEventDomainAdmin.DomainNotFound from None
    except errors.AlreadyExists:
        raise CosEventDomainAdmin.AlreadyExists from None
    except errors.CycleCreationForbidden as refused:
        raise CosEventDomainAdmin.CycleCreationForbidden(list(refused.cycle)) from None
    except errors.DiamondCreationForbidden as refused:
        raise CosEventDomainAdmin.DiamondCreationForbidden([list(route) for route in refused.diamond]) from None
    except errors.LimitExceeded:
        raise CORBA.IMP_LIMIT(0, CORBA.COMPLETED_NO) from None
    except Failed:
        raise CORBA.INTERNAL(0, CORBA.COMPLETED_MAYBE) from None
    except sqlite3.Error:
        raise CORBA.PERSIST_STORE(0, CORBA.COMPLETED_NO) from None  # what the store does not take is undone
    except UnsupportedQoS as refused:
        raise CosNotification.UnsupportedQoS([_fault_to_orb(fault) for fault in refused.faults]) from None
    except errors.UnsupportedAdmin as refused:
        faults = [
            CosNotification.PropertyError(
                CosNotification.BAD_PROPERTY, name, CosNotification.PropertyRange(_NULL, _NULL)
            )
            for name in refused.names
        ]
        raise CosNotification.UnsupportedAdmin(faults) from None


def connection_from_orb(connection: Any) -> Connection:
    return Connection(
        connection.supplier_id,
        connection.consumer_id,
        ClientType(connection.ctype._v),
        NotificationStyle(connection.notification_style._v),
    )


def connection_to_orb(connection: Connection) -> Any:
    return CosEventDomainAdmin.Connection(
        connection.supplier_id,
        connection.consumer_id,
        CosNotifyChannelAdmin.ClientType._item(connection.ctype),
        CosEventDomainAdmin.NotificationStyle._item(connection.notification_style),
    )


def typed_connection_from_orb(connection: Any) -> Connection:
    style = NotificationStyle(connection.notification_style._v)
    return Connection(connection.supplier_id, connection.consumer_id, ClientType.ANY_EVENT, style, connection.key)


def typed_connection_to_orb(connection: Connection) -> Any:
    return CosTypedEventDomainAdmin.TypedConnection(
        connection.supplier_id,
        connection.consumer_id,
        connection.interface,
        CosEventDomainAdmin.NotificationStyle._item(connection.notification_style),
    )


def properties_from_orb(properties: Any) -> list[QoSProperty]:
    return [(item.name, item.value.value()) for item in properties]


def properties_to_orb(properties: list[tuple[str, int]]) -> Any:
    return [CosNotification.Property(name, _short(value)) for name, value in properties]


def range_to_orb(low: int, high: int) -> Any:
    return CosNotification.PropertyRange(_short(low), _short(high))


def _fault_to_orb(fault: PropertyFault) -> Any:
    """Of an unknown name no range is known."""
    if fault.code == QoSErrorCode.BAD_PROPERTY:
        range_ = CosNotification.PropertyRange(_NULL, _NULL)
    else:
        range_ = range_to_orb(fault.low, fault.high)
    return CosNotification.PropertyError(_CODES[fault.code], fault.name, range_)


def _short(value: int) -> Any:
    return CORBA.Any(CORBA.TC_short, value)


_NULL: Final = CORBA.Any(CORBA.TC_null, None)
