"""What single models see: each finding at its place, and all of them at once."""

from __future__ import annotations

import pytest

from tests.unit.settings.marked import VALID, codes, findings_in, the_finding

ENVIRONMENT = {"SECRET": "hunter2"}


def test_the_valid_configuration_has_a_note_and_nothing_else() -> None:
    assert codes(VALID, environment=ENVIRONMENT) == ["CFG-TYPES-LOST"]


@pytest.mark.parametrize("text", ["name: x\n", "name: x\norb: {}\nservices: {}\n", "name: x\nadmin: null\nlinks: {}\n"])
def test_little_is_enough(text: str) -> None:
    assert findings_in(text) == []


WRONG = [
    ("CFG-UNKNOWN-KEY", "name: x\n▶ordb: {}\n", 'did you mean "orb"?'),
    ("CFG-UNKNOWN-KEY", "name: x\norb: {▶listem: 'a:1'}\n", 'did you mean "listen"?'),
    ("CFG-UNKNOWN-KEY", "name: x\nendpoints:\n  b: {type: stomp, hosts: ['a:1'], ▶pasword: x}\n", 'did you mean "password"?'),
    ("CFG-UNKNOWN-KEY", "name: x\ndomain: {▶zzz: 1}\n", "known: cycles, diamonds"),
    ("CFG-MISSING", "▶orb: {}\n", "Name of this gateway"),
    ("CFG-MISSING", "name: x\nservices:\n  ▶notification: {channels: 1}\n", "reference"),
    ("CFG-MISSING", "name: x\nendpoints:\n  ▶b: {type: stomp}\n", "host:port"),
    ("CFG-MISSING", "name: x\nendpoints:\n  ▶b: {hosts: []}\n", "stomp"),
    ("CFG-MISSING", "name: x\nendpoints: {m: {type: memory}}\nchannels:\n  ▶c: {name: c}\n", "known: m"),
    ("CFG-TYPE", "name: ▶3\n", "put it in quotes"),
    ("CFG-TYPE", "name: x\norb: ▶[]\n", "{key: value}"),
    ("CFG-TYPE", "name: x\norb: {call_timeout_ms: ▶'5'}\n", "without quotes"),
    ("CFG-TYPE", "name: x\norb: {call_timeout_ms: ▶010}\n", "digits alone"),
    ("CFG-TYPE", "name: x\norb: {call_timeout_ms: ▶1.5}\n", "digits alone"),
    ("CFG-TYPE", "name: x\nendpoints: ▶text\n", "{key: value}"),
    ("CFG-TYPE", "name: x\nendpoints: {a: ▶text}\n", "{key: value}"),
    ("CFG-TYPE", "name: x\nchannels:\n  a:▶\n", "leave the key out"),
    ("CFG-TYPE", "name: x\nlinks: {l: {from: a, to: b, enabled: ▶yes}}\n", "write true"),
    ("CFG-TYPE", "name: x\nlinks: {l: {from: a, to: b, enabled: ▶off}}\n", "write false"),
    ("CFG-TYPE", "name: x\nlinks: {l: {from: a, to: b, rules: ▶{drop: x}}}\n", "dash"),
    ("CFG-TYPE", "name: x\nlinks: {l: {from: a, to: b, rules: [▶x]}}\n", "{key: value}"),
    ("CFG-TYPE", "name: x\nendpoints: {b: {type: stomp, hosts: ▶'a:1'}}\n", "[ ]"),
    ("CFG-VALUE", "name: x\norb: {call_timeout_ms: ▶0}\n", "Longest wait"),
    ("CFG-VALUE", "name: x\ndomain: {cycles: ▶forbidden}\n", 'did you mean "forbid"?'),
    ("CFG-VALUE", "name: x\nendpoints: {b: {type: stomp, hosts: ▶[]}}\n", "host:port"),
    ("CFG-VALUE", "name: x\nendpoints: {b: {type: ▶stmp}}\n", 'did you mean "stomp"?'),
    ("CFG-VALUE", "name: x\nendpoints: {b: {type: ▶3}}\n", "known: cosnotification"),
    ("CFG-VALUE", "name: x\nlinks: {l: {from: a, to: b, mapping: {limits: {depth: ▶65}}}}\n", "Levels"),
    ("CFG-VALUE", "name: x\nlinks: {l: {from: a, to: b, rules: [{constant: c, value: ▶[]}]}}\n", "a number"),
    ("CFG-VALUE", "name: x\ntests: [{name: t, link: l, given: ▶{}, expect: {filtered: true}}]\n", "What arrives"),
    ("CFG-VALUE", "name: x\ntests: [{name: t, link: l, given: {event: {}}, expect: ▶{}}]\n", "What must come"),
    ("CFG-RULE", "name: x\nlinks: {l: {from: a, to: b, rules: [▶{drop: x, rename: y, to: z}]}}\n", "rename, drop"),
    ("CFG-RULE", "name: x\nlinks: {l: {from: a, to: b, rules: [▶{to: z}]}}\n", "rename, drop"),
    ("CFG-ID", "name: ▶9lives\n", "begins with a letter"),
    ("CFG-ID", "name: x\nendpoints:\n  ▶9b: {type: memory}\n", "begins with a letter"),
    ("CFG-ID", "name: x\nlinks:\n  ▶a/b: {from: a, to: b}\n", "begins with a letter"),
    ("CFG-VALUE", "name: x\nendpoints: {q: ▶{type: mq, channel: C}}\n", ""),
    ("CFG-MISSING", "name: x\nendpoints: {▶q: {type: jms, factory: a.B}}\n", "client"),
    ("CFG-VALUE", "name: x\nendpoints: {q: ▶{type: jms, classpath: [a.jar]}}\n", ""),
    ("CFG-NOT-YET", "name: x\nlinks: {l: {from: a, to: b, dead_letter: {▶queue: DLQ}}}\n", "leave it out"),
    ("CFG-UNKNOWN-ENDPOINT", "name: x\nendpoints: {m: {type: memory}}\nchannels: {c: {endpoint: ▶mm, name: c}}\n", "did you mean"),
    ("CFG-UNKNOWN-ENDPOINT", "name: x\nchannels: {c: {endpoint: ▶m}}\n", "no endpoint at all"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "hint"), WRONG, ids=[f"{code} {text}" for code, text, _ in WRONG])
def test_each_mistake_has_its_place_and_a_hint(code: str, text: str, hint: str) -> None:
    finding = the_finding(text, code)
    assert finding.severity == "error"
    assert hint in finding.hint


def test_a_channel_has_the_keys_of_its_endpoints_wire() -> None:
    finding = the_finding(
        "name: x\nendpoints: {m: {type: memory}}\nchannels: {c: {endpoint: m, name: c, ▶destination: 'queue://x'}}\n",
        "CFG-UNKNOWN-KEY",
    )
    assert "known: endpoint, confidential, name, form" in finding.hint


def test_a_channel_of_an_unusable_endpoint_has_no_findings_of_its_own() -> None:
    channels = "channels: {c: {endpoint: q, queue: X}, d: {endpoint: q}}\nlinks: {l: {from: c, to: d}}\n"
    assert codes(f"name: x\nendpoints: {{q: {{type: fax}}}}\n{channels}") == ["CFG-VALUE"]


def test_everything_is_reported_at_once_and_in_the_order_of_the_file() -> None:
    found = findings_in(
        """
        nam: x
        orb: {listen: nowhere}
        endpoints:
          b: {type: stomp, hosts: ["a:1", 3, "b"], heartbeat: 3}
          m: {type: memory}
        channels:
          in: {endpoint: m, name: 7}
          out: {endpoint: m, name: out}
        links:
          l: {from: in, to: outt, rules: [{drop: 3}, {constant: JMSx, value: 1}, {rename: a}]}
        tests:
          - {name: broken}
          - {name: t, link: nobody, given: {event: {}}, expect: {filtered: true}}
        """
    )
    assert [(finding.line, finding.code) for finding in found if finding.severity == "error"] == [
        (1, "CFG-MISSING"),
        (1, "CFG-UNKNOWN-KEY"),
        (2, "CFG-ADDRESS"),
        (4, "CFG-TYPE"),
        (4, "CFG-ADDRESS"),
        (4, "CFG-UNKNOWN-KEY"),
        (7, "CFG-TYPE"),
        (10, "CFG-UNKNOWN-CHANNEL"),
        (10, "CFG-TYPE"),
        (10, "CFG-RULE-NAME"),
        (10, "CFG-RULE-VALUE"),
        (10, "CFG-MISSING"),
        (12, "CFG-MISSING"),
        (12, "CFG-MISSING"),
        (12, "CFG-MISSING"),
        (13, "CFG-UNKNOWN-LINK"),
    ]


def test_what_is_left_of_a_list_keeps_its_places() -> None:
    """The invalid items are taken out before the checks across entries run; the places of the others must not move."""
    the_finding(
        """
        name: x
        links: {l: {from: a, to: b, rules: [{drop: 3}, 7, {constant: ▶JMSx, value: "1"}]}}
        """,
        "CFG-RULE-NAME",
    )
    the_finding("name: x\nendpoints: {b: {type: stomp, hosts: [1, 2, 'a:1', ▶'b']}}\n", "CFG-ADDRESS")


def test_too_many_findings_are_counted_not_shown() -> None:
    text = "name: x\n" + "".join(f"k{number}: 1\n" for number in range(1_500))
    found = findings_in(text)
    assert len(found) == 1_001
    assert found[-1].code == "CFG-MORE"
    assert found[-1].message.startswith("500 ")


def test_a_large_broken_configuration_is_checked_to_its_end() -> None:
    links = "".join(f"  l{number}: {{from: c{number}, to: d{number}}}\n" for number in range(5_000))
    found = findings_in("name: x\nlinks:\n" + links)
    assert {finding.code for finding in found} == {"CFG-UNKNOWN-CHANNEL", "CFG-MORE"}
