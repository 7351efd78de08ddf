"""Questions and answers across a gateway, between any two wires, by way of temporary destinations.

The asker is a JMS application in Java, or a STOMP client on a bare socket; so is who answers, or a CORBA application.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adapters.base import Outgoing, Sink, Source
from adapters.cosnotification.settings import CosNotificationChannel, CosNotificationEndpoint
from adapters.cosnotification.sink import CosNotificationSink
from adapters.cosnotification.source import CosNotificationSource
from adapters.jms.settings import JmsChannel, JmsEndpoint
from adapters.stomp.settings import StompChannel
from gateway.appliance.appliance import Appliance
from gateway.settings.settings import Settings
from mappings.idl_types import STRING
from mappings.model import Property, StructuredEvent
from tests.contract.wires.cosnotification import stage
from tests.contract.wires.jms_brokers import endpoint as jms_endpoint
from tests.contract.wires.stomp import BrokerProcess, embedded_endpoint
from tests.contract.wires.stomp_brokers import endpoint as stomp_endpoint
from tests.parts.broker import Broker
from tests.parts.jms_client import JmsClient, text_message
from tests.unit.appliance.test_appliance import Listener
from tests.unit.links.rig import wait_for
from tests.unit.stomp.raw_client import RawClient

Unique = Callable[[str], str]
PATIENCE_SECS = 30.0


class Answer(NamedTuple):
    text: str
    correlation_id: str | None


class Side(ABC):
    """An application at a broker, which the gateway reaches by `endpoint`."""

    endpoint: Any
    says_when_the_asker_is_gone = True  # the broker; else it drops the answer, or keeps it
    tells_message_ids = True  # the gateway learns the ids that JMS applications know their questions by

    @abstractmethod
    def ask(self, queue: str, correlation_id: str | None) -> str | None:
        """Send a question that asks for the answer at a temporary queue. Returns its JMSMessageID, where there is one."""

    @abstractmethod
    def answer(self) -> Answer:
        """The one that comes."""

    @abstractmethod
    def reply(self, queue: str) -> Callable[[], None]:
        """Take the next question from there; what is returned sends the answer to it."""

    @abstractmethod
    def leave(self) -> None:
        """The asker goes, and his temporary queue with him; another one is there in his place."""

    @abstractmethod
    def close(self) -> None: ...


class Java(Side):
    def __init__(self, jms: JmsClient, broker: Broker, wire: str) -> None:
        self.endpoint = jms_endpoint(broker) if wire == "jms" else stomp_endpoint(broker)
        self.says_when_the_asker_is_gone = broker.kind == "activemq"
        self.tells_message_ids = wire == "jms" or broker.kind == "activemq"
        self._connect = lambda: jms.connect(broker)
        self._connection = self._connect()

    def ask(self, queue: str, correlation_id: str | None) -> str | None:
        temporary = self._connection.temporary("queue")
        self._answers = self._connection.subscribe(temporary)
        known = {} if correlation_id is None else {"JMSCorrelationID": correlation_id}
        [id_] = self._connection.send(queue, text_message("?", JMSReplyTo=temporary, **known))
        return id_

    def answer(self) -> Answer:
        [message] = self._answers.expect(timeout_secs=PATIENCE_SECS)
        return Answer(message.body, message.headers.get("JMSCorrelationID"))

    def reply(self, queue: str) -> Callable[[], None]:
        consumer = self._connection.subscribe(queue)
        [question] = consumer.expect(timeout_secs=PATIENCE_SECS)
        consumer.close()
        asked = question.headers
        answer = text_message("!", JMSCorrelationID=asked["JMSCorrelationID"])
        return lambda: self._connection.send(asked["JMSReplyTo"], answer) and None

    def leave(self) -> None:
        self.close()
        self._connection = self._connect()

    def close(self) -> None:
        self._connection.close()


class Stomp(Side):
    tells_message_ids = False

    def __init__(self, endpoint: Any) -> None:
        self.endpoint = endpoint
        self._rabbitmq = endpoint.broker == "rabbitmq"
        self.says_when_the_asker_is_gone = not self._rabbitmq
        self._connect()

    def _connect(self) -> None:
        self._client = RawClient(self.endpoint.hosts[0])
        password = "" if self.endpoint.password is None else self.endpoint.password.get_secret_value()
        host = {"host": "/"} if self._rabbitmq else {}
        assert self._client.connect(login=self.endpoint.login or "", passcode=password, **host).command == b"CONNECTED"

    def ask(self, queue: str, correlation_id: str | None) -> str | None:
        known = {} if correlation_id is None else {"correlation_id": correlation_id}
        if not self._rabbitmq:  # which subscribes by itself
            self._client.send("SUBSCRIBE", id=f"mine-{correlation_id}", destination="/temp-queue/mine")
        self._client.send("SEND", b"?", destination=_wire(queue), reply_to="/temp-queue/mine", **known)
        return None

    def answer(self) -> Answer:
        frame = self._client.message()
        return Answer(frame.body.decode(), frame.headers.get("correlation-id"))

    def reply(self, queue: str) -> Callable[[], None]:
        self._client.send("SUBSCRIBE", id="questions", destination=_wire(queue))
        asked = self._client.message().headers
        self._client.send("UNSUBSCRIBE", id="questions", receipt="taken")
        self._client.receipt("taken")
        answer = {
            "destination": asked["reply-to"],
            "correlation_id": asked["correlation-id"],
            "content_type": "text/plain",
        }
        return lambda: self._client.send("SEND", b"!", **answer)

    def leave(self) -> None:
        self.close()
        self._connect()

    def close(self) -> None:
        self._client.close()


def _wire(queue: str) -> str:
    return queue.replace("queue://", "/queue/")


@pytest.fixture
def make_side(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Side]]:
    with ExitStack() as ends:

        def make(name: str) -> Side:
            side = made(name)
            ends.callback(side.close)
            return side

        def made(name: str) -> Side:
            wire, _, kind = name.partition("-")
            if kind == "embedded":
                broker = BrokerProcess()
                broker.start()
                ends.callback(broker.kill)
                return Stomp(embedded_endpoint(broker.address))
            if kind == "rabbitmq":
                return Stomp(stomp_endpoint(request.getfixturevalue(kind)))
            return Java(request.getfixturevalue("jms"), request.getfixturevalue(kind), wire)

        yield make


@contextmanager
def gateway(form: dict[str, Any], run_dir: Path) -> Iterator[Appliance]:
    quick = {"name": "gw", "run_dir": str(run_dir), "orb": {"listen": "127.0.0.1:0"}}
    appliance = Appliance(Settings.model_validate({**quick, **form}), Listener())
    appliance.start()
    try:
        wait_for(lambda: all(status.source == status.sink == "ready" for status in appliance.statuses()))
        yield appliance
    finally:
        appliance.stop()


def between(asker: Side, answerer: Side, name: str) -> dict[str, Any]:
    sides = {"a": asker, "b": answerer}

    def channel(endpoint: str, what: str) -> JmsChannel | StompChannel:
        model = JmsChannel if isinstance(sides[endpoint].endpoint, JmsEndpoint) else StompChannel
        return model(endpoint=endpoint, destination=f"queue://{endpoint}.{what}.{name}")

    return {
        "endpoints": {id_: side.endpoint for id_, side in sides.items()},
        "channels": {f"{id_}-{what}": channel(id_, what) for id_ in sides for what in ("questions", "answers")},
        "links": {
            "questions": {"from": "a-questions", "to": "b-questions", "replies": "answers"},
            "answers": {"from": "b-answers", "to": "a-answers"},
        },
    }


JAVA, RABBIT = pytest.mark.java, pytest.mark.rabbitmq


@pytest.mark.parametrize(
    ("asker_at", "answerer_at"),
    [
        pytest.param("stomp-activemq", "jms-artemis", marks=JAVA),
        pytest.param("jms-artemis", "stomp-activemq", marks=JAVA),
        pytest.param("stomp-artemis", "stomp-embedded", marks=JAVA),
        pytest.param("stomp-embedded", "stomp-artemis", marks=JAVA),
        pytest.param("jms-activemq", "stomp-embedded", marks=JAVA),
        pytest.param("stomp-embedded", "jms-activemq", marks=JAVA),
        pytest.param("stomp-rabbitmq", "stomp-activemq", marks=[JAVA, RABBIT]),
        pytest.param("jms-activemq", "stomp-rabbitmq", marks=[JAVA, RABBIT]),
    ],
)
def test_an_answer_finds_whoever_asked(
    make_side: Callable[[str], Side], unique: Unique, tmp_path: Path, asker_at: str, answerer_at: str
) -> None:
    asker, answerer, name = make_side(asker_at), make_side(answerer_at), unique("reply")
    questions, passed_on = f"queue://a.questions.{name}", f"queue://b.questions.{name}"
    form = between(asker, answerer, name)
    with gateway(form, tmp_path / "run") as running:
        asker.ask(questions, "c-1")
        answerer.reply(passed_on)()
        assert asker.answer() == Answer("!", "c-1")
        id_ = asker.ask(questions, None)
        late = answerer.reply(passed_on)
    # The gateway is started anew between the question and its answer.
    with gateway(form, tmp_path / "run") as running:
        late()
        answer = asker.answer()
        assert answer.text == "!"
        if asker.tells_message_ids:
            assert answer.correlation_id == id_
        # An answer that nobody waits for does not stop those behind it.
        asker.ask(questions, "c-3")
        too_late = answerer.reply(passed_on)
        asker.leave()
        too_late()
        asker.ask(questions, "c-4")
        answerer.reply(passed_on)()
        assert asker.answer() == Answer("!", "c-4")
        answers = next(link for link in running._links.values() if link.id == "answers")
        wait_for(lambda: answers.balance().pending == 0)
        balance = answers.balance()
        assert balance.dead_lettered == asker.says_when_the_asker_is_gone
        assert balance.holds


def test_a_corba_application_answers_and_asks(make_side: Callable[[str], Side], unique: Unique, tmp_path: Path) -> None:
    """Events have the header fields of a message in their variable headers (RULES.md 5.5)."""
    jms, name = make_side("stomp-embedded"), unique("reply")
    with stage() as (orb, peer):
        endpoint = CosNotificationEndpoint(type="cosnotification", factory=str(peer.ior))
        says = CosNotificationSink(orb, endpoint, CosNotificationChannel(endpoint="ems", channel=0))
        hears = CosNotificationSource(orb, endpoint, CosNotificationChannel(endpoint="ems", channel=1))
        says.connect()
        hears.connect()
        form = {
            "endpoints": {"a": jms.endpoint, "ems": {"type": "cosnotification", "factory": str(peer.ior)}},
            "channels": {
                "questions": {"endpoint": "a", "destination": f"queue://questions.{name}"},
                "answers": {"endpoint": "a", "destination": f"queue://answers.{name}"},
                "to-corba": {"endpoint": "ems", "channel": 1},
                "from-corba": {"endpoint": "ems", "channel": 0},
            },
            "links": {
                "there": {"from": "questions", "to": "to-corba", "replies": "back"},
                "back": {"from": "from-corba", "to": "answers", "replies": "there"},
            },
        }
        with gateway(form, tmp_path / "run"):
            jms.ask(f"queue://questions.{name}", "c-1")
            question = heard(hears)
            assert text_of(question, "JMSReplyTo") == "from-corba"
            say(says, event("Answer", JMSCorrelationID=text_of(question, "JMSCorrelationID")))
            assert jms.answer().correlation_id == "c-1"

            say(says, event("Question", JMSCorrelationID="corba-1"))
            jms.reply(f"queue://answers.{name}")()
            assert text_of(heard(hears), "JMSCorrelationID") == "corba-1"
        says.close()
        hears.close()


def say(says: Sink, event: StructuredEvent) -> None:
    assert says.send([Outgoing(event, event.type_name)]).result(PATIENCE_SECS) == ()


def heard(hears: Source) -> StructuredEvent:
    [delivery] = hears.receive(1, PATIENCE_SECS)
    hears.acknowledge([delivery])
    assert isinstance(delivery.payload, StructuredEvent)
    return delivery.payload


def event(type_name: str, **header: str) -> StructuredEvent:
    fields = tuple(Property(name, STRING, value) for name, value in header.items())
    return StructuredEvent("Tests", type_name, "", fields)


def text_of(event: StructuredEvent, name: str) -> str:
    return next(str(field.value) for field in event.variable_header if field.name == name)
