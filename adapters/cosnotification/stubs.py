"""The stubs and skeletons that come with omniORBpy. They are found only after `omniORB` was imported: hence one door."""

# ruff: noqa: I001 - the order matters
import omniORB
from omniORB import CORBA, PortableServer
import CosEventChannelAdmin
import CosEventComm
import CosNotification
import CosNotifyChannelAdmin
import CosNotifyChannelAdmin__POA
import CosNotifyComm
import CosNotifyComm__POA

__all__ = [
    "CORBA",
    "CosEventChannelAdmin",
    "CosEventComm",
    "CosNotification",
    "CosNotifyChannelAdmin",
    "CosNotifyChannelAdmin__POA",
    "CosNotifyComm",
    "CosNotifyComm__POA",
    "PortableServer",
    "omniORB",
]
