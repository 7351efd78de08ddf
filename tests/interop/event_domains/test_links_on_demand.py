"""Offers and subscriptions travel along the links of a configuration; links on demand forward only what is wanted: over
IIOP, through a chain of channels of two Notification Services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.source import StompSource
from tests.interop.event_domains.plant import STRUCTURED, answers, until
from tests.interop.event_domains.test_types_travel import ALL, NOW, _drained, plain, types
from tests.interop.notification_service.clients import AND_OP, event
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort

NOBODY = [("$isthmus", "nobody")]


def service(port: int, channels: int) -> dict[str, Any]:
    return {
        "orb": {"listen": f"127.0.0.1:{port}", "call_timeout_ms": 5000},
        "services": {"notification": {"factory_ior": "notify.ior", "channels": channels}},
    }


class Chain:
    """ems:0 ─ first ─▶ own:0 ─ second ─▶ ems:1 ─ third ─▶ own:1, `ems` being another gateway's service, which can be restarted."""

    def __init__(self, folder: Path, ends: ExitStack, **link: Any) -> None:
        self.orb = LocalOrb()
        self.orb.start()
        ends.callback(self.orb.stop)
        ports = [ends.enter_context(ReservedPort()).number for _ in range(2)]
        (folder / "ems").mkdir()
        (folder / "own").mkdir()
        self.ems = ends.enter_context(Gateway(folder / "ems", {"name": "ems", **service(ports[0], 2)}))
        self.form: dict[str, Any] = {
            **service(ports[1], 2),
            "endpoints": {
                "ems": {
                    "type": "cosnotification",
                    "factory": str(folder / "ems" / "notify.ior"),
                    "ping_interval_secs": 0.3,
                    "back_off": {"first_ms": 20, "longest_ms": 200},
                },
                "own": {"type": "cosnotification", "factory": "notify.ior"},
            },
            "channels": {
                "start": {"endpoint": "ems", "channel": 0},
                "one": {"endpoint": "own", "channel": 0},
                "two": {"endpoint": "ems", "channel": 1, "style": "pull", "poll_interval_ms": 10},
                "end": {"endpoint": "own", "channel": 1, "events": "sequence"},
            },
            "links": {
                "first": {"from": "start", "to": "one", **link},
                "second": {"from": "one", "to": "two", **link},
                "third": {"from": "two", "to": "end", **link},
            },
        }
        self.gateway = ends.enter_context(Gateway(folder / "own", self.form))
        for name in self.form["links"]:
            self.gateway.wait_for_link(name, _ready)

    def channel(self, gateway: Gateway, id_: int) -> Any:
        factory = resolve(
            self.orb, str(gateway.folder / "notify.ior"), CosNotifyChannelAdmin.EventChannelFactory, 15_000
        )
        until(lambda: answers(factory))  # also where the connection of before is broken
        return factory.get_event_channel(id_)

    def supplier(self) -> Any:
        """At the start of the chain."""
        admin, _ = self.channel(self.ems, 0).new_for_suppliers(AND_OP)
        proxy = admin.obtain_notification_push_consumer(STRUCTURED)[0]
        proxy.connect_structured_push_supplier(None)
        return proxy

    def consumer(self) -> Any:
        """At its end."""
        admin, _ = self.channel(self.gateway, 1).new_for_consumers(AND_OP)
        proxy = admin.obtain_notification_pull_supplier(STRUCTURED)[0]
        proxy.connect_structured_pull_consumer(None)
        return proxy

    def accounts(self, link: str) -> dict[str, int]:
        return self.gateway.links()[link]["accounts"]  # type: ignore[no-any-return]


def _ready(status: dict[str, Any]) -> bool:
    return bool(status["state"] == "ready")


def wanted(supplier: Any) -> list[tuple[str, str]]:
    return plain(supplier.obtain_subscription_types(NOW))


def offered(consumer: Any) -> list[tuple[str, str]]:
    return plain(consumer.obtain_offered_types(NOW))


@pytest.fixture
def ends() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_along_a_chain_that_is_on_demand(tmp_path: Path, ends: ExitStack) -> None:
    chain = Chain(tmp_path, ends, on_demand=True)
    supplier = chain.supplier()
    until(lambda: wanted(supplier) == NOBODY)
    supplier.push_structured_event(event(1, "Telecom", "Alarm"))  # nobody wants it

    # A consumer sees what is offered at the start, and what it wants is asked for there
    supplier.offer_change(types(("Telecom", "Alarm"), ("Telecom", "State")), [])
    consumer = chain.consumer()
    until(lambda: offered(consumer) == [("Telecom", "Alarm"), ("Telecom", "State")])
    until(lambda: wanted(supplier) == ALL)
    consumer.subscription_change(types(("Telecom", "Alarm")), [])
    until(lambda: wanted(supplier) == [("Telecom", "Alarm")])
    for number, type_ in enumerate(("State", "Alarm", "State", "Alarm"), start=10):
        supplier.push_structured_event(event(number, "Telecom", type_))
    got: list[int] = []
    until(lambda: _drained(consumer, got) == [11, 13])
    assert chain.accounts("first")["received"] == 2, "the others did not even leave their channel"

    # Changes while it runs
    supplier.offer_change([], types(("Telecom", "State")))
    until(lambda: offered(consumer) == [("Telecom", "Alarm")])
    consumer.subscription_change(types(("Telecom", "State"), ("Plant", "*")), types(("Telecom", "Alarm")))
    until(lambda: wanted(supplier) == [("Plant", "*"), ("Telecom", "State")])
    for number, (domain, type_) in enumerate((("Plant", "Fire"), ("Telecom", "Alarm"), ("Telecom", "State")), start=20):
        supplier.push_structured_event(event(number, domain, type_))
    until(lambda: _drained(consumer, got) == [11, 13, 20, 22])

    # A link that is made anew, by a reload
    chain.form["links"]["second"]["filter"] = "$domain_name == 'Plant'"
    chain.gateway.configure(chain.form)
    chain.gateway.reload()
    until(lambda: wanted(supplier) == [("Plant", "*")], 40.0)
    until(lambda: offered(consumer) == [], 40.0)  # of the types that are offered the filter passes none
    chain.gateway.wait_for_link("second", _ready)
    supplier.push_structured_event(event(30, "Plant", "Fire"))
    until(lambda: _drained(consumer, got)[4:] == [30])

    # The peer in the middle and at the start restarts: what it knew of us is gone
    chain.ems.kill()
    chain.ems.start()
    supplier = chain.supplier()
    until(lambda: wanted(supplier) == [("Plant", "*")], 40.0)
    supplier.offer_change(types(("Plant", "Smoke"), ("Telecom", "Alarm")), [])
    until(lambda: offered(consumer) == [("Plant", "Smoke")], 40.0)
    supplier.push_structured_event(event(40, "Plant", "Smoke"))
    until(lambda: _drained(consumer, got)[5:] == [40])

    # Nobody wants anything any more
    consumer.disconnect_structured_pull_supplier()
    until(lambda: wanted(supplier) == NOBODY)
    said = [
        line["wanted"] for line in chain.gateway.log() if line["event"] == "demand changed" and line["link"] == "third"
    ]
    assert said == ["nothing", "everything", "Telecom/Alarm", "Plant/*, Telecom/State", "nothing"]


def test_without_on_demand_offers_travel_and_every_event_is_forwarded(tmp_path: Path, ends: ExitStack) -> None:
    chain = Chain(tmp_path, ends)
    supplier, consumer = chain.supplier(), chain.consumer()
    consumer.subscription_change(types(("Telecom", "Alarm")), [])
    supplier.offer_change(types(("Telecom", "State")), [])
    until(lambda: offered(consumer) == [("Telecom", "State")])
    assert wanted(supplier) == ALL
    supplier.push_structured_event(event(1, "Telecom", "State"))
    chain.gateway.wait_for_link("third", lambda status: status["accounts"]["delivered"] == 1)


def test_a_topic_of_our_own_broker_is_sent_to_while_somebody_listens(tmp_path: Path, ends: ExitStack) -> None:
    ports = [ends.enter_context(ReservedPort()).number for _ in range(2)]
    form = {
        **service(ports[0], 1),
        "endpoints": {
            "own": {"type": "cosnotification", "factory": "notify.ior"},
            "broker": {"type": "stomp", "hosts": [f"127.0.0.1:{ports[1]}"]},
        },
        "channels": {
            "start": {"endpoint": "own", "channel": 0},
            "alarms": {"endpoint": "broker", "destination": "topic://plant.alarms"},
            "archive": {"endpoint": "broker", "destination": "queue://archive"},
        },
        "links": {
            "alarms": {"from": "start", "to": "alarms", "on_demand": True},
            "archive": {"from": "start", "to": "archive"},
        },
    }
    form["services"]["broker"] = {"listen": f"127.0.0.1:{ports[1]}"}
    gateway = ends.enter_context(Gateway(tmp_path, form))
    gateway.wait_for_log(event="demand changed", link="alarms", wanted="nothing")
    for name in form["links"]:
        gateway.wait_for_link(name, _ready)
    orb = LocalOrb()
    orb.start()
    ends.callback(orb.stop)
    factory = resolve(orb, str(tmp_path / "notify.ior"), CosNotifyChannelAdmin.EventChannelFactory, 15_000)
    supplier = factory.get_event_channel(0)._get_default_supplier_admin()
    supplier = supplier.obtain_notification_push_consumer(STRUCTURED)[0]
    supplier.connect_structured_push_supplier(None)

    def passed(link: str) -> tuple[int, int]:
        accounts = gateway.links()[link]["accounts"]
        return accounts["delivered"], accounts["filtered"]

    supplier.push_structured_event(event(1))
    until(lambda: (passed("alarms"), passed("archive")) == ((0, 1), (1, 0)))  # the other link wants it all the same
    settings = StompChannel(endpoint="broker", destination="topic://plant.*")
    listener = StompSource(StompEndpoint.model_validate(form["endpoints"]["broker"]), settings)
    listener.connect()
    gateway.wait_for_log(event="demand changed", link="alarms", wanted="everything")
    supplier.push_structured_event(event(2))
    until(lambda: (passed("alarms"), passed("archive")) == ((1, 1), (2, 0)))
    assert len(listener.receive(10, 20.0)) == 1
    listener.close()
    until(lambda: [line["wanted"] for line in gateway.log() if line["event"] == "demand changed"][2:] == ["nothing"])
    supplier.push_structured_event(event(3))
    until(lambda: (passed("alarms"), passed("archive")) == ((1, 2), (3, 0)))
