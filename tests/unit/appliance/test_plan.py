"""What a changed configuration would do, and `isthmus plan` and `apply` against a running gateway."""

from __future__ import annotations

import copy
import json
import subprocess
from math import inf
from pathlib import Path
from typing import Any

import yaml

from gateway.appliance.plan import Plan, plan
from gateway.settings import Settings, Source, read
from tests.parts.gateway import ISTHMUS, Gateway

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
