"""What this process hosts for others: the ORB, a Notification Service, a STOMP broker. Each starts only where it is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.appliance.listener import Listener
from gateway.appliance.run_dir import write_whole
from gateway.settings.addresses import parse_address
from gateway.settings.services import BrokerServiceSettings, NotificationServiceSettings
from gateway.settings.settings import Settings

if TYPE_CHECKING:
    from adapters.cosnotification.orb import Orb


class Services:
    def __init__(self, settings: Settings, listener: Listener) -> None:
        self._settings = settings
        self._listener = listener
        self._orb: Orb | None = None
        self._undo: list[Callable[[], object]] = []

    def start(self) -> None:
        """Raises StopError where an address cannot be had; nothing is then left running."""
        try:
            services = self._settings.services
            if services.broker is not None:
                self._start_broker(services.broker)
            if services.notification is not None:
                self._start_notification(services.notification)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._orb = None

    def orb(self) -> Orb:
        """The one ORB of the process, started when it is first asked for. Raises StopError."""
        if self._orb is None:
            from adapters.cosnotification.left_behind import LeftBehind
            from adapters.cosnotification.orb import Orb

            self._orb = orb = Orb(self._settings.orb, LeftBehind(Path(self._settings.run_dir) / "corba"))
            orb.start()
            self._undo.append(orb.stop)
        return self._orb

    def _start_broker(self, settings: BrokerServiceSettings) -> None:
        from adapters.embedded_broker.broker import Broker

        listen = parse_address(settings.listen, any_port=True)
        password = settings.password.get_secret_value() if settings.password is not None else None
        store = Path(settings.store) if settings.store is not None else None
        broker = Broker(listen.host, listen.port, settings.login, password, store=store)
        self._undo.append(broker.stop)
        self._listener.service_changed("broker", "ready", address=broker.start())

    def _start_notification(self, settings: NotificationServiceSettings) -> None:
        from adapters.cosnotification.service.service import NotificationService

        service = NotificationService(
            self.orb(),
            channels=settings.channels,
            typed_channels=settings.typed_channels,
            idl=settings.idl,
            include=settings.include,
        )
        service.start()
        self._undo.append(service.stop)
        reference = Path(settings.factory_ior)
        write_whole(reference, service.factory_ior + "\n")
        self._undo.append(lambda: reference.unlink(missing_ok=True))
        self._listener.service_changed("notification", "ready", factory_ior=str(reference))
