"""The IDL types that are always known: CosNaming, CosNotification, TimeBase, and a few of CORBA's own.

They are exactly the types of the OMG's IDL files, typedefs included, so that their TypeCodes equal those of every ORB;
a test compares each with the ORB's own. A JSON form may speak of them by repository id alone (FORMS.md section 1, kind `named`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mappings.idl_types import (
    ANY,
    OCTET,
    SHORT,
    STRING,
    ULONG,
    ULONGLONG,
    USHORT,
    WSTRING,
    Alias,
    Enum,
    Exception_,
    IdlType,
    Member,
    ObjRef,
    Sequence,
    Struct,
    ValueBox,
)

_known: dict[str, IdlType] = {}


def _id(module: str, name: str) -> str:
    return f"IDL:omg.org/{module}/{name}:1.0"


def _alias(module: str, name: str, type_: IdlType) -> Alias:
    alias = Alias(_id(module, name), name, type_)
    _known[alias.id] = alias
    return alias


def _struct(module: str, name: str, /, **members: IdlType) -> Struct:
    struct = Struct(_id(module, name), name, tuple(Member(*member) for member in members.items()))
    _known[struct.id] = struct
    return struct


def _exception(module: str, name: str, /, **members: IdlType) -> None:
    exception = Exception_(_id(module, name), name, tuple(Member(*member) for member in members.items()))
    _known[exception.id] = exception


def _enum(module: str, name: str, *labels: str) -> Enum:
    enum = Enum(_id(module, name), name, labels)
    _known[enum.id] = enum
    return enum


def _interface(module: str, name: str) -> ObjRef:
    interface = ObjRef(_id(module, name), name)
    _known[interface.id] = interface
    return interface


def _box(module: str, name: str, type_: IdlType) -> ValueBox:
    box = ValueBox(_id(module, name), name, type_)
    _known[box.id] = box
    return box


# CORBA
OCTET_SEQ: Final = _alias("CORBA", "OctetSeq", Sequence(OCTET))
STRING_SEQ: Final = _alias("CORBA", "StringSeq", Sequence(STRING))
WSTRING_SEQ: Final = _alias("CORBA", "WStringSeq", Sequence(WSTRING))
STRING_VALUE: Final = _box("CORBA", "StringValue", STRING)
WSTRING_VALUE: Final = _box("CORBA", "WStringValue", WSTRING)

# TimeBase
TIME_T: Final = _alias("TimeBase", "TimeT", ULONGLONG)
INACCURACY_T: Final = _alias("TimeBase", "InaccuracyT", TIME_T)
TDF_T: Final = _alias("TimeBase", "TdfT", SHORT)
UTC_T: Final = _struct("TimeBase", "UtcT", time=TIME_T, inacclo=ULONG, inacchi=USHORT, tdf=TDF_T)
INTERVAL_T: Final = _struct("TimeBase", "IntervalT", lower_bound=TIME_T, upper_bound=TIME_T)

# CosNaming
_naming_istring = _alias("CosNaming", "Istring", STRING)
NAME_COMPONENT: Final = _struct("CosNaming", "NameComponent", id=_naming_istring, kind=_naming_istring)
NAME: Final = _alias("CosNaming", "Name", Sequence(NAME_COMPONENT))
_binding_type = _enum("CosNaming", "BindingType", "nobject", "ncontext")
_binding = _struct("CosNaming", "Binding", binding_name=NAME, binding_type=_binding_type)
_alias("CosNaming", "BindingList", Sequence(_binding))
_interface("CosNaming", "BindingIterator")
_naming_context = _interface("CosNaming", "NamingContext")
_interface("CosNaming", "NamingContextExt")
_not_found_reason = _enum("CosNaming/NamingContext", "NotFoundReason", "missing_node", "not_context", "not_object")
_exception("CosNaming/NamingContext", "NotFound", why=_not_found_reason, rest_of_name=NAME)
_exception("CosNaming/NamingContext", "CannotProceed", cxt=_naming_context, rest_of_name=NAME)
_exception("CosNaming/NamingContext", "InvalidName")
_exception("CosNaming/NamingContext", "AlreadyBound")
_exception("CosNaming/NamingContext", "NotEmpty")
_alias("CosNaming/NamingContextExt", "StringName", STRING)
_alias("CosNaming/NamingContextExt", "Address", STRING)
_alias("CosNaming/NamingContextExt", "URLString", STRING)
_exception("CosNaming/NamingContextExt", "InvalidAddress")

# CosNotification (RULES.md 1.1)
_istring = _alias("CosNotification", "Istring", STRING)
PROPERTY_NAME: Final = _alias("CosNotification", "PropertyName", _istring)
PROPERTY_VALUE: Final = _alias("CosNotification", "PropertyValue", ANY)
PROPERTY: Final = _struct("CosNotification", "Property", name=PROPERTY_NAME, value=PROPERTY_VALUE)
PROPERTY_SEQ: Final = _alias("CosNotification", "PropertySeq", Sequence(PROPERTY))
OPTIONAL_HEADER_FIELDS: Final = _alias("CosNotification", "OptionalHeaderFields", PROPERTY_SEQ)
FILTERABLE_EVENT_BODY: Final = _alias("CosNotification", "FilterableEventBody", PROPERTY_SEQ)
QOS_PROPERTIES: Final = _alias("CosNotification", "QoSProperties", PROPERTY_SEQ)
ADMIN_PROPERTIES: Final = _alias("CosNotification", "AdminProperties", PROPERTY_SEQ)
EVENT_TYPE: Final = _struct("CosNotification", "EventType", domain_name=STRING, type_name=STRING)
_alias("CosNotification", "EventTypeSeq", Sequence(EVENT_TYPE))
_property_range = _struct("CosNotification", "PropertyRange", low_val=PROPERTY_VALUE, high_val=PROPERTY_VALUE)
_named_property_range = _struct("CosNotification", "NamedPropertyRange", name=PROPERTY_NAME, range=_property_range)
_alias("CosNotification", "NamedPropertyRangeSeq", Sequence(_named_property_range))
_qos_error_code = _enum(
    "CosNotification", "QoSError_code",
    "UNSUPPORTED_PROPERTY", "UNAVAILABLE_PROPERTY", "UNSUPPORTED_VALUE", "UNAVAILABLE_VALUE", "BAD_PROPERTY",
    "BAD_TYPE", "BAD_VALUE",
)  # fmt: skip
_property_error = _struct(
    "CosNotification", "PropertyError", code=_qos_error_code, name=PROPERTY_NAME, available_range=_property_range
)
_property_error_seq = _alias("CosNotification", "PropertyErrorSeq", Sequence(_property_error))
_exception("CosNotification", "UnsupportedQoS", qos_err=_property_error_seq)
_exception("CosNotification", "UnsupportedAdmin", admin_err=_property_error_seq)
FIXED_EVENT_HEADER: Final = _struct("CosNotification", "FixedEventHeader", event_type=EVENT_TYPE, event_name=STRING)
EVENT_HEADER: Final = _struct(
    "CosNotification", "EventHeader", fixed_header=FIXED_EVENT_HEADER, variable_header=OPTIONAL_HEADER_FIELDS
)
STRUCTURED_EVENT: Final = _struct(
    "CosNotification",
    "StructuredEvent",
    header=EVENT_HEADER,
    filterable_data=FILTERABLE_EVENT_BODY,
    remainder_of_body=ANY,
)
EVENT_BATCH: Final = _alias("CosNotification", "EventBatch", Sequence(STRUCTURED_EVENT))
_interface("CosNotification", "QoSAdmin")
_interface("CosNotification", "AdminPropertiesAdmin")

KNOWN: Final[Mapping[str, IdlType]] = MappingProxyType(_known)
"""Every known type by its repository id."""
