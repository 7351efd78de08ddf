"""The stubs that logs need beside those of the service. Compiled when this is first imported."""

# ruff: noqa: E402 - the order matters
from adapters.cosnotification.compiled_idl import compile_idl
from adapters.cosnotification.service.stubs import CORBA, CosNotification

for _name in ("DsLogAdmin", "DsNotifyLogAdmin"):
    compile_idl(_name)

import DsLogAdmin
import DsLogAdmin__POA
import DsNotifyLogAdmin__POA
import DsTypedNotifyLogAdmin__POA

__all__ = [
    "CORBA",
    "CosNotification",
    "DsLogAdmin",
    "DsLogAdmin__POA",
    "DsNotifyLogAdmin__POA",
    "DsTypedNotifyLogAdmin__POA",
]
