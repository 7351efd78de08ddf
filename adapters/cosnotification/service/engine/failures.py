"""What a failed delivery means for the consumer and for the event (RULES.md 1.6, 1.10)."""

from __future__ import annotations

from enum import Enum
from typing import Final

from adapters.cosnotification.stubs import CORBA, CosEventComm


class Verdict(Enum):
    GONE = "the consumer will take nothing more: end its connection"
    LATER = "the consumer cannot be reached now: the same event again after a pause"
    UNFIT = "the consumer cannot take this event: after a few tries, go on with the next"


_VERDICTS: Final = {
    kind._NP_RepositoryId: verdict
    for verdict, kinds in {
        Verdict.GONE: (CORBA.OBJECT_NOT_EXIST, CORBA.INV_OBJREF, CORBA.NO_PERMISSION, CosEventComm.Disconnected),
        Verdict.UNFIT: (
            CORBA.MARSHAL,
            CORBA.BAD_PARAM,
            CORBA.BAD_TYPECODE,
            CORBA.DATA_CONVERSION,
            CORBA.UNKNOWN,
            CORBA.INTERNAL,
        ),
    }.items()
    for kind in kinds
}


def verdict(error: Exception) -> Verdict:
    if not isinstance(error, CORBA.Exception):
        return Verdict.UNFIT  # the library itself stumbled over a value
    return _VERDICTS.get(getattr(error, "_NP_RepositoryId", None), Verdict.LATER)
