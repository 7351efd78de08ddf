"""`isthmus journal ls|show|verify|repair|export`."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.base import DeadLetterError, Delivery
from gateway.cli import run
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.journal import Journal
from mappings.forms.events import event_from_json
from mappings.forms.messages import message_from_json
from mappings.idl_types import LONG
from mappings.model import Message, MessageProperty, Property, StructuredEvent
from tests.unit.journal.rig import PATIENCE_SECS, QUICK, segment_files

KEY = bytes(range(32))


def event(number: int) -> StructuredEvent:
    return StructuredEvent("Telecom", "Alarm\x1b[2J", f"n{number}", (), (Property("Number", LONG, number),))


def deliveries() -> list[Delivery]:
    made = [Delivery(event(n), f"id-{n}", 1795000000.0 + n, original=b"raw") for n in range(1, 31)]
    made[9] = Delivery(Message(properties=(MessageProperty("n", "int", 10),)), "id-10", 1795000010.0)
    made[19] = Delivery(None, "id-20", 1795000020.0, error=DeadLetterError("STO-PROTOCOL", "no text"), original=b"?")
    made[24] = Delivery(event("not a number"), "id-25", 1795000025.0)  # type: ignore[arg-type]
    return made


def fill(directory: Path, keys: tuple[bytes, ...] = ()) -> Journal[Delivery]:
    journal = Journal.open(directory, DeliveryCodec(), replace(QUICK, keys=keys))
    cursor = journal.cursor("alarms")
    journal.cursor("audit")
    safe = threading.Event()
    for delivery in deliveries():
        safe.clear()
        journal.append([delivery], on_safe=safe.set)
        assert safe.wait(PATIENCE_SECS)
    cursor.read(30, 0.0)
    cursor.settle([1, 2, 3, 5], "delivered")
    return journal


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    fill(tmp_path / "ems").close()
    return tmp_path / "ems"


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = run(["journal", *map(str, arguments)])
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    assert "ISTHMUS-BUG" not in output.err
    return status, output.out, output.err


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def damage(directory: Path) -> tuple[Path, int]:
    """One byte of the second record of the second segment; the record's sequence."""
    path = segment_files(directory)[1]
    data = bytearray(path.read_bytes())
    start = data.index(b"\xe1Jr\x1c", data.index(b"\xe1Jr\x1c") + 1)
    data[start + 100] ^= 1
    path.write_bytes(data)
    return path, int(path.stem) + 1


def test_ls_shows_segments_and_links(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "ls", directory, "--json")
    assert status == 0
    (summary,) = lines(out)
    assert (summary["first"], summary["last"], summary["in_use"]) == (1, 30, False)
    assert [s["file"] for s in summary["segments"]] == [path.name for path in segment_files(directory)]
    assert summary["segments"][-1]["last"] == 30
    alarms, audit = summary["links"]
    assert (alarms["link"], alarms["position"], alarms["pending"]) == ("alarms", 3, 26)
    assert alarms["settled"]["delivered"] == 4
    assert (audit["link"], audit["position"], audit["pending"]) == ("audit", 0, 30)
    status, out, _ = call(capsys, "ls", directory)
    assert status == 0
    assert "not in use, sequences 1 to 30" in out
    assert "alarms" in out
    assert segment_files(directory)[0].name in out


def test_ls_of_a_folder_of_journals(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(directory.parent / "other").close()
    status, out, _ = call(capsys, "ls", directory.parent, "--json")
    assert status == 0
    assert [Path(summary["journal"]).name for summary in lines(out)] == ["ems", "other"]


def test_show_prints_a_line_a_record_that_cannot_steer_a_terminal(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = call(capsys, "show", directory, "--from", 9, "--limit", 3)
    assert status == 0
    assert "there are more" in err
    assert "\x1b" not in out
    assert [line.split()[0] for line in out.splitlines()] == ["9", "10", "11"]
    assert out.splitlines()[0].split()[1:3] == ["2026-11-18T11:06:49Z", "id-9"]
    assert "event Telecom / Alarm\\x1b[2J / n9" in out
    assert "message Message" in out


def test_show_json_gives_the_whole_record(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "show", directory, "--json", "--limit", 100)
    assert status == 0
    shown = lines(out)
    assert [record["sequence"] for record in shown] == list(range(1, 31))
    assert event_from_json(shown[0]["event"]) == event(1)
    assert (shown[0]["id"], shown[0]["received_at"], shown[0]["original"]) == ("id-1", 1795000001.0, "cmF3")
    assert message_from_json(shown[9]["message"]) == deliveries()[9].payload
    assert shown[19]["error"]["code"] == "STO-PROTOCOL"
    assert "not a number" in shown[24]["unfit"]
    assert shown[24]["error"]["code"].startswith("MAP-")


def test_export_of_what_is_pending_for_a_link(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "export", directory, "--link", "alarms", "--to", 8)
    assert status == 0
    assert [record["sequence"] for record in lines(out)] == [4, 6, 7, 8]
    status, _, err = call(capsys, "export", directory, "--link", "nobody")
    assert status == 1
    assert "JNL-LINK" in err
    assert "alarms, audit" in err


def test_export_bare_is_what_translate_reads(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "export", directory, "--bare", "--to", 9)
    assert status == 0
    assert [event_from_json(form) for form in lines(out)] == [event(n) for n in range(1, 10)]
    status, out, err = call(capsys, "export", directory, "--bare", "--from", 19, "--to", 21)
    assert status == 1, "one of them holds no event"
    assert len(lines(out)) == 2
    assert "record 20" in err


def test_verify_finds_nothing_in_a_healthy_journal(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "verify", directory)
    assert (status, out) == (0, "")
    assert "30 records" in err
    status, out, _ = call(capsys, "verify", directory, "--json")
    assert lines(out)[-1]["records"] == 30


def test_verify_repair_verify(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, sequence = damage(directory)
    before = path.read_bytes()
    status, out, _ = call(capsys, "verify", directory, "--json")
    assert status == 1
    *findings, totals = lines(out)
    assert sorted(finding["code"] for finding in findings) == ["JNL-DAMAGED", "JNL-MISSING"]
    assert (totals["records"], totals["missing"]) == (29, 1)
    assert path.read_bytes() == before, "verify only reads"

    status, out, err = call(capsys, "show", directory, "--limit", 100)
    assert status == 1
    assert "JNL-DAMAGED" in err
    assert len(out.splitlines()) == 29

    status, out, _ = call(capsys, "repair", directory)
    assert status == 0
    assert "JNL-DAMAGED" in out
    assert [kept.read_bytes() for kept in directory.glob("*.cut")] == [before]
    status, out, _ = call(capsys, "verify", directory, "--json")
    assert status == 0
    (totals,) = lines(out)
    assert (totals["records"], totals["missing"], totals["known_missing"]) == (29, 0, 1)
    status, out, err = call(capsys, "repair", directory)
    assert (status, out) == (0, "")
    assert "nothing to mend" in err
    status, out, _ = call(capsys, "export", directory)
    assert [record["sequence"] for record in lines(out)] == [n for n in range(1, 31) if n != sequence]


def test_repair_of_cursors_and_identity(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "alarms.cursor").write_bytes(os.urandom(12288))
    (directory / "journal.json").unlink()
    status, out, _ = call(capsys, "verify", directory)
    assert status == 1
    assert {line.split(":")[0] for line in out.splitlines()} == {"JNL-IDENTITY", "JNL-CURSOR"}
    assert call(capsys, "repair", directory)[0] == 0
    assert call(capsys, "verify", directory)[0] == 0
    _, out, _ = call(capsys, "ls", directory, "--json")
    assert lines(out)[0]["links"][0]["pending"] == 30, "rather twice than never"


def test_reading_works_on_a_living_journal_and_repair_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.journal.repair.LOCK_PATIENCE_SECS", 0.1)
    journal = fill(tmp_path)
    with segment_files(tmp_path)[-1].open("ab") as file:
        file.write(b"\xe1Jr\x1c half a rec")  # as a reader sees a write that is under way
    status, out, _ = call(capsys, "ls", tmp_path, "--json")
    assert (status, lines(out)[0]["in_use"]) == (0, True)
    assert call(capsys, "verify", tmp_path)[0] == 0
    assert call(capsys, "export", tmp_path)[0] == 0
    status, _, err = call(capsys, "repair", tmp_path)
    assert status == 1
    assert "JNL-LOCKED" in err
    assert str(os.getpid()) in err
    journal.close()


def test_an_encrypted_journal_is_shown_to_those_who_have_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "j", (KEY,)).close()
    assert call(capsys, "ls", tmp_path / "j")[0] == 0
    status, out, err = call(capsys, "verify", tmp_path / "j")
    assert status == 0
    assert "30 sealed" in err
    status, out, err = call(capsys, "show", tmp_path / "j")
    assert (status, out) == (1, "")
    assert "JNL-KEY" in err
    key_file = tmp_path / "key"
    key_file.write_text("not a key\n")
    status, out, err = call(capsys, "show", tmp_path / "j", "--key-file", key_file)
    assert status == 1
    assert "JNL-KEY-FORM" in err
    assert "not a key" not in err
    key_file.write_text(KEY.hex() + "\n")
    status, out, err = call(capsys, "show", tmp_path / "j", "--key-file", key_file)
    assert status == 0
    assert KEY.hex() not in out + err
    assert "n1" in out


@pytest.mark.parametrize("command", ["ls", "show", "verify", "repair", "export"])
def test_no_journal_there(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        status, out, err = call(capsys, command, path)
        assert (status, out) == (1, "")
        assert "JNL-NOT-FOUND" in err
    assert list(tmp_path.iterdir()) == [], "looking leaves nothing behind"


def test_a_key_file_that_is_missing_is_a_sentence(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "show", directory, "--key-file", directory / "nowhere")
    assert status == 1
    assert "JNL-IO" in err


def test_a_wrong_command_line_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "show")[0] == 2
    assert call(capsys, "nonsense", "x")[0] == 2
