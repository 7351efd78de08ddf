"""`isthmus tap`: what passes is seen at each stage, by those who may, and nobody is slowed down by it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.admin.rights import refusal
from gateway.appliance.appliance import Appliance
from gateway.cli import run
from gateway.links.tap import ROOM, Listener
from tests.unit.appliance.test_appliance import Listener as Hearer
from tests.unit.appliance.test_appliance import balance, running, settings
from tests.unit.links.rig import event, wait_for


@contextmanager
def gateway(tmp_path: Path, **changed: Any) -> Iterator[tuple[Appliance, str]]:
    admin = {"listen": "127.0.0.1:0", **changed.pop("admin", {})}
    hearer = Hearer()
    with running(Appliance(settings(tmp_path, admin=admin, **changed), hearer)) as appliance:
        yield appliance, str(hearer.services["admin"]["address"]).removeprefix("http://")


def feeding(appliance: Appliance, enough: threading.Event) -> threading.Thread:
    def feed() -> None:
        number = 0
        while not enough.wait(0.02):
            appliance.wiring.memory_peer("in").put("events", [event(number)])
            number += 1

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    return thread


@pytest.fixture
def tapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs `isthmus tap …` against a gateway whose events number 0, 1, 2 … come all the time."""

    def tap(*arguments: str, **changed: Any) -> tuple[int, list[str], str]:
        enough = threading.Event()
        with gateway(tmp_path, **changed) as (appliance, address):
            feeder = feeding(appliance, enough)
            try:
                status = run(["tap", *arguments, "--admin", address])
            finally:
                enough.set()
                feeder.join()
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err

    return tap


def numbers(lines: list[str]) -> list[int]:
    def of(form: dict[str, Any]) -> int:
        fields = form["event"]["filterable_data"] if "event" in form else form["message"]["properties"]
        return next(int(field["value"]) for field in fields if field["name"] in ("Number", "$Number"))

    return [of(json.loads(line)) for line in lines]


@pytest.mark.parametrize(
    ("arguments", "stage", "form"),
    [
        (["main"], "received", "event"),
        (["main", "--stage", "translated"], "translated", "message"),
        (["main", "--stage", "sent"], "sent", "message"),
        (["events"], "received", "event"),
        (["messages"], "sent", "message"),
        (["messages", "--stage", "translated"], "translated", "message"),
    ],
)
def test_each_stage_of_a_link_and_of_a_channel(tapped: Any, arguments: list[str], stage: str, form: str) -> None:
    status, lines, _ = tapped(*arguments, "--json", "--limit", "5")
    assert status == 0
    assert [(json.loads(line)["stage"], form in json.loads(line)) for line in lines] == [(stage, True)] * 5
    first = numbers(lines)[0]
    assert numbers(lines) == list(range(first, first + 5))


def test_a_filter_is_etcl_where_it_is_events_and_a_selector_where_it_is_messages(tapped: Any) -> None:
    _, lines, _ = tapped("main", "--json", "--limit", "2", "--filter", "$Number > 30 and $Number < 50")
    assert all(30 < number < 50 for number in numbers(lines))
    _, lines, _ = tapped("main", "--stage", "sent", "--json", "--limit", "2", "--filter", '"$Number" > 30')
    assert [number > 30 for number in numbers(lines)] == [True, True]


def test_people_see_a_line_an_event(tapped: Any) -> None:
    status, lines, _ = tapped("main", "--limit", "1")
    assert status == 0
    assert "main received" in lines[0]
    assert "Telecom / Alarm / n" in lines[0]


@pytest.mark.parametrize(
    ("arguments", "changed", "code"),
    [
        (["nobody"], {}, "LNK-TAP-UNKNOWN"),
        (["main", "--filter", "$x >"], {}, "FLT-SYNTAX"),
        (["main"], {"admin": {"token": "a secret"}}, "LNK-TAP-RIGHT"),
    ],
)
def test_what_is_refused_says_why(tapped: Any, arguments: list[str], changed: Any, code: str) -> None:
    status, lines, err = tapped(*arguments, **changed)
    assert (status, lines) == (1, [])
    assert code in err
    assert "a secret" not in err


def test_whoever_shows_the_token_may(tapped: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("a secret\n")
    changed = {"admin": {"token": "a secret"}}
    assert tapped("main", "--limit", "1", "--token-file", str(tmp_path / "token"), **changed)[0] == 0
    monkeypatch.setenv("ISTHMUS_ADMIN_TOKEN", "another")
    assert tapped("main", "--limit", "1", **changed)[0] == 1


def test_confidential_channels_are_off_unless_somebody_says_so(tapped: Any) -> None:
    channels = {
        "events": {"endpoint": "in", "name": "events", "confidential": True},
        "messages": {"endpoint": "out", "name": "messages", "form": "message"},
    }
    for what in ("main", "messages"):
        status, _, err = tapped(what, "--limit", "1", channels=channels)
        assert (status, "LNK-TAP-CONFIDENTIAL" in err) == (1, True)
    changed = {"channels": channels, "admin": {"tap_confidential": True}}
    assert tapped("main", "--limit", "1", **changed)[0] == 0


LOCAL = {"host": "127.0.0.1:8161"}


@pytest.mark.parametrize(
    ("headers", "client", "token", "may"),
    [
        (LOCAL, "127.0.0.1", None, True),
        ({"host": "[::1]:8161"}, "::1", None, True),
        ({"host": "localhost:8161"}, "127.0.0.1", None, True),
        (LOCAL, "10.0.0.7", None, False),
        (LOCAL, None, None, False),
        ({**LOCAL, "x-forwarded-for": "10.0.0.7"}, "127.0.0.1", None, False),
        ({"host": "gw.example:8161"}, "127.0.0.1", None, False),  # a page that had its name resolved to us
        ({}, "127.0.0.1", None, False),
        (LOCAL, "127.0.0.1", "t", False),
        ({"authorization": "Bearer t"}, "10.0.0.7", "t", True),
        ({"authorization": "bearer  t "}, "10.0.0.7", "t", True),
        ({"authorization": "Bearer tt"}, "127.0.0.1", "t", False),
        ({"authorization": "Basic t"}, "127.0.0.1", "t", False),
        ({"authorization": "Bearer é"}, "127.0.0.1", "t", False),
    ],
)
def test_the_admin_right(headers: dict[str, str], client: str | None, token: str | None, may: bool) -> None:
    assert (refusal(headers, client, token) is None) is may


def test_a_listener_that_takes_nothing_holds_nothing_up_and_is_told_what_it_missed(tmp_path: Path) -> None:
    with gateway(tmp_path) as (appliance, _):
        listener = Listener({("main", "received"), ("main", "sent")})
        appliance._taps.join(listener)
        appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(3 * ROOM)])
        wait_for(lambda: balance(appliance, "main").delivered == 3 * ROOM)
        seen, missed = listener.take(10 * ROOM)
        assert len(seen) == ROOM
        assert len(seen) + missed == 6 * ROOM
        appliance._taps.leave(listener)
        appliance.wiring.memory_peer("in").put("events", [event(1)])
        wait_for(lambda: balance(appliance, "main").delivered == 3 * ROOM + 1)
        assert listener.take(1) == ([], 0)


def test_a_client_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    with gateway(tmp_path) as (appliance, address):
        tap = appliance._taps.of_link("main")
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as client, client.makefile("rb") as answer:
            client.sendall(f"GET /tap?of=main HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
            assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
            wait_for(lambda: len(tap.listeners) == 1)
        wait_for(lambda: tap.listeners == ())
