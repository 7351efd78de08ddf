"""The files that are made from the models. `python -m tests.unit.settings.generated_files` renews them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gateway.settings.schema import schema_text
from gateway.settings.template import template_text
from tests.unit.settings.option_tables import option_tables

ROOT = Path(__file__).parents[3]
PAGE = "docs/configuration.md"
MARK = re.compile(r"(<!-- options: ([a-z_ ]+) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)


def page_text() -> str:
    """The page with its tables made anew; what stands between the marks is ours, the rest is its author's."""
    tables = option_tables()
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    marks = [name for _, name, _, _ in MARK.findall(page)]
    assert sorted(marks) == sorted(tables), "every table has its mark in the page, once"
    return MARK.sub(lambda found: found[1] + tables[found[2]] + found[4], page)


GENERATED: dict[str, Callable[[], str]] = {
    "config/isthmus.schema.json": schema_text,
    "config/isthmus.yaml": template_text,
    PAGE: page_text,
}

if __name__ == "__main__":
    for path, make in GENERATED.items():
        text = make()
        if (ROOT / path).read_text(encoding="utf-8") != text:
            (ROOT / path).write_text(text, encoding="utf-8")
            print(f"renewed {path}")
