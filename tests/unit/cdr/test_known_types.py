"""`mappings.known_types` spells the OMG's IDL as the ORB's own stubs do, typedefs and all."""

from __future__ import annotations

from typing import Any

import omniORB  # isort: skip - the others are found only after it was imported
import CosNaming  # noqa: F401 - registers its types, as do the next two
import CosNotification  # noqa: F401
import pytest
import TimeBase  # noqa: F401
from omniORB import CORBA, tcInternal

from mappings.cdr import decode_value, encode_value
from mappings.idl_types import TYPECODE, Alias
from mappings.known_types import KNOWN


@pytest.mark.parametrize("type_", KNOWN.values(), ids=lambda type_: type_.id)
def test_typecode(orb: Any, type_: Alias) -> None:
    octets: bytes = omniORB.cdrMarshal(CORBA.TC_TypeCode, tcInternal.createTypeCode(omniORB.findType(type_.id)))
    assert decode_value(TYPECODE, octets) == type_
    assert len(encode_value(TYPECODE, type_)) == len(octets)


def test_every_type_of_the_modules_is_known() -> None:
    """FORMS.md section 1: CosNaming, CosNotification and TimeBase are always known."""
    prefixes = tuple(f"IDL:omg.org/{module}/" for module in ("CosNaming", "CosNotification", "TimeBase"))
    registered = {id_ for id_ in omniORB.typeMapping if id_.startswith(prefixes)}
    assert registered - KNOWN.keys() == set()
