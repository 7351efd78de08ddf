"""The whole way of an event on real parts: a CORBA supplier in its own process pushes over IIOP to a channel, a gateway process
takes it from there, and a Java JMS consumer on a real broker says what arrived. Each test runs on Artemis and on ActiveMQ Classic.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.parts.broker import Broker
from tests.parts.gateway import Gateway, Status
from tests.parts.jms_client import JmsClient, JmsValue, Received
from tests.parts.supplier import Supplier

Unique = Callable[[str], str]
LINK = "alarms"


def _config(folder: Path, broker: Broker, destination: str, password_file: Path) -> dict[str, Any]:
    """A channel hosted by the gateway itself, and one link from it to the broker."""
    quick = {"first_ms": 50, "longest_ms": 500}
    return {
        "orb": {"listen": "127.0.0.1:0"},
        "services": {"notification": {"factory_ior": str(folder / "factory.ior")}},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": str(folder / "factory.ior"), "back_off": quick},
            "broker": {
                "type": "stomp",
                "broker": broker.kind,
                "hosts": [f"{broker.host}:{broker.stomp_port}"],
                "login": broker.login,
                "password": f"${{file:{password_file}}}",
                "back_off": quick,
            },
        },
        "channels": {
            "ems-alarms": {"endpoint": "ems", "channel": 0},
            "jms-alarms": {"endpoint": "broker", "destination": destination},
        },
        "links": {LINK: {"from": "ems-alarms", "to": "jms-alarms"}},
    }


@pytest.fixture
def run_gateway(tmp_path: Path) -> Callable[..., Gateway]:
    def make(broker: Broker, destination: str, *, password: str | None = None) -> Gateway:
        password_file = tmp_path / "password"
        password_file.write_text(password or broker.password, encoding="utf-8")
        return Gateway(tmp_path, _config(tmp_path, broker, destination, password_file))

    return make


def _ready(status: Status) -> bool:
    return bool(status["source"]["state"] == "ready" and status["sink"]["state"] == "ready")


def _delivered(count: int) -> Callable[[Status], bool]:
    return lambda status: bool(status["accounts"]["delivered"] >= count)


ALARM_PROPERTIES = {
    # SE-FIX-1 to 3
    "$domain_type": "Telecom",
    "$type_name": "Alarm",
    "$event_name": "LOS-17",
    # SE-PROP-7, OC-NAME-1: a CosNaming::Name in the optional header
    "$Ohf1.Name.1.id": "NC1",
    "$Ohf1.Name.1.kind": "kind1",
    "$Ohf1.Name.2.id": "NC2",
    "$Ohf1.Name.2.kind": "kind2",
    "$Ohf1.Name.3.id": "NC3",
    "$Ohf1.Name.3.kind": "kind3",
    # SE-PROP-6: a struct
    "$Fd1.AlarmName": "LOS",
    "$Fd1.Severity": "3",
    # OC-TYPE-1 to 4, 7, 9, 11, 13: a value that is its own text
    "$number": "17",
    "$flag": "true",
    "$octet": "200",
    "$ushort": "65535",
    "$huge": str(2**64 - 1),
    "$ratio": "0.25",
    "$letter": "x",
    "$wide": "Zürich: 3 € \\ ok",
    "$state": "outOfService",
    "$boxed": "inner",
    # OC-TYPE-17: a named sequence
    "$levels.Levels.1": "-3",
    "$levels.Levels.2": "0",
    "$levels.Levels.3": "7",
    # OC-TYPE-12: a union
    "$reading._d": "true",
    "$reading.dbm": "-12.5",
    # OC-TYPE-19: octets
    "$image": "AAH/",
}


def test_headers_properties_and_body_of_an_alarm(
    broker: Broker, jms: JmsClient, unique: Unique, run_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    topic = f"topic://{unique('alarms')}"
    with jms.connect(broker) as connection, run_gateway(broker, topic) as gateway:
        consumer = connection.subscribe(topic)
        gateway.wait_for_link(LINK, _ready)
        before = int(time.time() * 1000)
        with Supplier(tmp_path / "factory.ior") as supplier:
            supplier.push("alarm", first=17)
            [alarm] = consumer.expect()
        after = int(time.time() * 1000)
        accounts = gateway.wait_for_link(LINK, _delivered(1))["accounts"]
    # SE-HDR, SE-VAR: header fields
    assert alarm.headers["JMSType"] == "Structured Event"
    assert alarm.headers["JMSDeliveryMode"] == "PERSISTENT"
    assert alarm.headers["JMSPriority"] == 6  # OC-VAR-1: 4 + 2
    assert alarm.headers["JMSDestination"] == topic
    if (
        broker.kind == "activemq"
    ):  # Artemis gives no JMSMessageID to what comes over STOMP: $gid is the id that always is there
        assert alarm.headers["JMSMessageID"].startswith("ID:")
    assert alarm.value("$gid")  # OC-ID-1
    assert alarm.value("$hops") == "tests/ems-alarms"  # where it has been, against loops
    assert before <= alarm.headers["JMSTimestamp"] <= after
    assert before < alarm.headers["JMSExpiration"] <= after + 600_000  # OC-VAR-2: what is left of 600 s
    # SE-BODY-2
    assert (alarm.body_type, alarm.body) == ("TextMessage", "loss of signal on port 17: Zürich")
    # STOMP makes every property a String
    for name, text in ALARM_PROPERTIES.items():
        assert alarm.properties.get(name) == JmsValue("String", text, "java.lang.String"), name
    assert json.loads(alarm.value("$se"))["v"] == 1  # OC-META-1
    others = {n for n in alarm.properties if n.startswith("$")} - ALARM_PROPERTIES.keys() - {"$se", "$gid", "$hops"}
    assert all(name.endswith("._length") for name in others), others  # OC-TYPE-18; and nothing else of ours
    assert {k: accounts[k] for k in ("received", "delivered", "pending")} == {
        "received": 1,
        "delivered": 1,
        "pending": 0,
    }


def test_every_kind_of_body(
    broker: Broker, jms: JmsClient, unique: Unique, run_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    queue = f"queue://{unique('bodies')}"
    kinds = ("octets", "numbers", "named", "struct", "empty")
    with jms.connect(broker) as connection, run_gateway(broker, queue) as gateway:
        with Supplier(tmp_path / "factory.ior") as supplier:
            for kind in kinds:
                supplier.push(kind, first=5)
            gateway.wait_for_link(LINK, _delivered(len(kinds)))
        octets, numbers, named, struct, empty = connection.subscribe(queue).expect(len(kinds))
    assert (octets.body_type, octets.body) == ("BytesMessage", bytes(range(256)))  # SE-BODY-4
    assert octets.value("$body") == "octets"
    assert _marked_json(numbers) == (
        "stream",
        [{"type": "int", "value": n} for n in (1, -2, 2**31 - 1)],
    )  # SE-BODY-1, OC-BODY-7
    if broker.kind == "activemq":  # SE-BODY-3
        java = {"port": JmsValue("int", 7, "java.lang.Integer"), "site": JmsValue("String", "Bern", "java.lang.String")}
        assert (named.body_type, named.body) == (
            "MapMessage",
            {**java, "up": JmsValue("boolean", False, "java.lang.Boolean")},
        )
    else:
        entries = [("port", "int", 7), ("site", "String", "Bern"), ("up", "boolean", False)]
        assert _marked_json(named) == ("map", [{"name": n, "type": t, "value": v} for n, t, v in entries])
    assert struct.body_type == "BytesMessage"  # OC-BODY-6: the CDR encapsulation of the any
    assert (struct.value("$body"), struct.value("$body_type")) == ("cdr-any", "IDL:Acme/Alarm:1.0")
    assert b"IDL:Acme/Alarm:1.0\0" in struct.body
    assert struct.body.endswith(b"LOS\0" + (5).to_bytes(4, "little" if struct.body[0] else "big"))
    assert (empty.body or "", empty.value("$body")) == ("", "none")  # OC-BODY-1


def _marked_json(received: Received) -> tuple[str, object]:
    assert received.body_type == "TextMessage"
    return received.value("$body"), json.loads(received.body)


@pytest.fixture
def hurt(broker: Broker) -> Iterator[Broker]:
    """The broker of the run, for tests that kill it or change its password: the next test finds it as it was."""
    password = broker.password
    yield broker
    broker.set_password(password)
    if not broker.running:
        broker.start()


def test_a_refused_login_is_told_and_mended(
    hurt: Broker, jms: JmsClient, unique: Unique, run_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    queue = f"queue://{unique('login')}"
    refused = lambda status: (status["sink"]["error"] or {}).get("code") == "STO-LOGIN"  # noqa: E731
    with run_gateway(hurt, queue, password="not-this-one") as gateway, Supplier(tmp_path / "factory.ior") as supplier:
        status = gateway.wait_for_link(LINK, refused)
        assert (status["state"], status["source"]["state"], status["sink"]["state"]) == ("down", "ready", "down")
        supplier.push("octets", count=3)
        # Mended at the broker: nobody tells the gateway, which has kept trying.
        hurt.set_password("not-this-one")
        gateway.wait_for_link(LINK, lambda s: _ready(s) and _delivered(3)(s))
        # The other way round: another password at the broker, which takes effect when the connection breaks, then at the gateway.
        hurt.set_password("another-one")
        hurt.kill()
        hurt.restart()
        gateway.wait_for_link(LINK, refused)
        (tmp_path / "password").write_text("another-one", encoding="utf-8")
        gateway.reload()  # it makes the link anew, which takes what comes from then on
        gateway.wait_for_link(LINK, _ready)
        supplier.push("octets", first=3, count=3)
        accounts = gateway.wait_for_link(LINK, _delivered(6))["accounts"]
        assert (accounts["received"], accounts["pending"]) == (6, 0)
        with jms.connect(hurt) as connection:
            names = [m.value("$event_name") for m in connection.subscribe(queue).expect(6)]
        assert names == [f"octets-{n}" for n in range(6)]
    log = gateway.log_file.read_text(encoding="utf-8")
    assert not any(secret in log for secret in ("not-this-one", "another-one"))


def test_a_broker_that_is_down_at_the_start_and_killed_later_costs_no_event(
    hurt: Broker, jms: JmsClient, unique: Unique, run_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    count, kill_after = 4000, 200
    queue = f"queue://{unique('killed')}"
    hurt.kill()  # a peer that is down at the start
    with run_gateway(hurt, queue) as gateway, Supplier(tmp_path / "factory.ior") as supplier:
        gateway.wait_for_link(LINK, lambda s: (s["sink"]["error"] or {}).get("code") == "STO-UNREACHABLE")
        hurt.restart()
        gateway.wait_for_link(LINK, _ready)
        supplier.begin("alarm", count=count)
        gateway.wait_for_link(LINK, _delivered(kill_after))
        hurt.kill()
        down = gateway.wait_for_link(LINK, lambda s: s["sink"]["state"] == "down")
        assert down["sink"]["error"]["code"].startswith("STO-")
        assert down["accounts"]["delivered"] < count, "killed too late to prove anything"
        hurt.restart()
        supplier.end()
        accounts = gateway.wait_for_link(LINK, _delivered(count))["accounts"]
        assert (accounts["received"], accounts["pending"], accounts["dead_lettered"]) == (count, 0, 0)
    with jms.connect(hurt) as connection:
        consumer = connection.subscribe(queue)
        names = [m.value("$event_name") for m in consumer.expect(count) + consumer.drain(0.5)]
    assert list(dict.fromkeys(names)) == [f"LOS-{n}" for n in range(count)]  # all of them, in order
    if hurt.kind == "artemis":
        assert len(names) == count  # it drops what carries a duplicate id that it has seen
