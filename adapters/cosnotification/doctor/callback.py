"""Proves the way back: one event, through a scratch channel of the peer, to a temporary consumer of ours."""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress
from typing import Any, Final

from adapters.cosnotification.codec import event_to_orb
from adapters.cosnotification.doctor.addresses import is_loopback
from adapters.cosnotification.doctor.diagnosis import Diagnosis
from adapters.cosnotification.faults import spell
from adapters.cosnotification.ior import decode_ior
from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin, CosNotifyComm__POA
from mappings.idl_types import STRING
from mappings.model import Property, StructuredEvent

STRUCTURED: Final = CosNotifyChannelAdmin.STRUCTURED_EVENT


class _Consumer(CosNotifyComm__POA.StructuredPushConsumer):  # type: ignore[misc]
    def __init__(self, mark: str) -> None:
        self._mark = mark
        self.came = threading.Event()

    def push_structured_event(self, notification: Any) -> None:
        if any(item.value.value() == self._mark for item in notification.filterable_data):
            self.came.set()

    def disconnect_structured_push_consumer(self) -> None: ...

    def offer_change(self, added: Any, removed: Any) -> None: ...


def prove(orb: LocalOrb, factory: Any, timeout_ms: int, diagnosis: Diagnosis) -> None:
    """`factory` is an EventChannelFactory that answers. Nothing is left at the peer."""
    channel = None
    mark = secrets.token_hex(16)
    consumer = _Consumer(mark)
    key = b"doctor-" + secrets.token_hex(12).encode()
    ours = orb.activate(consumer, key)
    address = decode_ior(orb.to_string(ours)).profiles[0].addresses[0]
    theirs = diagnosis.reference.profiles if diagnosis.reference is not None else ()
    if is_loopback(address.host) and not all(is_loopback(profile.addresses[0].host) for profile in theirs):
        diagnosis.add(
            "way back",
            "warning",
            f"our references say {address}, which leads the peer to itself",
            "set orb.listen to an address that the peer can reach, and orb.publish where it reaches us by another",
        )
    try:
        channel, _ = factory.create_channel([], [])
        set_time_out(channel, timeout_ms)
        supplied = _through(channel, ours, mark, timeout_ms)
        waited = time.monotonic()
        if consumer.came.wait(timeout_ms / 1000):
            took_ms = (time.monotonic() - supplied) * 1000
            diagnosis.add("callback", "ok", f"an event came back to {address} ({took_ms:.0f} ms)")
        else:
            diagnosis.add(
                "callback",
                "error",
                f"the channel took an event, and did not bring it to {address} in {time.monotonic() - waited:.0f} s",
                "can the peer's machine reach that address? set orb.publish, open the firewall, or use style: pull",
            )
    except CORBA.NO_PERMISSION:
        diagnosis.add("callback", "warning", "the peer does not let us make a scratch channel", "try it with a link")
    except CORBA.Exception as error:
        diagnosis.add("callback", "error", f"the scratch channel failed: {spell(error)}")
    finally:
        if channel is not None:
            with suppress(CORBA.Exception):
                channel.destroy()
        orb.deactivate(key)


def _through(channel: Any, consumer: Any, mark: str, timeout_ms: int) -> float:
    """Push one event; when that was."""
    consumers = channel.new_for_consumers(CosNotifyChannelAdmin.AND_OP)[0]
    suppliers = channel.new_for_suppliers(CosNotifyChannelAdmin.AND_OP)[0]
    out = consumers.obtain_notification_push_supplier(STRUCTURED)[0]
    out = out._narrow(CosNotifyChannelAdmin.StructuredProxyPushSupplier)
    into = suppliers.obtain_notification_push_consumer(STRUCTURED)[0]
    into = into._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
    for proxy in (out, into):
        set_time_out(proxy, timeout_ms)
    out.connect_structured_push_consumer(consumer)
    into.connect_structured_push_supplier(None)
    event = StructuredEvent("Isthmus", "Doctor", "callback", (), (Property("mark", STRING, mark),))
    now = time.monotonic()
    into.push_structured_event(event_to_orb(event))
    return now
