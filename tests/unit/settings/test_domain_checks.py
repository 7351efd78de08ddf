"""The event domain of a configuration: bridges of others count, so do rules that route; copies are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.domain.drawing import Edge
from gateway.settings import Source, read
from gateway.settings.picture import picture_of
from tests.unit.settings.marked import codes, findings_in, the_finding

BASE = """
name: x
endpoints:
  memory: {{type: memory}}
  broker: {{type: stomp, hosts: ["127.0.0.1:61613"]}}
  qm: {{type: mq, queue_manager: QM1}}
channels:
  a: {{endpoint: memory, name: a}}
  b: {{endpoint: memory, name: b}}
  c: {{endpoint: memory, name: c}}
  d: {{endpoint: memory, name: d}}
  inbox: {{endpoint: broker, destination: "queue://inbox"}}
  outbox: {{endpoint: broker, destination: "queue://outbox"}}
{sections}
"""

UNUSED = "CFG-UNUSED-CHANNEL"


def with_sections(sections: str) -> str:
    return BASE.format(sections=sections.strip("\n"))


def relevant(sections: str) -> list[str]:
    noise = (UNUSED, "CFG-UNUSED-ENDPOINT", "CFG-TYPES-LOST")
    return [code for code in codes(with_sections(sections)) if code not in noise]


FINDINGS: list[tuple[str, str, str]] = [
    # code, sections with the place marked, a part of the message
    ("DOM-CYCLE",
     "links:\n  ▶l: {from: a, to: b}\nforeign_links:\n  old: {from: b, to: a}",
     'link "l" closes a cycle: b ⇢ a → b'),
    ("DOM-CYCLE",
     "links:\n  l: {from: a, to: b}\n  ▶k: {from: c, to: a}\nforeign_links:\n  old: {from: b, to: c}",
     "a → b ⇢ c → a"),
    ("DOM-CYCLE",
     "foreign_links:\n  one: {from: a, to: b}\n  ▶two: {from: b, to: a, operator: the mainframe team}",
     'foreign link "two" closes a cycle: a ⇢ b ⇢ a'),
    ("DOM-DIAMOND",
     "links:\n  l: {from: a, to: b}\n  ▶k: {from: b, to: c}\nforeign_links:\n  old: {from: a, to: c}",
     "a ⇢ c, and a → b → c"),
    ("DOM-DIAMOND",
     "links:\n  ▶l: {from: a, to: b}\nforeign_links:\n  old: {from: a, to: b}",
     'foreign link "old" in line 16'),
    ("CFG-DUPLICATE-LINK",
     "links:\n  l: {from: a, to: a}\n  ▶k: {from: a, to: a}",
     'link "l" in line 14'),
    ("CFG-UNKNOWN-CHANNEL",
     "foreign_links:\n  old: {from: ▶aa, to: b}",
     'did you mean "a"?'),
    ("CFG-UNKNOWN-KEY",
     "foreign_links:\n  old: {from: a, to: b, ▶filter: x}",
     "filter"),
    ("CFG-MISSING",
     "foreign_links:\n  ▶old: {from: a}",
     '"to"'),
    ("DOM-CYCLE",
     "links:\n  in: {from: inbox, to: a}\n"
     "  out: {from: a, to: outbox, rules: [{route: ▶'queue://inbox', when: 'x = 1'}]}",
     'a rule of link "out" closes a cycle: inbox → a → inbox'),
    ("DOM-CYCLE",
     "  q: {endpoint: qm, queue: IN}\n  p: {endpoint: qm, queue: OUT}\n"
     "links:\n  in: {from: q, to: a}\n"
     "  out: {from: a, to: p, rules: [{route: ▶'queue://IN', when: 'x = 1'}]}",
     'a rule of link "out" closes a cycle: q → a → q'),
    # a rule of one link, and another link: a message may take both
    ("DOM-DIAMOND",
     "links:\n  l: {from: a, to: outbox, rules: [{route: ▶'queue://inbox', when: 'x = 1'}]}\n"
     "  k: {from: inbox, to: b}\n  j: {from: a, to: b}",
     'a rule of link "l" makes a second way between two channels: a → b, and a → inbox → b'),
    ("DOM-DIAMOND",
     "links:\n  l: {from: a, to: outbox, rules: [{route: ▶'queue://inbox', when: 'x = 1'}]}\n  k: {from: a, to: inbox}",
     "a → inbox, and a → inbox"),
    ("DOM-DIAMOND",
     "links:\n  k: {from: a, to: b}\n  j: {from: b, to: inbox}\n"
     "  l: {from: a, to: outbox, rules: [{route: ▶'queue://inbox', when: 'x = 1'}]}",
     "a → inbox, and a → b → inbox"),
    ("DOM-DIAMOND",
     "links:\n  l: {from: a, to: outbox, rules: [{route: ▶'queue://both', when: 'x = 1'}]}\n"
     "  k: {from: a, to: inbox, rules: [{route: 'queue://both', when: 'y = 1'}]}",
     "a → queue://both, and a → queue://both"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "sections", "words"), FINDINGS, ids=[f"{row[0]} {row[1]}" for row in FINDINGS])
def test_findings(code: str, sections: str, words: str) -> None:
    assert words in str(the_finding(with_sections(sections), code))


CLEAN = [
    "foreign_links:\n  old: {from: a, to: b, operator: somebody}\nlinks:\n  l: {from: b, to: c}",
    "foreign_links:\n  old: {from: b, to: a}\nlinks:\n  l: {from: a, to: b, enabled: false}",
    "foreign_links:\n  old: {from: b, to: a}\nlinks:\n  l: {from: a, to: b}\ndomain: {cycles: allow}",
    # of the ways of one link a message takes one, so they are no diamond
    "links:\n  l: {from: a, to: outbox, rules: [{route: 'queue://inbox', when: 'x = 1'}]}\n"
    "  k: {from: inbox, to: b}\n  j: {from: outbox, to: b}",
    "links:\n  in: {from: inbox, to: a}\n  out: {from: a, to: outbox, rules: [{route: 'topic://inbox', when: 'x = 1'}]}",
    # also where the two come together again later, or another way leads to the beginning of both
    "links:\n  l: {from: a, to: outbox, rules: [{route: 'queue://inbox', when: 'x = 1'}]}\n"
    "  k: {from: inbox, to: b}\n  j: {from: outbox, to: b}\n  i: {from: c, to: a}\n  h: {from: b, to: d}",
    "links:\n  l: {from: a, to: outbox, rules: [{route: 'queue://inbox', when: 'x = 1'}]}\n  k: {from: a, to: inbox}\n"
    "domain: {diamonds: allow}",
    "links:\n  in: {from: inbox, to: a}\n"
    "  out: {from: a, to: outbox, rules: [{route: 'queue://inbox', when: 'x = 1'}]}\ndomain: {cycles: allow}",
]


@pytest.mark.parametrize("sections", CLEAN)
def test_what_is_right_has_no_finding(sections: str) -> None:
    assert relevant(sections) == []


SAME_SYSTEM = [
    (
        '{type: stomp, hosts: ["mq1:61613"]}',
        '{type: stomp, hosts: ["mq2:61613", "mq1:61613"]}',
        'destination: "queue://x"',
    ),
    ('{type: stomp, hosts: ["mq1:1"]}', '{type: stomp, hosts: ["mq1:1"], login: other}', 'destination: "queue://x"'),
    ("{type: cosnotification, factory: run/n.ior}", "{type: cosnotification, factory: ./run/n.ior}", "channel: 3"),
]
OTHER_SYSTEM = [
    ('{type: stomp, hosts: ["mq1:61613"]}', '{type: stomp, hosts: ["mq2:61613"]}', 'destination: "queue://x"'),
    ('{type: stomp, hosts: ["mq:1"]}', '{type: stomp, hosts: ["mq:1"], vhost: test}', 'destination: "queue://x"'),
    ("{type: cosnotification, factory: run/n.ior}", "{type: cosnotification, factory: run/m.ior}", "channel: 3"),
]


@pytest.mark.parametrize(
    ("one", "other", "address", "same"),
    [*((*row, True) for row in SAME_SYSTEM), *((*row, False) for row in OTHER_SYSTEM)],
)
def test_a_loop_through_one_system_is_seen_however_its_endpoints_are_written(
    one: str, other: str, address: str, same: bool
) -> None:
    text = f"""
    name: x
    endpoints:
      one: {one}
      other: {other}
      third: {{type: stomp, hosts: ["mq3:61613"]}}
      memory: {{type: memory}}
    channels:
      read: {{endpoint: one, {address}}}
      written: {{endpoint: other, {address}}}
      middle: {{endpoint: memory, name: middle}}
    links:
      there: {{from: read, to: middle}}
      back: {{from: middle, to: written}}
    """
    assert ("DOM-CYCLE" in codes(text)) == same


def test_brokers_that_share_hosts_by_way_of_a_third_are_one() -> None:
    text = """
    name: x
    endpoints:
      one: {type: stomp, hosts: ["a:1", "b:1"]}
      two: {type: stomp, hosts: ["c:1", "d:1"]}
      both: {type: stomp, hosts: ["b:1", "c:1"]}
      memory: {type: memory}
    channels:
      read: {endpoint: one, destination: "topic://x"}
      written: {endpoint: two, destination: "topic://x"}
      middle: {endpoint: memory, name: middle}
    links:
      there: {from: read, to: middle}
      back: {from: middle, to: written}
    """
    assert "DOM-CYCLE" in codes(text)


def test_foreign_links_are_drawn_thick_with_whoever_runs_them() -> None:
    text = with_sections("links:\n  l: {from: a, to: b}\nforeign_links:\n  old: {from: b, to: c, operator: team 7}")
    document = read(Source("test.yaml", text.encode(), Path("/nonexistent"))).document
    assert document is not None
    drawing = picture_of(document)
    assert drawing.edges == [Edge("a", "b", ("l",)), Edge("b", "c", ("old", "team 7"), thick=True)]


def test_a_channel_that_only_a_foreign_link_uses_is_used() -> None:
    unused = [
        finding.message
        for finding in findings_in(with_sections("foreign_links:\n  old: {from: a, to: b}"))
        if finding.code == UNUSED
    ]
    assert len(unused) == 4
    assert not any('"a"' in message or '"b"' in message for message in unused)


def notes(sections: str) -> list[str]:
    found = [finding for finding in findings_in(with_sections(sections)) if finding.code == "DOM-COPIES"]
    assert {finding.severity for finding in found} <= {"note"}
    return [finding.message for finding in found]


SQUARE = "links:\n  l: {from: a, to: b}\n  k: {from: a, to: c}\n  j: {from: b, to: d}\n  i: {from: c, to: d}\n"


def test_copies_and_their_routes_are_told_where_diamonds_are_allowed() -> None:
    (note,) = notes(SQUARE + "domain: {diamonds: allow}")
    assert 'channel "d" gets 2 copies of every event from "a"' in note
    assert note.endswith(": a → b → d; a → c → d")


def test_a_bridge_beside_our_link_doubles_the_copies() -> None:
    """As while one takes over from the other: allowed, and told."""
    (note,) = notes("links:\n  l: {from: a, to: b}\nforeign_links:\n  old: {from: a, to: b}\ndomain: {diamonds: allow}")
    assert 'channel "b" gets 2 copies' in note
    assert note.endswith("a ⇢ b (2 times)")


def test_a_cycle_on_the_way_brings_copies_without_end() -> None:
    links = "links:\n  l: {from: a, to: b}\n  k: {from: b, to: a}\n  j: {from: b, to: c}\n"
    found = notes(links + "domain: {cycles: allow, diamonds: allow}")
    assert len(found) == 3
    assert all("again and again" in note for note in found)


def test_the_note_stands_at_the_channel() -> None:
    text = with_sections(SQUARE + "domain: {diamonds: allow}").replace("  d: {", "  ▶d: {")
    the_finding(text, "DOM-COPIES")


def test_many_copies_are_told_briefly() -> None:
    """Squares in a row: the last gets 2 ** 60 copies, and only the first channels get a note of their own."""
    names = range(181)
    links = "".join(
        f"  l{n}{m}: {{from: c{n + x}, to: c{n + y}}}\n"
        for n in range(0, 180, 3)
        for m, (x, y) in enumerate(((0, 1), (0, 2), (1, 3), (2, 3)))
    )
    channels = "".join(f"  c{n}: {{endpoint: m, name: c{n}}}\n" for n in names)
    text = f"name: x\nendpoints: {{m: {{type: memory}}}}\ndomain: {{diamonds: allow}}\nchannels:\n{channels}links:\n{links}"
    found = [finding.message for finding in findings_in(text)]
    assert len(found) == 21
    assert "2 copies" in found[1]
    assert "158 more channels" in found[0]
    assert all(len(message) < 2_000 for message in found)


def test_the_page_shows_what_lint_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "domains.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(name: .*?)^```", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)\n```", page, re.MULTILINE | re.DOTALL)
    forbidden = [str(finding) for finding in findings_in(text) if finding.code == "DOM-DIAMOND"]
    allowed = [
        str(finding) for finding in findings_in(text + "domain: {diamonds: allow}\n") if finding.code == "DOM-COPIES"
    ]
    assert [line.replace("test.yaml", "plant.yaml") for line in forbidden + allowed] == shown
