"""Writes the files of this version."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.stubs import CORBA, CosNotifyChannelAdmin
from gateway.appliance.appliance import Appliance
from tests.golden.kept.plan import DATA, JOURNALS, KEPT, REFUSED, events, settings
from tests.interop.event_domains.plant import AUTHORIZE, FORBID, connection, plant, qos
from tests.interop.notification_service.clients import OR_OP, Channel, event, property_
from tests.interop.notification_service.kept_service import KeptService
from tests.unit.appliance.test_appliance import Listener, balance
from tests.unit.links.rig import wait_for

RELIABLE = (("ConnectionReliability", 1), ("EventReliability", 1))


def everlasting(line: str) -> str:
    """An event that has no time to live: the files are read years later."""
    form = json.loads(line)
    if "variable_header" in form:
        mortal = ("Timeout", "StartTime", "StopTime")
        form["variable_header"] = [field for field in form["variable_header"] if field["name"] not in mortal]
    return json.dumps(form, ensure_ascii=True) + "\n"


def gateway(folder: Path, journal: str) -> None:
    sent = events(folder.parent)
    appliance = Appliance(settings(folder, journal), Listener(), drain_secs=0.2)
    appliance.wiring.memory_peer("away").stop()
    taken: list[Any] = []
    appliance.wiring.memory_peer("out").refuse(lambda payload: taken.append(payload) or len(taken) == REFUSED + 1)  # type: ignore[func-returns-value]
    appliance.start()
    appliance.wiring.memory_peer("in").put("events", sent)
    wait_for(lambda: balance(appliance, "main").pending == 0 and balance(appliance, "main").received == len(sent))
    appliance.stop()
    for left in ("corba", "isthmus.lock"):
        path = folder / left
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def notification_service(folder: Path) -> None:
    """A channel with a filter, and with a consumer that is owed events 4 to 7."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        orb, service = LocalOrb(), KeptService(Path(scratch))
        orb.start()
        service.start()
        properties = [property_(name, CORBA.TC_short, value) for name, value in RELIABLE]
        channel = Channel(orb, service.factory_ior, properties)
        admin, _ = channel.reference.new_for_consumers(OR_OP)
        proxy, _ = admin.obtain_notification_pull_supplier(CosNotifyChannelAdmin.STRUCTURED_EVENT)
        proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPullSupplier)
        proxy.connect_structured_pull_consumer(None)
        proxy.add_filter(channel.filter("$n > 3"))
        proxy.set_qos([property_("MaxEventsPerConsumer", CORBA.TC_long, 77)])
        supplier = channel.supplier("structured")
        for number in range(8):
            supplier.push_structured_event(event(number))
        service.stop()
        service.close()
        orb.stop()
        shutil.copy(Path(scratch) / "notify.db", folder / "notify.db")


def domains_and_logs(folder: Path) -> None:
    """Domain 0 with channels 0 to 2, 2 removed, and one connection; log 0 with records 0 to 4."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch, plant(Path(scratch)) as here:
        channels = [here.channels.create_channel([], [])[0] for _ in range(3)]
        domain, _ = here.domains.create_event_domain(qos(FORBID, AUTHORIZE), [])
        for each in channels:
            domain.add_channel(each)
        domain.remove_channel(2)
        domain.add_connection(connection(0, 1))
        domain.set_default_consumer_channel(1)
        log = here.logs.create(0, 0, [], [], [])[0]
        proxy, _ = log._get_default_supplier_admin().obtain_notification_push_consumer(
            CosNotifyChannelAdmin.STRUCTURED_EVENT
        )
        proxy = proxy._narrow(CosNotifyChannelAdmin.StructuredProxyPushConsumer)
        proxy.connect_structured_push_supplier(None)
        for number in range(5):
            proxy.push_structured_event(event(number))
        wait_for(lambda: log.get_n_records() == 5)
        here.gateway.stop()
        for name in ("event-domains.db", "event-logs.db"):
            shutil.copy(Path(scratch) / "run" / name, folder / name)


def main() -> None:
    folder = KEPT / version("isthmus")
    if folder.exists():
        sys.exit(f"{folder} is there: what a version has left is never written again")
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text("".join(map(everlasting, (DATA / "events.jsonl").open(encoding="utf-8"))))
    for journal in JOURNALS:
        gateway(folder / journal, journal)
    notification_service(folder / "services")
    domains_and_logs(folder / "domains")


if __name__ == "__main__":
    main()
