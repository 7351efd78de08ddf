"""The whole way: a gateway process captures what a Java consumer gets; the capture agrees with its mapping; played into the broker
again, another Java consumer gets the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import run
from spark.job import Job
from spark.replay import plan
from spark.units import take_inventory
from tests.interop.spark.test_jobs import done
from tests.parts.broker import Broker
from tests.parts.captures import write_configuration
from tests.parts.gateway import Gateway
from tests.parts.jms_client import JmsClient, Received
from tests.parts.supplier import Supplier

COUNT = 60


def configuration(folder: Path, broker: Broker, destination: str) -> dict[str, Any]:
    (folder / "password").write_text(broker.password, encoding="utf-8")
    return {
        "name": "tests",
        "environment": "test",
        "run_dir": str(folder / "run"),
        "orb": {"listen": "127.0.0.1:0"},
        "services": {"notification": {"factory_ior": str(folder / "factory.ior")}},
        "capture": {},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": str(folder / "factory.ior")},
            "broker": {
                "type": "stomp",
                "broker": broker.kind,
                "hosts": [f"{broker.host}:{broker.stomp_port}"],
                "login": broker.login,
                "password": f"${{file:{folder / 'password'}}}",
            },
        },
        "channels": {
            "ems-alarms": {"endpoint": "ems", "channel": 0},
            "jms-alarms": {"endpoint": "broker", "destination": destination},
        },
        "links": {
            "alarms": {
                "from": "ems-alarms",
                "to": "jms-alarms",
                "filter": "$number != 20",
                "rules": [{"rename": "$ratio", "to": "ratio"}],
            }
        },
    }


def seen(message: Received) -> dict[str, Any]:
    """What a consumer sees of a message, apart from what is new whenever it is sent, and where."""
    new = ("JMSMessageID", "JMSTimestamp", "JMSDestination", "JMSExpiration", "JMSTimeToLive")
    headers = {name: value for name, value in message.headers.items() if name not in new}
    properties = {
        name: value
        for name, value in message.properties.items()
        if not name.startswith(("JMSX", "__AMQ", "_AMQ", "destination"))
    }
    return {"headers": headers, "properties": properties, "body": (message.body_type, message.body)}


def test_what_a_consumer_got_is_captured_agrees_and_comes_again(
    session: Any,
    artemis: Broker,
    jms: JmsClient,
    unique: Callable[[str], str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    live, again, sent = (f"queue://{unique(name)}" for name in ("live", "again", "sent"))
    config = configuration(tmp_path, artemis, live)
    with jms.connect(artemis) as connection:
        with Gateway(tmp_path, config) as gateway:
            gateway.wait_for_link("alarms", lambda status: status["state"] == "ready")
            with Supplier(tmp_path / "factory.ior") as supplier:
                supplier.push("alarm", first=1, count=COUNT)
                gateway.wait_for_link("alarms", lambda status: status["accounts"]["delivered"] == COUNT - 1)
            status = gateway.links()["alarms"]
            assert status["capture"]["uncaptured"] == 0
        original = [seen(message) for message in connection.subscribe(live).expect(COUNT - 1)]
        assert original[0]["properties"]["ratio"].value == "0.25"

        capture = tmp_path / "run" / "capture"
        result = done(session, tmp_path / "v", "validate", capture)
        assert result["agrees"], result["differences"]
        counts = {row["status"]: row["count"] for row in result["by_link"]}
        assert counts == {"delivered": COUNT - 1, "filtered": 1}
        assert done(session, tmp_path / "a", "audit", capture)["clean"]

        for destination, more in ((again, []), (sent, ["--as-sent"])):
            out = tmp_path / destination.removeprefix("queue://")
            out.mkdir()
            job = Job("replay", (str(capture),), str(out))
            assert plan(session, job, take_inventory(job.captures, job.selection), out)["events"] == COUNT
            config["channels"]["jms-alarms"]["destination"] = destination
            target = write_configuration(tmp_path, config, "target.yaml")
            arguments = [
                "spark",
                "replay",
                str(capture),
                "--config",
                str(target),
                "--into",
                "alarms",
                "--out",
                str(out),
            ]
            status_ = run([*arguments, "--resume", *more])
            told = capfd.readouterr()
            if more:  # what was filtered was never sent: it has nothing to be played
                assert (status_, "1 dead-lettered" in told.out) == (1, True), told
                (letter,) = map(json.loads, (out / "dead-letters.jsonl").read_text().splitlines())
                assert letter["error"]["code"] == "CAP-FORM"
            else:
                assert f"{COUNT} of {COUNT} events settled: {COUNT - 1} delivered, 1 filtered" in told.out, told
                assert status_ == 0
            replayed = [seen(message) for message in connection.subscribe(destination).expect(COUNT - 1)]
            for one, other in zip(replayed, original, strict=True):
                assert one["headers"] == other["headers"]
                changed = {
                    name
                    for name in one["properties"] | other["properties"]
                    if one["properties"].get(name) != other["properties"].get(name)
                }
                assert changed == set(), [(one["properties"].get(n), other["properties"].get(n)) for n in changed]
                assert one["body"] == other["body"]
            assert run([*arguments, "--resume", *more]) in (0, 1)
            assert connection.subscribe(destination).receive(1, 0.3) == [], "a plan that is played is not played again"
