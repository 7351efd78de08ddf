"""Models of the JMS wire, and what `lint` says of them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from adapters.jms.settings import JmsChannel, JmsEndpoint, capabilities
from adapters.topic_patterns import Topics
from tests.unit.settings.marked import codes

JNDI = {"initial_context_factory": "a.B", "connection_factory": "cf"}
CONFIG = """
name: x
endpoints:
  broker: {{type: jms, classpath: [lib], factory: a.B, url: "tcp://x"{endpoint}}}
  memory: {{type: memory}}
channels:
  events: {{endpoint: memory, name: e}}
  out: {{endpoint: broker, destination: "{destination}"{channel}}}
  more: {{endpoint: broker, destination: "topic://more"{more}}}
  copy: {{endpoint: memory, name: c, form: message}}
  copy2: {{endpoint: memory, name: d, form: message}}
links:
  l: {{from: {source}, to: {sink}}}
  k: {{from: more, to: copy2}}
"""


def lint(**words: str) -> list[str]:
    defaults = {"endpoint": "", "destination": "topic://x", "channel": "", "more": "", "source": "out", "sink": "copy"}
    found = codes(CONFIG.format(**{**defaults, **words}))
    return [code for code in found if not code.startswith("CFG-UNUSED")]


def test_one_way_to_the_factory() -> None:
    form = {"type": "jms", "classpath": ["a.jar"]}
    assert JmsEndpoint.model_validate({**form, "factory": "a.B", "url": "tcp://x"}).jndi is None
    assert JmsEndpoint.model_validate({**form, "jndi": JNDI}).factory is None
    for wrong in ({}, {"factory": "a.B", "jndi": JNDI}, {"jndi": JNDI, "url": "tcp://x"}, {"factory": ""}):
        with pytest.raises(ValidationError):
            JmsEndpoint.model_validate({**form, **wrong})
    with pytest.raises(ValidationError):
        JmsEndpoint.model_validate({"type": "jms", "classpath": [], "factory": "a.B"})


def test_types_survive_and_names_are_legal_everywhere() -> None:
    channel = JmsChannel(endpoint="e", destination="queue://q", max_batch=7)
    assert channel.profile == "strict"
    assert (capabilities(channel).typed_properties, capabilities(channel).max_batch) == (True, 7)


def test_lint_finds_nothing_where_all_is_well() -> None:
    assert lint(channel=", subscription: s, selector: 'a > 2'", more=", subscription: t") == []
    assert lint(source="events", sink="out") == [], "no CFG-TYPES-LOST here"


def test_a_pattern_needs_a_provider_whose_wildcards_are_known() -> None:
    assert lint(destination="topic://a.*") == ["CFG-PATTERN"]
    assert lint(destination="topic://a.*", endpoint=", provider: fioranomq") == []
    assert lint(destination="topic://a.*", source="events", sink="out", endpoint=", provider: artemis") == [
        "CFG-PATTERN"
    ]
    assert lint(destination="topic://jndi:a.*") == []
    for wrong in ("topic://a.*.#", "topic://a*", "queue://a.*"):
        assert "CFG-VALUE" in lint(destination=wrong, endpoint=", provider: artemis")


@pytest.mark.parametrize(
    ("form", "duplicates", "subscribed"),
    [
        ({"factory": "org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory"}, "_AMQ_DUPL_ID", "a.#.b"),
        ({"factory": "org.apache.activemq.ActiveMQConnectionFactory"}, None, "a.>"),
        ({"jndi": {**JNDI, "initial_context_factory": "fiorano.jms.Context"}}, None, "a.*.b"),
        ({"factory": "x.Y", "provider": "artemis"}, "_AMQ_DUPL_ID", "a.#.b"),
    ],
)
def test_the_ways_of_a_provider(form: dict[str, object], duplicates: str | None, subscribed: str) -> None:
    endpoint = JmsEndpoint.model_validate({"type": "jms", "classpath": ["a.jar"], **form})
    assert endpoint.ways is not None
    assert endpoint.ways.duplicate_property == duplicates
    topics = Topics("topic://a.*.b", endpoint.ways.wildcards)
    assert topics.subscribed.replace("*.#", "#").replace("*.>", ">") == f"topic://{subscribed}"
    assert (topics.wants("topic://a.x.b"), topics.wants("topic://a.b"), topics.wants(None)) == (True, False, True)


def test_lint_finds_subscriptions_that_cannot_be() -> None:
    assert lint(destination="queue://x", channel=", subscription: s") == ["CFG-SUBSCRIPTION"]
    assert lint(endpoint=", client_id: me", channel=", subscription: s", more=", subscription: t") == [
        "CFG-SUBSCRIPTION"
    ]
    assert lint(endpoint=", client_id: me", channel=", subscription: s") == []
    assert lint(source="events", sink="out", channel=", selector: 'a > 2'") == ["CFG-NO-EFFECT"]
