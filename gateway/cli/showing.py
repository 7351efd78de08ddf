"""What commands that show stored events have in common: events may hold anything, and disks may refuse anything."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from typing import Any

from mappings.errors import IsthmusError

Command = Callable[..., None]


def minding_disks(trouble: Callable[[OSError], IsthmusError]) -> Callable[[Command], Command]:
    """For a command: what the disk or the rights of a file refuse is a sentence, not a defect."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def guarded(*arguments: Any, **options: Any) -> None:
            try:
                command(*arguments, **options)
            except BrokenPipeError:
                raise  # the reader of our output is gone: nothing about what is shown
            except OSError as error:
                raise trouble(error) from None

        return guarded

    return decorate


def print_json(form: Any, *, indent: int | None = None) -> None:
    print(json.dumps(form, indent=indent, ensure_ascii=False))


def printable(text: str) -> str:
    """An event's text must not steer somebody's terminal."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def utc(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        return f"{seconds} s"
