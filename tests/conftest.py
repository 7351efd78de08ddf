"""Fixtures for every test: real brokers and a real JMS client. How to use them is in tests/parts/__init__.py."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest
from hypothesis import HealthCheck, settings

from tests.parts import activemq as activemq_part
from tests.parts import artemis as artemis_part
from tests.parts import jacorb as jacorb_part
from tests.parts import rabbitmq as rabbitmq_part
from tests.parts.availability import available
from tests.parts.broker import Broker
from tests.parts.cache import PartUnavailable
from tests.parts.jms_client import JmsClient
from tests.parts.rabbitmq import RabbitMQ

# Machines are noisy: no test fails because something took long. A change is judged by the same examples every time;
# `make test ARGS=--hypothesis-profile=explore` looks for new ones.
_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("steady", deadline=None, suppress_health_check=_SLOW_IS_FINE, derandomize=True)
settings.register_profile("explore", deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile("steady")

PARTS = (artemis_part.fetch, activemq_part.fetch, jacorb_part.fetch)
JAVA_FIXTURES = {"artemis", "activemq", "broker", "start_broker", "jms"}
STARTS: dict[str, Callable[..., Broker]] = {"artemis": artemis_part.artemis, "activemq": activemq_part.activemq}


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if JAVA_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("java")
        if "rabbitmq" in getattr(item, "fixturenames", ()):
            item.add_marker("rabbitmq")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetch what the selected tests need now, where no test's time-out runs; the fixtures deal with what is missing."""
    if session.config.option.collectonly:
        return
    if any(item.get_closest_marker("java") for item in session.items):
        for fetch in PARTS:
            with suppress(PartUnavailable):
                fetch()
    if any(item.get_closest_marker("rabbitmq") for item in session.items):
        with suppress(PartUnavailable):
            rabbitmq_part.fetch()


@pytest.fixture(scope="session")
def artemis() -> Iterator[Broker]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(artemis_part.artemis()))


@pytest.fixture(scope="session")
def activemq() -> Iterator[Broker]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(activemq_part.activemq()))


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    with ExitStack() as ends:
        yield available(lambda: ends.enter_context(rabbitmq_part.rabbitmq()))


@pytest.fixture(params=["artemis", "activemq"])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Each of the two in turn."""
    found: Broker = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def start_broker() -> Iterator[Callable[..., Broker]]:
    """Brokers of the test's own; they end with the test."""
    with ExitStack() as ends:
        yield lambda kind, **options: available(lambda: ends.enter_context(STARTS[kind](**options)))


@pytest.fixture(scope="session")
def jms() -> Iterator[JmsClient]:
    client = JmsClient()
    available(client.start)
    yield client
    client.close()


@pytest.fixture
def unique(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Names that no other test uses, and that tell whose they are."""
    test = re.sub(r"\W+", "_", request.node.name)[:40].strip("_")
    return lambda name: f"{name}.{test}.{uuid.uuid4().hex[:8]}"
