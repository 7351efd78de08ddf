"""The stubs that the service needs beside those of the whole wire."""

# ruff: noqa: I001 - omniORB has to come first
from adapters.cosnotification.stubs import (
    CORBA,
    CosEventChannelAdmin,
    CosEventComm,
    CosNotification,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosNotifyComm,
)
import CosEventChannelAdmin__POA
import CosNotifyFilter
import CosNotifyFilter__POA
import CosTypedEventChannelAdmin
import CosTypedEventChannelAdmin__POA
import CosTypedEventComm
import CosTypedNotifyChannelAdmin
import CosTypedNotifyChannelAdmin__POA

__all__ = [
    "CORBA",
    "CosEventChannelAdmin",
    "CosEventChannelAdmin__POA",
    "CosEventComm",
    "CosNotification",
    "CosNotifyChannelAdmin",
    "CosNotifyChannelAdmin__POA",
    "CosNotifyComm",
    "CosNotifyFilter",
    "CosNotifyFilter__POA",
    "CosTypedEventChannelAdmin",
    "CosTypedEventChannelAdmin__POA",
    "CosTypedEventComm",
    "CosTypedNotifyChannelAdmin",
    "CosTypedNotifyChannelAdmin__POA",
]
