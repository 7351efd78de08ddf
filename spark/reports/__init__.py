"""Results for people and for programs: `report.json`, and `report.html`, a page that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from spark.proposals import proposals
from spark.reports import audit_page, catalogue_page, compare_page, validate_page

PAGES: Final[dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "validate": validate_page.page,
    "compare": compare_page.page,
    "audit": audit_page.page,
    "catalogue": catalogue_page.page,
}


def write_reports(result: Mapping[str, Any], out: Path) -> None:
    """Each replaces what was there as a whole."""
    out.mkdir(parents=True, exist_ok=True)
    _write(out / "report.json", json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    if result["job"] == "catalogue":
        _write(out / "proposals.yaml", proposals(result))
    page = PAGES.get(str(result["job"]))
    if page is not None:
        _write(out / "report.html", page(result))


def _write(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8", errors="backslashreplace")
    part.replace(path)
