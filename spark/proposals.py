"""From a catalogue to YAML that somebody can begin with: a link and a test for each event type that was seen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

HEAD: Final = """# Proposed from captured traffic: put your channels in the place of FROM and TO, and take what you need.
"""


def proposals(result: Mapping[str, Any]) -> str:
    """`links:` and `tests:` of a configuration. JSON inside YAML: every text stays what it is."""
    links: list[str] = []
    tests: list[str] = []
    names: set[str] = set()
    for row in result["types"]:
        if row["form"] != "event" or row["sample"] is None:
            continue
        name = _name(row["type"], names)
        domain, _, kind = row["type"].partition("::")
        condition = f"$domain_name == {_literal(domain)} and $type_name == {_literal(kind)}"
        links.append(
            f"  # {row['events']} events, {row['per_second']} a second, {row['busiest_second']} in the busiest one\n"
            f"  {name}:\n    from: FROM\n    to: TO\n    filter: {json.dumps(condition)}\n"
        )
        expect = {"type_name": kind, "domain_name": domain}
        properties = {"$type_name": expect["type_name"], "$domain_type": expect["domain_name"]}
        tests.append(
            f"  - name: {json.dumps('as captured: ' + row['type'])}\n    link: {name}\n"
            f"    given: {{event: {json.dumps(row['sample'])}}}\n    expect: {{properties: {json.dumps(properties)}}}\n"
        )
    if not links:
        return HEAD + "# No events were seen, or all of them were messages.\n"
    return HEAD + "links:\n" + "".join(links) + "tests:\n" + "".join(tests)


def _name(kind: str, taken: set[str]) -> str:
    """An id that the configuration allows, and nobody has."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", kind).strip("-").lower()
    plain = plain if plain[:1].isalpha() else f"type-{plain}".rstrip("-")
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name)
    return name


def _literal(text: str) -> str:
    """As ETCL spells text."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
