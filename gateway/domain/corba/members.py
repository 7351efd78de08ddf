"""A member of a domain: a channel of whatever vendor, known by its reference.

The domain works through admins of its own, never through the channel's default ones: its filters and farewells touch nobody else's
clients, and a proxy's filter holds back what it should, also on services whose default admins let everything through.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from adapters.cosnotification.local_orb import LocalOrb, set_time_out
from adapters.cosnotification.our_channels import tells_all_subscriptions
from gateway.domain.connection import ChannelType
from gateway.domain.corba.stubs import CORBA, CosNotifyChannelAdmin, CosTypedNotifyChannelAdmin

TYPED_TYPES: Final = (ChannelType.TYPED_CHANNEL, ChannelType.TYPED_LOG_CHANNEL)


class MemberChannel:
    """The references of both admins for clients are kept, so that a restart does not make others."""

    def __init__(
        self,
        orb: LocalOrb,
        reference: Any,
        type_: ChannelType = ChannelType.CHANNEL,
        admins: dict[str, str] | None = None,
    ) -> None:
        self.reference = reference
        self.ior = "" if reference is None else orb.to_string(reference)
        self.type = type_
        self.admins = admins or {}  # by "consumer" and "supplier"
        self._orb = orb
        self._lock = threading.Lock()
        if reference is not None:
            set_time_out(reference, orb.settings.call_timeout_ms)

    @property
    def typed(self) -> bool:
        return self.type in TYPED_TYPES

    @property
    def tells_all_subscriptions(self) -> bool:
        """A channel of ours: the types that it names are all that its consumers may want. Of others we cannot know."""
        return tells_all_subscriptions(self.ior)

    def new_admin(self, client: str) -> Any:
        """For a consumer or a supplier: its filters and those of its proxies must both pass."""
        typed = "typed_notification_" if self.typed else ""
        made, _ = getattr(self.reference, f"new_for_{typed}{client}s")(CosNotifyChannelAdmin.AND_OP)
        set_time_out(made, self._orb.settings.call_timeout_ms)
        return made

    def client_admin(self, client: str) -> tuple[Any, bool]:
        """The domain's admin for clients that connect here, and whether it was made just now."""
        with self._lock:
            known = self.admins.get(client)
            if known is not None:
                admin = self._known_admin(known, client)
                if not _gone(admin):
                    return admin, False
            made = self.new_admin(client)
            self.admins[client] = self._orb.to_string(made)
            return made, True

    def _known_admin(self, ior: str, client: str) -> Any:
        admin = self._orb.corba.string_to_object(ior)
        set_time_out(admin, self._orb.settings.call_timeout_ms)
        module, prefix = (CosTypedNotifyChannelAdmin, "Typed") if self.typed else (CosNotifyChannelAdmin, "")
        return admin._unchecked_narrow(getattr(module, f"{prefix}{client.capitalize()}Admin"))


def _gone(reference: Any) -> bool:
    try:
        return bool(reference._non_existent())
    except CORBA.OBJECT_NOT_EXIST:
        return True
