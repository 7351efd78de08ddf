"""The gateway's notices, through a whole appliance on the in-memory wire."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from adapters.base import DeadLetterError, Delivery, ReconnectError, RetryLaterError
from adapters.notices.settings import NoticesChannel
from gateway.appliance.appliance import Appliance
from gateway.notices.absences import CLOSED, STARTED, Absences
from gateway.notices.notice import DOMAIN, KINDS, notice
from gateway.notices.tally import Tallies, Tally
from gateway.notices.tray import MOST, Tray
from gateway.settings.settings import Settings
from mappings.idl_types import LONGLONG, STRING
from mappings.model import Message, StructuredEvent
from tests.unit.appliance.test_appliance import QUICK, Listener, running
from tests.unit.links.rig import event, wait_for


def settings(tmp_path: Path, **changed: Any) -> Settings:
    whole: dict[str, Any] = {
        "name": "gw",
        "run_dir": str(tmp_path / "run"),
        "endpoints": {
            **{name: {"type": "memory", **QUICK} for name in ("in", "out", "ops")},
            "me": {"type": "notices"},
        },
        "channels": {
            "events": {"endpoint": "in", "name": "events"},
            "messages": {"endpoint": "out", "name": "messages", "form": "message"},
            "notices": NoticesChannel(endpoint="me"),
            "told": {"endpoint": "ops", "name": "told", "form": "message"},
        },
        "links": {"main": {"from": "events", "to": "messages"}, "tell": {"from": "notices", "to": "told"}},
    }
    return Settings.model_validate({**whole, **changed})


def told(appliance: Appliance, kind: str, **facts: Any) -> list[dict[str, Any]]:
    """Notices of a kind that have arrived, as the properties of their messages; those that say this."""
    found = []
    for payload in appliance.wiring.memory_peer("ops").contents("told"):
        assert isinstance(payload, Message)
        values = {p.name.lstrip("$"): p.value for p in payload.properties}
        if values["type_name"] == kind and all(values.get(name) == value for name, value in facts.items()):
            found.append({**values, "body": payload.body.value})
    return found


def test_a_peer_that_goes_and_comes_is_told_with_the_reason(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        wait_for(lambda: told(appliance, "PeerChanged", Channel="messages", State="ready"))
        appliance.wiring.memory_peer("out").stop()
        wait_for(lambda: told(appliance, "PeerChanged", Channel="messages", State="down"))
        appliance.wiring.memory_peer("out").start()
        wait_for(lambda: len(told(appliance, "PeerChanged", Channel="messages", State="ready")) == 2)
        downs = told(appliance, "PeerChanged", Channel="messages", State="down")
        assert len({notice["Code"] for notice in downs}) == len(downs), "each reason once"
        down = downs[0]
        assert (down["domain_type"], down["event_name"], down["Gateway"]) == (DOMAIN, "messages", "gw")
        assert (down["Severity"], down["Link"], down["Side"]) == ("major", "main", "sink")
        assert down["Code"] in down["body"]
        assert down["Code"].startswith("MEM-")
        assert abs(down["At"] / 1000 - time.time()) < 60
        assert told(appliance, "PeerChanged", State="ready", Channel="messages")[-1]["Severity"] == "cleared"


def test_the_store_of_a_service_and_an_orb_that_died_are_told_and_cleared(tmp_path: Path) -> None:
    full = RetryLaterError("COR-STORE-WRITE", "disk is full", hint="make room")
    died = ReconnectError("COR-WORKER", "killed by SIGSEGV")
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener)) as appliance:
        for error in (full, None):
            appliance._teller.service_store_changed("notification", error)
        for state, trouble in (("down", died), ("ready", None), ("ready", None)):
            appliance._teller.service_changed("orb", state, trouble, listen="127.0.0.1:1")
        wait_for(lambda: len(told(appliance, "ServiceChanged", event_name="orb")) == 3)
        stores = told(appliance, "StoreChanged", event_name="notification")
        assert [(n["State"], n["Severity"], n.get("Code")) for n in stores] == [
            ("down", "critical", "COR-STORE-WRITE"),
            ("ready", "cleared", None),
        ]
        services = told(appliance, "ServiceChanged", event_name="orb")
        assert [(n["Severity"], n.get("Code")) for n in services] == [
            ("major", "COR-WORKER"), ("cleared", None), ("indeterminate", None)
        ]  # fmt: skip
    assert ("store notification", "down", "COR-STORE-WRITE") in listener.lines
    assert listener.services["orb"]["state"] == "ready"


def test_each_connection_of_a_domain_is_told_and_cleared_by_itself(tmp_path: Path) -> None:
    listener = Listener()
    with running(Appliance(settings(tmp_path), listener)) as appliance:
        for connection, state, trouble in ((0, "broken", "TIMEOUT"), (1, "joined", ""), (0, "removed", "")):
            appliance._teller.domain_connection_changed("domain 1", connection, state, trouble)
        wait_for(lambda: len(told(appliance, "DomainConnectionChanged")) == 3)
        found = [
            (n["event_name"], n["Domain"], n["Connection"], n["State"], n["Severity"], n.get("Reason"))
            for n in told(appliance, "DomainConnectionChanged")
        ]
    assert found == [
        ("domain 1 connection 0", "domain 1", 0, "broken", "major", "TIMEOUT"),
        ("domain 1 connection 1", "domain 1", 1, "joined", "cleared", None),
        ("domain 1 connection 0", "domain 1", 0, "removed", "cleared", None),
    ]


def test_notices_wait_for_a_sink_that_is_away_over_a_restart(tmp_path: Path) -> None:
    """They are in the journal as soon as they are told."""
    first = Appliance(settings(tmp_path), Listener(), drain_secs=0.2)
    first.wiring.memory_peer("ops").stop()
    first.start()
    wait_for(lambda: any(s.id == "tell" and s.balance.pending >= 2 for s in first.statuses()))
    first.stop()
    with running(Appliance(settings(tmp_path), Listener())) as second:
        wait_for(lambda: told(second, "PeerChanged", Channel="told", State="down"))


def test_dead_letters_of_one_kind_are_told_together(tmp_path: Path) -> None:
    links = {
        "main": {"from": "events", "to": "messages", "dead_letter": {"stop_at_ratio": 0.99, "stop_after": 1000}},
        "tell": {"from": "notices", "to": "told"},
    }
    appliance = Appliance(settings(tmp_path, links=links), Listener())
    with running(appliance):
        appliance.wiring.memory_peer("out").refuse(lambda _: True)
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(50)])
        wait_for(lambda: told(appliance, "DeadLetters"))
        (first,) = told(appliance, "DeadLetters")
        assert (first["Link"], first["Count"], first["Code"], first["Severity"]) == (
            "main",
            1,
            "MEM-REFUSED",
            "warning",
        )
        wait_for(lambda: next(s for s in appliance.statuses() if s.id == "main").balance.dead_lettered == 50)
        assert len(told(appliance, "DeadLetters")) == 1


def test_dead_letters_of_notices_make_no_notices(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path), Listener())) as appliance:
        appliance.wiring.memory_peer("ops").refuse(lambda _: True)
        wait_for(lambda: next(s for s in appliance.statuses() if s.id == "tell").balance.dead_lettered >= 2)
        appliance.wiring.memory_peer("ops").refuse(None)
        appliance.wiring.memory_peer("out").cut()
        wait_for(lambda: told(appliance, "PeerChanged", Channel="messages"))
        assert told(appliance, "DeadLetters") == []


def test_a_heartbeat_tells_how_the_links_are(tmp_path: Path) -> None:
    channels = {**settings(tmp_path).channels, "notices": NoticesChannel(endpoint="me", heartbeat_secs=1.0)}
    with running(Appliance(settings(tmp_path, channels=channels), Listener())) as appliance:
        wait_for(lambda: len(told(appliance, "Heartbeat", Ready=2)) >= 2)
        beat = told(appliance, "Heartbeat", Ready=2)[0]
        assert (beat["Links"], beat["Severity"]) == (2, "indeterminate")
        assert beat["Pending"] >= 0


def test_what_is_missing_by_its_number_is_told_logged_and_counted(tmp_path: Path) -> None:
    links = {
        "main": {"from": "events", "to": "messages", "numbered": {"field": "Number"}},
        "tell": {"from": "notices", "to": "told"},
    }
    listener = Listener()
    with running(Appliance(settings(tmp_path, links=links), listener)) as appliance:
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in (1, 2, 5, 6)])
        wait_for(lambda: told(appliance, "NumbersMissing"))
        (missing,) = told(appliance, "NumbersMissing")
        assert (missing["First"], missing["Last"], missing["Count"], missing["Link"]) == (3, 4, 2, "main")
        assert ("numbers", "3-4", "") in listener.lines
        by_link = {status.id: status.missing for status in appliance.statuses()}
        assert by_link == {"main": 2, "tell": None}


def test_a_reload_that_adds_a_link_of_notices_is_enough(tmp_path: Path) -> None:
    with running(
        Appliance(settings(tmp_path, links={"main": {"from": "events", "to": "messages"}}), Listener())
    ) as appliance:
        appliance.wiring.memory_peer("out").cut()
        appliance.reload(settings(tmp_path))
        wait_for(lambda: any(s.id == "tell" and s.state == "ready" for s in appliance.statuses()))
        appliance.wiring.memory_peer("out").cut()
        wait_for(lambda: told(appliance, "PeerChanged", Channel="messages", State="ready"))


def test_the_page_has_every_kind_and_no_other() -> None:
    page = (Path(__file__).parents[3] / "docs" / "notices.md").read_text(encoding="utf-8")
    table = page.partition("<!-- kinds -->")[2].partition("<!-- end -->")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    assert rows == dict(KINDS)


def test_every_kind_is_told_by_somebody() -> None:
    teller = (Path(__file__).parents[3] / "gateway" / "notices" / "teller.py").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f'"{kind}"' not in teller] == []


def test_facts_have_types_and_those_that_are_none_are_left_out() -> None:
    made = notice("gw", "PeerChanged", "x", "major", "text", {"Count": 3, "Hint": None, "Code": "C", "Flag": True})
    fields = {p.name: (p.type, p.value) for p in made.filterable_data}
    assert fields["Count"] == (LONGLONG, 3)
    assert fields["Code"] == (STRING, "C")
    assert fields["Flag"][1] is True
    assert "Hint" not in fields
    assert made.type_name in KINDS


def test_an_absence_is_from_the_loss_to_the_return() -> None:
    absences = Absences()
    assert absences.changed("x", "connecting", None) is None
    assert absences.changed("x", "down", "COR-NO-PEER") is None
    started = absences.changed("x", "ready", None)
    assert started is not None
    assert started == (None, STARTED)
    assert absences.changed("x", "ready", None) is None
    before = time.time()
    assert absences.changed("x", "down", "COR-TIMEOUT") is None
    assert absences.changed("x", "down", "COR-NO-PEER") is None  # the first reason counts
    ended = absences.changed("x", "ready", None)
    assert ended is not None
    assert ended.reason == "COR-TIMEOUT"
    assert ended.since is not None
    assert before <= ended.since <= time.time()
    absences.changed("x", "draining", None)
    absences.changed("x", "down", None)
    closed = absences.changed("x", "ready", None)
    assert closed is not None
    assert closed.reason == CLOSED


def test_tallies_give_the_first_at_once_and_the_rest_at_the_end_of_their_time() -> None:
    now = 0.0
    tallies: Tallies[str] = Tallies(10.0, lambda: now)
    assert tallies.first("a", "one")
    assert not tallies.first("a", "two")
    assert tallies.first("b", "one of b")
    assert not tallies.first("a", "three")
    assert tallies.due() == []
    now = 10.0
    assert tallies.due() == [Tally("three", 2)]
    assert tallies.first("b", "again")
    assert not tallies.first("a", "four")  # its time began anew
    assert tallies.due(all_of_them=True) == [Tally("four", 1)]


def test_a_tray_that_nobody_empties_is_bounded_and_says_what_went() -> None:
    tray = Tray(lambda count: StructuredEvent(DOMAIN, "NoticesLost", str(count)))
    for n in range(MOST + 3):
        tray.post(["here"], StructuredEvent("", "", str(n)))
    with tray.peer.changed:
        queue = tray.peer.queue("here")
        assert len(queue) == MOST
        first = queue.popleft().payload
    assert isinstance(first, StructuredEvent)
    assert first.event_name == "3"
    tray.post(["here"], StructuredEvent("", "", "last"))
    lost, last = tray.peer.contents("here")[-2:]
    assert isinstance(lost, StructuredEvent)
    assert isinstance(last, StructuredEvent)
    assert (lost.type_name, lost.event_name, last.event_name) == ("NoticesLost", "3", "last")


def test_a_delivery_that_cannot_be_decoded_has_no_number(tmp_path: Path) -> None:
    from gateway.links.numbered import Numbers, watching

    seen: list[Delivery] = []

    def step(delivery: Delivery) -> Any:
        seen.append(delivery)

    garbage = Delivery(None, "1", 0.0, error=DeadLetterError("X", "garbage"))
    watching(step, Numbers("n", [], lambda *_: None))(garbage)
    assert seen == [garbage]
