"""Every rule of RULES.md 5.2 and 5.3 is named by a test that applies it, and nothing names a rule that there is not."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULE = re.compile(r"\b(?:SE|OC)-(?:GEN|HDR|FIX|VAR|PROP|BODY|TYP|NAME|META|TYPE|EVT|SEQ|ID)-[0-9]+\b")

COUNTS = {
    "SE-GEN": 5, "SE-HDR": 4, "SE-FIX": 4, "SE-VAR": 4, "SE-PROP": 8, "SE-BODY": 5, "SE-TYP": 1,
    "OC-NAME": 8, "OC-META": 1, "OC-TYPE": 22, "OC-VAR": 7, "OC-EVT": 2, "OC-BODY": 7, "OC-SEQ": 1, "OC-ID": 1,
}  # fmt: skip
RULES = {f"{group}-{number}" for group, count in COUNTS.items() for number in range(1, count + 1)}


def named_in(*folders: str) -> dict[str, str]:
    """Rules that the Python files of these folders name, each with one of the files."""
    return {
        rule: str(path.relative_to(ROOT))
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != Path(__file__)
        for rule in RULE.findall(path.read_text(encoding="utf-8"))
    }


def test_there_are_eighty_rules() -> None:
    assert len(RULES) == 80


def test_every_rule_is_named_by_a_test() -> None:
    assert sorted(RULES - named_in("tests").keys()) == []


def test_no_rule_is_named_that_does_not_exist() -> None:
    named = named_in("tests", "mappings", "adapters", "gateway")
    assert {rule: place for rule, place in named.items() if rule not in RULES} == {}
