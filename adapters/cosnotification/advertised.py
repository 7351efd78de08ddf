"""What a Notification Service of ours tells of its channels, as plain data."""

from __future__ import annotations

from typing import Any

from adapters.base import ReconnectError
from adapters.cosnotification.faults import on_connect
from adapters.cosnotification.ior import shorten
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.service.advertiser_stubs import advertise
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin


def advertised(orb: LocalOrb, factory: str, timeout_ms: int) -> list[dict[str, Any]]:
    """By channel. Raises ReconnectError or StopError."""
    found = resolve(orb, factory, CosNotifyChannelAdmin.EventChannelFactory, timeout_ms)
    try:
        reports = advertise(found)
    except (CORBA.BAD_OPERATION, CORBA.NO_IMPLEMENT) as error:
        raise ReconnectError(
            "COR-INTERFACE",
            "the service is no Isthmus::Advertiser",
            path=shorten(factory),
            hint="only the Notification Service of Isthmus advertises",
        ) from error
    except CORBA.Exception as error:
        raise on_connect(error, f"asking {shorten(factory)}") from error
    return [_plain(report) for report in reports]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return {name: _plain(each) for name, each in vars(value).items()} if hasattr(value, "__dict__") else value
