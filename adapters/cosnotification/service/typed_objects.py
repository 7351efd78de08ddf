"""The typed object that a client of a typed channel offers beside itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adapters.base import StopError
from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.store.kept import Find, KeptObject, reference_from, reference_text
from adapters.cosnotification.service.stubs import CORBA, CosEventChannelAdmin
from adapters.cosnotification.typed.dynamic import is_a

if TYPE_CHECKING:
    from adapters.cosnotification.service.host import ServiceHost
    from adapters.cosnotification.service.proxy import Proxy
    from adapters.cosnotification.typed.interface import TypedInterface


class TypedClient:
    """`typed` is that object, from the connect on."""

    def __init__(self, id_: str, interface: Any, getter: str) -> None:
        self._id = id_
        self._interface = interface
        self._getter = getter
        self._connecting = threading.Lock()
        self.typed: Any = None

    @contextmanager
    def being_connected(self, client: Any, proxy: Proxy) -> Iterator[None]:
        """Around the connect of the proxy. Raises TypeError unless the object is one of `<I>`, TRANSIENT where nobody answers."""
        timeout_ms = proxy.orb.settings.call_timeout_ms
        with self._connecting:
            if proxy.connected:
                raise CosEventChannelAdmin.AlreadyConnected
            typed = self._ask(client, timeout_ms)
            set_time_out(typed, timeout_ms)
            self.typed = typed
            yield

    def _ask(self, client: Any, timeout_ms: int) -> Any:
        try:
            narrowed = client._unchecked_narrow(self._interface)
            set_time_out(narrowed, timeout_ms)
            typed = getattr(narrowed, self._getter)()
            if typed is not None:
                set_time_out(typed, timeout_ms)
            fits = is_a(typed, self._id)
        except (CORBA.TRANSIENT, CORBA.COMM_FAILURE, CORBA.TIMEOUT):
            raise CORBA.TRANSIENT(0, CORBA.COMPLETED_NO) from None
        except CORBA.SystemException:
            fits = False
        if not fits:
            raise CosEventChannelAdmin.TypeError
        return typed


class OfInterface(KeptObject):
    """Mixed into the proxies that are made for an interface `<I>`: it comes back from the store with them, by its id."""

    interface: TypedInterface
    _typed_client: TypedClient | None = None  # of a proxy that calls its client

    def connect(self, client: Any) -> None:
        proxy: Any = super()
        if self._typed_client is None:
            proxy.connect(client)
            return
        with self._typed_client.being_connected(proxy._fit(client), self):  # type: ignore[arg-type]
            proxy.connect(client)

    def state(self) -> dict[str, Any]:
        client = self._typed_client
        typed = None if client is None else reference_text(self.service.orb, client.typed)
        return {**super().state(), "interface": self.interface.id, "typed": typed}

    @classmethod
    def revived(cls, service: ServiceHost, parent: Any, id_: int, state: dict[str, Any]) -> Any:
        interface = service.interface(state["interface"])
        if interface is None:
            raise StopError(
                "COR-STORE",
                f"the store has connections for the interface {state['interface']}, which is not known any more",
                hint="bring its file back into services.notification.idl",
            )
        make: Any = cls
        return parent.proxy_again(lambda admin, number: make(admin, number, interface), id_)

    def restored(self, state: dict[str, Any], find: Find) -> None:
        if self._typed_client is not None and state["typed"] is not None:
            typed = self._typed_client.typed = reference_from(self.service.orb, state["typed"])
            set_time_out(typed, self.service.orb.settings.call_timeout_ms)
        super().restored(state, find)
