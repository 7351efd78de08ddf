"""The stubs and skeletons that event domains need. They are compiled when this is first imported: hence one door."""

# ruff: noqa: E402 - the order matters
from adapters.cosnotification.compiled_idl import compile_idl
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm,
    CosNotification,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosNotifyComm,
)

for _name in (
    "CosEventDomainAdmin",
    "CosTypedEventDomainAdmin",
    "DsLogAdmin",
    "DsNotifyLogAdmin",
    "CosEventLogDomainAdmin",
):
    compile_idl(_name)

import CosEventDomainAdmin
import CosEventDomainAdmin__POA
import CosEventLogDomainAdmin
import CosEventLogDomainAdmin__POA
import CosTypedEventChannelAdmin
import CosTypedEventDomainAdmin
import CosTypedEventDomainAdmin__POA
import CosTypedNotifyChannelAdmin
import DsNotifyLogAdmin
import DsTypedNotifyLogAdmin

__all__ = [
    "CORBA",
    "CosEventChannelAdmin",
    "CosEventComm",
    "CosEventDomainAdmin",
    "CosEventDomainAdmin__POA",
    "CosEventLogDomainAdmin",
    "CosEventLogDomainAdmin__POA",
    "CosNotification",
    "CosNotifyChannelAdmin",
    "CosNotifyChannelAdmin__POA",
    "CosNotifyComm",
    "CosTypedEventChannelAdmin",
    "CosTypedEventDomainAdmin",
    "CosTypedEventDomainAdmin__POA",
    "CosTypedNotifyChannelAdmin",
    "DsNotifyLogAdmin",
    "DsTypedNotifyLogAdmin",
]
