"""How the proxies of each form and style are obtained and joined: the names follow one pattern in CosNotifyChannelAdmin.

Typed proxies are obtained with the key of their interface in place of a client type.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from gateway.domain.connection import ClientType, Connection, NotificationStyle
from gateway.domain.corba.stubs import CosNotifyChannelAdmin, CosTypedNotifyChannelAdmin

FORMS: Final = {
    ClientType.ANY_EVENT: "any",
    ClientType.STRUCTURED_EVENT: "structured",
    ClientType.SEQUENCE_EVENT: "sequence",
}
TYPED: Final = "typed"
_CLIENT_TYPES: Final = {
    "any": CosNotifyChannelAdmin.ANY_EVENT,
    "structured": CosNotifyChannelAdmin.STRUCTURED_EVENT,
    "sequence": CosNotifyChannelAdmin.SEQUENCE_EVENT,
}


class Place(NamedTuple):
    """Where a client goes: `style` is push or pull, `client` is what it is, consumer or supplier."""

    form: str
    style: str
    client: str

    @property
    def proxy(self) -> str:
        return "supplier" if self.client == "consumer" else "consumer"

    def obtain(self, admin: Any, key: str = "") -> Any:
        """A proxy for it, narrowed. Raises AdminLimitExceeded, and what the typed operations raise."""
        if self.form == TYPED:
            found, _ = getattr(admin, f"obtain_typed_notification_{self.style}_{self.proxy}")(key)
        else:
            found, _ = getattr(admin, f"obtain_notification_{self.style}_{self.proxy}")(_CLIENT_TYPES[self.form])
        narrowed = found._narrow(self.interface)
        return found if narrowed is None else narrowed

    @property
    def interface(self) -> Any:
        kind = f"Proxy{self.style.capitalize()}{self.proxy.capitalize()}"
        if self.form == TYPED:
            return getattr(CosTypedNotifyChannelAdmin, f"Typed{kind}")
        return getattr(CosNotifyChannelAdmin, kind if self.form == "any" else f"{self.form.capitalize()}{kind}")

    def connect(self, proxy: Any, client: Any) -> None:
        getattr(proxy, f"connect_{self.form}_{self.style}_{self.client}")(client)

    def disconnect(self, proxy: Any) -> None:
        middle = "" if self.form in ("any", TYPED) else f"{self.form}_"
        getattr(proxy, f"disconnect_{middle}{self.style}_{self.proxy}")()


def places_of(connection: Connection) -> tuple[Place, Place]:
    """Where the consumer channel is a client of the supplier channel, and where the supplier channel is one of the other."""
    form = TYPED if connection.interface else FORMS[connection.ctype]
    style = "push" if connection.notification_style is NotificationStyle.Push else "pull"
    return Place(form, style, "consumer"), Place(form, style, "supplier")
