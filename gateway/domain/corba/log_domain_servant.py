"""CosEventLogDomainAdmin::EventLogDomain: a typed domain with logs of the Telecom Log Service among its members (RULES.md 4.5)."""

from __future__ import annotations

from typing import Any, Final

from gateway.domain.connection import ChannelType
from gateway.domain.corba.stubs import (
    CosEventDomainAdmin,
    CosEventLogDomainAdmin__POA,
    DsNotifyLogAdmin,
    DsTypedNotifyLogAdmin,
)
from gateway.domain.corba.translation import spoken
from gateway.domain.corba.typed_domain_servant import TypedEventDomainServant

LOG_TYPES: Final = (ChannelType.LOG_CHANNEL, ChannelType.TYPED_LOG_CHANNEL)


class EventLogDomainServant(TypedEventDomainServant, CosEventLogDomainAdmin__POA.EventLogDomain):  # type: ignore[misc]
    def add_log(self, log: Any) -> int:
        return self._add(log, DsNotifyLogAdmin.NotifyLog, ChannelType.LOG_CHANNEL)

    def add_typed_log(self, log: Any) -> int:
        return self._add(log, DsTypedNotifyLogAdmin.TypedNotifyLog, ChannelType.TYPED_LOG_CHANNEL)

    def get_all_logs(self) -> list[int]:
        """Typed and untyped."""
        with spoken():
            members = self.live.read(lambda core: {id_: member.channel_type for id_, member in core.members.items()})
            return [id_ for id_, type_ in members.items() if type_ in LOG_TYPES]

    def get_log(self, id_: int) -> Any:
        with spoken():
            return self.live.channel(id_, (ChannelType.LOG_CHANNEL,))

    def get_typed_log(self, id_: int) -> Any:
        with spoken():
            return self.live.channel(id_, (ChannelType.TYPED_LOG_CHANNEL,))

    def get_channel_type(self, id_: int) -> Any:
        with spoken():
            return CosEventDomainAdmin.ChannelType._item(self.live.channel_type(id_))
