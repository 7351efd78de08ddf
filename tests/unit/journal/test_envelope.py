"""Compression and encryption of records, and journals whose options change over the years."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.journal.envelope import SEALED, Compression, Envelope, Unreadable, key_from_text
from gateway.journal.errors import JournalError, KeyMissing
from gateway.journal.format import DATA
from tests.unit.journal.rig import Recorder, append_safely, open_raw, read_all, segment_files

ID = bytes(range(16))
KEY, OTHER_KEY = bytes(32), bytes([1]) * 32
TEXT = b"loss of signal on port 7; " * 40


@pytest.mark.parametrize("compression", ["none", "zlib", "zstd"])
@pytest.mark.parametrize("keys", [(), (KEY,), (OTHER_KEY, KEY)])
@pytest.mark.parametrize("payload", [b"", b"x", os.urandom(1000), TEXT])
def test_what_is_closed_opens(compression: Compression, keys: tuple[bytes, ...], payload: bytes) -> None:
    envelope = Envelope(ID, compression, keys)
    flags, body = envelope.close(payload, 1, 7, DATA)
    assert bool(flags & SEALED) == bool(keys)
    if keys:
        assert TEXT not in body
    assert Envelope(ID, "none", keys).open(body, 1, 7, DATA, flags) == payload


@pytest.mark.parametrize("compression", ["zlib", "zstd"])
def test_compression_pays_or_is_not_done(compression: Compression) -> None:
    envelope = Envelope(ID, compression)
    assert len(envelope.close(TEXT, 1, 1, DATA)[1]) < len(TEXT) / 4
    noise = os.urandom(500)
    assert envelope.close(noise, 1, 1, DATA) == (0, noise)


@pytest.mark.parametrize(
    ("first", "sequence", "kind", "flags", "identity"),
    [(2, 7, DATA, SEALED, ID), (1, 8, DATA, SEALED, ID), (1, 7, 9, SEALED, ID), (1, 7, DATA, SEALED, bytes(16))],
)
def test_a_sealed_record_opens_only_in_its_place(
    first: int, sequence: int, kind: int, flags: int, identity: bytes
) -> None:
    body = Envelope(ID, keys=(KEY,)).close(TEXT, 1, 7, DATA)[1]
    with pytest.raises(Unreadable):
        Envelope(identity, keys=(KEY,)).open(body, first, sequence, kind, flags)


def test_a_changed_byte_of_a_sealed_record_is_seen() -> None:
    envelope = Envelope(ID, keys=(KEY,))
    flags, body = envelope.close(b"attack at dawn", 1, 7, DATA)
    for index in range(4, len(body)):
        changed = bytearray(body)
        changed[index] ^= 1
        with pytest.raises(Unreadable):
            envelope.open(bytes(changed), 1, 7, DATA, flags)


def test_the_wrong_key_is_told_from_damage() -> None:
    flags, body = Envelope(ID, keys=(KEY,)).close(TEXT, 1, 7, DATA)
    with pytest.raises(KeyMissing) as missing:
        Envelope(ID, keys=(OTHER_KEY,)).open(body, 1, 7, DATA, flags)
    assert missing.value.code == "JNL-KEY"
    with pytest.raises(KeyMissing):
        Envelope(ID).open(body, 1, 7, DATA, flags)


@pytest.mark.parametrize("compression", ["zlib", "zstd"])
def test_a_record_that_would_fill_the_memory_is_refused(
    compression: Compression, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags, bomb = Envelope(ID, compression).close(bytes(1_000_001), 1, 1, DATA)
    assert len(bomb) < 10_000
    assert len(Envelope(ID).open(bomb, 1, 1, DATA, flags)) == 1_000_001
    monkeypatch.setattr("gateway.journal.envelope.LARGEST_BODY", 1_000_000)
    with pytest.raises(Unreadable):
        Envelope(ID).open(bomb, 1, 1, DATA, flags)


@pytest.mark.parametrize("flags", [1, 2, 3, 8, 128])
def test_what_does_not_decompress_or_is_not_known_is_refused(flags: int) -> None:
    with pytest.raises(Unreadable):
        Envelope(ID).open(b"not compressed", 1, 1, DATA, flags)


@pytest.mark.parametrize("text", ["", "secret", "00" * 31, "00" * 33, "zz" * 32, "é" * 64])
def test_a_text_that_is_no_key_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(JournalError) as refused:
        key_from_text(text)
    assert refused.value.code == "JNL-KEY-FORM"
    assert not text or text not in str(refused.value)


def test_a_key_as_a_secret_holds_it() -> None:
    assert key_from_text(" " + "0A" * 32 + "\n") == bytes([10]) * 32


def test_a_journal_stays_readable_when_its_options_change(tmp_path: Path) -> None:
    eras: list[tuple[Compression, tuple[bytes, ...]]] = [
        ("none", ()),
        ("zlib", ()),
        ("zstd", (KEY,)),
        ("none", (OTHER_KEY, KEY)),
        ("none", (OTHER_KEY, KEY)),
    ]
    for number, (compression, keys) in enumerate(eras):
        journal = open_raw(tmp_path, compression=compression, keys=keys)
        journal.cursor("a")
        append_safely(journal, [b"%d:" % number + TEXT] * 3)
        journal.close()
    recorder = Recorder()
    journal = open_raw(tmp_path, recorder, keys=(KEY, OTHER_KEY))
    expected = [b"%d:" % number + TEXT for number in range(len(eras)) for _ in range(3)]
    assert [item for _, item in read_all(journal.cursor("a"))] == expected
    journal.close()
    assert recorder.codes == []
    for path in segment_files(tmp_path)[2:]:
        assert b"loss of signal" not in path.read_bytes()


def test_without_its_key_a_journal_does_not_open_and_nothing_is_lost(tmp_path: Path) -> None:
    journal = open_raw(tmp_path, keys=(KEY,))
    journal.cursor("a")
    append_safely(journal, [TEXT])
    journal.close()
    for keys in ((), (OTHER_KEY,)):
        with pytest.raises(KeyMissing):
            open_raw(tmp_path, keys=keys)
    journal = open_raw(tmp_path, keys=(KEY,))
    assert [item for _, item in read_all(journal.cursor("a"))] == [TEXT]
    journal.close()


def test_keys_do_not_show_in_a_representation() -> None:
    from gateway.journal.inspection import Inspection
    from gateway.journal.options import Options

    assert "keys" not in repr(Options(keys=(OTHER_KEY,)))
    assert not any(field.repr for name, field in Inspection.__dataclass_fields__.items() if name == "keys")
