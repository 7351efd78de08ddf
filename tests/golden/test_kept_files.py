"""An upgrade goes on with what earlier versions have left on disk: journals, dead letters, ids, captures, stores of services.

The files are of real runs, described in `kept/plan.py` and `kept/make.py`; what is expected is what those runs did.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from adapters.base import StopError
from adapters.cosnotification.local_orb import LocalOrb
from adapters.cosnotification.references import resolve
from adapters.cosnotification.stubs import CosNotifyChannelAdmin
from gateway.appliance.appliance import Appliance
from gateway.dead_letters.letters import letters_in
from gateway.links.accounts import Balance
from gateway.links.duplicate_window import DuplicateWindow
from mappings.captures.payloads import read_payload
from mappings.model import StructuredEvent
from tests.golden.kept.plan import JOURNALS, KEPT, REFUSED, events, settings
from tests.interop.event_domains.plant import AUTHORIZE, FORBID, config
from tests.interop.notification_service.clients import number_of
from tests.interop.notification_service.kept_service import KeptService
from tests.parts.gateway import Gateway
from tests.parts.ports import ReservedPort
from tests.unit.appliance.test_appliance import Listener, balance, running
from tests.unit.capture.rows_of import rows_of
from tests.unit.links.rig import wait_for

VERSIONS = sorted(path.name for path in KEPT.iterdir())


def test_this_version_has_left_its_files() -> None:
    assert version("isthmus") in VERSIONS, "python -m tests.golden.kept.make"


@pytest.fixture(params=VERSIONS)
def kept(request: pytest.FixtureRequest) -> Path:
    return KEPT / str(request.param)


@pytest.fixture(params=JOURNALS)
def journal(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def told(event: Any) -> tuple[Any, ...]:
    """What the element manager said, without the marks of the gateway."""
    assert isinstance(event, StructuredEvent)
    header = tuple(p for p in event.variable_header if not p.name.startswith("$MED."))
    return event.domain_name, event.type_name, event.event_name, header, event.filterable_data, event.remainder_of_body


def test_what_was_pending_in_a_journal_is_delivered_and_the_accounts_go_on(
    kept: Path, journal: str, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(kept / journal, run)
    sent = events(kept)
    listener = Listener()
    with running(Appliance(settings(run, journal), listener)) as appliance:
        wait_for(lambda: balance(appliance, "copies").pending == 0 and balance(appliance, "copies").received > 0)
        arrived = appliance.wiring.memory_peer("away").contents("copies")
        assert [told(event) for event in arrived] == [told(event) for event in sent]
        assert balance(appliance, "copies") == Balance(received=len(sent), delivered=len(sent))
        assert balance(appliance, "main") == Balance(received=len(sent), delivered=len(sent) - 1, dead_lettered=1)
    assert [line for line in listener.lines if line[0].startswith("journal")] == []


def test_a_dead_letter_holds_its_event_and_the_reason(kept: Path, journal: str) -> None:
    (letter,) = letters_in(kept / journal / "dead-letters" / "main.jsonl", "main")
    assert letter.code == "MEM-REFUSED"
    payload = letter.delivery().payload
    assert told(payload) == told(events(kept)[REFUSED])


def test_ids_that_have_arrived_are_still_known(kept: Path, journal: str, tmp_path: Path) -> None:
    """By the journal, which has the events with the ids that they had."""
    shutil.copytree(kept / journal, tmp_path / "run")
    with running(Appliance(settings(tmp_path / "run", journal), Listener())):
        pass
    window = DuplicateWindow(tmp_path / "run" / "duplicates", "messages", 1000)
    digests = (kept / journal / "duplicates" / "messages.ids").read_bytes()[16:]
    known = [digests[start : start + 16] for start in range(0, len(digests), 16)]
    assert len(known) == len(events(kept)) - 1
    assert [window.claim(digest, object()) for digest in known] == ["known"] * len(known)
    window.close()


def test_a_capture_is_read(kept: Path, journal: str) -> None:
    found = [row for row in rows_of(kept / journal / "capture") if row["link"] == "main"]
    assert [told(read_payload("event", row["source"])) for row in found] == [told(event) for event in events(kept)]
    assert [row["status"] for row in found].count("dead_lettered") == 1


@pytest.fixture
def orb() -> Iterator[LocalOrb]:
    orb = LocalOrb()
    orb.start()
    yield orb
    orb.stop()


def test_a_notification_service_has_its_objects_and_what_it_owes(kept: Path, orb: LocalOrb, tmp_path: Path) -> None:
    shutil.copy(kept / "services" / "notify.db", tmp_path)
    service = KeptService(tmp_path)
    factory_ior = service.start()
    try:
        factory: Any = resolve(orb, factory_ior, CosNotifyChannelAdmin.EventChannelFactory, 15_000)
        (id_,) = (id_ for id_ in factory.get_all_channels() if id_ != 0)
        channel = factory.get_event_channel(id_)
        assert {item.name: item.value.value() for item in channel.get_qos()}["EventReliability"] == 1
        (admin_id,) = (id_ for id_ in channel.get_all_consumeradmins() if id_ != 0)
        admin = channel.get_consumeradmin(admin_id)
        assert admin._get_MyOperator() == CosNotifyChannelAdmin.OR_OP
        (proxy_id,) = admin._get_pull_suppliers()
        proxy = admin.get_proxy_supplier(proxy_id)._narrow(CosNotifyChannelAdmin.StructuredProxyPullSupplier)
        assert {item.name: item.value.value() for item in proxy.get_qos()}["MaxEventsPerConsumer"] == 77
        (filter_id,) = proxy.get_all_filters()
        (constraint,) = proxy.get_filter(filter_id).get_all_constraints()
        assert constraint.constraint_expression.constraint_expr == "$n > 3"
        owed = [proxy.pull_structured_event() for _ in range(4)]
        assert [number_of(event) for event in owed] == [4, 5, 6, 7]
        assert not proxy.try_pull_structured_event()[1]
    finally:
        service.close()


def test_event_domains_and_logs_are_as_they_were(kept: Path, orb: LocalOrb, tmp_path: Path) -> None:
    import DsNotifyLogAdmin

    from gateway.domain.corba.stubs import CosEventDomainAdmin

    (tmp_path / "run").mkdir()
    for store in ("event-domains.db", "event-logs.db"):
        shutil.copy(kept / "domains" / store, tmp_path / "run")
    with ReservedPort() as port, Gateway(tmp_path, config(port.number)):
        domains: Any = resolve(orb, str(tmp_path / "domains.ior"), CosEventDomainAdmin.EventDomainFactory, 15_000)
        assert domains.get_all_domains() == [0]
        domain = domains.get_event_domain(0)
        assert domain.get_all_channels() == [0, 1]
        assert domain.get_all_connections() == [0]
        joined = domain.get_connection(0)
        assert (joined.supplier_id, joined.consumer_id) == (0, 1)
        assert {item.name: item.value.value() for item in domain.get_qos()} == {
            "CycleDetection": FORBID,
            "DiamondDetection": AUTHORIZE,
        }
        assert domain.get_offer_channels(1) == [0]
        logs: Any = resolve(orb, str(tmp_path / "notify-logs.ior"), DsNotifyLogAdmin.NotifyLogFactory, 15_000)
        (log,) = logs.list_logs()
        records, _ = log.query("EXTENDED_TCL", "")
        assert [number_of(record.info.value()) for record in records] == list(range(5))


def test_a_version_that_is_newer_is_refused_and_left_as_it_is(kept: Path, tmp_path: Path) -> None:
    """Going back to an earlier version must not destroy what a later one has written."""
    run = tmp_path / "run"
    shutil.copytree(kept / "plain", run)
    identity = run / "journal" / "events" / "journal.json"
    form = json.loads(identity.read_text())
    form |= {"format": 99, "check": f"{crc32(b'99' + uuid.UUID(form['id']).bytes):08x}"}
    identity.write_text(json.dumps(form))
    segments = {path: path.read_bytes() for path in (run / "journal").rglob("*") if path.is_file()}
    with pytest.raises(StopError) as refused:
        Appliance(settings(run, "plain"), Listener()).start()
    assert "JNL-VERSION" in str(refused.value)
    assert {path: path.read_bytes() for path in segments} == segments
