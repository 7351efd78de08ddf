"""gateway/links/sealed_bodies.py: what one gateway seals another opens, and nobody else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.journal.errors import JournalError
from gateway.links.sealed_bodies import MAGIC, BodyOpener, BodySealer, sealing_of, with_sealed_bodies
from gateway.links.step import Step
from gateway.links.translation import compile_step, translation_of
from gateway.settings import Source, read
from gateway.settings.settings import Settings
from mappings.errors import MappingError
from mappings.model import Body, Headers, Message, MessageProperty, StreamElement
from tests.unit.links.test_marks import EVENT, delivery, sent

KEY, OTHER = bytes(32), bytes([1]) * 32
ID = MessageProperty("$gid", "String", "e-1")
BODIES = [
    Body(),
    Body("TextMessage", "höchst geheim 😀"),
    Body("TextMessage", ""),
    Body("TextMessage", None),
    Body("BytesMessage", b"\0\xff" * 5000),
    Body("BytesMessage", b""),
    Body("StreamMessage", (StreamElement("int", 1), StreamElement("bytes", b"\1"))),
    Body("MapMessage", (MessageProperty("a", "double", 0.5),)),
    Body("ObjectMessage", b"\xac\xed"),
]


def message(body: Body, id_: str = "e-1") -> Message:
    return Message(Headers(JMSType="t"), (replace_id(id_), MessageProperty("n", "int", 1)), body)


def replace_id(id_: str) -> MessageProperty:
    return ID._replace(value=id_)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.type)
@pytest.mark.parametrize("compression", ["none", "zlib", "zstd"])
@pytest.mark.parametrize("key", [None, KEY])
def test_what_was_sealed_opens(body: Body, compression: Any, key: bytes | None) -> None:
    sealed = BodySealer("borland", compression, key).seal(message(body))
    assert sealed.body.type == "BytesMessage"
    assert (sealed.headers, sealed.properties) == (message(body).headers, message(body).properties)
    if key and isinstance(body.value, str) and body.value:
        assert body.value.encode() not in sealed.body.value
    assert BodyOpener("borland", [key] if key else [], accept_plain=False).open(sealed) == message(body)


def test_compression_makes_it_smaller() -> None:
    body = Body("TextMessage", "loss of signal " * 1000)
    for compression in ("zlib", "zstd"):
        assert len(BodySealer("borland", compression, KEY).seal(message(body)).body.value) < 1000


def test_an_older_key_still_opens() -> None:
    sealed = BodySealer("borland", "none", OTHER).seal(message(BODIES[1]))
    assert BodyOpener("borland", [KEY, OTHER], accept_plain=False).open(sealed) == message(BODIES[1])


@pytest.mark.parametrize("what", ["wrong key", "another event", "plain", "compressed only", "changed", "cut"])
def test_what_is_not_as_it_was_sealed_is_refused(what: str) -> None:
    sealed = BodySealer("borland", "zlib", None if what == "compressed only" else KEY).seal(message(BODIES[1]))
    data = sealed.body.value
    opener = BodyOpener("borland", [OTHER if what == "wrong key" else KEY], accept_plain=False)
    if what == "another event":
        sealed = replace(sealed, properties=(replace_id("e-2"), *sealed.properties[1:]))
    elif what == "plain":
        sealed = message(BODIES[1])
    elif what == "changed":
        sealed = replace(sealed, body=Body("BytesMessage", data[:-1] + bytes([data[-1] ^ 1])))
    elif what == "cut":
        sealed = replace(sealed, body=Body("BytesMessage", data[:12]))
    with pytest.raises(MappingError) as refused:
        opener.open(sealed)
    assert refused.value.code == "LNK-UNSEAL"
    assert "geheim" not in str(refused.value)


@given(
    st.binary(max_size=100),
    st.sampled_from([None, KEY]),
    st.lists(st.tuples(st.integers(0, 90), st.integers(1, 255)), max_size=5),
)
@settings(deadline=None)
def test_garbage_is_never_a_traceback_nor_taken_for_a_body(
    garbage: bytes, key: bytes | None, flips: list[tuple[int, int]]
) -> None:
    opener = BodyOpener("borland", [key] if key else [], accept_plain=False)
    sealed = BodySealer("borland", "none", key).seal(message(BODIES[1]))
    flipped = bytearray(sealed.body.value)
    for at, value in flips:
        if at < len(flipped):
            flipped[at] ^= value
    for data in (MAGIC + garbage, bytes(flipped)):
        opened = message(BODIES[1])
        with suppress(MappingError):
            opened = opener.open(replace(sealed, body=Body("BytesMessage", data)))
        assert key is None or opened == message(BODIES[1])


def test_plain_ones_pass_where_both_kinds_come() -> None:
    opener = BodyOpener("borland", [KEY], accept_plain=True)
    assert opener.open(message(BODIES[1])) == message(BODIES[1])


def two_gateways(seal: Any, unseal: Any) -> tuple[Any, Any]:
    whole = {
        "endpoints": {"m": {"type": "memory"}},
        "channels": {
            "events": {"endpoint": "m", "name": "e"},
            "messages": {"endpoint": "m", "name": "m", "form": "message"},
        },
    }
    one = {**whole, "name": "one", "links": {"l": {"from": "events", "to": "messages", "seal": seal}}}
    two = {**whole, "name": "two", "links": {"l": {"from": "messages", "to": "events", "unseal": unseal}}}
    one_, two_ = Settings.model_validate(one), Settings.model_validate(two)
    return step_of(one_), step_of(two_)


def step_of(settings: Settings) -> Step:
    return with_sealed_bodies(compile_step(translation_of(settings, "l")), *sealing_of(settings, "l"))


def test_an_event_goes_sealed_from_gateway_to_gateway() -> None:
    there, back = two_gateways({"compression": "zstd", "secret_key": "00" * 32}, {"secret_keys": ["00" * 32]})
    on_the_way = sent(there(delivery(EVENT)))
    assert isinstance(on_the_way.payload, Message)
    assert on_the_way.payload.body.value.startswith(MAGIC)
    came = sent(back(delivery(on_the_way.payload))).payload
    assert came.filterable_data == EVENT.filterable_data
    assert came.remainder_of_body == EVENT.remainder_of_body
    _, stranger = two_gateways({}, {"secret_keys": ["11" * 32]})
    with pytest.raises(MappingError, match="does not open"):
        stranger(delivery(on_the_way.payload))


@pytest.mark.parametrize(
    ("link", "code"),
    [
        ("{from: e, to: m, seal: {secret_key: '${env:KEY}'}}", None),
        ("{from: e, to: m, seal: {secret_key: '${env:SHORT}'}}", "CFG-SEAL"),
        ("{from: e, to: m, seal: {secret_key: abc}}", "CFG-SECRET-PLAIN"),
        ("{from: e, to: m, seal: {}}", "CFG-NO-EFFECT"),
        ("{from: m, to: e, seal: {compression: zlib}}", "CFG-SEAL"),
        ("{from: e, to: m, unseal: {}}", "CFG-SEAL"),
        ("{from: m, to: e, unseal: {secret_keys: ['${env:KEY}']}}", None),
    ],
)
def test_lint(link: str, code: str | None, tmp_path: Any) -> None:
    text = (
        "name: x\nendpoints: {p: {type: memory}}\n"
        "channels: {e: {endpoint: p, name: e}, m: {endpoint: p, name: m, form: message}}\n"
        f"links: {{l: {link}}}\n"
    )
    found = read(Source("x.yaml", text.encode(), tmp_path), environment={"KEY": "ab" * 32, "SHORT": "abab"}).findings
    assert [finding.code for finding in found if finding.severity != "note"][:1] == ([code] if code else [])
    assert not any("abab" in str(finding) for finding in found)


def test_a_key_that_is_none_is_no_secret_in_an_error() -> None:
    with pytest.raises(JournalError) as refused:
        BodySealer("borland", "none", b"short")
    assert "short" not in str(refused.value)
