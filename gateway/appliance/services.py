"""What this process hosts for others: the ORB, a Notification Service, a STOMP broker. Each starts only where it is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from adapters.base import AdapterError, HearTypes, Sink
from adapters.cosnotification.settings import CosNotificationEndpoint, OrbOverrides
from gateway.appliance.listener import Listener
from gateway.appliance.run_dir import write_whole
from gateway.settings.addresses import parse_address
from gateway.settings.services import (
    BridgesServiceSettings,
    BrokerServiceSettings,
    EventDomainsServiceSettings,
    LogsServiceSettings,
    NotificationServiceSettings,
)
from gateway.settings.settings import Settings

if TYPE_CHECKING:
    from adapters.cosnotification.left_behind import LeftBehind
    from adapters.cosnotification.orb import Orb
    from adapters.embedded_broker.broker import Broker
    from gateway.bridges.registry import Bridges
    from gateway.domain.corba.service import EventDomainsService


TOPIC: Final = "topic://"


class Services:
    def __init__(self, settings: Settings, listener: Listener) -> None:
        self._settings = settings
        self._listener = listener
        self._orbs: dict[str, Orb] = {}  # by their settings
        self._left_behind: LeftBehind | None = None
        self._event_domains: EventDomainsService | None = None
        self._broker: Broker | None = None
        self._undo: list[Callable[[], object]] = []

    def start(self) -> None:
        """Raises StopError where an address cannot be had; nothing is then left running."""
        try:
            services = self._settings.services
            if services.broker is not None:
                self._start_broker(services.broker)
            if services.notification is not None:
                self._start_notification(services.notification)
            if services.logs is not None:
                self._start_logs(services.logs)
            if services.event_domains is not None:
                self._start_event_domains(services.event_domains)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._orbs = {}
        self._left_behind = None

    def configure(self, settings: Settings) -> None:
        """The gateway has taken over another configuration: the domain that shows it follows."""
        from gateway.domain.configured_form import configured_form

        if self._event_domains is not None:
            with suppress(AdapterError):  # the ORB's process is being started again, with what it has to show
                self._event_domains.configure(configured_form(settings))

    def orb(self, overrides: OrbOverrides | None = None) -> Orb:
        """The ORB of the gateway, or that of the endpoints which need it otherwise in the same way; started when it is first asked
        for. Raises StopError."""
        settings = self._settings.orb if overrides is None else overrides.over(self._settings.orb)
        key = settings.model_dump_json()
        if key not in self._orbs:
            from adapters.cosnotification.left_behind import LeftBehind
            from adapters.cosnotification.orb import Orb

            self._left_behind = self._left_behind or LeftBehind(Path(self._settings.run_dir) / "corba")
            hosts = overrides is None and self._settings.services.notification is not None
            orb = Orb(
                settings,
                self._left_behind,
                held=["notification"] if hosts else [],
                changed=self._hears_of(settings.listen),
            )
            orb.start()
            self._orbs[key] = orb
            self._undo.append(orb.stop)
        return self._orbs[key]

    def _hears_of(self, listen: str) -> Callable[[AdapterError | None], None]:
        """What becomes of an ORB's process: its links tell of it too, but there may be none. What fails again and again in the same
        way is told once."""
        latest = ""

        def changed(error: AdapterError | None) -> None:
            nonlocal latest
            trouble = "" if error is None else str(error)
            if trouble != latest:
                latest = trouble
                self._listener.service_changed("orb", "ready" if error is None else "down", error, listen=listen)

        return changed

    def watch_wanted(self, settings: Settings, link: str, sink: Sink) -> Callable[[HearTypes], None]:
        """How it is found out what is wanted behind the sink of a link: a broker of ours knows who listens to a topic; everybody
        else tells the sink, or does not."""
        channel_id = settings.links[link].sink
        destination = getattr(settings.channels[channel_id], "destination", None) or ""
        broker = self._broker
        if broker is None or not settings.is_own_broker(settings.channels[channel_id].endpoint):
            return sink.watch_wanted
        if not destination.startswith(TOPIC):
            return sink.watch_wanted

        def watch(heard: HearTypes) -> None:
            topic = destination.removeprefix(TOPIC)
            broker.watch_topic(link, topic, lambda listened: heard(None if listened else frozenset()))

        return watch

    def _start_broker(self, settings: BrokerServiceSettings) -> None:
        from adapters.embedded_broker.broker import Broker

        listen = parse_address(settings.listen, any_port=True)
        password = settings.password.get_secret_value() if settings.password is not None else None
        store = Path(settings.store) if settings.store is not None else None
        broker = Broker(listen.host, listen.port, settings.login, password, store=store)
        self._undo.append(broker.stop)
        self._broker = broker
        self._listener.service_changed("broker", "ready", address=broker.start())

    def _start_notification(self, settings: NotificationServiceSettings) -> None:
        from adapters.cosnotification.service.service import NotificationService, RmiBoxes

        rmi = settings.rmi
        service = NotificationService(
            self.orb(),
            channels=settings.channels,
            typed_channels=settings.typed_channels,
            idl=settings.idl,
            include=settings.include,
            store=None if settings.store is None else Path(settings.store),
            hides_others=settings.hide_others,
            rmi=RmiBoxes(
                rmi.structured_event,
                tuple(rmi.read),
                rmi.untyped == "boxed",
                rmi.supplier_interface or "",
                rmi.supplier_channel,
            ),
            store_changed=lambda error: self._listener.service_store_changed("notification", error),
            found=lambda error: self._listener.service_found("notification", error),
        )
        service.start()
        self._undo.append(service.stop)
        if rmi.supplier_ior is not None:
            self._publish(rmi.supplier_ior, service.boxed_ior)
        self._publish(settings.factory_ior, service.factory_ior)
        self._listener.service_changed("notification", "ready", factory_ior=settings.factory_ior)

    def _start_logs(self, settings: LogsServiceSettings) -> None:
        from adapters.cosnotification.hosted import HostedPart
        from adapters.cosnotification.logs.trouble import trouble_of

        def heard(_: str, log: str, code: str, why: str) -> None:
            self._listener.service_store_changed(log, trouble_of(code, why))

        store = settings.store or str(Path(self._settings.run_dir) / "event-logs.db")
        its = json.dumps({"store": store, "idl": settings.idl, "include": settings.include})
        logs = HostedPart(self.orb(), "logs", "adapters.cosnotification.logs.part:LogsPart", its, heard)
        references = logs.start()
        self._undo.append(logs.stop)
        self._publish(settings.factory_ior, references["log"])
        if settings.typed_factory_ior is not None:
            self._publish(settings.typed_factory_ior, references["typed-log"])
        self._listener.service_changed("logs", "ready", factory_ior=settings.factory_ior)

    def _start_event_domains(self, settings: EventDomainsServiceSettings) -> None:
        from gateway.domain.configured_form import configured_form
        from gateway.domain.corba.service import EventDomainsService

        store = settings.store or str(Path(self._settings.run_dir) / "event-domains.db")
        configured = configured_form(self._settings)
        service = EventDomainsService(self.orb(), settings, store, self._listener, configured)
        references = service.start()
        self._undo.append(service.stop)
        self._event_domains = service
        for kind, file in (
            ("domain", settings.factory_ior),
            ("typed-domain", settings.typed_factory_ior),
            ("log-domain", settings.log_factory_ior),
        ):
            if file is not None:
                self._publish(file, references[kind])
        self._listener.service_changed("event_domains", "ready", factory_ior=settings.factory_ior)

    def start_bridges(
        self, settings: BridgesServiceSettings, bridges: Bridges, running: Callable[[], Settings]
    ) -> None:
        from gateway.bridges.service import BridgesService

        endpoint = self._settings.endpoints[settings.channels]
        assert isinstance(endpoint, CosNotificationEndpoint)
        service = BridgesService(self.orb(), endpoint.factory or "", bridges, running, self._listener)
        reference = service.start()
        self._undo.append(service.stop)
        self._publish(settings.factory_ior, reference)
        self._listener.service_changed("bridges", "ready", factory_ior=settings.factory_ior)

    def _publish(self, file: str, reference: str) -> None:
        """For clients, who read it when the service can be called, and find nothing when it has gone."""
        path = Path(file)
        write_whole(path, reference + "\n")
        self._undo.append(lambda: path.unlink(missing_ok=True))
