"""What no single model sees: each finding at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.settings.checks import domain as domain_checks
from tests.unit.settings.marked import codes, findings_in, the_finding

BASE = """
name: x
orb: {{listen: "127.0.0.1:0"}}
endpoints:
  ems: {{type: cosnotification, factory: run/notify.ior}}
  broker: {{type: stomp, hosts: ["127.0.0.1:61613"]}}
  memory: {{type: memory}}
  me: {{type: notices}}
channels:
  a: {{endpoint: memory, name: a}}
  b: {{endpoint: memory, name: b}}
  c: {{endpoint: memory, name: c}}
  d: {{endpoint: memory, name: d}}
  m: {{endpoint: memory, name: m, form: message, profile: strict}}
  n: {{endpoint: memory, name: n, form: message}}
  corba: {{endpoint: ems, channel: 0}}
  jms: {{endpoint: broker, destination: "topic://x"}}
  told: {{endpoint: me}}
links:
{links}
"""


def with_links(links: str) -> str:
    return BASE.format(links="\n".join("  " + line for line in links.strip("\n").split("\n")))


def relevant(text: str) -> list[str]:
    """Without the remarks on channels that a short example leaves unused."""
    return [code for code in codes(text) if not code.startswith("CFG-UNUSED")]


LINKS: list[tuple[str, str, str]] = [
    # code, links with the place marked, a part of the message or hint
    ("CFG-UNKNOWN-CHANNEL", "l: {from: ▶aa, to: b}", 'did you mean "a"?'),
    ("CFG-UNKNOWN-CHANNEL", "l: {from: a, to: ▶jmss}", 'did you mean "jms"?'),
    ("CFG-DUPLICATE-LINK", "l: {from: a, to: b}\n▶k: {from: a, to: b, filter: '$x == 1'}", "line 19"),
    ("DOM-CYCLE", "▶l: {from: a, to: a}", "a → a"),
    ("DOM-CYCLE", "l: {from: a, to: b}\n▶k: {from: b, to: a}", "a → b → a"),
    ("DOM-CYCLE", "l: {from: a, to: b}\nk: {from: b, to: c}\n▶j: {from: c, to: a}", "a → b → c → a"),
    ("DOM-DIAMOND", "l: {from: a, to: b}\nk: {from: b, to: c}\n▶j: {from: a, to: c}", "a → c, and a → b → c"),
    ("CFG-FILTER-KIND", "l: {from: m, to: n, ▶filter: '$x == 1'}", "selector"),
    ("CFG-FILTER-KIND", "l: {from: a, to: n, ▶selector: 'x = 1'}", "filter"),
    ("FLT-SYNTAX", "l: {from: a, to: b, filter: '$x == ▶'}", ""),
    ("FLT-SYNTAX", "l: {from: a, to: b, filter: \"$x == 'it' * ▶) 2\"}", ""),
    ("FLT-SYNTAX", "l:\n  from: a\n  to: b\n  filter: |\n    $x == 1\n    and ▶) 2", ""),
    ("FLT-SYNTAX", "l: {from: m, to: n, selector: 'x = ▶'}", ""),
    ("FLT-SYNTAX", "l: {from: a, to: m, rules: [{drop: q}, {route: 'queue://x', when: 'x > ▶> 1'}]}", ""),
    ("CFG-NOTICES", "l: {from: a, to: ▶told}", "from: told"),
    ("CFG-NOTICES", "l: {from: ▶told, to: b, delivery: {journal: {enabled: false}}}", "no journal"),
    ("CFG-NO-EFFECT", "l: {from: a, to: b, mapping: {▶priority: linear}}", "events to events"),
    ("CFG-NO-EFFECT", "l: {from: a, to: m, mapping: {▶text_as: wstring}}", "events to messages"),
    ("CFG-NO-EFFECT", "l: {from: m, to: a, mapping: {▶metadata: false}}", "messages to events"),
    ("CFG-NO-EFFECT", "l: {from: m, to: a, ▶rules: [{drop: x}]}", "messages to events"),
    ("CFG-NO-EFFECT", "l: {from: a, to: m, rules: [{drop: x}, {rename: ▶x, to: y}]}", "already taken"),
    ("CFG-TYPES-LOST", "l: {from: a, to: ▶jms}", "type jms"),
    ("CFG-TYPES-LOST", "l: {from: a, to: ▶jms}\nk: {from: b, to: jms}", "also: \"k\""),
    ("CFG-TYPES-LOST", "l: {from: m, to: ▶jms}", "text"),
    ("CFG-TYPES-LOST", "l: {from: ▶jms, to: a}", "restored from `$se`"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{rename: x, to: ▶JMSFoo}]}", "OC-NAME-6"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{rename: x, to: ▶Between}]}", "OC-NAME-5"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{rename: x, to: ▶$gid}]}", "own"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{rename: ▶$se, to: y}]}", "metadata: false"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{drop: ▶$body}]}", "own"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{constant: ▶a-b, value: x}]}", "strict"),
    ("CFG-RULE-NAME", "l: {from: a, to: m, rules: [{copy_header: JMSType, to: ▶a.b}]}", "strict"),
    ("CFG-RULE-VALUE", "l: {from: a, to: m, rules: [{constant: x, type: byte, value: ▶128}]}", "byte"),
    ("CFG-RULE-VALUE", "l: {from: a, to: m, rules: [{constant: x, type: int, value: ▶'1'}]}", "int"),
    ("CFG-RULE-VALUE", "l: {from: a, to: m, rules: [{constant: x, type: int, value: ▶true}]}", "int"),
    ("CFG-RULE-VALUE", "l: {from: a, to: m, rules: [{constant: x, type: float, value: ▶1e39}]}", "float"),
    ("CFG-RULE-VALUE", "l: {from: a, to: m, rules: [{constant: x, type: boolean, value: ▶1}]}", "boolean"),
    ("CFG-RULE-VALUE", "l: {from: a, to: m, rules: [{constant: x, value: ▶1}]}", "String"),
    ("CFG-RULE-TWICE", "l: {from: a, to: m, rules: [{constant: x, value: a}, {rename: y, to: ▶x}]}", "line 19"),
    ("CFG-RULE-TWICE", "l: {from: a, to: m, rules: [{body: text}, ▶{body: map}]}", "line 19"),
    ("CFG-VALUE", "l: {from: m, to: a, mapping: {event_name_from: ▶JMSPriority}}", "JMSMessageID"),
    ("CFG-BACK-OFF", "l: {from: a, to: b, delivery: {retry: {back_off: ▶{first_ms: 2, longest_ms: 1}}}}", "longest_ms"),
    ("CFG-BATCH", "l: {from: a, to: b, delivery: {batch: ▶11, window: 10}}", "never fills"),
    ("CFG-BATCH", "l: {from: a, to: b, delivery: {batch: ▶501}}", "500"),
    ("CFG-DEAD-LETTER", "l: {from: a, to: b, dead_letter: {file: ▶/tmp/x}}", "inside"),
    ("CFG-DEAD-LETTER", "l: {from: a, to: b, dead_letter: {file: ▶a/../../x}}", "inside"),
    ("CFG-DEAD-LETTER", "l: {from: a, to: b}\nk: {from: b, to: c, dead_letter: {file: ▶dead-letters/l.jsonl}}", '"l"'),
]  # fmt: skip


@pytest.mark.parametrize(("code", "links", "words"), LINKS, ids=[f"{code} {links}" for code, links, _ in LINKS])
def test_links(code: str, links: str, words: str) -> None:
    finding = the_finding(with_links(links), code)
    assert words in str(finding)


CLEAN = [
    "l: {from: a, to: b}\nk: {from: a, to: b, enabled: false}",
    "l: {from: a, to: b}\nk: {from: b, to: a, enabled: false}",
    "l: {from: a, to: b}\nk: {from: a, to: c}\nj: {from: b, to: d}",
    "l: {from: a, to: m, filter: \"$type_name == 'Alarm'\", mapping: {metadata: false, limits: {depth: 2}}}",
    "l: {from: m, to: a, selector: 'x > 1', mapping: {event_name_from: JMSXGroupID, text_as: wstring, priority: linear}}",
    "l: {from: a, to: m, rules: [{constant: JMSXGroupID, value: g}, {constant: x, type: long, value: -9223372036854775808}]}",
    "l: {from: a, to: m, rules: [{constant: x, type: double, value: 1}, {rename: a, to: b}, {rename: b, to: c}]}",
    "l: {from: a, to: n, rules: [{rename: a, to: a.b}]}",
    "l: {from: a, to: b, dead_letter: {file: one.jsonl}}\nk: {from: b, to: c, dead_letter: {file: two.jsonl}}",
]


@pytest.mark.parametrize("links", CLEAN)
def test_links_that_are_right(links: str) -> None:
    assert relevant(with_links(links)) == []


def test_domains_may_allow_what_is_forbidden_by_default() -> None:
    links = with_links("l: {from: a, to: b}\nk: {from: b, to: a}\nj: {from: a, to: c}\ni: {from: b, to: c}")
    assert relevant(links) == ["DOM-CYCLE", "DOM-DIAMOND"]
    assert relevant(links + "domain: {cycles: allow}\n") == ["DOM-DIAMOND"]
    assert relevant(links + "domain: {diamonds: allow}\n") == ["DOM-COPIES", "DOM-CYCLE"]
    assert set(relevant(links + "domain: {cycles: allow, diamonds: allow}\n")) == {"DOM-COPIES"}


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        ("endpoints: {q: {type: mq, ▶stand_in: {}}}", "no queue manager"),
        ("endpoints: {▶m: {type: memory}}", "does not survive"),
        ("services: {▶broker: {listen: '127.0.0.1:0'}}", "embedded broker"),
    ],
)
def test_production_refuses_what_is_for_trials(trial: str, words: str) -> None:
    assert words in str(the_finding(f"name: x\nproduction: true\n{trial}\n", "CFG-PRODUCTION"))
    assert "CFG-PRODUCTION" not in codes(f"name: x\n{trial.replace('▶', '')}\n")


def on_demand(source: str, sink: str, place: str) -> str:
    return f"""
        name: x
        services: {{broker: {{listen: "127.0.0.1:61613"}}}}
        endpoints:
          ems: {{type: cosnotification, factory: run/notify.ior}}
          plain: {{type: cosnotification, factory: run/event.ior, service: event}}
          own: {{type: stomp, hosts: ["localhost:61613"]}}
          other: {{type: stomp, hosts: ["mq1:61613"]}}
          qm: {{type: mq, queue_manager: QM}}
        channels:
          in: {{{source}}}
          out: {{{sink}}}
        links:
          l: {{from: in, to: out, on_demand: {place}true}}
        """


EMS = "endpoint: ems, channel: 0"


@pytest.mark.parametrize(
    "source",
    [
        'endpoint: other, destination: "queue://x"',
        'endpoint: other, destination: "topic://x", subscription: s',
        "endpoint: qm, queue: X",
        "endpoint: qm, topic: X, subscription: s",
    ],
)
def test_what_keeps_messages_is_not_read_on_demand(source: str) -> None:
    assert "thrown away" in the_finding(on_demand(source, EMS, "▶"), "CFG-ON-DEMAND").message


@pytest.mark.parametrize(
    "sink",
    [
        'endpoint: other, destination: "topic://x"',
        'endpoint: own, destination: "queue://x"',
        "endpoint: plain, channel: 0",
        "endpoint: qm, queue: X",
    ],
)
def test_where_no_demand_is_known_lint_says_that_everything_is_forwarded(sink: str) -> None:
    finding = the_finding(on_demand(EMS, sink, "▶"), "CFG-NO-EFFECT")
    assert (finding.severity, "everything is forwarded" in finding.message) == ("warning", True)


def test_where_demand_is_known_links_may_be_on_demand() -> None:
    for sink in ("endpoint: ems, channel: 1", 'endpoint: own, destination: "topic://x"'):
        assert not {"CFG-NO-EFFECT", "CFG-ON-DEMAND"} & set(codes(on_demand(EMS, sink, "")))
    topic = 'endpoint: other, destination: "topic://x"'
    assert not {"CFG-NO-EFFECT", "CFG-ON-DEMAND"} & set(codes(on_demand(topic, EMS, "")))


def test_a_loop_through_two_names_of_one_destination_is_seen() -> None:
    finding = the_finding(
        """
        name: x
        endpoints:
          reader: {type: stomp, hosts: ["a:1", "b:1"], login: reader}
          writer: {type: stomp, hosts: ["b:1", "a:1"], login: writer}
          memory: {type: memory}
        channels:
          in: {endpoint: reader, destination: "queue://x"}
          out: {endpoint: writer, destination: "queue://x"}
          middle: {endpoint: memory, name: m}
        links:
          there: {from: in, to: middle}
          ▶back: {from: middle, to: out}
        """,
        "DOM-CYCLE",
    )
    assert "in = out → middle → in = out" in finding.message


def test_a_domain_that_is_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain_checks, "MOST_WORK", 2)
    finding = the_finding(
        with_links("l: {from: a, to: b}\nk: {from: b, to: c}\n▶j: {from: c, to: a}"), "DOM-NOT-CHECKED"
    )
    assert finding.severity == "warning"


def test_a_long_path_is_shortened() -> None:
    channels = "".join(f"  c{number}: {{endpoint: m, name: c{number}}}\n" for number in range(100))
    links = "".join(f"  l{number}: {{from: c{number}, to: c{(number + 1) % 100}}}\n" for number in range(100))
    text = f"name: x\nendpoints: {{m: {{type: memory}}}}\nchannels:\n{channels}links:\n{links}"
    (finding,) = findings_in(text)
    assert finding.code == "DOM-CYCLE"
    assert len(finding.message) < 200


TOP: list[tuple[str, str, str]] = [
    ("CFG-ADDRESS", "name: x\norb: {listen: ▶nowhere}\n", "host:port"),
    ("CFG-ADDRESS", "name: x\norb: {listen: 'a:1', publish: ▶'a:0'}\n", "1 to 65535"),
    ("CFG-ADDRESS", "name: x\norb: {listen: 'a:1', publish: ▶'0.0.0.0:1'}\n", "nobody can call"),
    ("CFG-ADDRESS", "name: x\nadmin: {listen: ▶'127.0.0.1:99999'}\n", "65535"),
    ("CFG-ADDRESS", "name: x\nendpoints: {e: {type: cosnotification, orb: {listen: ▶h}}}\n", "host:port"),
    ("CFG-ADDRESS", "name: x\nendpoints: {e: {type: cosnotification, orb: {publish: ▶'0.0.0.0:1'}}}\n", "nobody can call"),
    ("CFG-LISTEN-TWICE", "name: x\norb: {listen: 'a:1'}\nendpoints: {e: {type: cosnotification, orb: {listen: ▶'a:1'}}, "
     "f: {type: cosnotification, orb: {listen: 'a:1'}}}\n", "orb.listen"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'corbaname:rir:#x'}}\n", "no naming service"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'corbaloc:rir:/NameService'}}\n", "no naming"),
    ("CFG-FACTORY", "name: x\norb: {naming_service: ▶'corbaloc:rir:/NameService'}\n", "through itself"),
    ("CFG-ADDRESS", "name: x\nservices: {broker: {listen: ▶'::1:80'}}\n", "brackets"),
    ("CFG-ADDRESS", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1', ▶'a:']}}\n", "host:port"),
    ("CFG-LISTEN-TWICE", "name: x\norb: {listen: '0.0.0.0:1'}\nadmin: {listen: ▶'127.0.0.1:1'}\n", "line 2"),
    ("CFG-LISTEN-TWICE", "name: x\nservices: {broker: {listen: 'a:1'}}\nadmin: {listen: ▶'a:1'}\n", "services.broker.listen"),
    ("CFG-ADMIN-EXPOSED", "name: x\nadmin: {listen: ▶'0.0.0.0:8161'}\n", "no login"),
    ("CFG-SECRET-PLAIN", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1'], password: ▶hunter2}}\n", "${env:NAME}"),
    ("CFG-SECRET-PLAIN", "name: x\nservices: {broker: {listen: 'a:1', password: ▶'$${env:X}'}}\n", "${env:NAME}"),
    ("CFG-UNUSED-ENDPOINT", "name: x\nendpoints:\n  ▶m: {type: memory}\n", '"m"'),
    ("CFG-UNUSED-CHANNEL", "name: x\nendpoints: {m: {type: memory}}\nchannels:\n  ▶c: {endpoint: m, name: c}\n", '"c"'),
    ("CFG-BACK-OFF", "name: x\nendpoints: {m: {type: memory, back_off: ▶{first_ms: 40000}}}\n", "30000"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'IOR:000000000000010'}}\n", "copy it again"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'corbaloc::ns.example:2809'}}\n", "/key"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'corbanam::ns.example:2809#x'}}\n", "corbaname:?"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'file:///var/notify.ior'}}\n", "path alone"),
    ("CFG-FACTORY", "name: x\nendpoints: {e: {type: cosnotification, factory: ▶'corbaname::ns.example:2809'}}\n", "#name"),
    ("CFG-HOSTED-CHANNEL", "name: x\nservices: {notification: {factory_ior: run/n.ior}}\n"
     "endpoints: {e: {type: cosnotification, factory: ./run/n.ior}}\nchannels: {c: {endpoint: e, channel: ▶1}}\n", "raise"),
    ("CFG-IDL", "name: x\nservices: {notification: {factory_ior: run/n.ior, typed_channels: ▶1}}\n", "name the IDL files"),
    ("CFG-IDL", "name: x\nservices: {notification: {factory_ior: run/n.ior, idl: ▶[none.idl]}}\n", "no file none.idl"),
    ("CFG-IDL", "name: x\nservices: {notification: {factory_ior: run/n.ior, idl: ▶[pyproject.toml]}}\n", "pyproject.toml:"),
    ("CFG-VALUE", "name: x\norb: {allow: [10.0.0.0/8, ▶ns.example]}\n", "neither an address"),
    ("CFG-STORE-PORT", "name: x\norb: {listen: '127.0.0.1:0'}\n"
     "services: {notification: {factory_ior: run/n.ior, store: ▶n.db}}\n", "fixed port"),
    ("CFG-IDL", "name: x\nendpoints: {e: {type: cosnotification, factory: f.ior}}\n"
     "channels: {c: {endpoint: e, channel: 0, events: ▶typed}}\n", "set interface and idl"),
    ("CFG-IDL", "name: x\nendpoints: {e: {type: cosnotification, factory: f.ior}}\n"
     "channels: {c: {endpoint: e, channel: 0, interface: ▶A}}\n", "set events: typed"),
    ("CFG-IDL", "name: x\nendpoints: {e: {type: cosnotification, factory: f.ior}}\n"
     "channels: {c: {endpoint: e, channel: 0, events: typed, interface: No, idl: ▶[tests/parts/idl/plant.idl]}}\n",
     "Plant::Alarms"),
    ("CFG-HOSTED-CHANNEL", "name: x\nservices: {notification: {factory_ior: run/n.ior}}\n"
     "endpoints: {e: {type: cosnotification, factory: run/n.ior}}\nchannels: {c: {endpoint: e, channel: ▶0, "
     "events: typed, interface: Plant::Alarms, idl: [tests/parts/idl/plant.idl]}}\n", "typed_channels"),
    ("CFG-RMI", "name: x\nservices: {notification: {factory_ior: f, rmi: {supplier_ior: ▶a.ior}}}\n", "belong together"),
    ("CFG-RMI", "name: x\nservices: {notification: {factory_ior: f, rmi: ▶{supplier_ior: a, supplier_interface: 'RMI:a.B:0', "
     "supplier_channel: 1}}}\n", "no channel 1"),
    ("CFG-SUBSCRIPTION", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1']}}\n"
     "channels: {c: {endpoint: b, destination: 'queue://q', ▶subscription: s}}\n", "topic"),
    ("CFG-FILTER-KIND", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1'], broker: rabbitmq}}\n"
     "channels: {c: {endpoint: b, destination: 'queue://q', ▶selector: 'x = 1'}}\n", "link"),
    ("CFG-VALUE", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1']}}\n"
     "channels: {c: {endpoint: b, destination: ▶'topic://a.*.#'}}\n", "behind"),
    ("CFG-VALUE", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1']}}\n"
     "channels: {c: {endpoint: b, destination: ▶'queue://a.*'}}\n", "topics"),
    ("CFG-PATTERN", "name: x\nendpoints: {m: {type: memory}, b: {type: stomp, hosts: ['a:1']}}\n"
     "channels:\n  s: {endpoint: m, name: s}\n  c: {endpoint: b, destination: ▶'topic://a.*'}\n"
     "links: {l: {from: s, to: c}}\n", "pattern"),
    ("CFG-NO-EFFECT", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1']}}\n"
     "channels: {c: {endpoint: b, destination: 'queue://q', ▶queue_type: quorum}}\n", "RabbitMQ"),
    ("CFG-REPLIES", "name: x\nendpoints: {a: {type: stomp, hosts: ['a:1']}, b: {type: stomp, hosts: ['b:1']}}\n"
     "channels:\n  x: {endpoint: a, destination: 'queue://x'}\n  y: {endpoint: b, destination: 'queue://y'}\n"
     "  z: {endpoint: a, destination: 'queue://z'}\n"
     "links:\n  l: {from: x, to: y, replies: ▶k}\n  k: {from: z, to: y}\n", "way back"),
    ("CFG-REPLIES", "name: x\nendpoints: {a: {type: stomp, hosts: ['a:1']}, b: {type: stomp, hosts: ['b:1']}}\n"
     "channels:\n  x: {endpoint: a, destination: 'queue://x'}\n  y: {endpoint: b, destination: 'queue://y'}\n"
     "  z: {endpoint: b, destination: 'topic://z.*'}\n"
     "links:\n  l: {from: x, to: y, replies: ▶k}\n  k: {from: z, to: x}\n", "pattern"),
    ("CFG-UNKNOWN-LINK", "name: x\nendpoints: {m: {type: memory}}\nchannels:\n  s: {endpoint: m, name: s}\n"
     "  t: {endpoint: m, name: t}\nlinks: {l: {from: s, to: t, replies: ▶ll}}\n", "no link"),
    ("CFG-BODIES-LOST", "name: x\nendpoints: {m: {type: memory}, b: {type: stomp, hosts: ['a:1'], broker: artemis}}\n"
     "channels:\n  s: {endpoint: m, name: s}\n  c: {endpoint: b, destination: ▶'topic://a.*'}\n"
     "links: {l: {from: c, to: s}}\n", "type jms"),
    ("FLT-SYNTAX", "name: x\nendpoints: {b: {type: stomp, hosts: ['a:1']}}\n"
     "channels: {c: {endpoint: b, destination: 'queue://q', selector: 'x = ▶'}}\n", "selector"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "words"), TOP, ids=[f"{code} {text}" for code, text, _ in TOP])
def test_the_rest(code: str, text: str, words: str) -> None:
    assert words in str(the_finding(text, code))


REMOTE = "corbaname::ns.example:2809#NotifyEventChannelFactory"


@pytest.mark.parametrize(
    ("orb", "factory", "warned"),
    [
        ("{}", REMOTE, True),
        ("{listen: '127.0.0.1:5555'}", "corbaloc:iiop:1.2@10.1.2.3:9999/Factory", True),
        ("{listen: '0.0.0.0:5555', publish: 'localhost:5555'}", REMOTE, True),
        ("{listen: '0.0.0.0:5555'}", REMOTE, False),
        ("{listen: '127.0.0.1:5555', publish: 'gw.example:5555'}", REMOTE, False),
        ("{}", "corbaloc::localhost:9999/Factory", False),
        ("{}", "corbaloc::[::1]:9999/Factory", False),
        ("{}", "run/notify.ior", False),
        ("{}", "IOR:" + "00" * 40, False),
    ],
)
def test_a_remote_service_must_be_able_to_call_back(orb: str, factory: str, warned: bool) -> None:
    text = f"""
    name: x
    orb: {orb}
    endpoints: {{ems: {{type: cosnotification, factory: "{factory}"}}, m: {{type: memory}}}}
    channels: {{c: {{endpoint: ems, channel: 0}}, d: {{endpoint: m, name: d}}}}
    links: {{l: {{from: c, to: d}}}}
    """
    assert codes(text) == (["CFG-WAY-BACK"] if warned else [])


def with_test(test: str) -> str:
    return with_links("l: {from: a, to: m}\nk: {from: m, to: b}") + f"tests:\n  - {test}\n"


TESTS: list[tuple[str, str]] = [
    ("CFG-UNKNOWN-LINK", "{name: t, link: ▶ll, given: {event: {}}, expect: {filtered: true}}"),
    ("CFG-TEST-FILE", "{name: t, link: l, given: {file: ▶missing.json}, expect: {filtered: true}}"),
    ("CFG-TEST-FILE", "{name: t, link: l, given: {file: ▶.}, expect: {filtered: true}}"),
    ("CFG-TEST-FORM", "{name: t, link: l, given: {▶message: {}}, expect: {filtered: true}}"),
    ("CFG-TEST-FORM", "{name: t, link: k, given: {▶event: {}}, expect: {filtered: true}}"),
    ("CFG-TEST-FORM", "{name: t, link: l, given: {event: {}}, expect: {▶type_name: x}}"),
    ("CFG-TEST-FORM", "{name: t, link: k, given: {message: {}}, expect: {▶headers: {}}}"),
    ("CFG-TEST-EXPECT", "{name: t, link: l, given: {event: {}}, ▶expect: {filtered: true, properties: {}}}"),
    ("CFG-TEST-EXPECT", "{name: t, link: l, given: {event: {}}, ▶expect: {expired: true, error: MAP-X}}"),
]


@pytest.mark.parametrize(("code", "test"), TESTS)
def test_tests(code: str, test: str, tmp_path: Path) -> None:
    the_finding(with_test(test), code, folder=tmp_path)


def test_the_file_of_a_test_is_looked_up_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text("{}")
    options: dict[str, Any] = {"folder": tmp_path}
    test = "{name: t, link: l, given: {file: event.json}, expect: {filtered: false, properties: {x: 1}}}"
    assert [code for code in codes(with_test(test), **options) if "TEST" in code] == []


def test_two_tests_of_one_name_are_told_apart() -> None:
    one = "{name: t, link: l, given: {event: {}}, expect: {filtered: true}}"
    finding = the_finding(with_test(one) + f"  - {one}\n".replace("name: t", "name: ▶t"), "CFG-TEST-NAME")
    assert finding.severity == "warning"
