"""Standard error that forgives."""

from __future__ import annotations

import errno
import io

from gateway.cli.streams import Forgiving


class Medium(io.StringIO):
    full = False

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_lines_that_could_not_be_written_are_counted_and_told() -> None:
    medium = Medium()
    log = Forgiving(medium)
    print("one", file=log, flush=True)
    medium.full = True
    for number in range(3):
        print(f"lost {number}", file=log, flush=True)
    medium.full = False
    print("two", file=log, flush=True)
    print("three", file=log, flush=True)
    assert medium.getvalue() == "one\nisthmus: up to 3 lines could not be written here\ntwo\nthree\n"


def test_a_stream_that_was_closed_is_forgiven_too() -> None:
    medium = Medium()
    medium.close()
    print("nobody reads this", file=Forgiving(medium))


def test_it_is_asked_like_the_stream_behind_it() -> None:
    assert not Forgiving(Medium()).isatty()
