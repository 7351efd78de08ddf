"""Tables of the command line: nothing is cut, however narrow it is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from gateway.cli.links import _show
from gateway.cli.tables import print_whole


def status(link: str, **accounts: int) -> dict[str, object]:
    names = ("received", "delivered", "filtered", "looped", "expired", "duplicate", "dead_lettered", "dropped", "lost")
    side = {"state": "ready", "error": None}
    return {
        "link": link, "state": "ready", "error": None, "source": side, "sink": side, "oldest_pending_secs": 114.6,
        "accounts": {**dict.fromkeys(names, 0), "pending": 798, **accounts},
    }  # fmt: skip


@pytest.mark.parametrize("width", [20, 80, 400])
def test_no_cell_is_cut(width: int) -> None:
    out = io.StringIO()
    table = Table("link", "state", box=None)
    table.add_row("alarms-of-the-northern-region", "ready")
    print_whole(Console(file=out, width=width), table)
    assert out.getvalue().split() == ["link", "state", "alarms-of-the-northern-region", "ready"]


def test_the_accounts_of_links_fit_a_terminal_of_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _show([status("alarms", received=1_234_567, delivered=1_000_000), status("critical", filtered=4815)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    assert lines[0].split() == [
        "link",
        "state",
        "received",
        "delivered",
        "filtered",
        "dead-lettered",
        "pending",
        "oldest",
    ]


def test_what_is_mostly_zero_is_shown_where_it_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    _show([status("alarms", expired=3, lost=1)])
    assert {"expired", "lost"} <= set(capsys.readouterr().out.splitlines()[0].split())
