"""What a supplier answers where it has no event: the value must be there, and means nothing."""

from __future__ import annotations

from typing import Final

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.stubs import CORBA
from mappings.model import StructuredEvent

NO_EVENT: Final = event_to_orb(StructuredEvent("", "", ""))
NO_ANY: Final = CORBA.Any(CORBA.TC_null, None)
