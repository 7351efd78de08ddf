"""A whole configuration with a capture: one row for every event, with what it became, or why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.base import StopError
from gateway.appliance.appliance import Appliance
from gateway.settings.settings import Settings
from mappings.captures.payloads import read_payload
from mappings.captures.sealing import Opener
from mappings.captures.specification import specification_from_text
from mappings.known_types import UTC_T
from mappings.model import Message, Property
from mappings.passage import compile_translate
from tests.unit.appliance.test_appliance import QUICK, Listener, balance, running
from tests.unit.capture.rows_of import rows_of
from tests.unit.links.rig import event, wait_for

KEY = "ab" * 32


class CaptureListener(Listener):
    def capture_changed(self, error: Any, uncaptured: int) -> None:
        self.lines.append(("capture", "down" if error else "ready", error.code if error else None))


def settings(tmp_path: Path, **changed: Any) -> Settings:
    whole: dict[str, Any] = {
        "name": "gw",
        "run_dir": str(tmp_path / "run"),
        "capture": {},
        "endpoints": {"in": {"type": "memory", **QUICK}, "out": {"type": "memory", **QUICK}},
        "channels": {
            "events": {"endpoint": "in", "name": "events"},
            "messages": {"endpoint": "out", "name": "messages", "form": "message"},
        },
        "links": {"main": {"from": "events", "to": "messages", "filter": "$event_name != 'n3'"}},
    }
    return Settings.model_validate({**whole, **changed})


LONG_AGO = {"time": 1, "inacclo": 0, "inacchi": 0, "tdf": 0}
EXPIRED = replace(event(5), variable_header=(Property("StopTime", UTC_T, LONG_AGO),))


@pytest.fixture
def traffic(tmp_path: Path) -> Path:
    with running(Appliance(settings(tmp_path), CaptureListener())) as appliance:
        events = [event(n) for n in range(1, 8)]
        events[6] = replace(events[6], filterable_data=events[6].filterable_data * 2)
        appliance.wiring.memory_peer("out").refuse(
            lambda payload: isinstance(payload, Message) and "#2" in str(payload)
        )
        appliance.wiring.memory_peer("in").put("events", [*events[:4], EXPIRED, *events[5:]])
        wait_for(lambda: balance(appliance, "main").received == 7 and balance(appliance, "main").pending == 0)
        status = appliance.statuses()[0].capture
        assert status is not None
        assert status.uncaptured == 0
    return tmp_path / "run" / "capture"


def test_one_row_for_every_event_with_its_end(traffic: Path) -> None:
    found = rows_of(traffic)
    assert [row["seq"] for row in found] == list(range(1, 8))
    wanted = ["delivered", "delivered", "filtered", "delivered", "expired", "delivered", "dead_lettered"]
    assert [row["status"] for row in found] == wanted
    assert [row["error_code"] for row in found if row["status"] != "dead_lettered"] == [None] * 6
    assert found[6]["error_code"] == "MEM-REFUSED"
    assert {row["gateway"] for row in found} == {"gw"}
    assert {row["type_name"] for row in found} == {"Alarm"}
    assert [row["source_id"].rpartition("-")[2] for row in found] == [str(n) for n in range(7)]
    for row in found:
        assert row["received_at"] <= row["settled_at"]
        assert (row["sent"] is not None) == (row["seq"] in (1, 2, 4, 6, 7))
        assert row["source_form"] == "event"


def test_what_a_link_sent_can_be_made_again_from_the_row_and_the_saved_mapping(traffic: Path) -> None:
    delivered = [row for row in rows_of(traffic) if row["status"] == "delivered"]
    assert len(delivered) == 4
    for row in delivered:
        saved = (traffic / "_mappings" / f"{row['mapping_version']}.json").read_bytes()
        specification = specification_from_text(saved)
        assert (specification.gateway, specification.link) == ("gw", "main")
        assert specification.version == row["mapping_version"]
        translate = compile_translate(specification.translation)
        made_ms = round(row["made_at"].timestamp() * 1000)
        again = translate(read_payload("event", row["source"]), row["source_id"], made_ms, row["elapsed_ms"])
        assert again == read_payload("message", row["sent"])


def test_a_link_may_stay_out(tmp_path: Path) -> None:
    links = {"main": {"from": "events", "to": "messages", "capture": False}}
    with running(Appliance(settings(tmp_path, links=links), CaptureListener())) as appliance:
        appliance.wiring.memory_peer("in").put("events", [event(1)])
        wait_for(lambda: balance(appliance, "main").delivered == 1)
        assert appliance.statuses()[0].capture is None
    assert rows_of(tmp_path / "run" / "capture") == []


def test_cells_are_encrypted_where_a_key_is_given(tmp_path: Path) -> None:
    with running(Appliance(settings(tmp_path, capture={"secret_key": KEY}), CaptureListener())) as appliance:
        appliance.wiring.memory_peer("in").put("events", [event(1)])
        wait_for(lambda: balance(appliance, "main").delivered == 1)
    root = tmp_path / "run" / "capture"
    (row,) = rows_of(root)
    assert row["codec"] == "sealed"
    assert not any(b"Telecom" in path.read_bytes().replace(b"domain", b"") for path in root.rglob("*.arrows"))
    opener = Opener([bytes.fromhex(KEY)])
    plain = opener.open(row["source"], f"source {row['event_id']}")
    assert read_payload("event", plain) == event(1)


def test_a_folder_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "capture").write_text("in the way")
    with pytest.raises(StopError) as caught:
        Appliance(settings(tmp_path), CaptureListener()).start()
    assert caught.value.code == "CAP-FOLDER"
