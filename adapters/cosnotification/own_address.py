"""The address that stands in references where the ORB listens on every address of the machine."""

from __future__ import annotations

from typing import Final

from adapters.cosnotification.giop.callers import address_of
from adapters.cosnotification.stubs import CORBA, omniORB

EVERYWHERE: Final = frozenset(("", "0.0.0.0", "::"))


def own_address(host: str) -> str:
    """What the library would write there: the first address of the machine that others can reach, of the host's family.

    An ORB must not run yet: one is made for a moment, for the library to look at the interfaces.
    """
    orb = CORBA.ORB_init(["isthmus", "-ORBconfigFile", "none", "-ORBtraceLevel", "0"], CORBA.ORB_ID)
    found = [address for text in omniORB.myIPAddresses() if (address := address_of(text)) is not None]
    orb.destroy()
    version = 6 if host == "::" else 4
    outside = [address for address in found if not address.is_loopback]
    best = sorted(outside or found, key=lambda address: address.version != version)
    return str(best[0]) if best else "127.0.0.1"
