"""EventChannelFactory: the one object whose reference clients are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from adapters.cosnotification.service.advertiser import report
from adapters.cosnotification.service.advertiser_stubs import Advertiser, ChannelReport
from adapters.cosnotification.service.objects import ServiceObject
from adapters.cosnotification.service.store.kept import Find
from adapters.cosnotification.service.stubs import (
    CosNotification,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosTypedNotifyChannelAdmin__POA,
)

if TYPE_CHECKING:
    from adapters.cosnotification.service.channel import Channel
    from adapters.cosnotification.service.host import ServiceHost


class EventChannelFactory(
    ServiceObject,
    CosNotifyChannelAdmin__POA.EventChannelFactory,  # type: ignore[misc]
    CosTypedNotifyChannelAdmin__POA.TypedEventChannelFactory,  # type: ignore[misc]
    Advertiser,
):
    """Makes channels of both kinds, and tells what is offered and wanted in them.

    Its reference says EventChannelFactory; when asked it is a TypedEventChannelFactory and an Isthmus::Advertiser, too.
    """

    _omni_op_d: ClassVar = {
        **CosNotifyChannelAdmin__POA.EventChannelFactory._omni_op_d,
        **CosTypedNotifyChannelAdmin__POA.TypedEventChannelFactory._omni_op_d,
        **Advertiser._omni_op_d,
    }

    def __init__(self, service: ServiceHost) -> None:
        self._service = service
        super().__init__(service, "factory", fixed=True)

    @property
    def kept(self) -> bool:
        return True

    def state(self) -> dict[str, Any]:
        return {**super().state(), "next": [self._service.ids.next, self._service.typed_ids.next]}

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        return service.factory

    def restored(self, state: dict[str, Any], find: Find) -> None:
        for ids, next_ in zip((self._service.ids, self._service.typed_ids), state["next"], strict=True):
            ids.restart(next_)

    def create_channel(self, initial_qos: Any, initial_admin: Any) -> tuple[Any, int]:
        self.check_alive()
        return self._set_up(self._service.create_channel(), initial_qos, initial_admin)

    def get_all_channels(self) -> list[int]:
        return [channel.id for channel in self._service.channels]

    def get_event_channel(self, id_: int) -> Any:
        return _find(self._service.channels, id_)

    def create_typed_channel(self, initial_QoS: Any, initial_admin: Any) -> tuple[Any, int]:
        self.check_alive()
        return self._set_up(self._service.create_typed_channel(), initial_QoS, initial_admin)

    def get_all_typed_channels(self) -> list[int]:
        return [channel.id for channel in self._service.typed_channels]

    def get_typed_event_channel(self, id_: int) -> Any:
        return _find(self._service.typed_channels, id_)

    def advertise(self) -> list[ChannelReport]:
        return [report(channel) for channel in self._service.all_channels]

    def _set_up(self, channel: Channel, initial_qos: Any, initial_admin: Any) -> tuple[Any, int]:
        try:
            channel.set_qos(initial_qos)
            channel.set_admin(initial_admin)
        except (CosNotification.UnsupportedQoS, CosNotification.UnsupportedAdmin):
            channel.dismiss()
            raise
        self.changed(channel, *channel.admins)
        return channel.reference, channel.id


EventChannelFactory._omni_skeleton = EventChannelFactory  # the library asks this one whether it is a certain interface


def _find(channels: Sequence[Channel], id_: int) -> Any:
    for channel in channels:
        if channel.id == id_:
            return channel.reference
    raise CosNotifyChannelAdmin.ChannelNotFound
