"""Playing a plan: in order, paced, resumed without a gap after any interruption, refused where it cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import Delivery
from gateway.cli.spark_inputs import settings_of
from gateway.replay.plan_source import Pacing, PlanSource, Progress
from mappings.captures.errors import CaptureError
from mappings.captures.payloads import PayloadWriter
from spark.replay import PLAN_SCHEMA
from tests.parts.captures import alarm, configuration, write_configuration


def write_plan(folder: Path, count: int, every_micros: int = 1000) -> Path:
    """In files of ten, as Spark leaves them."""
    plan = folder / "plan"
    plan.mkdir(parents=True)
    write = PayloadWriter().write
    rows = [
        {**dict.fromkeys(PLAN_SCHEMA.names), "event_id": f"e{n}", "received_at": n * every_micros, "persistent": True,
         "source_form": "event", "source": write(alarm(n)), "codec": "json"}
        for n in range(count)
    ]  # fmt: skip
    for start in range(0, count, 10):
        table = pa.Table.from_pylist(rows[start : start + 10], schema=PLAN_SCHEMA)
        pq.write_table(table, plan / f"part-{start // 10:05d}.snappy.parquet")
    (plan / "_SUCCESS").touch()
    return plan


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def source(folder: Path, pacing: Pacing = Pacing(), clock: Callable[[], float] | None = None) -> PlanSource:  # noqa: B008
    plan = folder / "plan"
    if clock is None:
        return PlanSource(plan, "event", "source", pacing, Progress(folder))
    return PlanSource(plan, "event", "source", pacing, Progress(folder), clock=clock)


def ids(deliveries: list[Delivery]) -> list[str]:
    return [delivery.id for delivery in deliveries]


@pytest.mark.parametrize(
    ("pacing", "due"),
    [
        (Pacing(), [35, 35, 35]),
        (Pacing(rate=10.0), [1, 11, 21]),
        (Pacing(factor=1.0), [1, 35, 35]),  # a thousandth of a second lies between two of them
        (Pacing(factor=0.001), [1, 2, 3]),
    ],
)
def test_events_come_when_they_are_due_and_not_before(pacing: Pacing, due: list[int], tmp_path: Path) -> None:
    write_plan(tmp_path, 35)
    clock = Clock()
    playing = source(tmp_path, pacing, clock)
    playing.connect()
    got: list[str] = []
    for count in due:
        while more := playing.receive(100, 0.0):
            got += ids(more)
        assert got == [f"e{n}" for n in range(count)]
        clock.now += 1.0001
    playing.close()


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12), st.booleans()), max_size=12))
def test_wherever_it_is_interrupted_nothing_is_left_out_and_little_comes_twice(
    rounds: list[tuple[int, int, bool]],
) -> None:
    """Each round receives some, settles some of them (from the end, where it says so), and is killed or closed."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        write_plan(folder, 30)
        settled: set[str] = set()
        for take, settle, backwards in [*rounds, (30, 30, False)]:
            playing = source(folder)
            playing.connect()
            deliveries: list[Delivery] = []
            while len(deliveries) < take and (more := playing.receive(take - len(deliveries), 0.0)):
                deliveries += more
            position = playing.position
            assert ids(deliveries) == [f"e{n}" for n in range(position, min(30, position + len(deliveries)))]
            chosen = deliveries[::-1][:settle] if backwards else deliveries[:settle]
            playing.acknowledge(chosen)
            settled |= set(ids(chosen))
            assert {f"e{n}" for n in range(playing.position)} <= settled, (
                "the position never passes what is not settled"
            )
            playing.close()
        assert settled == {f"e{n}" for n in range(30)}
        assert source(folder).finished


def test_without_a_close_the_position_on_disk_is_behind_never_ahead(tmp_path: Path) -> None:
    write_plan(tmp_path, 20)
    clock = Clock()
    playing = source(tmp_path, clock=clock)
    playing.acknowledge(playing.receive(5, 0.0))
    clock.now += 1
    playing.acknowledge(playing.receive(5, 0.0))
    playing.acknowledge(playing.receive(5, 0.0))
    assert playing.position == 15
    assert source(tmp_path).position == 5


def test_what_is_no_plan_and_no_progress_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="CAP-NO-PLAN"):
        source(tmp_path)
    plan = write_plan(tmp_path, 20)
    (tmp_path / "progress.json").write_text('{"position": -3}')
    with pytest.raises(CaptureError, match="CAP-PROGRESS"):
        source(tmp_path)
    (tmp_path / "progress.json").unlink()
    (plan / "part-00001.snappy.parquet").write_bytes(b"cut")
    with pytest.raises(CaptureError, match="CAP-NO-PLAN"):
        source(tmp_path)


def test_a_row_of_another_form_is_a_delivery_with_an_error(tmp_path: Path) -> None:
    write_plan(tmp_path, 3)
    playing = PlanSource(tmp_path / "plan", "message", "sent", Pacing(), Progress(tmp_path))
    deliveries = playing.receive(10, 0.0)
    assert [delivery.error and delivery.error.code for delivery in deliveries] == ["CAP-FORM"] * 3


def test_a_plan_is_played_into_a_link_that_filters_and_translates(tmp_path: Path) -> None:
    from gateway.appliance.services import Services
    from gateway.replay.player import play
    from tests.parts.captures import Deaf

    write_plan(tmp_path, 40)
    config: dict[str, Any] = configuration(tmp_path, link={"filter": "$Severity > 2"})
    settings = settings_of(write_configuration(tmp_path, config))
    playing = source(tmp_path)
    shown: list[int] = []
    status = play(settings, Services(settings, Deaf()), "alarms", playing, tmp_path, Deaf(), lambda *_: shown.append(1))
    passing = sum(1 for n in range(40) if n % 6 > 2)
    assert (status.balance.delivered, status.balance.filtered) == (passing, 40 - passing)
    assert playing.finished
    assert json.loads((tmp_path / "progress.json").read_text()) == {"position": 40}
    assert shown
