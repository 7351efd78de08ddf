"""JSON Lines in and out, for the commands that speak the forms of FORMS.md: one line in, one line out, in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from mappings.errors import MappingError

LONGEST_LINE: Final = 256 * 2**20
"""Bytes; a longer line is an error in its place, and is never held as a whole."""


def read_json_lines(stream: BinaryIO, *, blank_lines: bool = False) -> Iterator[Any]:
    """What each line holds. A line that is no JSON gives the MappingError that says so.

    Blank lines are passed over; with `blank_lines` they are lines that are no JSON, so that answers can be counted off.
    """
    for number, line in enumerate(_lines(stream), start=1):
        if line is None:
            message = f"the line is longer than {LONGEST_LINE} bytes"
            yield MappingError("MAP-JSON", message, path=f"line {number}")
        elif blank_lines or line.strip():
            yield _read(line, number)


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Line by line; None for one that is too long."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        while not line.endswith(b"\n") and (line := stream.readline(2**20)):
            pass
        yield None


def _read(line: bytes, number: int) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        place = f"line {number}, byte {error.start + 1}"
        return MappingError("MAP-JSON", "the line is not UTF-8", path=place)
    except json.JSONDecodeError as error:
        place = f"line {number}, character {error.pos + 1}"
        return MappingError("MAP-JSON", f"the line is no JSON: {error.msg}", path=place)
    except (RecursionError, ValueError):  # the decoder gives up on depth, and Python on thousands of digits
        return MappingError(
            "MAP-JSON", "the line is nested too deep, or holds a number too long", path=f"line {number}"
        )


def write_json_line(form: Any) -> None:
    """To standard output, at once: whoever pipes us wants each answer when it is there."""
    print(json.dumps(form, ensure_ascii=False, separators=(",", ":")), file=sys.stdout, flush=True)
