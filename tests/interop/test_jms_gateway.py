"""A gateway process with an endpoint of type jms: types reach selectors of Java consumers, and its workers end with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.contract.wires.jms_brokers import JVM
from tests.parts.artemis import client_jars
from tests.parts.broker import Broker
from tests.parts.gateway import Gateway
from tests.parts.jms_client import FACTORIES, JmsClient, JmsValue
from tests.parts.supplier import Supplier

PATIENCE_SECS = 20.0


def test_an_event_is_selected_by_its_numbers_and_no_worker_outlives_the_gateway(
    artemis: Broker, jms: JmsClient, unique: Callable[[str], str], tmp_path: Path
) -> None:
    topic = f"topic://{unique('alarms')}"
    (tmp_path / "password").write_text(artemis.password, encoding="utf-8")
    config = {
        "orb": {"listen": "127.0.0.1:0"},
        "services": {"notification": {"factory_ior": str(tmp_path / "factory.ior")}},
        "endpoints": {
            "ems": {"type": "cosnotification", "factory": str(tmp_path / "factory.ior")},
            "broker": {
                "type": "jms",
                "classpath": [str(jar) for jar in client_jars()],
                "factory": FACTORIES["artemis"],
                "url": artemis.jms_url,
                "login": artemis.login,
                "password": f"${{file:{tmp_path / 'password'}}}",
                "jvm_options": JVM,
            },
        },
        "channels": {
            "ems-alarms": {"endpoint": "ems", "channel": 0},
            "jms-alarms": {"endpoint": "broker", "destination": topic},
        },
        "links": {"alarms": {"from": "ems-alarms", "to": "jms-alarms"}},
    }
    with jms.connect(artemis) as connection, Gateway(tmp_path, config) as gateway:
        severe = connection.subscribe(topic, selector="$Fd1$_Severity > 2 AND $number = 18 AND $flag")
        gateway.wait_for_link("alarms", lambda status: status["state"] == "ready")
        with Supplier(tmp_path / "factory.ior") as supplier:
            supplier.push("alarm", first=17, count=2)
            [alarm] = severe.expect()
        assert alarm.properties["$Fd1$_Severity"] == JmsValue("int", 3, "java.lang.Integer")  # IDL long
        assert alarm.value("$event_name") == "LOS-18"
        assert severe.receive(1, 0.2) == []
        workers = [pid for pid, command in _processes() if "adapters.jms.worker" in command and _is_child(pid, gateway)]
        assert len(workers) == 1
        gateway.kill()
        deadline = time.monotonic() + PATIENCE_SECS
        while any(pid == workers[0] for pid, _ in _processes()):
            assert time.monotonic() < deadline
            time.sleep(0.02)


def _processes() -> list[tuple[int, str]]:
    """Of those that run: not those that wait to be reaped."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if command:
                found.append((int(folder.name), command))
    return found


def _is_child(pid: int, gateway: Gateway) -> bool:
    parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
    return int(parent) == gateway._running().pid
