"""`isthmus dlq retry` into a gateway that runs, and who may ask for it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.appliance.appliance import Appliance
from gateway.dead_letters.letters import letters_in
from gateway.links.accounts import Balance
from gateway.settings import load
from tests.unit.appliance.test_appliance import Listener, balance, number_of, running
from tests.unit.dead_letters.test_dlq import LINKS, call, configure, letters_of, listed, put
from tests.unit.links.rig import event, wait_for

JSON = {"Content-Type": "application/json"}


@contextmanager
def gateway(config: Path) -> Iterator[tuple[Appliance, str]]:
    """With the address of its admin interface."""
    listener = Listener()
    with running(Appliance(load(config), listener)) as appliance:
        yield appliance, str(listener.services["admin"]["address"]).removeprefix("http://")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return configure(tmp_path, journal={}, admin={"listen": "127.0.0.1:0"})


def post(address: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    host, port = address.rsplit(":", 1)
    with closing(http.client.HTTPConnection(host, int(port), timeout=20.0)) as connection:
        data = body if isinstance(body, bytes) else json.dumps(body)
        connection.request("POST", "/dlq/retry", data, headers or JSON)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_letters_are_sent_again_at_once_and_to_their_link_alone(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with gateway(config) as (appliance, address):
        here = appliance.wiring.memory_peer("here")
        here.refuse(lambda payload: number_of(payload) % 2 == 1)
        here.put("in", [event(n) for n in range(6)])
        wait_for(lambda: all(balance(appliance, link).dead_lettered == 3 for link in LINKS))
        here.refuse(lambda _: False)
        status, out, err = call(capsys, "retry", config, "--link", "main", "--admin", address)
        assert (status, out, err) == (0, "main: 3 to be sent again\n", "")
        wait_for(lambda: balance(appliance, "main").delivered == 6)
        wait_for(lambda: balance(appliance, "copy").received == 9)
        assert [number_of(payload) for payload in here.contents("out")] == [0, 2, 4, 1, 3, 5]
        assert [number_of(payload) for payload in here.contents("copies")] == [0, 2, 4]
        assert balance(appliance, "main") == Balance(received=9, delivered=6, dead_lettered=3)
        assert balance(appliance, "copy") == Balance(received=9, delivered=3, dead_lettered=3, duplicate=3)
        assert {letter["link"] for letter in listed(capsys, config)} == {"copy"}


def test_what_comes_meanwhile_is_delivered_once(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Letters go in between the events of the source."""
    put(config, 50)
    with gateway(config) as (appliance, address):
        here = appliance.wiring.memory_peer("here")
        for start in range(100, 400, 10):
            here.put("in", [event(n) for n in range(start, start + 10)])
            if start == 200:
                assert call(capsys, "retry", config, "--all", "--admin", address)[0] == 0
        wait_for(lambda: balance(appliance, "main").delivered == 350)
        wait_for(lambda: balance(appliance, "copy").delivered == 300)
        arrived = [number_of(payload) for payload in here.contents("out")]
        assert sorted(arrived) == [*range(50), *range(100, 400)]
        assert [n for n in arrived if n >= 100] == list(range(100, 400))
        assert [number_of(payload) for payload in here.contents("copies")] == list(range(100, 400))
    assert listed(capsys, config) == []


def test_a_letter_that_still_cannot_pass_is_back(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [key] = put(config, 1)
    with gateway(config) as (appliance, address):
        appliance.wiring.memory_peer("here").refuse(lambda _: True)
        assert post(address, {"link": "main", "letters": [key]}) == (
            200,
            {"link": "main", "to_be_sent_again": 1, "refused": []},
        )
        wait_for(lambda: balance(appliance, "main").dead_lettered == 1)
    [letter] = listed(capsys, config)
    assert letter["letter"] != key


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"link": "main", "letters": ["0123456789ab"]}, 409, "DLQ-NO-LETTER"),
        ({"link": "nobody", "letters": []}, 409, "DLQ-NO-LINK"),
        ({"link": "off", "letters": []}, 409, "DLQ-NOT-STARTED"),
        ({"link": "direct", "letters": []}, 409, "DLQ-NO-JOURNAL"),
        ({"link": "main"}, 400, "DLQ-REQUEST"),
        ({"link": 7, "letters": []}, 400, "DLQ-REQUEST"),
        ({"link": "main", "letters": [7]}, 400, "DLQ-REQUEST"),
        (b"[" * 100_000, 400, "DLQ-REQUEST"),
        (b"\xff", 400, "DLQ-REQUEST"),
        (b"x" * (5 << 20), 413, "DLQ-REQUEST"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_told(tmp_path: Path, body: Any, status: int, code: str) -> None:
    links = {
        "main": LINKS["main"],
        "off": {"from": "in", "to": "out", "enabled": False},
        "direct": {**LINKS["copy"], "delivery": {"journal": {"enabled": False}}},
    }
    config = configure(tmp_path, journal={}, admin={"listen": "127.0.0.1:0"}, links=links)
    put(config, 1)
    with gateway(config) as (_, address):
        told = post(address, body)
    assert (told[0], told[1]["error"]["code"]) == (status, code)
    assert len(list(letters_in(letters_of(config), "main"))) == 1


def test_pages_in_a_browser_cannot_ask(config: Path) -> None:
    [key] = put(config, 1)
    body = {"link": "main", "letters": [key]}
    with gateway(config) as (_, address):
        for headers in (
            {"Content-Type": "text/plain"},  # what a page may send without asking
            {**JSON, "Origin": "http://evil.example"},
            {**JSON, "Host": "evil.example"},
            {**JSON, "X-Forwarded-For": "10.0.0.1"},
        ):
            told = post(address, body, **headers)
            assert (told[0], told[1]["error"]["code"]) == (403, "DLQ-RIGHT"), headers
    assert len(list(letters_in(letters_of(config), "main"))) == 1


def test_with_a_token_only_who_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "token").write_text("s3cret")
    admin = {"listen": "127.0.0.1:0", "token": f"${{file:{tmp_path / 'token'}}}"}
    config = configure(tmp_path, journal={}, admin=admin)
    [key] = put(config, 1)
    with gateway(config) as (appliance, address):
        body = {"link": "main", "letters": [key]}
        assert post(address, body)[0] == 401
        assert post(address, body, **JSON, Authorization="Bearer wrong")[0] == 401
        assert call(capsys, "retry", config, "--all", "--admin", address)[0] == 0  # the configuration has it
        wait_for(lambda: balance(appliance, "main").delivered == 1)


def test_nobody_answers(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(config, 1)
    with gateway(config):
        status, _, err = call(capsys, "retry", config, "--all", "--admin", "127.0.0.1:9")
    assert (status, "no gateway answers" in err) == (69, True)
    assert len(listed(capsys, config)) == 1
