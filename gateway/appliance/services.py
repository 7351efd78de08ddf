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

    def orb(self) -> Orb:
        """The one ORB of the process, started when it is first asked for."""
        raise NotImplementedError

    def _start_broker(self, settings: BrokerServiceSettings) -> None:
        raise NotImplementedError

    def _start_notification(self, settings: NotificationServiceSettings) -> None:
        raise NotImplementedError
