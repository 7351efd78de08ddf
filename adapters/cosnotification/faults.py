"""What each CORBA exception means to the caller: one table for calls that connect, one for calls that push an event.

System exceptions say whether the call was carried out (COMPLETED_NO, _YES, _MAYBE). We send again in all cases: at least once.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from adapters.base import AdapterError, DeadLetterError, ReconnectError, RetryLaterError, StopError
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm,
    CosNotification,
    CosNotifyChannelAdmin,
    CosTypedEventChannelAdmin,
    omniORB,
)

Meaning = tuple[type[AdapterError], str, str]  # what to do, code, hint

UNREACHABLE: Final[Meaning] = (
    ReconnectError,
    "COR-UNREACHABLE",
    "is the peer running, and can it be reached from here?",
)
TIMED_OUT: Final[Meaning] = (ReconnectError, "COR-TIMEOUT", "the peer hangs, or call_timeout_ms is too short for it")
GONE: Final[Meaning] = (ReconnectError, "COR-GONE", "")
REFUSED: Final[Meaning] = (ReconnectError, "COR-REFUSED", "the peer must allow this gateway")
BUSY: Final[Meaning] = (RetryLaterError, "COR-BUSY", "the peer has reached a limit of its own")
TROUBLE: Final[Meaning] = (ReconnectError, "COR-PEER", "see the log of the peer")
NO_SUCH_INTERFACE: Final[Meaning] = (
    ReconnectError,
    "COR-INTERFACE",
    "the typed channel does not know our `interface`: give its IDL to the peer",
)
CANNOT_CARRY: Final[Meaning] = (DeadLetterError, "COR-MARSHAL", "a value that the peer or the ORB cannot carry")


def _by_id(meanings: Mapping[type, Meaning]) -> Mapping[str, Meaning]:
    """Exceptions are known by their repository id: an unknown exception is of no class that we have."""
    return MappingProxyType({kind._NP_RepositoryId: meaning for kind, meaning in meanings.items()})  # type: ignore[attr-defined]


_SYSTEM: Final[Mapping[str, Meaning]] = _by_id(
    {
        CORBA.COMM_FAILURE: UNREACHABLE,
        CORBA.TRANSIENT: UNREACHABLE,
        CORBA.TIMEOUT: TIMED_OUT,
        CORBA.OBJECT_NOT_EXIST: GONE,
        CORBA.INV_OBJREF: GONE,
        CORBA.NO_PERMISSION: REFUSED,
    }
)

_PUSH: Final[Mapping[str, Meaning]] = _by_id(
    {
        CORBA.IMP_LIMIT: BUSY,
        CORBA.NO_RESOURCES: BUSY,
        CORBA.NO_MEMORY: BUSY,
        CORBA.MARSHAL: CANNOT_CARRY,
        CORBA.BAD_PARAM: CANNOT_CARRY,
        CORBA.BAD_TYPECODE: CANNOT_CARRY,
        CORBA.DATA_CONVERSION: CANNOT_CARRY,
        CORBA.NO_IMPLEMENT: CANNOT_CARRY,
        CosEventComm.Disconnected: (ReconnectError, "COR-DISCONNECTED", ""),
    }
)

_PULL: Final[Mapping[str, Meaning]] = _by_id(
    {
        CORBA.IMP_LIMIT: BUSY,
        CORBA.NO_RESOURCES: BUSY,
        CORBA.NO_MEMORY: BUSY,
        CosEventComm.Disconnected: (ReconnectError, "COR-DISCONNECTED", ""),
    }
)

_CONNECT: Final[Mapping[str, Meaning]] = _by_id(
    {
        CosNotifyChannelAdmin.ChannelNotFound: (
            ReconnectError,
            "COR-NO-CHANNEL",
            "`channel` is the ChannelID at the factory; is it there?",
        ),
        CosNotifyChannelAdmin.AdminLimitExceeded: (
            ReconnectError,
            "COR-LIMIT",
            "the channel's MaxConsumers or MaxSuppliers is reached",
        ),
        CORBA.IMP_LIMIT: (ReconnectError, "COR-LIMIT", "the channel's MaxConsumers or MaxSuppliers is reached"),
        CosTypedEventChannelAdmin.InterfaceNotSupported: NO_SUCH_INTERFACE,
        CosTypedEventChannelAdmin.NoSuchImplementation: NO_SUCH_INTERFACE,
        CosEventChannelAdmin.AlreadyConnected: TROUBLE,
        CosEventChannelAdmin.TypeError: TROUBLE,
        CosNotification.UnsupportedQoS: (StopError, "COR-QOS", "the peer does not support this QoS"),
        CosNotification.UnsupportedAdmin: (StopError, "COR-QOS", "the peer does not support this property"),
    }
)


def on_connect(error: CORBA.Exception, doing: str) -> AdapterError:
    """What an exception means while we resolve, obtain proxies and connect."""
    return _as_error(error, doing, _CONNECT)


def on_push(error: CORBA.Exception, doing: str) -> AdapterError:
    """What an exception means when we push an event."""
    if isinstance(error, CORBA.TRANSIENT) and not _is_ours(error):
        return _make(BUSY, error, doing)  # the channel itself says "later": the connection is fine
    if isinstance(error, CORBA.UNKNOWN) and _is_ours(error) and error.completed == CORBA.COMPLETED_NO:
        return _make(
            CANNOT_CARRY, error, doing
        )  # our own ORB has stumbled over the value; a peer that did would not know
    return _as_error(error, doing, _PUSH)


def on_pull(error: CORBA.Exception, doing: str) -> ReconnectError | RetryLaterError:
    """What an exception means when we ask for an event."""
    if isinstance(error, CORBA.TRANSIENT) and not _is_ours(error):
        return RetryLaterError("COR-BUSY", f"{doing}: {spell(error)}")
    trouble = _as_error(error, doing, _PULL)
    if isinstance(trouble, ReconnectError | RetryLaterError):
        return trouble
    return ReconnectError(trouble.code, trouble.message, path=trouble.path, hint=trouble.hint)


def _as_error(error: CORBA.Exception, doing: str, table: Mapping[str, Meaning]) -> AdapterError:
    id_ = getattr(error, "_NP_RepositoryId", None) or ""
    return _make(table.get(id_) or _SYSTEM.get(id_) or TROUBLE, error, doing)


def _make(meaning: Meaning, error: CORBA.Exception, doing: str) -> AdapterError:
    kind, code, hint = meaning
    return kind(code, f"{doing}: {spell(error)}", hint=hint)


def _is_ours(error: CORBA.SystemException) -> bool:
    """Made by our own ORB, which could not reach the peer; a peer's own minor codes carry its vendor's id."""
    return bool(error.minor & 0xFFFF_F000 == 0x4154_0000)


def spell(error: CORBA.Exception) -> str:
    """The exception in a few words: its name and what is known of its cause."""
    name = str(getattr(error, "_NP_RepositoryId", type(error).__name__)).removesuffix(":1.0").rpartition("/")[2]
    if isinstance(error, CORBA.SystemException):
        minor = omniORB.minorCodeToString(error) or (f"minor code {error.minor:#x}" if error.minor else "")
        return f"{name} ({minor})" if minor else name
    return name
