"""A whole configuration with a journal: one write for all links of a source, each at its own pace, accounts that last."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.base import StopError
from adapters.memory.connection import MemoryPeer
from gateway.appliance.appliance import Appliance
from gateway.cli import run
from gateway.inlet.inlet import BATCH
from gateway.links.accounts import Balance
from gateway.links.link import LinkStatus
from gateway.settings.settings import Settings
from mappings.idl_types import STRING
from mappings.model import Property
from tests.unit.appliance.test_appliance import QUICK, Listener, balance, get, number_of, running
from tests.unit.links.rig import event, wait_for
from tests.unit.links.test_start_time import start

BOTH: dict[str, Any] = {"main": {"from": "events", "to": "messages"}, "copy": {"from": "events", "to": "copies"}}


def settings(tmp_path: Path, **changed: Any) -> Settings:
    """Two links from one channel, to sinks that can be hurt one by one."""
    whole: dict[str, Any] = {
        "name": "gw",
        "run_dir": str(tmp_path / "run"),
        "journal": {},
        "endpoints": {name: {"type": "memory", **QUICK} for name in ("in", "out", "other")},
        "channels": {
            "events": {"endpoint": "in", "name": "events"},
            "messages": {"endpoint": "out", "name": "messages", "form": "message"},
            "copies": {"endpoint": "other", "name": "copies", "form": "message"},
        },
        "links": BOTH,
    }
    return Settings.model_validate({**whole, **changed})


SMALL = {"max_bytes": 1024 * 1024, "segment_bytes": 64 * 1024}  # room for some 500 large events


def feed(
    appliance: Appliance, count: int, first: int = 0, *, large: bool = False, header: tuple[Property, ...] = ()
) -> None:
    events = [replace(event(n), variable_header=header) for n in range(first, first + count)]
    if large:
        text = Property("Text", STRING, "x" * 2000)
        events = [replace(event, filterable_data=(*event.filterable_data, text)) for event in events]
    appliance.wiring.memory_peer("in").put("events", events)


def arrived(peer: MemoryPeer, name: str) -> list[int]:
    return [number_of(payload) for payload in peer.contents(name)]


def status(appliance: Appliance, link: str) -> LinkStatus:
    return next(status for status in appliance.statuses() if status.id == link)


def test_a_source_with_two_links_is_journalled_once_and_both_get_everything(tmp_path: Path) -> None:
    before = threading.active_count()
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        feed(appliance, 300)
        wait_for(lambda: all(balance(appliance, link).delivered == 300 for link in BOTH))
        assert arrived(appliance.wiring.memory_peer("out"), "messages") == list(range(300))
        assert arrived(appliance.wiring.memory_peer("other"), "copies") == list(range(300))
        inlet = status(appliance, "main").inlet
        assert inlet is not None
        assert (inlet.received, inlet.journal.last, inlet.state) == (300, 300, "ready")
        assert status(appliance, "copy").inlet == inlet
    assert threading.active_count() == before
    assert appliance.wiring.memory_peer("in").contents("events") == []


def test_a_dead_sink_holds_back_neither_the_source_nor_the_other_link(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 3000)
        wait_for(lambda: balance(appliance, "main").delivered == 3000)
        assert balance(appliance, "copy") == Balance(received=3000, pending=3000)
        assert status(appliance, "copy").state == "down"
        oldest = status(appliance, "copy").oldest_pending_secs
        assert oldest is not None
        assert oldest > 0
        assert status(appliance, "main").state == "ready"
        appliance.wiring.memory_peer("other").start()
        wait_for(lambda: balance(appliance, "copy").delivered == 3000)
        assert arrived(appliance.wiring.memory_peer("other"), "copies") == list(range(3000))


def test_what_is_pending_and_the_accounts_outlive_the_gateway(tmp_path: Path) -> None:
    links = {**BOTH, "main": {**BOTH["main"], "filter": "$Number >= 10"}}
    with running(Appliance(settings(tmp_path, links=links), Listener(), drain_secs=0.1)) as first:
        first.wiring.memory_peer("other").stop()
        first.wiring.memory_peer("out").refuse(lambda payload: number_of(payload) == 11)
        feed(first, 20)
        wait_for(lambda: balance(first, "main").pending == 0 and balance(first, "main").received == 20)
    with running(Appliance(settings(tmp_path, links=links), Listener())) as second:
        assert balance(second, "main") == Balance(received=20, delivered=9, filtered=10, dead_lettered=1)
        wait_for(lambda: balance(second, "copy").delivered == 20)
        assert arrived(second.wiring.memory_peer("other"), "copies") == list(range(20))
        feed(second, 5, first=20)
        wait_for(lambda: balance(second, "main").delivered == 14)
        assert arrived(second.wiring.memory_peer("out"), "messages") == list(range(20, 25))
        assert balance(second, "copy").received == 25


def test_without_a_journal_nothing_is_written(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path, journal=None, links={"main": BOTH["main"]}), Listener())) as appliance:
        feed(appliance, 5)
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        assert status(appliance, "main").inlet is None
    assert not (tmp_path / "run" / "journal").exists()


def test_a_link_that_says_no_takes_from_its_source_itself(tmp_path: Path) -> None:
    links = {"main": {**BOTH["main"], "delivery": {"journal": {"enabled": False}}}}
    with running(Appliance(settings(tmp_path, links=links), Listener())) as appliance:
        feed(appliance, 5)
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        assert status(appliance, "main").inlet is None
    assert not (tmp_path / "run" / "journal").exists()


def test_a_reload_that_changes_a_link_keeps_the_inlet_connected_and_the_accounts(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener, drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 50)
        wait_for(lambda: balance(appliance, "main").delivered == 50 and status(appliance, "copy").state == "down")
        listener.lines.clear()
        changed = {**BOTH, "copy": {**BOTH["copy"], "filter": "$Number >= 40"}}
        appliance.reload(settings(tmp_path, links=changed))
        appliance.wiring.memory_peer("other").start()
        wait_for(lambda: balance(appliance, "copy").pending == 0)
        assert balance(appliance, "copy") == Balance(received=50, delivered=10, filtered=40)
        feed(appliance, 1, first=50)
        wait_for(lambda: balance(appliance, "copy").delivered == 11)
        assert [line for line in listener.lines if line[0].startswith("inlet")] == []
        wait_for(lambda: balance(appliance, "main") == Balance(received=51, delivered=51))


def test_a_reload_that_changes_the_channel_makes_the_inlet_anew_and_keeps_what_is_pending(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener, drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 5)
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        channels = settings(tmp_path).model_dump(by_alias=True)["channels"]
        channels["events"]["name"] = "elsewhere"
        appliance.reload(settings(tmp_path, channels=channels))
        appliance.wiring.memory_peer("in").put("elsewhere", [event(5)])
        appliance.wiring.memory_peer("other").start()
        wait_for(lambda: balance(appliance, "copy").delivered == 6 and balance(appliance, "main").delivered == 6)
        assert arrived(appliance.wiring.memory_peer("other"), "copies") == list(range(6))
        assert listener.lines.count(("inlet events", "ready", None)) == 2


def test_a_link_that_is_gone_keeps_what_is_pending_is_told_and_gets_it_when_it_comes_back(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener, drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 5)
        wait_for(lambda: balance(appliance, "copy").pending == 5 and balance(appliance, "main").delivered == 5)
        appliance.reload(settings(tmp_path, links={"main": BOTH["main"]}))
        assert ("journal events", "found", "JNL-LEFT") in listener.lines
        assert [s.id for s in appliance.statuses()] == ["main"]
        feed(appliance, 1, first=5)
        wait_for(lambda: balance(appliance, "main").delivered == 6)
        appliance.wiring.memory_peer("other").start()
        appliance.reload(settings(tmp_path))
        wait_for(lambda: balance(appliance, "copy").delivered == 6)


def test_what_is_kept_for_a_link_that_is_gone_holds_up_nobody(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path, journal=SMALL), listener, drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 10, large=True)
        wait_for(lambda: balance(appliance, "main").delivered == 10)
        appliance.reload(settings(tmp_path, journal=SMALL, links={"main": BOTH["main"]}))
        feed(appliance, 1200, first=10, large=True)
        wait_for(lambda: balance(appliance, "main").delivered == 1210)
        assert any(code == "JNL-DROPPED" for _, _, code in listener.lines), "its oldest go first"


@pytest.mark.parametrize("removed", ["keep", "forget"])
def test_a_link_that_is_gone_is_forgotten_when_nothing_is_pending_or_the_policy_says_so(
    tmp_path: Path, removed: str
) -> None:
    only_main = {"main": BOTH["main"]}
    journal = {"removed_links": removed}
    with running(Appliance(settings(tmp_path, journal=journal), Listener(), drain_secs=0.1)) as appliance:
        if removed == "forget":
            appliance.wiring.memory_peer("other").stop()
        feed(appliance, 5)
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        wait_for(lambda: balance(appliance, "copy").delivered == (0 if removed == "forget" else 5))
        appliance.reload(settings(tmp_path, journal=journal, links=only_main))
        assert [path.name for path in (tmp_path / "run" / "journal" / "events").glob("*.cursor")] == ["main.cursor"]


def test_a_link_that_is_switched_off_catches_up_when_it_is_switched_on(tmp_path: Path) -> None:
    off = {**BOTH, "copy": {**BOTH["copy"], "enabled": False}}
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener)) as appliance:
        feed(appliance, 2)
        wait_for(lambda: balance(appliance, "copy").delivered == 2)
        appliance.reload(settings(tmp_path, links=off))
        feed(appliance, 3, first=2)
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        appliance.reload(settings(tmp_path))
        wait_for(lambda: balance(appliance, "copy").delivered == 5)
        assert all(code != "JNL-LEFT" for _, _, code in listener.lines)


def test_a_full_journal_dead_letters_the_oldest_of_a_link_that_says_so_and_the_source_goes_on(tmp_path: Path) -> None:
    links = {**BOTH, "copy": {**BOTH["copy"], "delivery": {"journal": {"when_full": "dead_letter"}}}}
    with running(Appliance(settings(tmp_path, links=links, journal=SMALL), Listener(), drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 1200, large=True)
        wait_for(lambda: balance(appliance, "main").delivered == 1200)
        copy = balance(appliance, "copy")
        assert copy.dead_lettered > 0
        assert copy == Balance(received=1200, dead_lettered=copy.dead_lettered, pending=1200 - copy.dead_lettered)
        appliance.wiring.memory_peer("other").start()
        wait_for(lambda: balance(appliance, "copy").pending == 0)
        letters = (tmp_path / "run" / "dead-letters" / "copy.jsonl").read_text().splitlines()
        given_up = [json.loads(line)["payload"]["event"]["filterable_data"][0]["value"] for line in letters]
        assert {json.loads(line)["error"]["code"] for line in letters} == {"LNK-JOURNAL-FULL"}
        assert sorted(given_up + arrived(appliance.wiring.memory_peer("other"), "copies")) == list(range(1200))


def test_a_full_journal_dead_letters_also_what_the_link_holds_until_its_time_has_come(tmp_path: Path) -> None:
    delivery = {"hold_secs": 7200, "journal": {"when_full": "dead_letter"}}
    links = {"main": {**BOTH["main"], "delivery": delivery}}
    with running(Appliance(settings(tmp_path, links=links, journal=SMALL), Listener(), drain_secs=0.1)) as appliance:
        feed(appliance, 1200, large=True, header=(start(time.time() + 3600),))
        wait_for(lambda: balance(appliance, "main").received == 1200)
        main = balance(appliance, "main")
        assert main == Balance(received=1200, dead_lettered=main.dead_lettered, pending=1200 - main.dead_lettered)
        assert main.dead_lettered > 0
        wait_for(lambda: status(appliance, "main").held > 0)
        letters = (tmp_path / "run" / "dead-letters" / "main.jsonl").read_text().splitlines()
        given_up = [json.loads(line)["payload"]["event"]["filterable_data"][0]["value"] for line in letters]
        assert {json.loads(line)["error"]["code"] for line in letters} == {"LNK-JOURNAL-FULL"}
        assert given_up == list(range(len(given_up))), "the oldest"


def test_a_full_journal_drops_the_oldest_of_a_link_that_says_so_and_counts_them(tmp_path: Path) -> None:
    links = {**BOTH, "copy": {**BOTH["copy"], "delivery": {"journal": {"when_full": "drop_oldest"}}}}
    listener = Listener()
    with running(Appliance(settings(tmp_path, links=links, journal=SMALL), listener, drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 1200, large=True)
        wait_for(lambda: balance(appliance, "main").delivered == 1200)
        assert ("journal events", "found", "JNL-DROPPED") in listener.lines
        appliance.wiring.memory_peer("other").start()
        wait_for(lambda: balance(appliance, "copy").pending == 0)
        copy = balance(appliance, "copy")
        assert copy.dropped > 0
        assert copy.holds
        assert copy.received == 1200
        arrivals = arrived(appliance.wiring.memory_peer("other"), "copies")
        assert arrivals == sorted(set(arrivals))
        assert arrivals[-1] == 1199


def test_a_full_journal_holds_the_source_back_until_the_link_that_blocks_has_caught_up(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path, journal=SMALL), listener, drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 1200, large=True)
        wait_for(lambda: ("journal events", "held", "JNL-FULL") in listener.lines)
        wait_for(lambda: status(appliance, "main").source_error is not None)
        feed(appliance, 2000, first=1200)
        time.sleep(0.1)
        assert (
            len(appliance.wiring.memory_peer("in").contents("events")) >= 2000 - BATCH
        )  # what was being asked for may come
        appliance.wiring.memory_peer("other").start()
        wait_for(lambda: balance(appliance, "copy").delivered == 3200)
        assert arrived(appliance.wiring.memory_peer("other"), "copies") == list(range(3200))
        assert ("journal events", "released", None) in listener.lines


def test_an_event_ages_in_the_journal_too(tmp_path: Path) -> None:
    links = {"copy": {**BOTH["copy"], "delivery": {"retry": {"max_age_secs": 1}, "batch": 10}}}
    with running(Appliance(settings(tmp_path, links=links), Listener(), drain_secs=0.1)) as appliance:
        appliance.wiring.memory_peer("other").stop()
        feed(appliance, 35)
        wait_for(lambda: balance(appliance, "copy").dead_lettered == 35)


def test_an_encrypted_and_compressed_journal_passes_everything_and_shows_nothing(tmp_path: Path) -> None:
    journal = {"secret_key": "ab" * 32, "compression": "zlib"}
    with running(Appliance(settings(tmp_path, journal=journal), Listener())) as appliance:
        feed(appliance, 20)
        wait_for(lambda: all(balance(appliance, link).delivered == 20 for link in BOTH))
    for segment in (tmp_path / "run" / "journal" / "events").glob("*.segment"):
        assert b"Telecom" not in segment.read_bytes()
    with pytest.raises(StopError) as refused:
        Appliance(settings(tmp_path), Listener()).start()
    assert refused.value.code == "JNL-KEY"


def test_a_journal_that_cannot_be_opened_stops_the_start_and_leaves_nothing_running(tmp_path: Path) -> None:
    before = threading.active_count()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal").write_text("a file where a folder should be")
    with pytest.raises(StopError) as refused:
        Appliance(settings(tmp_path), Listener()).start()
    assert refused.value.code == "JNL-IO"
    assert threading.active_count() == before


def test_the_admin_interface_shows_inlets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path, admin={"listen": "127.0.0.1:0"}), listener)) as appliance:
        feed(appliance, 4)
        wait_for(lambda: all(balance(appliance, link).delivered == 4 for link in BOTH))
        address = str(listener.services["admin"]["address"])
        for link in json.loads(get(address, "/links")):
            assert link["inlet"]["channel"] == "events"
            assert (link["inlet"]["state"], link["inlet"]["held"], link["inlet"]["received"]) == ("ready", None, 4)
            assert link["accounts"]["received"] == 4
        assert run(["links", "--admin", address.removeprefix("http://")]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["main", "ready", "4", "4"] in [line[:4] for line in lines]
        assert ["events", "ready", "4", "0", "0.0", "MB"] in lines
        metrics = get(address, "/metrics")
        assert 'isthmus_inlet_received_total{channel="events"} 4.0' in metrics
        assert 'isthmus_inlet_ready{channel="events"} 1.0' in metrics
        assert 'isthmus_inlet_held{channel="events"} 0.0' in metrics
        assert 'isthmus_link_settled_total{link="copy",outcome="dropped"} 0.0' in metrics
        appliance.wiring.memory_peer("in").stop()
        wait_for(lambda: status(appliance, "main").state == "down")
        assert all(link["source"]["error"]["code"] == "MEM-CUT" or link["source"]["error"]["code"] == "MEM-DOWN"
                   for link in json.loads(get(address, "/links")))  # fmt: skip
        assert 'isthmus_inlet_ready{channel="events"} 0.0' in get(address, "/metrics")
