"""What flows: types, fields, ranges, rates and drift of a known traffic; and proposals that a gateway accepts."""

from __future__ import annotations

from pathlib import Path

from gateway.capture.inspection import rows, sealed_files
from gateway.cli import run
from mappings.captures.payloads import PayloadWriter
from mappings.idl_types import STRING
from mappings.model import Property, StructuredEvent
from spark.catalogue import MOST_FIELDS, Catalogue, result, type_text
from spark.proposals import proposals
from tests.parts.captures import alarm, capture, configuration, write_configuration
from tests.unit.spark.in_process import catalogued


def test_types_fields_and_ranges_of_a_known_traffic(traffic: Path) -> None:
    result = catalogued(traffic)
    assert result["events"] == 901
    types = {row["type"]: row for row in result["types"]}
    assert {name: row["events"] for name, row in types.items()} == {"Telecom::Alarm": 601, "Telecom::Clear": 300}
    fields = {row["field"]: row for row in types["Telecom::Clear"]["fields"]}
    assert {name: row["type"] for name, row in fields.items()} == {
        "$Number": "long", "$Severity": "long", "$Element": "string", "$Ratio": "double", "$Cleared": "boolean",
        "$Place.x": "long", "$Place.y": "double", "(remainder)": "string",
    }  # fmt: skip
    assert (fields["$Number"]["least"], fields["$Number"]["most"], fields["$Number"]["values"]) == (0, 897, [])
    assert fields["$Severity"]["values"] == ["0", "3"]
    assert fields["$Cleared"]["values"] == ["false", "true"]
    assert fields["$Ratio"]["events"] == 300
    assert sum(row["events"] for row in result["volume"]) == 901
    assert result["drift"] == []


def test_drift_between_two_periods(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    before = [alarm(n) for n in range(1, 60, 3)]
    capture(tmp_path, config, before)
    changed = [alarm(n, Number=(STRING, str(n)), Ratio=(STRING, "new")) for n in range(1, 60, 3)]
    more = [alarm(n, Extra=(STRING, "x"), Severity=alarm(n).filterable_data[1][1:]) for n in range(61, 90, 3)]
    folder = capture(tmp_path, config, changed + more)
    received = sorted(row["received_at"] for path in sealed_files(folder) for row in rows(path))
    split = round(received[len(before)].timestamp() * 1e6)
    drift = {(row["field"], row["what"]): (row["before"], row["after"]) for row in catalogued(folder, split)["drift"]}
    assert drift["$Number", "IDL type"] == ("long", "long, string")
    assert drift["$Ratio", "IDL type"] == ("double", "double, string")
    assert drift["$Extra", "field"] == ("", "string")
    assert drift["$Place.x", "range"] == ("1 to 58", "1 to 88")


def test_proposals_are_a_configuration_whose_tests_pass(traffic: Path, tmp_path: Path) -> None:
    text = proposals(catalogued(traffic))
    config = configuration(tmp_path)
    del config["links"], config["capture"]
    config["channels"]["others"] = {**config["channels"]["messages"], "name": "others"}
    path = write_configuration(tmp_path, config)
    filled = (
        text.replace("from: FROM", "from: events").replace("to: TO", "to: messages", 1).replace("to: TO", "to: others")
    )
    path.write_text(path.read_text() + filled)
    assert run(["lint", str(path)]) == 0
    assert run(["test", str(path)]) == 0
    assert text.count("- name:") == 2


def test_fields_beyond_the_most_are_counted_together() -> None:
    many = tuple(Property(f"f{n}", STRING, "x") for n in range(MOST_FIELDS + 5))
    cell = PayloadWriter().write(StructuredEvent("Telecom", "Alarm", "n", (), many))
    seen = Catalogue(None)
    seen.take([("alarms", "id", 1, "Telecom", "Alarm", "event", cell, "json")] * 2)
    (type_,) = result(seen.tallied())["types"]
    fields = {row["field"]: row["events"] for row in type_["fields"]}
    assert len(fields) == MOST_FIELDS + 1
    assert fields["(others)"] == 2 * (5 + 1), "the remainder of the body has a place too"


def test_types_are_written_as_idl_would() -> None:
    assert (
        type_text({"kind": "sequence", "element": {"kind": "string", "bound": 3}, "bound": 0}) == "sequence<string<3>>"
    )
    assert type_text({"kind": "enum", "id": "IDL:A:1.0", "name": "A", "members": []}) == "enum A"
