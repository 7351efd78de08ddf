"""Files that are no configurations: each gives one finding, quickly."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.settings import SettingsError, check, load
from gateway.settings.source import LARGEST_BYTES, Source, decode, place_of
from tests.unit.settings.marked import findings_in


def only(path: Path) -> tuple[str, int, int, str]:
    (finding,) = check(path)
    assert finding.file == str(path)
    assert finding.severity == "error"
    assert finding.hint
    with pytest.raises(SettingsError) as raised:
        load(path)
    assert raised.value.findings == (finding,)
    return finding.code, finding.line, finding.column, finding.message


def test_no_file(tmp_path: Path) -> None:
    assert only(tmp_path / "missing.yaml")[:3] == ("CFG-FILE", 1, 1)


def test_a_folder(tmp_path: Path) -> None:
    assert only(tmp_path)[0] == "CFG-FILE"


def test_a_file_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert only(tmp_path / "file" / "isthmus.yaml")[0] == "CFG-FILE"


def test_a_path_that_no_file_system_has() -> None:
    (finding,) = check("a\0b")
    assert finding.code == "CFG-FILE"
    assert "\0" not in str(finding)


@pytest.mark.parametrize("content", ["", " \n\n", "# only a comment\n", "---\n", "---\n...\n", "null\n"])
def test_an_empty_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(content)
    assert only(path)[0] == "CFG-EMPTY"


@pytest.mark.parametrize("content", ["just text\n", "- a\n- b\n", "42\n", '"quoted"\n'])
def test_a_file_that_is_no_mapping(tmp_path: Path, content: str) -> None:
    path = tmp_path / "text.yaml"
    path.write_text(content)
    assert only(path)[:3] == ("CFG-TYPE", 1, 1)


def test_ten_megabytes_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"name: x\n" + b"# comment\n" * 1_000_000)
    assert path.stat().st_size > 10_000_000
    assert only(path)[:3] == ("CFG-TOO-LARGE", 1, 1)
    assert len(Source.of(path).data) == LARGEST_BYTES + 1


def test_a_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\x7fELF\x02\x01\x01\x00\xff\xfe")
    assert only(path)[:3] == ("CFG-NOT-UTF8", 1, 9)


def test_another_code_set_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "latin1.yaml"
    path.write_bytes("name: x\n# für Zürich\n".encode("latin-1"))
    code, line, column, message = only(path)
    assert (code, line, column) == ("CFG-NOT-UTF8", 2, 4)
    assert "0xfc" in message


@pytest.mark.parametrize("character", ["\0", "\x07", "\x85", "\u2028", "\ufeff", "\x1b", "\x7f"])
def test_characters_that_nobody_sees_are_refused(character: str) -> None:
    (finding,) = findings_in(f"name: x\norb: {character}\n".encode())
    assert (finding.code, finding.line, finding.column) == ("CFG-CHARACTER", 2, 6)
    assert f"U+{ord(character):04X}" in finding.message
    assert character not in str(finding)


def test_a_byte_order_mark_and_foreign_line_ends_are_read() -> None:
    assert findings_in("\ufeffname: x\r\norb: {}\r\n".encode()) == []


def test_utf16_is_not_utf8() -> None:
    assert [finding.code for finding in findings_in("name: x\n".encode("utf-16"))] == ["CFG-NOT-UTF8"]


def test_places_count_lines_as_editors_do() -> None:
    assert place_of("a\r\nb\rc\nd", 7) == (4, 1)
    assert decode(Source("x", b"a: 1", Path())) == ("a: 1", [])
