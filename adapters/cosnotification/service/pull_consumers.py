"""The proxies that pull from suppliers. They ask with try_pull: an event that a blocking call returned too late would be lost."""

from __future__ import annotations

from typing import Any, Final

from adapters.cosnotification.service.engine.carried_event import CarriedAny, CarriedEvent, carried
from adapters.cosnotification.service.engine.event_queue import UNITS_PER_SEC
from adapters.cosnotification.service.engine.inlet import Inlet
from adapters.cosnotification.service.proxy_consumer import ProxyConsumer
from adapters.cosnotification.service.stubs import (
    CosEventChannelAdmin__POA,
    CosEventComm,
    CosNotifyChannelAdmin,
    CosNotifyChannelAdmin__POA,
    CosNotifyComm,
)

MOST_AT_ONCE: Final = 100  # events asked of a sequence supplier, where MaximumBatchSize says no more


class PullConsumer(ProxyConsumer):
    NIL_CLIENT = False
    inlet: Inlet | None = None

    def pull_from(self, client: Any) -> list[CarriedEvent]:
        """What the supplier has now."""
        raise NotImplementedError

    def on_connect(self, client: Any) -> None:
        super().on_connect(client)
        name = f"{self.channel.id}-{self.admin.id}-{self.id}"
        retry = self.channel.service.retry
        self.inlet = Inlet(name, lambda: self.pull_from(client), self._fits, self.channel.hub, self.leave, retry)
        self.qos_changed()

    def on_start(self) -> None:
        assert self.inlet is not None
        self.inlet.start()

    def rest(self) -> None:
        """The service stops, and the connection stays."""
        if self.inlet is not None:
            self.inlet.stop()

    def on_suspend(self) -> None:
        assert self.inlet is not None
        self.inlet.suspend()

    def on_resume(self) -> None:
        assert self.inlet is not None
        self.inlet.resume()

    def on_leave(self) -> None:
        super().on_leave()
        if self.inlet is not None:
            self.inlet.stop()

    def qos_changed(self) -> None:
        super().qos_changed()
        if self.inlet is not None:
            self.inlet.persistent = self.connections_persist
            self.inlet.interval_secs = self.qos.get("PacingInterval") / UNITS_PER_SEC


class AnyPullConsumer(PullConsumer):
    TYPE = CosNotifyChannelAdmin.PULL_ANY
    CLIENT = CosEventComm.PullSupplier
    FAREWELL = "disconnect_pull_supplier"

    def pull_from(self, client: Any) -> list[CarriedEvent]:
        data, has_event = client.try_pull()
        return [CarriedAny(data)] if has_event else []

    def disconnect_pull_consumer(self) -> None:
        self.disconnect()


class ProxyPullConsumer(AnyPullConsumer, CosNotifyChannelAdmin__POA.ProxyPullConsumer):  # type: ignore[misc]
    def connect_any_pull_supplier(self, pull_supplier: Any) -> None:
        self.connect(pull_supplier)


class EventProxyPullConsumer(AnyPullConsumer, CosEventChannelAdmin__POA.ProxyPullConsumer):  # type: ignore[misc]
    """For those who know nothing but the Event Service."""

    def connect_pull_supplier(self, pull_supplier: Any) -> None:
        self.connect(pull_supplier)


class StructuredProxyPullConsumer(PullConsumer, CosNotifyChannelAdmin__POA.StructuredProxyPullConsumer):  # type: ignore[misc]
    TYPE = CosNotifyChannelAdmin.PULL_STRUCTURED
    CLIENT = CosNotifyComm.StructuredPullSupplier
    FAREWELL = "disconnect_structured_pull_supplier"

    def connect_structured_pull_supplier(self, pull_supplier: Any) -> None:
        self.connect(pull_supplier)

    def pull_from(self, client: Any) -> list[CarriedEvent]:
        event, has_event = client.try_pull_structured_event()
        return [carried(event)] if has_event else []

    def disconnect_structured_pull_consumer(self) -> None:
        self.disconnect()


class SequenceProxyPullConsumer(PullConsumer, CosNotifyChannelAdmin__POA.SequenceProxyPullConsumer):  # type: ignore[misc]
    TYPE = CosNotifyChannelAdmin.PULL_SEQUENCE
    CLIENT = CosNotifyComm.SequencePullSupplier
    FAREWELL = "disconnect_sequence_pull_supplier"

    def connect_sequence_pull_supplier(self, pull_supplier: Any) -> None:
        self.connect(pull_supplier)

    def pull_from(self, client: Any) -> list[CarriedEvent]:
        most = max(MOST_AT_ONCE, self.qos.get("MaximumBatchSize"))
        batch, has_event = client.try_pull_structured_events(most)
        return [carried(event) for event in batch] if has_event else []

    def disconnect_sequence_pull_consumer(self) -> None:
        self.disconnect()
