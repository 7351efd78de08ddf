"""What a changed configuration would do, and `isthmus plan` and `apply` against a running gateway."""

from __future__ import annotations

import copy
import json
import subprocess
from math import inf
from pathlib import Path
from typing import Any

import yaml

from adapters.base import Outgoing
from adapters.stomp.settings import StompChannel, StompEndpoint
from adapters.stomp.sink import StompSink
from adapters.stomp.source import StompSource
from gateway.appliance.plan import Plan, plan
from gateway.settings import Settings, Source, read
from mappings.model import Body, Message
from tests.parts.gateway import ISTHMUS, Gateway
from tests.parts.ports import ReservedPort

BASE: dict[str, Any] = {
    "name": "plant",
    "endpoints": {
        "ems": {"type": "cosnotification", "factory": "ems.ior"},
        "broker": {"type": "stomp", "hosts": ["mq1:61613"]},
    },
    "domain": {"cycles": "allow", "diamonds": "allow"},
    "channels": {
        "alarms": {"endpoint": "ems", "channel": 0},
        "topic": {"endpoint": "broker", "destination": "topic://alarms", "subscription": "gateway"},
        "archive": {"endpoint": "broker", "destination": "queue://archive"},
    },
    "links": {
        "in": {"from": "alarms", "to": "topic"},
        "keep": {"from": "topic", "to": "archive"},
    },
}


def settings(form: dict[str, Any]) -> Settings:
    reading = read(Source("plant.yaml", yaml.safe_dump(form, sort_keys=False).encode(), Path()))
    assert reading.settings is not None
    assert reading.runnable, reading.findings
    return reading.settings


def planned(**links: Any) -> Plan:
    new = copy.deepcopy(BASE)
    for name, link in links.items():
        if link is None:
            del new["links"][name]
        else:
            new["links"][name] = link
    return plan(settings(BASE), settings(new))


def test_the_same_configuration_changes_nothing() -> None:
    found = planned()
    assert found.is_empty
    assert found.untouched == ("in", "keep")


def test_a_new_link_that_makes_a_diamond_says_how_many_copies_come_then() -> None:
    found = planned(direct={"from": "alarms", "to": "archive"})
    assert (found.begun, found.untouched, found.drained, found.anew) == (("direct",), ("in", "keep"), (), ())
    assert found.copies == (("archive", 1, 2),)
    assert not found.proxies


def test_a_cycle_brings_copies_without_end() -> None:
    found = planned(back={"from": "archive", "to": "topic"})
    assert found.copies == (("topic", 1, inf), ("archive", 1, inf))
    assert found.to_json()["copies"] == [["topic", 1, None], ["archive", 1, None]]


def test_a_link_that_goes_leaves_its_durable_subscription() -> None:
    found = planned(keep=None)
    assert (found.drained, found.untouched) == (("keep",), ("in",))
    assert found.subscriptions == (("topic", "topic://alarms", "gateway"),)
    assert not found.proxies


def test_the_source_of_a_link_that_is_made_anew_stays_connected() -> None:
    """The inlet of the channel goes on, because the journal has a reader again (Intakes.end)."""
    changed = {"from": "alarms", "to": "topic", "filter": "$Severity > 2"}
    found = planned(**{"in": changed})
    assert (found.anew, found.drained, found.begun, found.untouched) == (("in",), (), (), ("keep",))
    assert not found.proxies


def test_a_proxy_goes_with_the_last_link_that_needs_it() -> None:
    assert planned(**{"in": None}).proxies == (("in", "source", "alarms"),)
    assert not planned(**{"in": None, "other": {"from": "alarms", "to": "archive"}}).proxies


def test_without_a_journal_a_source_is_handed_over_or_its_proxy_goes() -> None:
    plain = {"from": "alarms", "to": "topic", "delivery": {"journal": {"enabled": False}}}
    base = {**copy.deepcopy(BASE), "links": {"in": plain}}
    filtered = {**base, "links": {"in": {**plain, "filter": "$Severity > 2"}}}
    assert not plan(settings(base), settings(filtered)).proxies
    gone = {**base, "links": {}}
    assert plan(settings(base), settings(gone)).proxies == (("in", "source", "alarms"),)


def test_the_proxy_of_a_sink_goes_with_its_link() -> None:
    back = {**copy.deepcopy(BASE), "links": {"back": {"from": "archive", "to": "alarms"}}}
    assert plan(settings(back), settings({**back, "links": {}})).proxies == (("back", "sink", "alarms"),)


def test_what_needs_a_restart_is_named() -> None:
    new = {**copy.deepcopy(BASE), "name": "other"}
    assert plan(settings(BASE), settings(new)).needs_restart == ("name",)


def applied(gateway: Gateway, form: dict[str, Any], *options: str, status: int = 0) -> tuple[str, str]:
    new = gateway.folder / "new.yaml"
    new.write_text(yaml.safe_dump(form))
    command = [ISTHMUS, "apply", str(new), *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=gateway.folder)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_apply_removes_durable_subscriptions_that_nobody_needs(tmp_path: Path) -> None:
    with ReservedPort() as port:
        broker = {"type": "stomp", "hosts": [f"127.0.0.1:{port.number}"], "broker": "embedded"}
        topics = {
            name: {"endpoint": "own", "destination": "topic://alarms", "subscription": name}
            for name in ("one", "two", "three")
        }
        form = {
            "services": {"broker": {"listen": f"127.0.0.1:{port.number}"}},
            "endpoints": {"own": broker, "m": {"type": "memory"}},
            "channels": {**topics, **{f"{name}-out": {"endpoint": "m", "name": name} for name in topics}},
            "links": {name: {"from": name, "to": f"{name}-out"} for name in topics},
        }
        with Gateway(tmp_path, form) as gateway:
            for name in topics:
                gateway.wait_for_link(name, lambda status: bool(status["state"] == "ready"))
            whole = yaml.safe_load(gateway.config_file.read_text())
            changed = copy.deepcopy(whole)
            del changed["links"]["one"], changed["channels"]["one"]
            said, _ = applied(gateway, changed)
            assert "durable subscription one of channel one (topic://alarms): nobody reads it any more; removed" in said
            assert said.endswith("durable subscription one of channel one (topic://alarms) is removed\n")
            removed = gateway.wait_for_log(event="durable subscription removed")
            assert (removed["channel"], removed["subscription"]) == ("one", "one")

            # That it is gone, and another link's is not: what is sent now waits for that one alone
            del changed["links"]["two"]
            said, _ = applied(gateway, changed, "--keep-subscriptions", "--json")
            assert json.loads(said)["subscriptions"] == [["two", "topic://alarms", "two"]]
            assert json.loads(said)["removals"] == []
            endpoint = StompEndpoint.model_validate(broker)
            sink = StompSink(endpoint, StompChannel(endpoint="own", destination="topic://alarms"))
            sink.connect()
            assert sink.send([Outgoing(Message(body=Body("TextMessage", "x")), "1")]).result(20.0) == ()
            sink.close()
            gateway.wait_for_link("three", lambda status: status["accounts"]["delivered"] == 1)
            assert [waiting(endpoint, name) for name in ("one", "two")] == [0, 1]

            # One that cannot be removed, for another client uses it: that is said, and the configuration is taken over
            form_of_two = {"endpoint": "own", "destination": "topic://alarms", "subscription": "two"}
            holder = StompSource(endpoint, StompChannel.model_validate(form_of_two))
            holder.connect()
            changed["links"]["two"] = whole["links"]["two"]
            applied(gateway, changed)
            del changed["links"]["two"]
            _, complaint = applied(gateway, changed, status=1)
            assert "LNK-SUBSCRIPTION-STAYS" in complaint
            assert "two of channel two (topic://alarms): STO-REFUSED" in complaint
            holder.close()
            assert set(gateway.links()) == {"three"}
            said, _ = applied(gateway, changed)  # the same again
            assert said == "nothing changes\n"


def waiting(endpoint: StompEndpoint, name: str) -> int:
    """How many messages a durable subscription has kept."""
    form = {"endpoint": "own", "destination": "topic://alarms", "subscription": name}
    source = StompSource(endpoint, StompChannel.model_validate(form))
    source.connect()
    got = source.receive(10, 0.5)
    source.close()
    return len(got)


MEMORY: dict[str, Any] = {
    "endpoints": {"m": {"type": "memory"}},
    "domain": {"diamonds": "allow"},
    "channels": {name: {"endpoint": "m", "name": name} for name in "abc"},
    "links": {"ab": {"from": "a", "to": "b"}, "bc": {"from": "b", "to": "c"}},
}


def test_plan_and_apply_against_a_running_gateway(tmp_path: Path) -> None:
    with Gateway(tmp_path, MEMORY) as gateway:
        whole = yaml.safe_load(gateway.config_file.read_text())
        new = tmp_path / "new.yaml"

        def run(command: str, form: dict[str, Any], *options: str, status: int = 0) -> str:
            new.write_text(yaml.safe_dump(form))
            done = subprocess.run([ISTHMUS, command, str(new), *options], capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == status, done.stderr
            return done.stdout if status == 0 else done.stderr

        assert run("plan", whole) == "nothing changes\n"
        changed = copy.deepcopy(whole)
        changed["links"]["ac"] = {"from": "a", "to": "c"}
        del changed["links"]["bc"]
        text = run("plan", changed)
        assert "- link bc: drained, and ends" in text
        assert "+ link ac: begins" in text
        assert "1 link is not touched" in text
        assert set(gateway.links()) == {"ab", "bc"}, "a plan changes nothing"

        changed["links"]["bc"] = whole["links"]["bc"]
        found = json.loads(run("apply", changed, "--json"))
        assert (found["begun"], found["copies"], found["untouched"]) == (["ac"], [["c", 1, 2]], ["ab", "bc"])
        assert set(gateway.links()) == {"ab", "ac", "bc"}
        assert gateway.config_file.read_text() == new.read_text()
        reloaded = gateway.wait_for_log(event="gateway changed", state="reloaded")
        assert (reloaded["ended"], reloaded["begun"]) == ([], ["ac"]), "the others were not made anew"

        changed["links"]["wrong"] = {"from": "a", "to": "nowhere"}
        assert "CFG-" in run("apply", changed, status=78)
        assert set(gateway.links()) == {"ab", "ac", "bc"}
    assert "LNK-NO-GATEWAY" in run("plan", whole, status=69)
