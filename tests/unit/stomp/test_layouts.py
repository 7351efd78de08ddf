"""Layouts are learned from what is seen twice, give way when there are too many, and never read one head as another."""

from __future__ import annotations

import pytest

from adapters.stomp.codec import CodecError, Decoder
from adapters.stomp.flavours import FLAVOURS
from adapters.stomp.frames import Frame
from adapters.stomp.layouts import MOST_LAYOUTS, RELEARN_AT
from mappings.model import Body, Message


def frame(*lines: str, body: bytes = b"x") -> Frame:
    return Frame("\n".join(["MESSAGE", "message-id:1", "ack:1", *lines]).encode(), body)


def properties(message: Message) -> dict[str, object]:
    return {name: value for name, _, value in message.properties}


def known(decoder: Decoder) -> int:
    return len(decoder._layouts._known)


def test_a_layout_is_learned_at_the_second_sighting() -> None:
    decoder = Decoder(FLAVOURS["embedded"])
    learned = []
    for n in range(4):
        assert properties(decoder.decode(frame(f"a:{n}", "b:"))) == {"a": str(n), "b": ""}
        learned.append(known(decoder))
    assert learned == [0, 1, 1, 1]


def test_heads_that_resemble_one_another_are_told_apart() -> None:
    decoder = Decoder(FLAVOURS["embedded"])
    heads = {
        ("a:1", "b:2"): {"a": "1", "b": "2"},
        ("a:1",): {"a": "1"},
        ("a:1", "b:2", "c:3"): {"a": "1", "b": "2", "c": "3"},
        ("a:b:2",): {"a": "b:2"},
        ("b:2", "a:1"): {"a": "1", "b": "2"},
        ("a\\cb:2",): {"a:b": "2"},
        ("a:first", "b:2", "a:second"): {"a": "first", "b": "2"},
        ("a:1", "$body:cdr-any"): {"a": "1", "$body": "cdr-any"},
        ("a:1", "$body:octets"): {"a": "1", "$body": "octets"},
        ("$body:null", "$stomp$$body:map"): {"$body": "map"},
    }
    for _ in range(4):
        for lines, expected in heads.items():
            assert properties(decoder.decode(frame(*lines, body=b""))) == expected


def test_the_kind_of_body_is_read_from_every_message() -> None:
    decoder = Decoder(FLAVOURS["embedded"])
    for _ in range(3):
        assert decoder.decode(frame("$body:null", body=b"")).body == Body("TextMessage", None)
        assert decoder.decode(frame("$body:none", body=b"")).body == Body()
        assert decoder.decode(frame("$body:cdr-any", body=b"x")).body == Body("TextMessage", "x")
        assert decoder.decode(frame("content-length:1", body=b"x")).body == Body("BytesMessage", b"x")


def test_more_layouts_than_fit_give_way_to_those_that_come_often() -> None:
    decoder = Decoder(FLAVOURS["embedded"])
    for n in range(MOST_LAYOUTS + 5):
        for _ in range(3):
            assert properties(decoder.decode(frame(f"p{n}:v"))) == {f"p{n}": "v"}
    assert known(decoder) == MOST_LAYOUTS
    names = {name for layout in decoder._layouts._known for name, _ in layout.properties}
    assert "often" not in names
    for _ in range(RELEARN_AT):
        decoder.decode(frame("often:v"))
    names = {name for layout in decoder._layouts._known for name, _ in layout.properties}
    assert "often" in names
    assert known(decoder) == MOST_LAYOUTS


@pytest.mark.parametrize("line", ["priority:?", "timestamp:x", "expires:x", "a:\\t", "no colon"])
def test_what_cannot_be_read_is_an_error_however_it_is_read(line: str) -> None:
    decoder = Decoder(FLAVOURS["embedded"])
    for _ in range(4):
        with pytest.raises(CodecError):
            decoder.decode(frame("z:1", line))
    for _ in range(3):
        decoder.decode(frame("priority:4", "timestamp:1", "expires:0", "a:1"))
    with pytest.raises(CodecError):
        decoder.decode(frame("priority:?", "timestamp:1", "expires:0", "a:1"))
