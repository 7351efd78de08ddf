"""Whatever stands in a file: findings with places, or settings, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.settings import Reading, Source, read
from gateway.settings.nodes import Mapping, Scalar, to_data
from gateway.settings.scalar_position import place_in_scalar
from gateway.settings.source import lines_of
from gateway.settings.yaml_reader import read_yaml
from tests.unit.settings.marked import VALID

FOLDER = Path("/nonexistent")
ENVIRONMENT = {"SECRET": "hunter2"}


def read_bytes(data: bytes) -> Reading:
    reading = read(Source("test.yaml", data, FOLDER), environment=ENVIRONMENT)
    lines = lines_of(data.decode("utf-8", "replace"))
    for finding in reading.findings:
        assert 1 <= finding.line <= len(lines) + 1
        assert 1 <= finding.column <= max(map(len, lines)) + 2
        assert finding.message
        assert "\n" not in str(finding)
        assert "hunter2" not in str(finding)
    errors = any(finding.severity == "error" for finding in reading.findings)
    assert reading.runnable is not errors
    assert not reading.runnable or reading.settings is not None
    return reading


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    read_bytes(data)


YAML_PIECES = st.sampled_from(
    [
        "name: x", "orb:", "links:", "channels:", "endpoints:", "\n", "\n  ", "\n- ", "\t", ": ", "- ", "? ", "{", "}", "[", "]",
        ",", "'", '"', "|\n", ">-\n", "&a ", "*a", "!!x ", "---\n", "...\n", "%YAML 1.1\n", "# ", "<<", "${env:",
        "${env:SECRET}", "${file:x}", "\\", "\\U", "~", "null", "é", "\ufeff",
    ]
)  # fmt: skip


@given(st.lists(st.one_of(YAML_PIECES, st.text(max_size=5)), max_size=25).map("".join))
def test_any_text_that_looks_like_yaml(text: str) -> None:
    read_bytes(text.encode("utf-8", "surrogatepass"))


def valid_data() -> dict[str, Any]:
    top, findings = read_yaml(VALID, "valid")
    assert findings == []
    assert isinstance(top, Mapping)
    data: dict[str, Any] = to_data(top)
    return data


def paths_in(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for step, below in steps for found in paths_in(below, (*path, step)))]


PATHS = [path for path in paths_in(valid_data()) if path]
KEYS = st.sampled_from(sorted({str(step) for path in PATHS for step in path})) | st.text(max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(
        [
            "${env:SECRET}",
            "${env:MISSING}",
            "a",
            "ems-alarms",
            "stomp",
            "memory",
            "mq",
            "queue://x",
            "127.0.0.1:1",
            "$x ==",
            "x = 1",
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """The valid configuration with a few values changed, removed or added."""
    data = valid_data()
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(PATHS))
        parent: Any = data
        for step in path[:-1]:
            steps = parent if isinstance(parent, dict) else range(len(parent)) if isinstance(parent, list) else ()
            parent = parent[step] if step in steps else None
        if isinstance(parent, dict):
            kind = draw(st.sampled_from(["change", "remove", "add"]))
            if kind == "change":
                parent[path[-1]] = draw(VALUES)
            elif kind == "remove":
                parent.pop(path[-1], None)
            else:
                parent[draw(KEYS)] = draw(VALUES)
        elif isinstance(parent, list):
            parent.insert(draw(st.integers(0, len(parent))), draw(VALUES))
    return data


@settings(deadline=None, max_examples=200)
@given(damaged())
def test_any_damage_to_a_configuration(data: dict[str, Any]) -> None:
    """JSON is YAML: a file in one line, and no place may be lost."""
    read_bytes(json.dumps(data, ensure_ascii=True).encode())


def test_the_valid_configuration_is_valid() -> None:
    assert read_bytes(VALID.encode()).runnable


@pytest.mark.parametrize("style", ["single", "double", "plain", "literal"])
@given(text=st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=30), data=st.data())
def test_every_character_of_a_text_is_found_where_it_stands(style: str, text: str, data: st.DataObject) -> None:
    written = {
        "single": "key: '" + text.replace("'", "''") + "'",
        "double": "key: " + json.dumps(text),
        "plain": f"key: {text}",
        "literal": f"key: |-\n  {text}",
    }[style]
    top, _ = read_yaml(written, "test.yaml")
    node = top.entries["key"].node if isinstance(top, Mapping) and "key" in top.entries else None
    if not isinstance(node, Scalar) or node.text != text:
        return  # not every text can be written in every style
    offset = data.draw(st.integers(0, len(text) - 1))
    place = place_in_scalar(lines_of(written), node, offset)
    assert place is not None
    shown = lines_of(written)[place.line - 1][place.column - 1 :]
    assert shown.startswith(text[offset]) or (style == "double" and shown.startswith(json.dumps(text[offset])[1:-1]))
