"""From text to tree: loads a grammar when it is first needed, keeps to bounds, and turns every complaint into a FilterError.

lark is imported on first use, because most commands never parse a filter. The tree is built while the parser reduces, by the
methods of a builder object named after the grammar's rules, so nothing here recurses, however deep the text is nested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from mappings.errors import FilterError

if TYPE_CHECKING:
    from lark import Lark, UnexpectedInput

MAX_LENGTH: Final = 100_000
"""Characters in one expression: thousands of alternatives fit, and parsing takes about half a second."""

MAX_DEPTH: Final = 100
"""Operators and parentheses inside each other; evaluation takes two calls for each."""

_SHOWN: Final = 40


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A grammar file beside this one, the builder of its trees, and what to tell people who mistake it for another language."""

    name: str
    grammar: str
    make_builder: Callable[[], object]
    hints: Mapping[str, str]  # by the offending piece of text


def parse(language: Language, text: str) -> Any:
    """What the builder makes of the text. Raises FilterError, and nothing else."""
    if len(text) > MAX_LENGTH:
        raise FilterError(
            "FLT-LIMIT",
            f"the expression has {len(text)} characters, more than {MAX_LENGTH}",
            position=MAX_LENGTH,
            hint="split it into several filters",
        )
    from lark import UnexpectedInput

    try:
        return _parser(language).parse(text)
    except UnexpectedInput as unexpected:
        raise _syntax_error(language, text, unexpected) from None


def depth_of(position: int, *children: Any) -> int:
    """The depth of a node above these children; FilterError where that is too deep."""
    depth: int = 1 + max((child.depth for child in children), default=0)
    if depth > MAX_DEPTH:
        raise FilterError(
            "FLT-LIMIT", f"the expression is nested more than {MAX_DEPTH} deep", position=position, hint="flatten it"
        )
    return depth


@lru_cache(maxsize=8)
def _parser(language: Language) -> Lark:
    from lark import Lark

    grammar = files(__package__).joinpath(language.grammar).read_text(encoding="utf-8")  # also out of an archive
    return Lark(grammar, parser="lalr", transformer=language.make_builder(), maybe_placeholders=False)


def _syntax_error(language: Language, text: str, unexpected: UnexpectedInput) -> FilterError:
    from lark import UnexpectedCharacters, UnexpectedToken

    if isinstance(unexpected, UnexpectedToken) and unexpected.token.type != "$END":
        position, piece = unexpected.token.start_pos or 0, str(unexpected.token)
    elif isinstance(unexpected, UnexpectedCharacters):
        position = unexpected.pos_in_stream or 0
        if text[position] == "'":
            return FilterError("FLT-SYNTAX", "this string has no end", position=position, hint=language.hints["'"])
        piece = _piece_at(text, position)
    else:
        return FilterError("FLT-SYNTAX", "the expression ends too early", position=len(text))
    # The beginning of a foreign operator may be one of ours: `<>` is read as `<` and then `>`.
    hint = language.hints.get(text[max(0, position - 1) : position] + piece) or language.hints.get(piece, "")
    return FilterError("FLT-SYNTAX", f"{_shown(piece)} is not expected here", position=position, hint=hint)


def _piece_at(text: str, position: int) -> str:
    """The word, or the run of operator characters, that begins here."""
    end = position + 1
    if text[position].isalnum() or text[position] == "_":
        while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
            end += 1
    else:
        while end < len(text) and text[end] in "=&|<>!":
            end += 1
    return text[position:end]


def _shown(piece: str) -> str:
    return repr(piece if len(piece) <= _SHOWN else piece[: _SHOWN - 1] + "…")
