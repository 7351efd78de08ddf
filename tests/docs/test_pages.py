"""What the pages show works: links lead somewhere, the configuration lints, the commands run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.settings import Source, check

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNABLE = re.compile(r"isthmus (?:translate|filter)\b")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def runnable() -> list[tuple[str, str]]:
    """Shell blocks of the pages for newcomers that need no peer."""
    pages = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
    return [(page.name, block) for page in pages for block in blocks(page, "sh") if RUNNABLE.search(block)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target


def test_the_configuration_of_the_readme_has_no_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_PASSWORD", "a secret")
    (text,) = blocks(ROOT / "README.md", "yaml")
    findings = check(Source("README.md", text.encode(), ROOT))
    assert [finding for finding in findings if finding.severity == "error"] == []


def test_there_are_commands_to_run() -> None:
    assert len(runnable()) == 3


@pytest.mark.parametrize(("page", "block"), runnable())
def test_the_commands_of_the_first_pages_work(page: str, block: str) -> None:
    command = block.replace(".venv/bin/isthmus", f"{sys.executable} -m gateway.cli")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)
    assert done.returncode == 0, (page, done.stderr)
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert answer.get("match", True) is True
    assert "error" not in answer
