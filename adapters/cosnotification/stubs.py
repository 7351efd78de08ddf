"""The stubs and skeletons that come with omniORBpy. They are found only after `omniORB` was imported: hence one door."""

# ruff: noqa: I001 - the order matters
import omniORB
from omniORB import CORBA, BiDirPolicy, PortableServer
import CosEventChannelAdmin
import CosEventComm
import CosEventComm__POA
import CosNaming
import CosNotification
import CosNotifyChannelAdmin
import CosNotifyChannelAdmin__POA
import CosNotifyComm
import CosNotifyComm__POA
import CosNotifyFilter
import CosTypedEventChannelAdmin
import CosTypedEventComm__POA
import CosTypedNotifyChannelAdmin
import CosTypedNotifyComm__POA

__all__ = [
    "CORBA",
    "BiDirPolicy",
    "CosEventChannelAdmin",
    "CosEventComm",
    "CosEventComm__POA",
    "CosNaming",
    "CosNotification",
    "CosNotifyChannelAdmin",
    "CosNotifyChannelAdmin__POA",
    "CosNotifyComm",
    "CosNotifyComm__POA",
    "CosNotifyFilter",
    "CosTypedEventChannelAdmin",
    "CosTypedEventComm__POA",
    "CosTypedNotifyChannelAdmin",
    "CosTypedNotifyComm__POA",
    "PortableServer",
    "omniORB",
]
