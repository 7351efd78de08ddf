"""docs/filters.md: its expressions compile, its translations are what the translation does, its error is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mappings.errors import FilterError
from mappings.filters import compile_etcl, compile_selector
from mappings.filters.parsing import MAX_DEPTH, MAX_LENGTH
from mappings.filters.pointer import point_at
from mappings.filters.push_down import etcl_to_selector

PAGE = (Path(__file__).parents[3] / "docs" / "filters.md").read_text(encoding="utf-8")


def _block(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return [line for block in found for line in block.splitlines()]


@pytest.mark.parametrize("text", _block("etcl"))
def test_etcl_of_the_page_compiles(text: str) -> None:
    compile_etcl(text)


@pytest.mark.parametrize("text", _block("selector"))
def test_selectors_of_the_page_compile(text: str) -> None:
    compile_selector(text)


def test_the_table_of_translations() -> None:
    table = PAGE.partition("| ETCL | for the broker |")[2].partition("\n\n")[0]
    rows = [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    assert len(rows) > 5
    for etcl, selector, residual in rows:
        assert etcl_to_selector(etcl) == (selector, residual)


def test_the_error_is_what_is_printed() -> None:
    with pytest.raises(FilterError) as raised:
        compile_etcl('$type_name = "Alarm"')
    assert f"isthmus filter: {raised.value}\n" in PAGE
    shown = point_at('$type_name = "Alarm"', raised.value.position)
    assert "\n".join(f"  {line}" for line in shown.splitlines()) in PAGE


def test_the_limits() -> None:
    assert f"{MAX_LENGTH:,} characters, {MAX_DEPTH} levels".replace(",", " ", 1) in PAGE
