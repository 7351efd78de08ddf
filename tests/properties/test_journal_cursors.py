"""A journal and its cursors against a model, through restarts and crashes.

The model is a list of what was appended and, per link, the set of what it has settled. After a clean restart the journal must agree
with it exactly; after a crash, a link may get some of what it had settled again, and must get all that it had not.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from itertools import count as count_up
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gateway.journal.codec import RawCodec
from gateway.journal.cursor import Cursor
from gateway.journal.cursor_file import pack_slot, unpack_slot
from gateway.journal.cursor_state import OUTCOMES, CursorState
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from tests.properties.test_journal_damage import QuickDisk
from tests.unit.journal.rig import Recorder, append_safely, read_all


@given(
    st.integers(0, 50),
    st.lists(
        st.tuples(st.just("some"), st.lists(st.integers(0, 100), max_size=10))
        | st.tuples(st.just("through"), st.integers(0, 100)),
        max_size=15,
    ),
)
@settings(deadline=None)
def test_the_arithmetic_of_a_cursor(base: int, steps: list[tuple[str, Any]]) -> None:
    state = CursorState(base)
    settled = set(range(base + 1))
    for kind, what in steps:
        new = (set(what) if kind == "some" else set(range(what + 1))) - settled
        count = state.settle(what, 1) if kind == "some" else state.settle_through(what, 2)
        assert count == len(new)
        settled |= new
        first_open = next(n for n in count_up(base) if n not in settled)
        assert state.position == first_open - 1
        assert all(state.is_settled(n) == (n in settled) for n in range(110))
        assert state.highest == max(settled)
        assert state.pending(200) == len(set(range(201)) - settled)
        assert sum(state.settled) == len(settled) - base - 1
        back = unpack_slot(pack_slot(state, 7))
        assert back is not None
        assert back[0] == 7
        assert all(getattr(back[1], name) == getattr(state, name) for name in CursorState.__slots__)


LINKS = ("a", "b", "c")
OPTIONS = Options(
    segment_bytes=600,
    max_bytes=None,
    keep_secs=1e9,  # nothing is deleted while its folder is copied, which unlike a crash takes time
    window=20,
    tail_records=4,
    cursor_write_secs=0.0,
)

links = st.sampled_from(LINKS)
chances = st.randoms(use_true_random=False)


class JournalMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.directory = self.root / "0"
        self.appended: list[bytes] = []
        self.base: dict[str, int] = {}
        self.settled: dict[str, dict[int, str]] = {}
        self.handed_out: dict[str, set[int]] = {}
        self.start()

    def start(self) -> None:
        self.recorder = Recorder()
        self.journal = Journal.open(self.directory, RawCodec(), OPTIONS, self.recorder, disk=QuickDisk())
        self.cursors: dict[str, Cursor[bytes]] = {}
        self.handed_out = {link: set() for link in self.base}
        for link in self.base:
            self.cursors[link] = self.journal.cursor(link)

    def pending(self, link: str) -> list[int]:
        return [n for n in range(self.base[link] + 1, len(self.appended) + 1) if n not in self.settled[link]]

    @rule(count=st.integers(1, 12), durable=st.booleans())
    def append(self, count: int, durable: bool) -> None:
        payloads = [b"%d" % (len(self.appended) + index + 1) * 20 for index in range(count)]
        sequences = append_safely(self.journal, payloads, durable=durable)
        assert list(sequences) == list(range(len(self.appended) + 1, len(self.appended) + count + 1))
        self.appended += payloads

    @rule(link=links)
    def join(self, link: str) -> None:
        if link not in self.base:
            self.base[link] = len(self.appended)
            self.settled[link] = {}
        self.handed_out[link] = set()
        self.cursors[link] = self.journal.cursor(link)  # also for a link that is there: it starts anew

    @precondition(lambda self: self.cursors)
    @rule(link=links, limit=st.integers(1, 15))
    def read(self, link: str, limit: int) -> None:
        if link not in self.cursors:
            return
        entries = self.cursors[link].read(limit, 0.0)
        readable = [n for n in self.pending(link)[:20] if n not in self.handed_out[link]]
        readable = [n for n in readable if n <= self.pending(link)[0] + 19]
        got = [entry.sequence for entry in entries]
        assert got == readable[: len(got)], "the next ones, in order"
        assert len(got) <= limit
        assert got or not readable
        assert [entry.item for entry in entries] == [self.appended[n - 1] for n in got]
        self.handed_out[link].update(got)

    @precondition(lambda self: any(self.handed_out.values()))
    @rule(link=links, chance=chances, outcome=st.sampled_from(OUTCOMES[:5]))
    def settle(self, link: str, chance: object, outcome: str) -> None:
        some = self.some_of(link, chance)
        assert self.cursors[link].settle(some, outcome) == len(some) if some else True
        self.handed_out.get(link, set()).difference_update(some)
        for sequence in some:
            self.settled[link][sequence] = outcome

    @precondition(lambda self: any(self.handed_out.values()))
    @rule(link=links, chance=chances)
    def release(self, link: str, chance: object) -> None:
        some = self.some_of(link, chance)
        if some:
            self.cursors[link].release(some)
            self.handed_out[link].difference_update(some)

    def some_of(self, link: str, chance: object) -> list[int]:
        out = sorted(self.handed_out.get(link, ()))
        return chance.sample(out, chance.randint(0, len(out)))  # type: ignore[attr-defined, no-any-return]

    @rule(link=links)
    def forget(self, link: str) -> None:
        if link in self.base:
            self.journal.forget(link)
            for of_link in (self.base, self.settled, self.handed_out, self.cursors):
                of_link.pop(link, None)  # type: ignore[attr-defined]

    @rule()
    def restart(self) -> None:
        assert self.journal.close() == 0
        self.start()
        for link, cursor in self.cursors.items():
            self.agree(link, cursor)

    @rule()
    def crash(self) -> None:
        """What is on the disk at some moment is all that a new process has."""
        copy = self.root / str(int(self.directory.name) + 1)
        copy.mkdir()
        for path in sorted(self.directory.iterdir(), key=lambda path: path.suffix == ".segment"):  # cursors first
            shutil.copy(path, copy)
        self.journal.close()
        self.directory = copy
        self.start()
        assert set(self.recorder.codes) <= {"JNL-TORN"}
        for link, cursor in self.cursors.items():
            state = cursor.state()
            still = {n: o for n, o in self.settled[link].items() if state.is_settled(n)}
            assert not [n for n in self.pending(link) if state.is_settled(n)], "not settled, and still gone"
            self.settled[link] = still
            self.agree(link, cursor)

    def agree(self, link: str, cursor: Cursor[bytes]) -> None:
        """Everything that is pending comes again, as far as the window lets it."""
        pending = self.pending(link)
        got = read_all(cursor)
        window = [n for n in pending if n <= pending[0] + 19] if pending else []
        assert got == [(n, self.appended[n - 1]) for n in window]
        cursor.rewind()

    @invariant()
    def accounts_hold(self) -> None:
        if not hasattr(self, "journal"):
            return
        status = self.journal.status()
        assert status.last == len(self.appended)
        for place in status.links:
            assert place.base == self.base[place.link]
            assert place.pending == len(self.pending(place.link))
            assert {outcome: n for outcome, n in place.settled.items() if n} == Counter(
                self.settled[place.link].values()
            )
            assert status.last - place.base == sum(place.settled.values()) + place.pending

    def teardown(self) -> None:
        if hasattr(self, "journal"):
            self.journal.close()
            shutil.rmtree(self.root)


JournalMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestJournal = JournalMachine.TestCase
