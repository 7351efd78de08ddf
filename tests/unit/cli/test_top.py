"""`isthmus top`: rates from two looks, against a real admin interface and by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.appliance.appliance import Appliance
from gateway.cli import top
from gateway.cli.guard import guarded
from tests.unit.appliance.test_appliance import Listener, running, settings
from tests.unit.links.rig import event, wait_for


def status(
    link: str, state: str = "ready", pending: int = 0, error: str | None = None, **accounts: int
) -> dict[str, Any]:
    zero = dict.fromkeys((*top.DONE, "received"), 0)
    trouble = {"code": error, "message": "m"} if error else None
    return {
        "link": link, "state": state, "error": None, "oldest_pending_secs": 3.0 if pending else None,
        "source": {"error": None}, "sink": {"error": trouble}, "accounts": {**zero, "pending": pending, **accounts},
    }  # fmt: skip


def test_rates_are_what_was_counted_between_two_looks() -> None:
    before = {"a": status("a", received=100, delivered=40, filtered=10, pending=50)}
    now = {"a": status("a", received=120, delivered=60, filtered=20, pending=40)}
    (row,) = top.rows(before, now, 2.0)
    assert (row.in_per_sec, row.out_per_sec, row.done_per_sec) == (10.0, 10.0, 15.0)
    assert row.drained_in_secs == 8.0  # 40 pending, 5 fewer each second


def test_what_grows_will_not_be_empty() -> None:
    before = {"a": status("a", received=100, delivered=100)}
    (row,) = top.rows(before, {"a": status("a", received=200, delivered=150, pending=50)}, 1.0)
    assert row.drained_in_secs is None


def test_a_gateway_that_began_anew_has_no_rate_yet() -> None:
    (row,) = top.rows({"a": status("a", received=100)}, {"a": status("a", received=3)}, 1.0)
    assert (row.in_per_sec, row.out_per_sec, row.drained_in_secs) == (None, None, None)


def test_a_link_that_is_new_has_no_rate_yet_and_one_that_is_gone_is_gone() -> None:
    (row,) = top.rows({"old": status("old")}, {"new": status("new", received=5)}, 1.0)
    assert (row.link, row.in_per_sec) == ("new", None)


def test_what_holds_a_link_up_is_named() -> None:
    (row,) = top.rows(None, {"a": status("a", "down", error="STO-CONNECT")}, 1.0)
    assert (row.state, row.trouble) == ("down", "STO-CONNECT")


@pytest.mark.parametrize(("order", "first"), [("link", "a"), ("rate", "b"), ("pending", "c"), ("oldest", "c")])
def test_links_are_sorted(order: str, first: str) -> None:
    before = {name: status(name) for name in "abc"}
    now = {"a": status("a"), "b": status("b", received=9, delivered=9), "c": status("c", pending=4, received=4)}
    assert sorted(top.rows(before, now, 1.0), key=top.ORDERS[order])[0].link == first


@pytest.mark.parametrize(
    ("secs", "text"), [(None, ""), (0.04, "0.0 s"), (12.4, "12 s"), (180, "3 min"), (9000, "2 h"), (400_000, "5 d")]
)
def test_spans_are_for_people(secs: float | None, text: str) -> None:
    assert top._span(secs) == text


def test_against_a_running_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    app = typer.Typer()
    app.command()(top.top)
    listener = Listener()
    with running(Appliance(settings(tmp_path, admin={"listen": "127.0.0.1:0"}), listener)) as appliance:
        address = str(listener.services["admin"]["address"]).removeprefix("http://")
        pauses = []

        def pause(secs: float) -> None:
            pauses.append(secs)
            if len(pauses) == 1:
                appliance.wiring.memory_peer("in").put("events", [event(n) for n in range(30)])
                wait_for(lambda: appliance.statuses()[0].balance.delivered == 30)

        monkeypatch.setattr(top, "sleep", pause)
        done = CliRunner().invoke(app, ["--admin", address, "--count", "3", "--json", "--interval-secs", "0.5"])
        assert done.exit_code == 0, done.output
        looks = [json.loads(line) for line in done.output.splitlines()]
        assert [look["link"] for look in looks] == ["main"] * 3
        assert looks[0]["in_per_sec"] is None
        assert looks[1]["in_per_sec"] > 0
        assert looks[1]["in_per_sec"] == looks[1]["out_per_sec"]
        assert looks[2]["in_per_sec"] == 0
        assert pauses == [0.5, 0.5]
        shown = CliRunner().invoke(app, ["--admin", address, "--count", "1"])
        assert "main" in shown.output
        assert "pending" in shown.output


def test_a_gateway_that_is_not_there_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(lambda: top.top(admin="127.0.0.1:1", count=2)) == 69
    assert "LNK-NO-ANSWER" in capsys.readouterr().err


def test_one_that_goes_away_meanwhile_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from gateway.cli.links import unavailable

    answers: list[Any] = [[status("a", received=1)], None, [status("a", received=2)], [status("a", received=4)]]

    def ask(_: str) -> Any:
        answer = answers.pop(0)
        return answer if answer is not None else unavailable("there", "gone")

    monkeypatch.setattr(top, "ask", ask)
    monkeypatch.setattr(top, "sleep", lambda _: None)
    first, gone, back, last = top._looks("there", 1.0, 4)
    assert isinstance(gone, Exception)
    assert isinstance(first, list)
    assert isinstance(back, list)
    assert isinstance(last, list)
    assert back[0].in_per_sec is None
    assert last[0].in_per_sec is not None
