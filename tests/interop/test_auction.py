"""The auction of docs/examples/auction, as its page says, with a crash in the middle."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.notification_service.clients import until
from tests.interop.notification_service.test_in_the_gateway import children, running
from tests.parts.gateway import ISTHMUS
from tests.parts.ports import ReservedPort

AUCTION = Path(__file__).parents[2] / "docs" / "examples" / "auction"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    shutil.copytree(AUCTION, tmp_path, dirs_exist_ok=True)
    configuration = tmp_path / "channels.yaml"
    written = configuration.read_text()
    assert "127.0.0.1:12355" in written
    with ReservedPort() as port:
        configuration.write_text(written.replace("12355", str(port.number)))
        yield tmp_path


class Bidder:
    def __init__(self, folder: Path, constraint: str, count: int) -> None:
        command = [sys.executable, "bidder.py", "auction.ior", constraint, str(count)]
        self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.line() == "waiting"

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def end(self) -> int:
        with self._process:
            return self._process.wait(30)


def put_up(folder: Path, offers: str) -> None:
    command = [sys.executable, "auctioneer.py", "auction.ior"]
    subprocess.run(command, cwd=folder, input=offers, text=True, check=True, timeout=60)


def test_whoever_is_interested_is_told(folder: Path) -> None:
    offers = (folder / "offers.jsonl").read_text()
    with running(folder / "channels.yaml", "auction.ior") as gateway:
        clocks = Bidder(folder, "$category == 'clocks' and $price < 500", 2)
        watches = Bidder(folder, "$category == 'watches'", 1)
        put_up(folder, offers)
        assert clocks.line() == "Carriage clock: 180.00, Maier, until 2026-12-01"
        assert watches.line() == "Pocket watch, silver: 95.50, Dubois, until 2026-11-30"
        assert watches.end() == 0
        asked = subprocess.run(
            [ISTHMUS, "advertise", "auction.ior", "--json"], cwd=folder, capture_output=True, text=True
        )
        (channel,) = map(json.loads, asked.stdout.splitlines())
        (type_,) = [each for each in channel["types"] if each["type_name"] == "Offer"]
        assert (type_["domain_name"], type_["passed"], type_["subscriptions"]) == ("Auction", 4, 1)
        (worker,) = children(gateway)
        gateway.kill()
        gateway.wait()
        until(lambda: not Path(f"/proc/{worker}").exists())
    with running(folder / "channels.yaml", "auction.ior"):
        late = {"item": "Mantel clock", "category": "clocks", "price": 99.0, "seller": "Rossi", "closes": "2026-12-05"}
        put_up(folder, json.dumps(late) + "\n")
        assert clocks.line() == "Mantel clock: 99.00, Rossi, until 2026-12-05"
        assert clocks.end() == 0
