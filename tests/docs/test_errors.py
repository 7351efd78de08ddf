"""docs/errors.md and the code name the same error codes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"(?:MAP|FLT|COR|STO|JMS|MQ|MEM|CFG|DOM|LNK|JNL|CAP|DLQ|CLI|ISTHMUS)(?:-[A-Z0-9]+)+")


def codes_in_source() -> dict[str, str]:
    """Every string literal of our packages that is an error code, with a file that holds it."""
    found: dict[str, str] = {}
    for package in ("mappings", "adapters", "gateway", "spark"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                    found[node.value] = str(path.relative_to(ROOT))
    return found


def codes_on_the_page() -> list[str]:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([A-Z]+-[A-Z0-9-]+) \|", page, re.MULTILINE)


def test_every_code_has_exactly_one_row() -> None:
    page = codes_on_the_page()
    assert len(page) == len(set(page))
    source = codes_in_source()
    assert {code: place for code, place in source.items() if code not in page} == {}, "codes without a row"
    assert [code for code in page if code not in source] == [], "rows without a code"


def test_every_row_says_what_it_means_and_what_to_do() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| [A-Z]+-[A-Z0-9-]+ \|.*$", page, re.MULTILINE):
        cells = [cell.strip() for cell in row.replace("\\|", "").strip("|").split("|")]
        assert len(cells) == 3, row
        assert all(cells), row
