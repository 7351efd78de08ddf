"""What `isthmus plan` says of proxies becomes true: those of ours in a channel of others go with the last link that needs them."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path
from typing import Any

import yaml

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from tests.contract.wires.cosnotification import Peer
from tests.interop.event_domains.plant import until
from tests.parts.gateway import ISTHMUS, Gateway


def test_proxies_that_a_plan_names_are_destroyed_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "peer").mkdir()
    peer = Peer(tmp_path / "peer")
    peer.start()
    orb = LocalOrb()
    orb.start()
    try:
        factory = resolve(orb, str(peer.ior), CosNotifyChannelAdmin.EventChannelFactory, 5000)
        channels = [factory.get_event_channel(id_) for id_ in (0, 1)]

        def admins() -> list[int]:
            return [len(channels[0].get_all_consumeradmins()), len(channels[1].get_all_supplieradmins())]

        before = admins()
        form: dict[str, Any] = {
            "endpoints": {"ems": {"type": "cosnotification", "factory": str(peer.ior)}, "m": {"type": "memory"}},
            "channels": {
                "alarms": {"endpoint": "ems", "channel": 0},
                "answers": {"endpoint": "ems", "channel": 1},
                **{name: {"endpoint": "m", "name": name} for name in ("one", "two", "three")},
            },
            "links": {
                "one": {"from": "alarms", "to": "one"},
                "two": {"from": "alarms", "to": "two"},
                "back": {"from": "three", "to": "answers"},
            },
        }
        with Gateway(tmp_path, form) as gateway:
            until(lambda: admins() == [before[0] + 1, before[1] + 1])  # one journal feeds both links
            changed = copy.deepcopy(yaml.safe_load(gateway.config_file.read_text()))
            del changed["links"]["two"], changed["links"]["back"]
            said = run(gateway, "plan", changed)
            assert "- proxy of link back (sink) at channel answers: destroyed" in said
            assert "at channel alarms" not in said, "another link needs it"
            run(gateway, "apply", changed)
            until(lambda: admins() == [before[0] + 1, before[1]])
            changed["links"] = {"other": {"from": "three", "to": "two"}}
            assert "- proxy of link one (source) at channel alarms: destroyed" in run(gateway, "plan", changed)
            run(gateway, "apply", changed)
            until(lambda: admins() == before)
            assert set(gateway.links()) == {"other"}
    finally:
        orb.stop()
        peer.kill()


def run(gateway: Gateway, command: str, form: dict[str, Any]) -> str:
    new = gateway.folder / "new.yaml"
    new.write_text(yaml.safe_dump(form))
    done = subprocess.run([ISTHMUS, command, str(new)], capture_output=True, text=True, cwd=gateway.folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
