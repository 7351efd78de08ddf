"""A process that writes a journal until it is killed, and says on standard output what it was told.

    python -m tests.chaos.journal_child FOLDER SEED [max_file_bytes]

Lines: `safe FIRST LAST` after on_safe, `settled LINK SEQUENCE` before a settlement is handed to the journal, `held`, `released`.
Each line is one write to the pipe, so what arrived there was said before the kill.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import threading
from pathlib import Path

from gateway.journal.codec import RawCodec
from gateway.journal.errors import JournalError, JournalHeld
from gateway.journal.journal import Journal
from gateway.journal.options import Options

OPTIONS = Options(
    segment_bytes=64 * 1024,
    max_bytes=2 * 1024 * 1024,
    hold_first_secs=0.01,
    hold_longest_secs=0.05,
    queue_bytes=1024 * 1024,
)
LINKS = ("fast", "slow")


def payload(sequence: int) -> bytes:
    """What every reader can check: its own number, and bytes that follow from it."""
    return b"%d:" % sequence + random.Random(sequence).randbytes(sequence * 7919 % 1500)


def say(line: str) -> None:
    os.write(1, line.encode("ascii") + b"\n")


class Speaker:
    def found(self, finding: JournalError) -> None:
        say(f"found {finding.code}")

    def held(self, reason: JournalError) -> None:
        say(f"held {reason.code}")

    def released(self, held_secs: float) -> None:
        say("released")


def consume(journal: Journal[bytes], link: str, chance: random.Random) -> None:
    cursor = journal.cursor(link)
    waiting: list[int] = []
    while True:
        for entry in cursor.read(50, 0.2):
            assert entry.item == payload(entry.sequence), f"wrong record {entry.sequence}"
            waiting.append(entry.sequence)
        chance.shuffle(waiting)
        done, waiting = waiting[: len(waiting) * 3 // 4], waiting[len(waiting) * 3 // 4 :]
        for sequence in done:
            say(f"settled {link} {sequence}")
        cursor.settle(done)


def produce(journal: Journal[bytes], chance: random.Random) -> None:
    while True:
        first = journal.status().last + 1
        count = chance.randint(1, 30)
        done = threading.Event()
        try:
            sequences = journal.append(
                [payload(first + index) for index in range(count)], durable=chance.random() < 0.7, on_safe=done.set
            )
        except JournalHeld:
            journal.await_room(0.1)
            continue
        assert sequences[0] == first, "this is the only producer"
        done.wait()
        say(f"safe {sequences[0]} {sequences[-1]}")


def main() -> None:
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        limit_then_lift(int(sys.argv[3]))
    chance = random.Random(seed)
    journal = Journal.open(folder, RawCodec(), OPTIONS, Speaker())
    for link in LINKS:
        journal.cursor(link)  # before the first append: a link gets what comes after it
    for number, link in enumerate(LINKS):
        threading.Thread(target=consume, args=(journal, link, random.Random(seed + number)), daemon=True).start()
    say("ready")
    produce(journal, chance)


def limit_then_lift(max_file_bytes: int) -> None:
    """No file may grow beyond this, until a line comes on standard input: a full disk without a disk of its own."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_bytes, hard))

    def lift() -> None:
        sys.stdin.readline()
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

    threading.Thread(target=lift, daemon=True).start()


if __name__ == "__main__":
    main()
