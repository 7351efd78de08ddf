"""A mistake inside a filter is shown where it stands in the file, whatever the style of the text."""

from __future__ import annotations

import pytest

from gateway.settings.findings import Place
from gateway.settings.nodes import Mapping, Scalar
from gateway.settings.scalar_position import place_in_scalar
from gateway.settings.source import lines_of
from gateway.settings.yaml_reader import read_yaml

STYLES = {
    "plain": "key: one two XX three\n",
    "plain in a flow mapping": "top: {key: one two XX three}\n",
    "plain over two lines": "key: one two\n  XX three\n",
    "plain over two lines, on the first": "key: one XX\n  three\n",
    "single quotes": "key: 'one ''two'' XX three'\n",
    "double quotes": 'key: "one \\"two\\" \\u00e9\\x41 XX three"\n',
    "literal": "key: |\n  one\n  two XX\n  three\n",
    "literal with more indentation": "key: |-\n    one\n      two XX\n",
    "literal with an indentation indicator": "key: |2\n    one\n  two XX\n",
    "folded": "key: >\n  one\n  two XX\n  three\n",
    "folded, kept": "key: >-\n  one two\n  three XX",
    "with characters of two bytes": "key: 'äöü XX'\n",
}


def scalar_of(text: str) -> Scalar:
    top, findings = read_yaml(text, "test.yaml")
    assert findings == []
    assert isinstance(top, Mapping)
    node = top.entries["key"].node if "key" in top.entries else top.entries["top"].node.entries["key"].node  # type: ignore[union-attr]
    assert isinstance(node, Scalar)
    return node


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES.keys())
def test_the_place_of_a_character(text: str) -> None:
    scalar = scalar_of(text)
    before = text[: text.index("XX")].split("\n")
    wanted = Place(len(before), len(before[-1]) + 1)
    assert place_in_scalar(lines_of(text), scalar, scalar.text.index("XX")) == wanted


def test_the_end_of_the_text_has_a_place_too() -> None:
    text = 'key: "$a =="\n'
    assert place_in_scalar(lines_of(text), scalar_of(text), 5) == Place(1, 12)


@pytest.mark.parametrize("text", ['key: "one\n  two XX"\n', "key: 'one\n  two XX'\n", "key: >\n  one\n\n  two XX\n"])
def test_where_it_cannot_be_told_there_is_none(text: str) -> None:
    scalar = scalar_of(text)
    assert place_in_scalar(lines_of(text), scalar, scalar.text.index("XX")) is None


def test_an_offset_beyond_the_text_has_no_place() -> None:
    text = "key: abc\n"
    assert place_in_scalar(lines_of(text), scalar_of(text), 99) is None
