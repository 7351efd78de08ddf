"""Dead letters that are thrown away when they are old, and such as are passed on to a channel."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Delivery
from gateway.appliance.appliance import Appliance
from gateway.dead_letters import passing_on
from gateway.dead_letters.letters import letters_in
from gateway.links.dead_letter_file import DeadLetterFile
from mappings.errors import MappingError
from mappings.model import Body, Headers, Message, MessageProperty
from tests.unit.appliance.test_appliance import Listener, balance, number_of, running, settings
from tests.unit.links.rig import event, wait_for


def letters(tmp_path: Path) -> list[str]:
    return [letter.code for letter in letters_in(tmp_path / "run" / "dead-letters" / "main.jsonl", "main")]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passing_on, "LOOK_SECS", 0.05)


def with_letter_options(tmp_path: Path, **options: Any) -> Any:
    channels = {
        "events": {"endpoint": "in", "name": "events"},
        "messages": {"endpoint": "out", "name": "messages", "form": "message"},
        "dead": {"endpoint": "in", "name": "dead", "form": "message"},
    }
    links = {"main": {"from": "events", "to": "messages", "dead_letter": options}}
    return settings(tmp_path, channels=channels, links=links)


def test_letters_that_are_older_than_they_are_kept_are_gone_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = DeadLetterFile(tmp_path / "run" / "dead-letters" / "main.jsonl")
    now = time.time()
    for code, age in (("MAP-OLD", 1000.0), ("MAP-NEW", 10.0)):
        monkeypatch.setattr("gateway.links.dead_letter_file.time.time", lambda age=age: now - age)
        file.put("main", Delivery(event(1), code, now), MappingError(code, "no"))
    monkeypatch.undo()
    listener = Listener()
    with running(Appliance(with_letter_options(tmp_path, keep_secs=100), listener)):
        wait_for(lambda: letters(tmp_path) == ["MAP-NEW"])
        wait_for(lambda: ("letters main", "expired", "1") in listener.lines)


def test_letters_are_passed_on_with_their_reason_and_leave_the_file(tmp_path: Path) -> None:
    with running(Appliance(with_letter_options(tmp_path, channel="dead"), Listener())) as appliance:
        appliance.wiring.memory_peer("out").refuse(lambda payload: number_of(payload) % 2 == 1)
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(6)])
        wait_for(lambda: balance(appliance, "main").dead_lettered == 3)
        wait_for(lambda: len(appliance.wiring.memory_peer("in").contents("dead")) == 3)
        wait_for(lambda: letters(tmp_path) == [])
        (first, *_) = appliance.wiring.memory_peer("in").contents("dead")
        assert isinstance(first, Message)
        values = {name: value for name, _, value in first.properties}
        assert (values["dl_link"], values["dl_code"], values["dl_attempts"]) == ("main", "MEM-REFUSED", 1)
        assert values["dl_rule"] == "", "it is the far side that does not want it"
        assert json.loads(first.body.value)["payload"]["event"]["event_name"] == "n1"


def test_a_dead_message_goes_as_it_was() -> None:
    message = Message(
        Headers(JMSType="order", JMSCorrelationID="c"),
        (MessageProperty("n", "int", 7), MessageProperty("dl_code", "String", "an older one")),
        Body("BytesMessage", b"\0\1"),
    )
    folder_line = json.dumps(_letter(message)).encode() + b"\n"
    from gateway.dead_letters.letters import letter_of

    sent = passing_on.message_of(letter_of(folder_line, "main"))
    assert (sent.headers.JMSType, sent.headers.JMSCorrelationID, sent.body) == ("order", "c", message.body)
    assert MessageProperty("n", "int", 7) in sent.properties
    assert [value for name, _, value in sent.properties if name == "dl_code"] == ["MAP-TEST"]


def _letter(message: Message) -> dict[str, Any]:
    from gateway.links.dead_letter_file import dead_letter_to_json

    return dead_letter_to_json("main", Delivery(message, "id", 1.0), MappingError("MAP-TEST", "no"), 2)


def test_a_letter_that_somebody_has_spoilt_stays_and_holds_up_no_other(tmp_path: Path) -> None:
    path = tmp_path / "run" / "dead-letters" / "main.jsonl"
    file = DeadLetterFile(path)
    for n in range(4):
        file.put("main", Delivery(event(n), f"id-{n}", time.time()), MappingError("MAP-TEST", "no"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    changes: tuple[dict[str, Any], ...] = ({"attempts": "many"}, {"received_at": [1]}, {"received_at": float("inf")})
    path.write_text(
        "".join(json.dumps({**line, **change}) + "\n" for line, change in zip(lines, (*changes, {}), strict=True))
    )
    with running(Appliance(with_letter_options(tmp_path, channel="dead"), Listener())) as appliance:
        wait_for(lambda: len(appliance.wiring.memory_peer("in").contents("dead")) == 1)
        wait_for(lambda: letters(tmp_path) == ["MAP-TEST"] * 3)
        file.put("main", Delivery(event(5), "id-5", time.time()), MappingError("MAP-TEST", "no"))
        wait_for(lambda: len(appliance.wiring.memory_peer("in").contents("dead")) == 2)


def test_letters_wait_in_the_file_while_their_channel_is_away_and_stay_there_when_it_refuses_them(
    tmp_path: Path,
) -> None:
    listener = Listener()
    with running(Appliance(with_letter_options(tmp_path, channel="dead"), listener)) as appliance:
        inlet = appliance.wiring.memory_peer("in")
        inlet.refuse(lambda payload: isinstance(payload, Message) and "n1" in str(payload.body.value))
        appliance.wiring.memory_peer("out").refuse(lambda payload: True)
        inlet.put("events", [event(n) for n in range(3)])
        wait_for(lambda: balance(appliance, "main").dead_lettered == 3)
        wait_for(lambda: len(inlet.contents("dead")) == 2)
        wait_for(lambda: len(letters(tmp_path)) == 1)
        inlet.cut()
        time.sleep(0.2)
        appliance.wiring.memory_peer("in").put("events", [event(5)])
        wait_for(lambda: len(inlet.contents("dead")) == 3)
        wait_for(lambda: len(letters(tmp_path)) == 1)
