"""Writes straight code that moves over octets: whatever stands at known distances is taken by one `unpack_from`.

The code holds its place in `p`, or in `e` right behind a text, and returns None as soon as the octets are not those that it was
written for. Pads are skipped, whatever is in them. Where the octets end early, `unpack_from` raises struct.error, and
an index IndexError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct as Packing
from typing import Any, Final, NamedTuple

from mappings.plan_source import PlanSource

_SIZES: Final = {"?": 1, "B": 1, "h": 2, "H": 2, "l": 4, "L": 4, "q": 8, "Q": 8, "f": 4, "d": 8}
_FEW: Final = 17
"""For up to so many numbers in a row the packing is made before."""


class _Piece(NamedTuple):
    offset: int
    size: int
    format: str
    target: str = ""
    constant: bytes = b""  # what it must be


class StraightCode:
    def __init__(self, source: PlanSource, *, little: bool) -> None:
        """The code begins at `p`, which 4 divides."""
        self._source = source
        self._order = "<" if little else ">"
        self._base, self._offset = "p", 0  # where we are: the offset counts from the base
        self._divisor = 4  # it divides the base, as far as we know
        self._pieces: list[_Piece] = []  # that are to be unpacked
        self._doubts: list[str] = []  # conditions on the targets under which the octets are of another shape

    # What stands at known distances --------------------------------------------------------------------------------------

    def number(self, format_: str, *, wanted: bool = True) -> str:
        """The variable that will hold it, once the code is `settled`."""
        size = _SIZES[format_]
        if wanted:
            return self._variable(format_, size, size)
        self._align(size)
        self._add(_Piece(self._offset, size, f"{size}x"))
        return ""

    def octets(self, size: int) -> str:
        return self._variable(f"{size}s", size, 1)

    def constant(self, octets: bytes, alignment: int) -> None:
        """What must stand here."""
        self._align(alignment)
        last = self._pieces[-1] if self._pieces else None
        if last is not None and last.constant and last.offset + last.size == self._offset:
            self._pieces.pop()
            self._offset, octets = last.offset, last.constant + octets
        target = self._source.variable()
        self._add(_Piece(self._offset, len(octets), f"{len(octets)}s", target, octets))

    def alike(self, octets: bytes, is_alike: Callable[[bytes], bool]) -> None:
        """What must stand here in one of several spellings; which one it was last time is remembered."""
        variable = self.octets(len(octets))
        last = [octets]

        def judge(other: bytes) -> bool:
            if not is_alike(other):
                return False
            last[0] = other
            return True

        self.doubt(f"{variable} != {self._constant(last)}[0] and not {self._constant(judge)}({variable})")

    def doubt(self, condition: str) -> None:
        """On variables that were asked for."""
        self._doubts.append(condition)

    def settled(self) -> None:
        """After this, variables hold what they were asked for."""
        pieces, doubts = self._pieces, self._doubts
        if pieces:
            at = pieces[0].offset
            format_ = self._order
            for piece in pieces:
                format_ += f"{piece.offset - at}x{piece.format}"
                at = piece.offset + piece.size
            targets = "".join(f"{piece.target}, " for piece in pieces if piece.target)
            unpack = f"{self._constant(Packing(format_).unpack_from)}(body, {self._place(pieces[0].offset)})"
            self._source.line(f"{targets}= {unpack}" if targets else unpack)
            doubts[:0] = [f"{piece.target} != {piece.constant!r}" for piece in pieces if piece.constant]
        if doubts:
            self._source.line(f"if {' or '.join(doubts)}: return None")
        pieces.clear()
        doubts.clear()

    def _variable(self, format_: str, size: int, alignment: int) -> str:
        self._align(alignment)
        variable = self._source.variable()
        self._add(_Piece(self._offset, size, format_, variable))
        return variable

    def _add(self, piece: _Piece) -> None:
        self._pieces.append(piece)
        self._offset += piece.size

    def _align(self, alignment: int) -> None:
        if alignment > self._divisor:
            self.settled()
            self._source.line(f"p = {self._place(self._offset + alignment - 1)} & -{alignment}")
            self._base, self._offset, self._divisor = "p", 0, alignment
        self._offset = (self._offset + alignment - 1) & -alignment

    def _place(self, offset: int) -> str:
        return f"{self._base} + {offset}" if offset else self._base

    def _constant(self, value: Any) -> str:
        return self._source.constant(value)

    # What is as long as a number says --------------------------------------------------------------------------------------

    def text(self, length: str, *, wanted: bool) -> str:
        """A string; the variable holds the text."""
        line = self._source.line
        self.settled()
        start = self._place(self._offset)
        line(f"e = {self._place(self._offset - 1)} + {length}")
        self._base, self._offset, self._divisor = "e", 1, 1
        if not wanted:
            line(f"o = body[{start}:e]")
            line("if body[e] or 0 in o: return None")
            line("if not o.isascii(): o.decode()")
            return ""
        text = self._source.variable()
        line(f"{text} = body[{start}:e].decode()")
        line(f"if body[e] or '\\0' in {text}: return None")
        return text

    def blob(self, length: str, *, wanted: bool) -> str:
        """Octets; the variable holds them."""
        self.here()
        self._source.line(f"p += {length}")
        self._source.line("if p > len(body): return None")
        if not wanted:
            return ""
        octets = self._source.variable()
        self._source.line(f"{octets} = body[p - {length}:p]")
        return octets

    def numbers(self, format_: str, length: str, *, wanted: bool) -> str:
        """A row of numbers; the variable holds the list."""
        line, size = self._source.line, _SIZES[format_]
        self.settled()
        divisor = min(self._divisor, self._offset & -self._offset or 8)  # of where we are
        if self._base != "p" or self._offset:
            line(f"p = {self._place(self._offset)}")
        numbers = self._source.variable() if wanted else ""
        with self._source.block(f"if {length}:"):
            if size > divisor:
                line(f"p = p + {size - 1} & -{size}")  # only where there is a number
            line(f"p += {length} * {size}")
            line("if p > len(body): return None")
            if wanted:
                few = tuple(Packing(f"{self._order}{count}{format_}").unpack_from for count in range(_FEW))
                many = f"Packing(f'{self._order}{{{length}}}{format_}').unpack_from"
                line(f"u = {self._constant(few)}[{length}] if {length} < {_FEW} else {many}")
                line(f"{numbers} = list(u(body, p - {length} * {size}))")
        if wanted:
            line(f"else: {numbers} = []")
        self._base, self._offset, self._divisor = "p", 0, min(divisor, size)
        return numbers

    @contextmanager
    def repeated(self, length: str) -> Iterator[None]:
        """A loop over elements."""
        self.here()
        with self._source.block(f"for _ in range({length}):"):
            yield
            self.here()

    def here(self) -> None:
        """After this, `p` is where we are, exactly; nothing more is known of it."""
        self.settled()
        if self._base != "p" or self._offset:
            self._source.line(f"p = {self._place(self._offset)}")
        self._base, self._offset, self._divisor = "p", 0, 1
