"""What a link takes from a journal is the same whether it was in memory still, or has been on disk, also over a restart.

In memory it is the very object that was appended; from disk it is read and decoded. Nobody behind the journal may see which: not
the translation, not a dead letter, not a capture, not a tap.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import DeadLetterError, Delivery
from gateway.journal.delivery_codec import DeliveryCodec
from gateway.journal.journal import Journal
from gateway.journal.options import Options
from gateway.journal.source import JournalSource
from gateway.links.dead_letter_file import dead_letter_to_json
from gateway.links.payload_form import payload_to_json
from gateway.links.translation import compile_step
from mappings.captures.payloads import PayloadWriter
from mappings.errors import IsthmusError
from mappings.passage import Translation
from tests.properties.strategies import messages, structured_events

NOW = 1_795_000_000.25
PATIENCE_SECS = 60.0
FROM_DISK = Options(tail_records=0, cursor_write_secs=0.001)
STEPS = {form: compile_step(Translation(form, "message")) for form in ("event", "message")}  # type: ignore[arg-type]
BACK = compile_step(Translation("message", "event"))

errors = st.builds(
    lambda code, message, path, hint: DeadLetterError(code, message, path=path, hint=hint),
    st.sampled_from(["COR-UNREADABLE", "STO-PROTOCOL"]),
    *[st.text(max_size=10)] * 3,
)
ids, times, flags = st.text(max_size=20), st.floats(0, 2 * NOW), st.booleans()
originals = st.none() | st.binary(max_size=50)
deliveries = st.builds(Delivery, structured_events | messages, ids, times, flags, flags, originals) | st.builds(
    Delivery, st.none(), ids, times, flags, flags, originals, errors
)


class CountingCodec(DeliveryCodec):
    def __init__(self) -> None:
        super().__init__()
        self.decoded = 0

    def decode(self, payload: bytes) -> Delivery:
        self.decoded += 1
        return super().decode(payload)


def outcome(of: Callable[[], Any]) -> str:
    """What is made, or why nothing is, to the last digit and type."""
    try:
        return repr(of())
    except IsthmusError as error:
        return repr((error.to_json(), error.rule))


def seen(delivery: Delivery) -> dict[str, Any]:
    """Everything that anybody behind the journal makes of it."""
    payload, error = delivery.payload, delivery.error
    facts: dict[str, Any] = {
        "payload": repr(payload),
        "facts": repr((delivery.id, delivery.received_at, delivery.persistent, delivery.redelivered)),
        "original": delivery.original,
        "error": error and error.to_json(),
        "letter": dead_letter_to_json("main", delivery, error or DeadLetterError("LNK-TEST", "no"), 3),
        "tapped": repr(payload_to_json(payload)),
    }
    if payload is not None:
        facts["captured"] = PayloadWriter().write(payload)
        form = "message" if type(payload).__name__ == "Message" else "event"
        facts["sent"] = outcome(lambda: STEPS[form](delivery))
        if form == "message":
            facts["sent back"] = outcome(lambda: BACK(delivery))
    return facts


def append(journal: Journal[Delivery], given_: Sequence[Delivery]) -> None:
    safe = threading.Event()
    journal.append(given_, on_safe=safe.set)
    assert safe.wait(PATIENCE_SECS)


def taken(source: JournalSource, count: int) -> list[Delivery]:
    found: list[Delivery] = []
    while len(found) < count:
        batch = source.receive(count, PATIENCE_SECS)
        assert batch
        found += batch
    return found


@given(st.lists(deliveries, min_size=1, max_size=8))
@settings(deadline=None, max_examples=60)
def test_from_memory_from_disk_and_after_a_restart(given_: list[Delivery]) -> None:
    count = len(given_)
    ways: dict[str, tuple[list[Delivery], int]] = {}
    with TemporaryDirectory() as folder:
        for way, options in (("memory", Options()), ("disk", FROM_DISK), ("restart", Options())):
            codec = CountingCodec()
            directory = Path(folder) / ("disk" if way == "restart" else way)
            journal = Journal.open(directory, codec, options)
            try:
                source = JournalSource(journal, "main", "event")
                if way != "restart":
                    append(journal, given_)
                source.connect()
                ways[way] = taken(source, count), codec.decoded
            finally:
                journal.close()
    assert [decoded for _, decoded in ways.values()] == [0, count, count], "each went its own way"
    memory, disk, restart = (found for found, _ in ways.values())
    assert [found.token for found in memory] == [found.token for found in disk] == [found.token for found in restart]
    for original, found, read, again in zip(given_, memory, disk, restart, strict=True):
        assert found.payload is original.payload, "nobody has made another one"
        assert again.redelivered, "it was there before this process was"
        with mock.patch("time.time", return_value=NOW):
            assert seen(read) == seen(found) == seen(original)
            assert seen(again) == seen(replace(read, redelivered=True))
