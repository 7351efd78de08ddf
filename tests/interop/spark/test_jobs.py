"""The jobs on a real Spark: the same results as in one process; audits of planted faults; captures that grow; plans of replays."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gateway.cli.spark_inputs import specifications
from gateway.replay.plan_source import plan_files
from mappings.captures.arrow import SCHEMA
from mappings.known_types import UTC_T
from mappings.model import Property
from mappings.translate import quality
from spark.__main__ import is_well, summary
from spark.following import Following
from spark.job import Command, Job, Selection
from spark.replay import plan
from spark.reports import write_reports
from spark.running import inventory_of, once
from spark.units import take_inventory
from tests.parts.captures import alarm, capture, configuration, write_configuration
from tests.unit.spark.conftest import LINK
from tests.unit.spark.in_process import catalogued, compared, validated
from tests.unit.spark.test_broken_files import damage

Row = dict[str, Any]


def done(session: Any, out: Path, command: Command, *captures: Path, **more: Any) -> dict[str, Any]:
    job = Job(command, tuple(map(str, captures)), str(out), **more)
    result = once(session, job, inventory_of(job), out)
    write_reports(result, out)
    assert json.loads((out / "report.json").read_text()) == json.loads(json.dumps(result))
    page = (out / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "http" not in page, "a page needs nothing but itself"
    assert "<script" not in page
    assert summary(result)
    return result


def test_validate_compare_and_catalogue_give_what_they_give_in_one_process(
    session: Any, traffic: Path, tmp_path: Path
) -> None:
    damage(traffic, tmp_path / "copy")
    result = done(session, tmp_path / "v", "validate", tmp_path / "copy")
    assert result == validated(tmp_path / "copy")
    assert result["verdicts"]["agrees"] == 901
    assert len(result["findings"]) == 5
    old = specifications(write_configuration(tmp_path, configuration(tmp_path, link=LINK), "old.yaml"))
    rules = [*LINK["rules"], {"rename": "$Element", "to": "ne"}]
    new = specifications(
        write_configuration(tmp_path, configuration(tmp_path, link={**LINK, "rules": rules}), "new.yaml")
    )
    selectors = ({"name": "nms", "selector": "$Element LIKE '%-3'"},)
    result = done(session, tmp_path / "c", "compare", traffic, old=old, new=new, selectors=selectors)
    assert result == compared(traffic, old, new, selectors)
    assert (result["verdict"], result["changed"]) == ("breaking", 750)
    result = done(session, tmp_path / "k", "catalogue", traffic)
    assert json.loads(json.dumps(result)) == json.loads(json.dumps(catalogued(traffic)))


# Audit --------------------------------------------------------------------------------------------------------------------


def rewritten(traffic: Path, copy: Path, change: Callable[[list[Row]], None], schema: pa.Schema = SCHEMA) -> Path:
    """A capture whose rows were changed: by number, all in one file."""
    files = sorted(traffic.rglob("*.parquet"))
    rows = sorted((row for path in files for row in pq.read_table(path).to_pylist()), key=lambda row: row["seq"])
    change(rows)
    copy.mkdir(parents=True)
    shutil.copytree(traffic / "_mappings", copy / "_mappings")
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), copy / "all.parquet")
    return copy


def by_number(rows: list[Row], number: int) -> Row:
    return next(row for row in rows if row["seq"] == number)


def plant(rows: list[Row]) -> None:
    for number in (100, 101, 300):  # lost
        rows.remove(by_number(rows, number))
    again = dict(by_number(rows, 200))  # sent twice, as two events of the link
    again["seq"] = 902
    again["settled_at"] = again["received_at"] = rows[-1]["settled_at"] + timedelta(seconds=1)
    rows.append(again)
    rows.append(dict(by_number(rows, 400)))  # the capture itself has it twice
    early = by_number(rows, 500)  # delivered before what came earlier
    early["settled_at"] -= timedelta(seconds=10)
    flipped = by_number(rows, 700)  # a payload whose page is whole again
    flipped["sent"] = bytes([*flipped["sent"][:-9], flipped["sent"][-9] ^ 1, *flipped["sent"][-8:]])
    by_number(rows, 703)["source"] = by_number(rows, 704)["source"]  # another one's
    waits = by_number(rows, 600)
    waits["status"] = "left"
    rows.append({**dict.fromkeys(rows[0]), "gateway": "gw", "link": "alarms", "run": rows[0]["run"], "seq": 903,
                 "seq_to": 905, "status": "uncaptured", "settled_at": again["settled_at"]})  # fmt: skip


def test_an_audit_proves_what_is_whole_and_finds_each_planted_fault_and_nothing_else(
    session: Any, traffic: Path, tmp_path: Path
) -> None:
    whole = done(session, tmp_path / "whole", "audit", traffic)
    assert whole["proved"], whole["problems"]
    assert whole["clean"]
    (link,) = whole["links"]
    assert {name: link[name] for name in ("taken", "delivered", "filtered", "expired")} == {
        "taken": 901, "delivered": 750, "filtered": 150, "expired": 1,
    }  # fmt: skip
    assert sum(row["events"] for row in whole["latency"]) == 901
    assert all(0 <= row["p50"] <= row["p90"] <= row["p99"] <= row["longest"] for row in whole["latency"])

    result = done(session, tmp_path / "planted", "audit", rewritten(traffic, tmp_path / "copy", plant))
    assert not result["proved"]
    assert result["problems"] == {
        "missing": 3, "uncaptured": 3, "repeated_rows": 1, "duplicates": 1, "order": 1, "damaged_payloads": 2,
        "lost_between_gateways": 0, "missing_at_brokers": 0, "findings": 0,
    }  # fmt: skip
    assert [(gap["first"], gap["last"]) for gap in result["missing"]["listed"]] == [(100, 101), (300, 300)]
    ids = {
        row["seq"]: row["event_id"]
        for path in sorted(traffic.rglob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    }
    assert result["missing"]["listed"][0]["after_event"] == ids[99]
    assert [(one["event_id"], one["times"]) for one in result["duplicates"]["listed"]] == [(ids[200], 2)]
    assert [one["seq"] for one in result["repeated_rows"]["listed"]] == [400]
    assert [(one["seq"], one["violation"]) for one in result["order"]["listed"]] == [(500, "delivered")]
    assert [one["event_id"] for one in result["waiting"]["listed"]] == [ids[600]]
    damaged = [(one["seq"], one["event_id"], one["finding"][:12]) for one in result["damaged_payloads"]["listed"]]
    assert damaged == [(700, ids[700], "CAP-CHECKSUM"), (703, ids[703], "CAP-CHECKSUM")]


def test_damage_in_the_payloads_of_a_capture_without_checksums_is_found_by_reading_them(
    session: Any, traffic: Path, tmp_path: Path
) -> None:
    def cut(rows: list[Row]) -> None:
        by_number(rows, 700)["sent"] = by_number(rows, 700)["sent"][:-1]

    old = SCHEMA.remove(SCHEMA.get_field_index("checksum"))
    copy = rewritten(traffic, tmp_path / "copy", cut, old)
    result = done(session, tmp_path / "out", "audit", copy)
    assert [name for name, count in result["problems"].items() if count] == ["damaged_payloads"]
    (one,) = result["damaged_payloads"]["listed"]
    assert (one["seq"], one["finding"].startswith("MAP-JSON: sent: ")) == (700, True), one
    assert (result["proved"], result["clean"]) == (True, False)
    assert validated(copy)["verdicts"]["agrees"] == 900


def test_an_audit_over_two_gateways_and_a_broker_names_what_did_not_arrive(session: Any, tmp_path: Path) -> None:
    first = configuration(tmp_path / "a", name="a")
    events = [alarm(n) for n in range(60)]
    one = capture(tmp_path / "a", first, events)
    sent = pa.concat_tables(pq.read_table(path) for path in sorted(one.rglob("*.parquet"))).to_pylist()
    from mappings.captures.payloads import read_payload

    sent.sort(key=lambda row: row["seq"])
    ids = [row["event_id"] for row in sent]
    messages = [read_payload("message", row["sent"]) for row in sent]
    del messages[17]  # what the broker lost
    channels = {
        "in": {"endpoint": "memory", "name": "messages", "form": "message"},
        "out": {"endpoint": "memory", "name": "elsewhere"},
    }
    second = configuration(tmp_path / "b", name="b", channels=channels, links={"back": {"from": "in", "to": "out"}})
    two = capture(tmp_path / "b", second, messages, queue="messages")
    export = tmp_path / "export.jsonl"
    held = [{"properties": [{"name": "$gid", "type": "String", "value": ids[n]}]} for n in range(60) if n != 3]
    export.write_text("".join(json.dumps(message) + "\n" for message in held))
    result = done(session, tmp_path / "out", "audit", one, two, exports=(("a/alarms", str(export)),))
    (hop,) = result["between_gateways"]
    assert (hop["from"], hop["to"], hop["sent"], hop["taken"]) == ("a/alarms", "b/back", 60, 59)
    assert [lost["event_id"] for lost in hop["lost"]["listed"]] == [ids[17]]
    (broker,) = result["at_brokers"]
    assert [missing["event_id"] for missing in broker["missing"]["listed"]] == [ids[3]]
    assert result["problems"]["lost_between_gateways"] == result["problems"]["missing_at_brokers"] == 1
    assert not result["proved"]


def by_hour(rows: list[Row], traffic: Path, copy: Path) -> Path:
    """As a gateway files them: by the hour in which they came to their end."""
    shutil.copytree(traffic / "_mappings", copy / "_mappings")
    for hour in {row["settled_at"].strftime("date=%Y-%m-%d/hour=%H") for row in rows}:
        (copy / hour).mkdir(parents=True)
        its = [row for row in rows if row["settled_at"].strftime("date=%Y-%m-%d/hour=%H") == hour]
        pq.write_table(pa.Table.from_pylist(its, schema=SCHEMA), copy / hour / "one.parquet")
    return copy


def test_an_audit_of_a_part_knows_what_is_around_it(session: Any, traffic: Path, tmp_path: Path) -> None:
    """Numbers that are in another hour, or of another type, are not missing; those that are missing are, in their part only."""
    rows = [row for path in sorted(traffic.rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    begin = datetime(2026, 11, 18, 8, tzinfo=UTC)
    for row in rows:  # one a minute, from 8:00 on
        row["received_at"] = begin + timedelta(minutes=row["seq"])
        row["settled_at"] = row["received_at"] + timedelta(seconds=1)
    for number, hours in ((100, 9), (299, 5)):  # settled at last after a long time: at 18:40, and at 17:59
        by_number(rows, number)["settled_at"] += timedelta(hours=hours)
    for number in (150, 700):
        rows.remove(by_number(rows, number))
    capture = by_hour(rows, traffic, tmp_path / "copy")

    def audited(name: str, selection: Selection) -> dict[str, Any]:
        return done(session, tmp_path / name, "audit", capture, selection=selection)

    def gaps(result: dict[str, Any]) -> list[tuple[int, int]]:
        assert result["proved"] == (not result["missing"]["count"])
        return [(gap["first"], gap["last"]) for gap in result["missing"]["listed"]]

    def at(hour: int) -> int:
        return round(begin.replace(hour=hour).timestamp() * 1e6)

    early = audited("early", Selection(since=at(9), until=at(11)))  # numbers 60 to 179
    assert (gaps(early), early["events"]) == ([(150, 150)], 118)
    assert gaps(audited("between", Selection(since=at(11), until=at(14)))) == []
    assert gaps(audited("late", Selection(since=at(17)))) == [(700, 700)]
    assert gaps(audited("open", Selection(until=at(10)))) == []
    clears = audited("clears", Selection(types=("Clear",)))
    assert clears["links"][0]["taken"] == clears["events"] == len([row for row in rows if row["type_name"] == "Clear"])
    assert gaps(clears) == [(150, 150), (700, 700)], "of which type they were, nobody knows"


def test_what_was_held_until_its_start_time_has_not_lost_its_place(session: Any, tmp_path: Path) -> None:
    start = quality.EPOCH_TICKS + round((time.time() + 8) * 1e7)
    header = (Property("StartTime", UTC_T, {"time": start, "inacclo": 0, "inacchi": 0, "tdf": 0}),)
    events = [replace(alarm(n), variable_header=header if n == 5 else ()) for n in range(20)]
    folder = capture(tmp_path, configuration(tmp_path), events)
    rows = [row for path in sorted(folder.rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    late = by_number(rows, 6)
    assert all(row["settled_at"] < late["settled_at"] for row in rows if row is not late), "it was held"
    result = done(session, tmp_path / "out", "audit", folder)
    assert result["clean"], (result["problems"], result["order"])

    def early(rows: list[Row]) -> None:
        by_number(rows, 6)["received_at"] += timedelta(
            seconds=2
        )  # its StartTime was past when it came: nothing held it

    result = done(session, tmp_path / "planted", "audit", rewritten(folder, tmp_path / "copy", early))
    assert (result["problems"]["order"], result["problems"]["missing"]) == (14, 0)


def test_an_audit_of_nothing_is_a_report_all_the_same(session: Any, traffic: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert done(session, tmp_path / "out", "audit", empty)["events"] == 0
    (empty / "cut.parquet").write_bytes(b"PAR1")
    told: list[dict[str, Any]] = []
    job = Job("audit", (str(empty), str(traffic)), str(tmp_path / "followed"), follow=True, once=True)
    for its in job.captures:  # first one in which nothing can be read
        out = tmp_path / "followed" / Path(its).name
        Following(session, replace(job, captures=(its,)), out, told.append).run()
    assert [(result["events"], result["problems"]["findings"]) for result in told] == [(0, 1), (901, 0)]
    both: list[dict[str, Any]] = []
    Following(session, job, tmp_path / "both", both.append).run()
    assert (both[-1]["events"], both[-1]["problems"]["findings"]) == (901, 1)


def test_an_audit_reads_what_it_can(session: Any, traffic: Path, tmp_path: Path) -> None:
    broken = damage(traffic, tmp_path / "copy")
    result = done(session, tmp_path / "out", "audit", tmp_path / "copy")
    found = {Path(one["path"]).name: one["code"] for one in result["findings"]}
    # Of the corrupt file, which is a copy, an audit reads the columns that are whole: its rows are there twice.
    assert found == broken
    assert result["repeated_rows"]["count"] > 0
    assert result["links"][0]["runs"] == 1


# Growing captures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["validate", "audit"])
def test_a_capture_that_grows_gives_what_the_whole_one_gives(
    command: Command, session: Any, traffic: Path, tmp_path: Path
) -> None:
    growing, out = tmp_path / "growing", tmp_path / "out"
    files = sorted(traffic.rglob("*.parquet"))
    growing.mkdir()
    shutil.copytree(traffic / "_mappings", growing / "_mappings")
    told: list[dict[str, Any]] = []
    job = Job(command, (str(growing),), str(out), follow=True, once=True)

    def follow() -> None:
        Following(session, job, out, lambda result: told.append(json.loads(json.dumps(result)))).run()

    shutil.copy(files[0], growing / "1.parquet")
    (growing / "2.parquet").write_bytes(files[0].read_bytes()[:1000])
    follow()
    assert len(told) == 1
    assert 0 < told[0]["events"] < 901
    for number, path in enumerate(files[1:], 3):
        shutil.copy(path, growing / f"{number}.parquet")
    follow()
    assert len(told) == 2
    follow()
    assert len(told) == 2, "nothing is new, and nothing is done again"
    whole = done(session, tmp_path / "whole", command, growing)
    assert told[-1] == json.loads(json.dumps(whole))
    assert told[-1]["events"] == 901
    assert [one["code"] for one in told[-1]["findings"]] == ["CAP-FILE"]
    assert not is_well(told[-1], job)


# Replay -------------------------------------------------------------------------------------------------------------------


def test_a_plan_is_what_was_selected_once_and_in_order(session: Any, traffic: Path, tmp_path: Path) -> None:
    def again(rows: list[Row]) -> None:
        rows += [{**row, "run": "later", "received_at": row["received_at"] + timedelta(hours=1)} for row in rows[:50]]

    copy = rewritten(traffic, tmp_path / "copy", again)
    selection = Selection(types=("Alarm",), etcl="$Severity >= 4")
    job = Job("replay", (str(copy),), str(tmp_path), selection)
    result = plan(session, job, take_inventory(job.captures, selection), tmp_path)
    numbers = [n for n in range(900) if n % 3 and n % 6 >= 4] + [905]
    rows = [row for path in plan_files(tmp_path / "plan") for row in pq.read_table(path).to_pylist()]
    names = [json.loads(row["source"])["event_name"] for row in rows]
    assert names == [f"n{n}" for n in numbers]
    assert (result["events"], result["findings"]) == (len(numbers), [])
