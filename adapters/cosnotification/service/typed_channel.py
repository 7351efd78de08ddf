"""TypedEventChannel: a channel whose admins know interfaces `<I>`. It is no EventChannel: their names clash (RULES.md 1.5)."""

from __future__ import annotations

from adapters.cosnotification.service.channel import Channel
from adapters.cosnotification.service.stubs import CosTypedNotifyChannelAdmin__POA
from adapters.cosnotification.service.typed_admins import TypedConsumerAdmin, TypedSupplierAdmin


class TypedEventChannel(Channel, CosTypedNotifyChannelAdmin__POA.TypedEventChannel):  # type: ignore[misc]
    PLACE = "typed-channel"
    CONSUMER_ADMIN = TypedConsumerAdmin
    SUPPLIER_ADMIN = TypedSupplierAdmin

    new_for_typed_notification_consumers = Channel._new_for_consumers
    new_for_typed_notification_suppliers = Channel._new_for_suppliers
