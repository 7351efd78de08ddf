"""Tokens that bring answers back, and what links with `replies` make of questions and answers."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import Delivery, Outgoing, StopError
from gateway.links.replies import KEY_BYTES, Replies, address_of, replies_of, reply_key
from gateway.links.translation import compile_step
from gateway.settings.settings import Settings
from mappings.idl_types import STRING
from mappings.model import Body, Headers, Message, Property, StructuredEvent
from mappings.passage import Translation
from mappings.reply_tokens import PREFIX, Asker, seal, unseal

KEY, OTHER_KEY = b"k" * KEY_BYTES, b"o" * KEY_BYTES
ASKER = Asker("temp-queue://ID:vm-1:1", "c-1")
ANY_TEXT = st.text()


@given(st.builds(Asker, ANY_TEXT, st.none() | ANY_TEXT), ANY_TEXT)
def test_a_token_brings_back_what_went_in(asker: Asker, context: str) -> None:
    token = seal(KEY, context, asker)
    assert token.isascii()
    assert unseal(KEY, context, token) == asker
    assert unseal(OTHER_KEY, context, token) is None
    assert unseal(KEY, f"{context}x", token) is None


@given(st.data())
def test_a_token_that_was_changed_opens_nothing(data: st.DataObject) -> None:
    token = seal(KEY, "answers", ASKER)
    place = data.draw(st.integers(0, len(token) - 1))
    changed = token[:place] + data.draw(st.characters()) + token[place + 1 :]
    assert unseal(KEY, "answers", changed) == (ASKER if changed == token else None)


@given(st.none() | ANY_TEXT | ANY_TEXT.map(lambda text: PREFIX + text))
def test_anything_else_is_no_token(text: str | None) -> None:
    assert unseal(KEY, "answers", text) is None


ASKING = Replies(KEY, answers="answers", address="queue://b.answers")
ANSWERING = Replies(KEY, answering="answers")


def passed(replies: Replies, translation: Translation, payload: Message | StructuredEvent) -> Outgoing:
    outgoing = compile_step(translation, replies)(Delivery(payload, "id-1", 0.0))
    assert isinstance(outgoing, Outgoing)
    return outgoing


def headers_of(outgoing: Outgoing) -> Headers:
    assert isinstance(outgoing.payload, Message)
    return outgoing.payload.headers


MESSAGES = Translation("message", "message")


@pytest.mark.parametrize(
    ("question", "known_by"),
    [
        (Headers(JMSReplyTo="temp-queue://t", JMSCorrelationID="c-1", JMSMessageID="ID:1"), "c-1"),
        (Headers(JMSReplyTo="temp-queue://t", JMSMessageID="ID:1"), "ID:1"),  # as JMS applications mostly do
        (Headers(JMSReplyTo="temp-queue://t"), None),
    ],
)
def test_an_answer_goes_where_its_question_came_from(question: Headers, known_by: str | None) -> None:
    asked = passed(ASKING, MESSAGES, Message(question, (), Body("TextMessage", "?")))
    assert headers_of(asked).JMSReplyTo == "queue://b.answers"
    assert asked.destination is None
    answer = Message(Headers(JMSCorrelationID=headers_of(asked).JMSCorrelationID), (), Body("TextMessage", "!"))
    answered = passed(ANSWERING, MESSAGES, answer)
    assert answered.destination == "temp-queue://t"
    assert headers_of(answered).JMSCorrelationID == known_by


def test_what_is_no_question_and_no_answer_passes_as_it_is() -> None:
    for replies in (ASKING, ANSWERING):
        message = Message(Headers(JMSCorrelationID="c-1"), (), Body("TextMessage", "x"))
        outgoing = passed(replies, MESSAGES, message)
        assert (headers_of(outgoing).JMSCorrelationID, headers_of(outgoing).JMSReplyTo) == ("c-1", None)
        assert outgoing.destination is None


def test_a_token_for_another_link_is_an_ordinary_correlation_id() -> None:
    token = seal(KEY, "others", ASKER)
    outgoing = passed(ANSWERING, MESSAGES, Message(Headers(JMSCorrelationID=token)))
    assert (headers_of(outgoing).JMSCorrelationID, outgoing.destination) == (token, None)


def field(event: StructuredEvent, name: str) -> object:
    return next((its.value for its in event.variable_header if its.name == name), None)


def test_a_corba_application_may_answer() -> None:
    """The question reaches it with the header fields of JMS (RULES.md 5.5), the token among them."""
    question = Message(Headers(JMSReplyTo="queue://t", JMSCorrelationID="c-1"), (), Body("TextMessage", "?"))
    asked = passed(ASKING, Translation("message", "event"), question).payload
    assert isinstance(asked, StructuredEvent)
    assert field(asked, "JMSReplyTo") == "queue://b.answers"
    token = Property("JMSCorrelationID", STRING, field(asked, "JMSCorrelationID"))
    answered = passed(ANSWERING, Translation("event", "message"), StructuredEvent("d", "t", "", (token,)))
    assert (answered.destination, headers_of(answered).JMSCorrelationID) == ("queue://t", "c-1")


def test_a_corba_application_may_ask() -> None:
    """It gives a correlation id, and knows the answer by it, which comes to everybody at its channel."""
    own = Property("JMSCorrelationID", STRING, "mine")
    asked = passed(ASKING, Translation("event", "message"), StructuredEvent("d", "t", "", (own,)))
    assert (headers_of(asked).JMSReplyTo, headers_of(asked).JMSCorrelationID) == ("queue://b.answers", "mine")
    answer = Message(Headers(JMSCorrelationID="mine"), (), Body("TextMessage", "!"))
    answered = passed(ANSWERING, Translation("message", "event"), answer).payload
    assert isinstance(answered, StructuredEvent)
    assert field(answered, "JMSCorrelationID") == "mine"


def test_the_key_is_made_once_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "run" / "replies.key"
    key = reply_key(path)
    assert len(key) == KEY_BYTES
    assert reply_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(key[:7])  # a crash
    assert len(reply_key(path)) == KEY_BYTES
    assert list(path.parent.iterdir()) == [path]


def test_a_key_that_cannot_be_kept_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StopError) as stopped:
        reply_key(tmp_path / "file" / "replies.key")
    assert stopped.value.code == "LNK-RUN-DIR"


def settings(tmp_path: Path, **answers: str) -> Settings:
    form = {
        "name": "gw",
        "run_dir": str(tmp_path),
        "endpoints": {name: {"type": "stomp", "hosts": ["h:1"]} for name in ("a", "b")},
        "channels": {
            "a-questions": {"endpoint": "a", "destination": "queue://questions"},
            "b-questions": {"endpoint": "b", "destination": "queue://questions"},
            "b-answers": {"endpoint": "b", "destination": "queue://b.answers"},
            "a-answers": {"endpoint": "a", "destination": "queue://answers"},
        },
        "links": {
            "ask": {"from": "a-questions", "to": "b-questions", "replies": "answers"},
            "answers": {"from": "b-answers", "to": "a-answers"},
            "other": {"from": "a-answers", "to": "b-answers", "enabled": False},
        },
    }
    return Settings.model_validate(form)


def test_links_know_what_they_have_to_do(tmp_path: Path) -> None:
    its = settings(tmp_path)
    asking, answering = replies_of(its, "ask"), replies_of(its, "answers")
    assert asking is not None
    assert answering is not None
    assert (asking.answers, asking.address, asking.answering) == ("answers", "queue://b.answers", None)
    assert (answering.answers, answering.answering) == (None, "answers")
    assert asking.key == answering.key
    assert replies_of(its, "other") is None
    assert address_of(its, "a-questions") == "queue://questions"
