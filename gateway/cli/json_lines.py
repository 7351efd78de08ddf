"""JSON Lines in and out, for the commands that speak the forms of FORMS.md: one line in, one line out, in order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from mappings.errors import MappingError


def read_json_lines(stream: Iterable[bytes]) -> Iterator[Any]:
    """What each line holds; blank lines are passed over. A line that is no JSON gives the MappingError that says so."""
    for number, line in enumerate(stream, start=1):
        if line.strip():
            yield _read(line, number)


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
