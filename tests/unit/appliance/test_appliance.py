"""A whole configuration on the in-memory wire: start, deliver, reload, stop."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adapters.base import EventTypes, Payload, StopError
from gateway.appliance.appliance import Appliance
from gateway.journal.errors import JournalError
from gateway.links.accounts import Balance
from gateway.links.observer import State
from gateway.settings.settings import Settings
from mappings.errors import IsthmusError
from mappings.model import Message
from tests.unit.links.rig import Recorder, event, wait_for

QUICK = {"back_off": {"first_ms": 5, "longest_ms": 20}}


class Listener(Recorder):
    def __init__(self) -> None:
        super().__init__()
        self.services: dict[str, dict[str, object]] = {}

    def demand_changed(self, link: str, types: EventTypes) -> None:
        self.lines.append((f"demand {link}", "nothing" if types is not None and not types else "something", None))

    def letters_expired(self, link: str, count: int) -> None:
        self.lines.append((f"letters {link}", "expired", str(count)))

    def service_changed(self, service: str, state: str, error: IsthmusError | None = None, **facts: object) -> None:
        self.services[service] = {"state": state, **facts}

    def service_found(self, service: str, error: IsthmusError) -> None:
        self.lines.append((f"service {service}", "found", error.code))

    def service_store_changed(self, service: str, error: IsthmusError | None) -> None:
        self.lines.append((f"store {service}", "ready" if error is None else "down", error.code if error else None))

    def domain_connection_changed(self, domain: str, connection: int, state: str, trouble: str) -> None:
        self.lines.append((f"{domain} connection {connection}", state, trouble or None))

    def inlet_changed(self, channel: str, state: State, error: IsthmusError | None, attempts: int) -> None:
        self.lines.append((f"inlet {channel}", state, error.code if error else None))

    def journal_found(self, channel: str, finding: JournalError) -> None:
        self.lines.append((f"journal {channel}", "found", finding.code))

    def journal_held(self, channel: str, reason: JournalError) -> None:
        self.lines.append((f"journal {channel}", "held", reason.code))

    def journal_released(self, channel: str, held_secs: float) -> None:
        self.lines.append((f"journal {channel}", "released", None))


def settings(tmp_path: Path, **changed: Any) -> Settings:
    whole: dict[str, Any] = {
        "name": "gw",
        "run_dir": str(tmp_path / "run"),
        "endpoints": {"in": {"type": "memory", **QUICK}, "out": {"type": "memory", **QUICK}},
        "channels": {
            "events": {"endpoint": "in", "name": "events"},
            "messages": {"endpoint": "out", "name": "messages", "form": "message"},
            "copies": {"endpoint": "out", "name": "copies", "form": "message"},
        },
        "links": {"main": {"from": "events", "to": "messages"}},
    }
    return Settings.model_validate({**whole, **changed})


@contextmanager
def running(appliance: Appliance) -> Iterator[Appliance]:
    appliance.start()
    try:
        yield appliance
    finally:
        assert appliance.stop()


def balance(appliance: Appliance, link: str) -> Balance:
    return next(status.balance for status in appliance.statuses() if status.id == link)


def number_of(payload: Payload) -> int:
    assert isinstance(payload, Message)
    return next(int(p.value) for p in payload.properties if p.name == "$Number")


def test_events_become_messages_and_nothing_stays_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(20)])
        wait_for(lambda: balance(appliance, "main").delivered == 20)
        assert [number_of(p) for p in appliance.wiring.memory_peer("out").contents("messages")] == list(range(20))
    assert appliance.statuses() == []
    assert threading.active_count() == before


def test_a_filter_keeps_events_out_and_is_counted(tmp_path: Path) -> None:
    links = {"main": {"from": "events", "to": "messages", "filter": "$Number >= 7"}}
    with running(Appliance(settings(tmp_path, links=links), Listener())) as appliance:
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(10)])
        wait_for(lambda: balance(appliance, "main").pending == 0 and balance(appliance, "main").received == 10)
        assert balance(appliance, "main") == Balance(received=10, delivered=3, filtered=7)


def test_reload_makes_changed_links_anew_and_leaves_the_others_alone(tmp_path: Path) -> None:
    both = {"main": {"from": "events", "to": "messages"}, "idle": {"from": "more", "to": "copies"}}
    channels = {
        "events": {"endpoint": "in", "name": "events"},
        "more": {"endpoint": "in", "name": "more"},
        "messages": {"endpoint": "out", "name": "messages", "form": "message"},
        "copies": {"endpoint": "out", "name": "copies", "form": "message"},
    }
    listener = Listener()
    with running(Appliance(settings(tmp_path, links=both, channels=channels), listener)) as appliance:
        inlet = appliance.wiring.memory_peer("in")
        inlet.put("events", [event(n) for n in range(5)])
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        listener.lines.clear()
        changed = {**both, "main": {"from": "events", "to": "messages", "filter": "$Number > 100"}}
        difference = appliance.reload(settings(tmp_path, links=changed, channels=channels, name="other"))
        assert difference == (("main",), ("main",), ("name",))
        assert appliance.settings.name == "gw"
        inlet.put("events", [event(n) for n in (6, 106)])
        wait_for(lambda: balance(appliance, "main").received == 7 and balance(appliance, "main").pending == 0)
        assert balance(appliance, "main") == Balance(received=7, delivered=6, filtered=1)
        assert [line for line in listener.lines if line[0] == "link"].count(("link", "stopped", None)) == 1


def test_a_link_that_is_gone_after_a_reload_takes_nothing_more(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        appliance.reload(settings(tmp_path, links={}))
        assert appliance.statuses() == []
        appliance.wiring.memory_peer("in").put("events", [event(1)])
        assert len(appliance.wiring.memory_peer("in").contents("events")) == 1


def test_a_second_gateway_on_the_same_folder_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        with pytest.raises(StopError) as refused:
            Appliance(settings(tmp_path), Listener()).start()
        assert refused.value.code == "LNK-RUN-DIR-TAKEN"
        appliance.wiring.memory_peer("in").put("events", [event(1)])
        wait_for(lambda: balance(appliance, "main").delivered == 1)


def test_an_address_that_is_taken_is_refused_and_nothing_is_left_running(tmp_path: Path) -> None:
    before = threading.active_count()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        for part, code in (("admin", "LNK-ADMIN-ADDRESS"), ("services", "STO-LISTEN")):
            value = {"listen": listen} if part == "admin" else {"broker": {"listen": listen}}
            with pytest.raises(StopError) as refused:
                Appliance(settings(tmp_path, **{part: value}), Listener()).start()
            assert refused.value.code == code
    assert threading.active_count() == before
    with running(Appliance(settings(tmp_path), Listener())):
        pass  # the folder is free again


def test_the_admin_interface_shows_links_health_and_metrics(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path, admin={"listen": "127.0.0.1:0"}), listener)) as appliance:
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(4)])
        wait_for(lambda: balance(appliance, "main").delivered == 4)
        address = str(listener.services["admin"]["address"])
        (link,) = json.loads(get(address, "/links"))
        assert link["link"] == "main"
        assert link["accounts"] == {
            "received": 4, "delivered": 4, "filtered": 0, "expired": 0, "duplicate": 0, "dead_lettered": 0, "looped": 0,
            "dropped": 0, "lost": 0, "pending": 0, "holds": True,
        }  # fmt: skip
        assert json.loads(get(address, "/health"))["healthy"] is True
        assert 'isthmus_link_settled_total{link="main",outcome="delivered"} 4.0' in get(address, "/metrics")


def test_a_dead_letter_is_on_disk_with_its_reason(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        appliance.wiring.memory_peer("out").refuse(lambda payload: number_of(payload) == 1)
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(3)])
        wait_for(lambda: balance(appliance, "main").pending == 0 and balance(appliance, "main").received == 3)
        assert balance(appliance, "main") == Balance(received=3, delivered=2, dead_lettered=1)
    (line,) = (tmp_path / "run" / "dead-letters" / "main.jsonl").read_text().splitlines()
    letter = json.loads(line)
    assert letter["error"]["code"] == "MEM-REFUSED"
    assert letter["payload"]["event"]["filterable_data"] == [{"name": "Number", "type": "long", "value": 1}]


def get(address: str, path: str) -> str:
    with urllib.request.urlopen(address + path, timeout=10) as answer:
        return str(answer.read().decode())


def test_a_reload_that_only_changes_the_sink_keeps_the_source_connected_and_what_waits_there(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener, drain_secs=0.1)) as appliance:
        wait_for(lambda: appliance.statuses()[0].state == "ready")
        appliance.wiring.memory_peer("out").stop()
        inlet = appliance.wiring.memory_peer("in")
        inlet.put("events", [event(n) for n in range(5)])
        wait_for(lambda: appliance.statuses()[0].state == "down")
        listener.lines.clear()
        appliance.reload(settings(tmp_path, links={"main": {"from": "events", "to": "copies"}}))
        appliance.wiring.memory_peer("out").start()
        wait_for(lambda: balance(appliance, "main").delivered == 5)
        assert balance(appliance, "main") == Balance(received=5, delivered=5)
        assert [number_of(p) for p in appliance.wiring.memory_peer("out").contents("copies")] == list(range(5))
        assert ("source", "connecting", None) not in listener.lines
        assert inlet.contents("events") == []
