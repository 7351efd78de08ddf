"""EventChannelFactory: the one object whose reference clients are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.cosnotification.service.objects import ServiceObject
from adapters.cosnotification.service.stubs import CosNotification, CosNotifyChannelAdmin, CosNotifyChannelAdmin__POA

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost


class EventChannelFactory(ServiceObject, CosNotifyChannelAdmin__POA.EventChannelFactory):  # type: ignore[misc]
    def __init__(self, service: ServiceHost) -> None:
        self._service = service
        super().__init__(service.orb, service.key("factory"))

    def create_channel(self, initial_qos: Any, initial_admin: Any) -> tuple[Any, int]:
        self.check_alive()
        channel = self._service.create_channel()
        try:
            channel.set_qos(initial_qos)
            channel.set_admin(initial_admin)
        except (CosNotification.UnsupportedQoS, CosNotification.UnsupportedAdmin):
            channel.dismiss()
            raise
        return channel.reference, channel.id

    def get_all_channels(self) -> list[int]:
        return [channel.id for channel in self._service.channels]

    def get_event_channel(self, id_: int) -> Any:
        for channel in self._service.channels:
            if channel.id == id_:
                return channel.reference
        raise CosNotifyChannelAdmin.ChannelNotFound
