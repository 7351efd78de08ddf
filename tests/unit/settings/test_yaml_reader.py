"""YAML, read strictly: nothing is taken for something else, and what cannot be read says where and why."""

from __future__ import annotations

import pytest
import yaml

from gateway.settings import yaml_reader
from gateway.settings.findings import Place
from gateway.settings.nodes import Mapping, Scalar, Sequence, to_data
from gateway.settings.yaml_reader import DEEPEST, MOST_NODES, read_yaml
from tests.unit.settings.marked import the_finding, unmarked


@pytest.fixture(params=["libyaml", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: which one a user has depends on how PyYAML was built."""
    if request.param == "libyaml":
        assert yaml.__with_libyaml__
    monkeypatch.setattr(yaml_reader, "ENGINE", yaml.CLoader if request.param == "libyaml" else yaml.Loader)


pytestmark = pytest.mark.usefixtures("engine")


def data_of(text: str) -> object:
    top, findings = read_yaml(text, "test.yaml")
    assert findings == []
    assert top is not None
    return to_data(top)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("Yes", "Yes"),
        ("on", "on"),
        ("~", "~"),
        ("NULL", "NULL"),
        ("True", "True"),
        ("010", "010"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("1_000", "1_000"),
        ("12:30:00", "12:30:00"),
        ("2001-12-14", "2001-12-14"),
        (".inf", ".inf"),
        (".5", ".5"),
        ("+1", "+1"),
        ("1e999", "1e999"),
        ("=", "="),
        ("9" * 101, "9" * 101),
        ("true", True),
        ("false", False),
        ("null", None),
        ("", None),
        ("-12", -12),
        ("0", 0),
        ("2.50", 2.5),
        ("1e3", 1000.0),
        ('"12"', "12"),
        ("'true'", "true"),
        ('""', ""),
    ],
)
def test_values_are_what_they_look_like(text: str, value: object) -> None:
    read = data_of(f"key: {text}")
    assert read == {"key": value}
    assert type(read["key"]) is type(value)  # type: ignore[index]


def test_everything_knows_where_it_stands() -> None:
    top, findings = read_yaml("a: 1\nb:\n  - x\n  - {c: 'y'}\nd: |\n  text\n", "test.yaml")
    assert findings == []
    assert isinstance(top, Mapping)
    assert top.entries["b"].key_place == Place(2, 1)
    items = top.entries["b"].node
    assert isinstance(items, Sequence)
    assert [item.place for item in items.items] == [Place(3, 5), Place(4, 5)]
    inner = items.items[1]
    assert isinstance(inner, Mapping)
    assert inner.entries["c"].key_place == Place(4, 6)
    assert inner.entries["c"].node == Scalar(Place(4, 9), "y", "single", "y")
    assert top.entries["d"].node.place == Place(5, 4)


def test_columns_are_characters_and_lines_end_as_they_like() -> None:
    top, _ = read_yaml('"äöü𝄞": x\r\nb: y\r\n', "test.yaml")
    assert isinstance(top, Mapping)
    assert top.entries["äöü𝄞"].node.place == Place(1, 9)
    assert top.entries["b"].node.place == Place(2, 4)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("CFG-DUPLICATE-KEY", "name: a\n▶name: b\n"),
        ("CFG-DUPLICATE-KEY", "name: a\norb: {listen: 'a:1', ▶\"listen\": 'a:1'}\n"),
        ("CFG-ALIAS", "name: ▶&anchor a\n"),
        ("CFG-ALIAS", "name: ▶*anchor\n"),
        ("CFG-ALIAS", "name: a\norb:\n  ▶<<: {listen: 'a:1'}\n"),
        ("CFG-TAG", "name: ▶!!python/object/apply:os.system [id]\n"),
        ("CFG-TAG", "name: ▶!!str a\n"),
        ("CFG-DOCUMENTS", "name: a\n▶---\nname: b\n"),
        ("CFG-KEY", "name: a\n▶[a, b]: c\n"),
        ("CFG-KEY", "name: a\n▶{a: b}: c\n"),
        ("CFG-NOT-YAML", "name: a\norb: ▶@home\n"),
    ],
)
def test_what_would_surprise_somebody_is_refused(code: str, text: str) -> None:
    finding = the_finding(text, code)
    assert finding.severity == "error"
    assert finding.hint


def test_a_quote_that_is_never_closed_is_reported_where_it_opens() -> None:
    finding = the_finding('name: a\norb: {listen: ▶"127.0.0.1:0}\nadmin: {}\n', "CFG-NOT-YAML")
    assert "never closed" in finding.hint


def test_a_tab_is_named_as_such() -> None:
    plain, _ = unmarked("▶orb:\n\tlisten: x\n")
    _, findings = read_yaml(plain, "test.yaml")
    assert [finding.code for finding in findings] == ["CFG-NOT-YAML"]
    assert "tabs" in findings[0].hint


def test_all_duplicates_are_reported_and_the_first_counts() -> None:
    top, findings = read_yaml("a: 1\na: 2\nb: 3\nb: 4\n", "test.yaml")
    assert [(finding.code, finding.line) for finding in findings] == [
        ("CFG-DUPLICATE-KEY", 2),
        ("CFG-DUPLICATE-KEY", 4),
    ]
    assert top is not None
    assert to_data(top) == {"a": 1, "b": 3}


@pytest.mark.parametrize("bracket", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused_before_it_costs_anything(bracket: str) -> None:
    _, findings = read_yaml(bracket * 100_000, "test.yaml")
    assert len(findings) == 1
    assert findings[0].code in ("CFG-NESTING", "CFG-KEY", "CFG-NOT-YAML")


def test_as_much_nesting_as_is_allowed_is_read() -> None:
    data: object = data_of("[" * DEEPEST + "]" * DEEPEST)
    for _ in range(DEEPEST - 1):
        assert isinstance(data, list)
        (data,) = data
    assert data == []


def test_a_bomb_of_aliases_does_not_go_off() -> None:
    steps = zip("abcdefgh", "bcdefghi", strict=True)
    bomb = "a: &a [x, x]\n" + "".join(f"{after}: &{after} [*{before}, *{before}]\n" for before, after in steps)
    _, findings = read_yaml(bomb, "test.yaml")
    assert [(finding.code, finding.line) for finding in findings] == [("CFG-ALIAS", 1)]


def test_the_number_of_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_NODES > 100_000
    monkeypatch.setattr(yaml_reader, "MOST_NODES", 10)
    _, findings = read_yaml("[" + "1, " * 11 + "]", "test.yaml")
    assert [finding.code for finding in findings] == ["CFG-TOO-LARGE"]


def test_a_backslash_in_double_quotes_is_explained() -> None:
    _, findings = read_yaml('name: x\nfilter: "a \\d"\n', "test.yaml")
    assert [(finding.code, finding.line) for finding in findings] == [("CFG-NOT-YAML", 2)]
    assert "backslash" in findings[0].hint


@pytest.mark.parametrize(
    "text",
    [
        "password: *hunter2",
        "password: &hunter2 x",
        "password: !hunter2 x",
        "password: @hunter2",
        "password: %hunter2",
        'password: "x\\hunter2"',
        "{password: hunter2",
        "password: `hunter2`",
        "a: b: hunter2",
    ],
)
def test_a_password_without_quotes_is_not_repeated(text: str) -> None:
    _, findings = read_yaml(text, "test.yaml")
    assert findings
    assert not any("hunter2" in str(finding) for finding in findings)
