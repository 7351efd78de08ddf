"""The typed object that a client of a typed channel offers beside itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adapters.cosnotification.local_orb import set_time_out
from adapters.cosnotification.service.stubs import CORBA, CosEventChannelAdmin
from adapters.cosnotification.typed.dynamic import is_a

if TYPE_CHECKING:
    from adapters.cosnotification.service.proxy import Proxy


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
