"""`isthmus dlq list|show|export|purge|retry`, on the files that a link writes."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from adapters.base import DeadLetterError, Delivery
from gateway.appliance.appliance import Appliance
from gateway.appliance.run_dir import RunDir
from gateway.cli import run
from gateway.dead_letters.letters import letter_of, letters_in
from gateway.dead_letters.removal import remove
from gateway.dead_letters.wanted import seconds
from gateway.journal.cursor_state import LARGEST_WINDOW
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.journal import Journal
from gateway.links.accounts import Balance
from gateway.links.dead_letter_file import DeadLetterFile
from gateway.settings import load
from mappings.errors import MappingError
from mappings.forms.events import event_from_json
from mappings.idl_types import STRING
from mappings.known_types import UTC_T
from mappings.model import Property
from tests.unit.appliance.test_appliance import Listener, balance, number_of, running
from tests.unit.links.rig import event, wait_for

LINKS: dict[str, Any] = {"main": {"from": "in", "to": "out"}, "copy": {"from": "in", "to": "copies"}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return configure(tmp_path, journal={})


def configure(tmp_path: Path, **changed: Any) -> Path:
    whole = {
        "name": "gw",
        "run_dir": str(tmp_path / "run"),
        "endpoints": {"here": {"type": "memory", "back_off": {"first_ms": 5, "longest_ms": 20}}},
        "channels": {
            "in": {"endpoint": "here", "name": "in"},
            "out": {"endpoint": "here", "name": "out", "form": "message"},
            "copies": {"endpoint": "here", "name": "copies", "form": "message"},
        },
        "links": LINKS,
        **changed,
    }
    path = tmp_path / "isthmus.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False))
    return path


def letters_of(config: Path, link: str = "main") -> Path:
    return load(config).dead_letter_path(link)


def put(config: Path, count: int, link: str = "main", first: int = 0, code: str = "MAP-TEST") -> list[str]:
    """Letters as a link puts them; their keys."""
    path = letters_of(config, link)
    file = DeadLetterFile(path)
    for n in range(first, first + count):
        file.put(link, Delivery(event(n), f"id-{n}", 1000.0, original=b"raw"), MappingError(code, "no", path="x"))
    return [letter.key for letter in letters_in(path, link)][-count:]


def age(config: Path, secs: float, link: str = "main") -> None:
    """Make the letters of a link older."""
    path = letters_of(config, link)
    forms = [json.loads(line) for line in path.read_text().splitlines()]
    lines = [json.dumps({**form, "dead_lettered_at": form["dead_lettered_at"] - secs}) for form in forms]
    path.write_text("".join(f"{line}\n" for line in lines))


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = run(["dlq", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def listed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    status, out, _ = call(capsys, "list", *arguments, "--json")
    assert status == 0
    return [json.loads(line) for line in out.splitlines()]


def test_letters_are_listed_oldest_first_and_by_link_code_and_age(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = put(config, 2)
    age(config, 7200)
    put(config, 1, first=2, code="STO-REFUSED")
    put(config, 1, "copy", first=3)
    everything = listed(capsys, config)
    assert [letter["id"] for letter in everything] == ["id-0", "id-1", "id-2", "id-3"]
    assert everything[3]["link"] == "copy"
    assert everything[3]["headline"] == "event Telecom / Alarm / n3"
    assert [letter["id"] for letter in listed(capsys, config, "--link", "main")] == ["id-0", "id-1", "id-2"]
    assert [letter["id"] for letter in listed(capsys, config, "--code", "STO")] == ["id-2"]
    assert [letter["id"] for letter in listed(capsys, config, "--older-than", "1h")] == ["id-0", "id-1"]
    assert [letter["id"] for letter in listed(capsys, config, "--newer-than", "1h")] == ["id-2", "id-3"]
    assert len({letter["letter"] for letter in everything} | set(old)) == 6  # ageing them made other lines of them
    status, out, err = call(capsys, "list", config, "--limit", 2)
    assert (status, len(out.splitlines())) == (0, 2)
    assert "there are more" in err


def test_one_letter_is_shown_whole_by_the_beginning_of_its_key(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = put(config, 3)
    status, out, _ = call(capsys, "show", config, keys[1][:8])
    letter = json.loads(out)
    assert status == 0
    assert (letter["letter"], letter["id"], letter["original"]) == (keys[1], "id-1", "cmF3")
    assert letter["error"] == {"code": "MAP-TEST", "message": "no", "path": "x"}
    assert event_from_json(letter["payload"]["event"]) == event(1)
    for wrong, code in (("ffffffffffff0", "DLQ-NO-LETTER"), ("", "DLQ-AMBIGUOUS")):
        status, _, err = call(capsys, "show", config, wrong)
        assert (status, err.split(":")[1].strip()) == (1, code)


def test_a_letter_names_the_rule_of_the_mapping_that_could_not_be_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = {**LINKS["main"], "dead_letter": {"expired": True}, "mapping": {"limits": {"property_bytes": 200}}}
    config = configure(tmp_path, links={"main": link})
    stop = Property("StopTime", UTC_T, {"time": 1, "inacclo": 0, "inacchi": 0, "tdf": 0})
    too_much = replace(event(1), filterable_data=(Property("text", STRING, "x" * 10_000),))
    with running(Appliance(load(config), Listener())) as appliance:
        late = replace(event(0), variable_header=(stop,))
        appliance.wiring.memory_peer("here").put("in", [late, too_much])
        wait_for(lambda: balance(appliance, "main").dead_lettered == 2)
    put(config, 1, first=2, code="STO-REFUSED")
    letters = listed(capsys, config)
    assert [(letter["error"]["code"], letter["rule"]) for letter in letters] == [
        ("MAP-EXPIRED", "OC-VAR-3"),
        ("MAP-SIZE", "OC-TYPE-21"),
        ("STO-REFUSED", None),
    ]
    assert json.loads(call(capsys, "show", config, letters[1]["letter"])[1])["rule"] == "OC-TYPE-21"


def test_export_is_what_translate_reads_and_tells_what_holds_no_event(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(config, 2)
    undecoded = Delivery(None, "x", 1.0, error=DeadLetterError("STO-PROTOCOL", "no text\x1b[2J"), original=b"?")
    assert undecoded.error is not None
    DeadLetterFile(letters_of(config)).put("main", undecoded, undecoded.error)
    status, out, err = call(capsys, "export", config, "--bare")
    assert status == 1
    assert [event_from_json(json.loads(line)) for line in out.splitlines()] == [event(0), event(1)]
    assert "no text" in err
    assert "\x1b" not in err
    status, out, _ = call(capsys, "export", config)
    assert status == 0
    assert json.loads(out.splitlines()[2])["original"] == "Pw=="


def test_purge_takes_out_what_was_named_and_wants_to_be_told(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = put(config, 5)
    put(config, 2, "copy")
    status, _, err = call(capsys, "purge", config)
    assert status == 1
    assert "DLQ-WHICH" in err
    assert call(capsys, "purge", config, keys[1][:10], keys[3]) == (0, "thrown away: 2\n", "")
    assert [letter["id"] for letter in listed(capsys, config, "--link", "main")] == ["id-0", "id-2", "id-4"]
    status, _, err = call(capsys, "purge", config, keys[0], "ffffffffffff0")
    assert (status, "DLQ-NO-LETTER" in err) == (1, True)
    assert len(listed(capsys, config)) == 5  # all or nothing
    assert call(capsys, "purge", config, "--older-than", "1d") == (0, "thrown away: 0\n", "")
    assert call(capsys, "purge", config, "--link", "copy") == (0, "thrown away: 2\n", "")
    assert call(capsys, "purge", config, "--all") == (0, "thrown away: 3\n", "")
    assert listed(capsys, config) == []
    assert sorted(path.name for path in letters_of(config).parent.iterdir()) == ["copy.jsonl", "main.jsonl"]


def test_no_letter_is_lost_while_others_are_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "main.jsonl"
    file = DeadLetterFile(path)
    enough = threading.Event()
    written = []

    def write() -> None:
        while not enough.is_set():
            file.put("main", Delivery(event(1), f"new-{len(written)}", 1.0), MappingError("MAP-TEST", "no"))
            written.append(f"new-{len(written)}")

    file.put("main", Delivery(event(1), "old", 1.0), MappingError("MAP-TEST", "no"))
    writer = threading.Thread(target=write)
    writer.start()
    removed = []
    try:
        deadline = time.monotonic() + 20.0
        while len(removed) < 50:
            assert time.monotonic() < deadline
            for letter in list(letters_in(path, "main"))[:2]:
                assert remove(path, {letter.key}) == 1
                assert letter.form is not None
                removed.append(letter.form["id"])
    finally:
        enough.set()
        writer.join()
    left = [letter.form["id"] for letter in letters_in(path, "main") if letter.form]
    assert removed + left == ["old", *written]


def test_half_a_line_from_a_crash_takes_no_other_letter_along(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(config, 2)
    path = letters_of(config)
    path.write_bytes(path.read_bytes()[:-30])
    assert [letter["id"] for letter in listed(capsys, config)] == ["id-0"]
    put(config, 1, first=2)
    letters = listed(capsys, config)
    assert [letter["id"] for letter in letters] == ["id-0", None, "id-2"]
    assert letters[1]["error"]["code"] == "DLQ-UNREADABLE"
    assert call(capsys, "purge", config, "--code", "DLQ-UNREADABLE")[1] == "thrown away: 1\n"
    assert [letter["id"] for letter in listed(capsys, config)] == ["id-0", "id-2"]


@pytest.mark.parametrize(
    "change",
    [
        {"dead_lettered_at": 1e300},
        {"dead_lettered_at": float("nan")},
        {"payload": {"event": "text"}},
        {"payload": {"message": {"body": "x"}}},
        {"payload": {"message": {"headers": ["x"]}}},
        {"error": ["x"]},
        {"error": {"code": {}, "message": ["\x1b[31m"]}},
        {"original": "x"},
        {"original": 1},
    ],
    ids=str,
)
def test_whatever_somebody_has_made_of_a_letter_it_is_shown_kept_and_never_a_defect(
    config: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    put(config, 1)
    path = letters_of(config)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    put(config, 1, first=1)
    before = path.read_bytes()
    outputs = [
        call(capsys, *words, config, *options)
        for words, options in (
            (["list"], []),
            (["list"], ["--json"]),
            (["list"], ["--older-than", "1s"]),
            (["export"], []),
            (["export"], ["--bare"]),
        )
    ]
    assert all("ISTHMUS-BUG" not in err for _, _, err in outputs)
    assert len(outputs[0][1].splitlines()) == len(outputs[1][1].splitlines()) == 2
    assert "\x1b" not in outputs[0][1]
    assert path.read_bytes() == before
    status, _, err = call(capsys, "retry", config, "--all")
    assert "ISTHMUS-BUG" not in err
    assert [letter.key for letter in letters_in(path, "main")] == ([] if status == 0 else [listed_key(before)])


def listed_key(content: bytes) -> str:
    """Of the first line."""
    return letter_of(content.splitlines(keepends=True)[0], "main").key


def test_letters_are_sent_again_to_their_link_alone_when_the_gateway_starts(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load(config)
    with running(Appliance(settings, Listener())) as first:
        first.wiring.memory_peer("here").refuse(lambda payload: number_of(payload) % 2 == 1)
        first.wiring.memory_peer("here").put("in", [event(n) for n in range(6)])
        wait_for(
            lambda: all(balance(first, link).pending == 0 and balance(first, link).received == 6 for link in LINKS)
        )
        status, _, err = call(capsys, "retry", config, "--link", "main")
        assert (status, "DLQ-RUNNING" in err) == (1, True)
    assert len(listed(capsys, config)) == 6
    assert call(capsys, "retry", config, "--link", "main") == (0, "main: 3 to be sent again\n", "")
    assert {letter["link"] for letter in listed(capsys, config)} == {"copy"}
    with running(Appliance(settings, Listener())) as second:
        wait_for(lambda: balance(second, "main").delivered == 6)
        here = second.wiring.memory_peer("here")
        assert [number_of(payload) for payload in here.contents("out")] == [1, 3, 5]
        assert here.contents("copies") == []
        assert balance(second, "main") == Balance(received=9, delivered=6, dead_lettered=3)
        assert balance(second, "copy") == Balance(received=9, delivered=3, dead_lettered=3, duplicate=3)
        here.put("in", [event(6)])
        wait_for(lambda: balance(second, "copy").delivered == 4)


def test_a_letter_that_was_too_old_is_not_too_old_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = {"main": {**LINKS["main"], "delivery": {"retry": {"max_age_secs": 1}}}}
    config = configure(tmp_path, journal={}, links=links)
    put(config, 1, code="LNK-TOO-OLD")
    assert call(capsys, "retry", config, "--code", "LNK")[0] == 0
    with running(Appliance(load(config), Listener())) as appliance:
        wait_for(lambda: balance(appliance, "main").delivered == 1)


def test_a_letter_without_an_event_stays_and_the_others_go(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(config, 1)
    undecoded = Delivery(None, "x", 1.0, error=DeadLetterError("STO-PROTOCOL", "no text"))
    assert undecoded.error is not None
    DeadLetterFile(letters_of(config)).put("main", undecoded, undecoded.error)
    status, out, err = call(capsys, "retry", config, "--all")
    assert (status, out) == (1, "main: 1 to be sent again\n")
    assert "DLQ-NO-PAYLOAD" in err
    assert [letter["id"] for letter in listed(capsys, config)] == ["x"]


def test_another_link_that_is_too_far_behind_is_told_and_nothing_is_taken(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(config, 1)
    journal = Journal.open(load(config).journal_path("in"), DeliveryCodec())
    journal.cursor("copy")
    journal.append([Delivery(event(n), f"{n}", 1.0) for n in range(LARGEST_WINDOW)])
    journal.close()
    status, _, err = call(capsys, "retry", config, "--all")
    assert (status, "DLQ-BEHIND" in err) == (1, True)
    assert len(listed(capsys, config)) == 1


def test_without_a_journal_nothing_is_sent_again_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configure(tmp_path)
    put(config, 1)
    status, _, err = call(capsys, "retry", config, "--all")
    assert (status, "DLQ-NO-JOURNAL" in err) == (1, True)
    assert len(listed(capsys, config)) == 1


def test_a_link_that_does_not_exist_is_named(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "list", config, "--link", "mian")
    assert status == 1
    assert "DLQ-NO-LINK" in err
    assert "main, copy" in err


def test_the_run_folder_is_free_after_a_retry(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(config, 1)
    assert call(capsys, "retry", config, "--all")[0] == 0
    folder = RunDir(Path(load(config).run_dir))
    folder.acquire()
    folder.release()


@pytest.mark.parametrize(("text", "secs"), [("90s", 90), ("15m", 900), ("1.5h", 5400), ("7d", 604800)])
def test_durations(text: str, secs: float) -> None:
    assert seconds(text) == secs


@pytest.mark.parametrize("text", ["", "7", "d", "7w", "-1s", "1e3s"])
def test_what_is_no_duration_is_refused(text: str, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "list", config, f"--older-than={text}")[0] == 2
