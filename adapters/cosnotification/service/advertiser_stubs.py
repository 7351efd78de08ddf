"""Stubs of `idl/IsthmusAdvertiser.idl`, for both sides.

By hand, so that no compiler has to run when a service starts: a test compares them with what the compiler makes of the file.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from omniORB import tcInternal

from adapters.cosnotification.stubs import CORBA, PortableServer, omniORB

_STRING: Final = (tcInternal.tv_string, 0)


class Party(omniORB.StructBase):  # type: ignore[misc]
    _NP_RepositoryId = "IDL:Isthmus/Party:1.0"

    def __init__(self, place: str, address: str) -> None:
        self.place = place
        self.address = address


class TypeReport(omniORB.StructBase):  # type: ignore[misc]
    _NP_RepositoryId = "IDL:Isthmus/TypeReport:1.0"

    def __init__(
        self,
        domain_name: str,
        type_name: str,
        offers: int,
        subscriptions: int,
        passed: int,
        offered_by: list[Party],
        subscribed_by: list[Party],
    ) -> None:
        self.domain_name = domain_name
        self.type_name = type_name
        self.offers = offers
        self.subscriptions = subscriptions
        self.passed = passed
        self.offered_by = offered_by
        self.subscribed_by = subscribed_by


class ChannelReport(omniORB.StructBase):  # type: ignore[misc]
    _NP_RepositoryId = "IDL:Isthmus/ChannelReport:1.0"

    def __init__(
        self,
        kind: str,
        id: int,
        suppliers: int,
        consumers: int,
        accepted: int,
        waiting: int,
        discarded: int,
        expired: int,
        refused: int,
        abandoned: int,
        types: list[TypeReport],
    ) -> None:
        self.kind = kind
        self.id = id
        self.suppliers = suppliers
        self.consumers = consumers
        self.accepted = accepted
        self.waiting = waiting
        self.discarded = discarded
        self.expired = expired
        self.refused = refused
        self.abandoned = abandoned
        self.types = types


def _sequence(class_: Any, *members: Any) -> tuple[Any, ...]:
    id_ = class_._NP_RepositoryId
    return tcInternal.tv_sequence, (tcInternal.tv_struct, class_, id_, class_.__name__, *members), 0


_PARTIES: Final = _sequence(Party, "place", _STRING, "address", _STRING)
_TYPES: Final = _sequence(
    TypeReport,
    *("domain_name", _STRING, "type_name", _STRING),
    *("offers", tcInternal.tv_ulong, "subscriptions", tcInternal.tv_ulong, "passed", tcInternal.tv_ulonglong),
    *("offered_by", _PARTIES, "subscribed_by", _PARTIES),
)
REPORTS: Final = _sequence(
    ChannelReport,
    *("kind", _STRING, "id", tcInternal.tv_long, "suppliers", tcInternal.tv_ulong, "consumers", tcInternal.tv_ulong),
    *(
        part
        for count in ("accepted", "waiting", "discarded", "expired", "refused", "abandoned")
        for part in (count, tcInternal.tv_ulonglong)
    ),
    *("types", _TYPES),
)


class Advertiser(PortableServer.Servant):  # type: ignore[misc]
    """The skeleton."""

    _NP_RepositoryId = "IDL:Isthmus/Advertiser:1.0"
    _omni_op_d: ClassVar = {"advertise": ((), (REPORTS,), None)}


def advertise(factory: Any) -> list[ChannelReport]:
    """Asks a factory of ours. Raises BAD_OPERATION or NO_IMPLEMENT where it is another's, and all that calls may raise."""
    if not factory._is_a(Advertiser._NP_RepositoryId):
        raise CORBA.NO_IMPLEMENT(0, CORBA.COMPLETED_NO)
    reports: list[ChannelReport] = factory._obj.invoke("advertise", Advertiser._omni_op_d["advertise"], ())
    return reports
