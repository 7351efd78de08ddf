"""A Notification Service that is killed and comes back under another reference: what a JMS application hears of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from adapters.notices.settings import NoticesChannel
from gateway.appliance.appliance import Appliance
from gateway.settings.settings import Settings
from mappings.model import Message
from tests.contract.wires.cosnotification import Peer
from tests.unit.appliance.test_appliance import QUICK, Listener, running
from tests.unit.links.rig import wait_for


def heard(appliance: Appliance, kind: str) -> list[dict[str, Any]]:
    notices = []
    for payload in appliance.wiring.memory_peer("ops").contents("told"):
        assert isinstance(payload, Message)
        values = {p.name.lstrip("$"): p.value for p in payload.properties}
        if values["type_name"] == kind:
            notices.append(values)
    return notices


@pytest.mark.parametrize("journal", [True, False], ids=["journalled", "straight"])
def test_the_gap_of_a_service_that_was_away_is_told_with_its_time(tmp_path: Path, journal: bool) -> None:
    peer = Peer(tmp_path)
    peer.start()
    settings = Settings.model_validate(
        {
            "name": "gw",
            "run_dir": str(tmp_path / "run"),
            "endpoints": {
                "ems": {
                    "type": "cosnotification",
                    "factory": str(peer.ior),
                    "call_timeout_ms": 1000,
                    "ping_interval_secs": 0.2,
                    **QUICK,
                },
                "ops": {"type": "memory", **QUICK},
                "me": {"type": "notices"},
            },
            "channels": {
                "alarms": {"endpoint": "ems", "channel": 0},
                "out": {"endpoint": "ops", "name": "out", "form": "message"},
                "notices": NoticesChannel(endpoint="me"),
                "told": {"endpoint": "ops", "name": "told", "form": "message"},
            },
            "links": {
                "main": {"from": "alarms", "to": "out", "delivery": {"journal": {"enabled": journal}}},
                "gaps": {"from": "notices", "to": "told"},
            },
        }
    )
    try:
        with running(Appliance(settings, Listener())) as appliance:
            wait_for(lambda: heard(appliance, "PossibleGap"))
            (first,) = heard(appliance, "PossibleGap")
            assert (first["Channel"], first["Endpoint"], first["Cause"]) == ("alarms", "ems", "STARTED")
            assert "Since" not in first
            killed = time.time()
            peer.kill()
            wait_for(lambda: any(n["State"] == "down" for n in heard(appliance, "PeerChanged")))
            peer.start()
            wait_for(lambda: len(heard(appliance, "PossibleGap")) == 2)
            gap = heard(appliance, "PossibleGap")[1]
            assert killed <= gap["Since"] / 1000 <= gap["Until"] / 1000 <= time.time()
            assert gap["Cause"].startswith("COR-")
            assert gap["Severity"] == "warning"
            assert gap.get("Link") == (None if journal else "main")
            changes = [(n["State"], n["Severity"]) for n in heard(appliance, "PeerChanged") if n["Channel"] == "alarms"]
            assert changes[0] == ("ready", "cleared")
            assert ("down", "major") in changes
            assert changes[-1] == ("ready", "cleared")
            json.dumps(gap)
    finally:
        peer.kill()
