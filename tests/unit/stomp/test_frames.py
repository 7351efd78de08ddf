"""STOMP 1.2 framing: the examples of the specification, and what goes wrong."""

from __future__ import annotations

import pytest

from adapters.stomp.frames import Frame, FrameError, FrameParser, encode, escape, raw_header, unescape


def one(data: bytes) -> Frame:
    [frame] = FrameParser().feed(data)
    return frame


def test_the_four_escapes_of_stomp_1_2() -> None:
    assert escape("a:b\nc\rd\\e") == "a\\cb\\nc\\rd\\\\e"
    assert unescape("a\\cb\\nc\\rd\\\\e") == "a:b\nc\rd\\e"


@pytest.mark.parametrize("text", ["\\t", "a\\", "\\\\\\x"])
def test_an_undefined_escape_is_fatal(text: str) -> None:
    with pytest.raises(FrameError, match="undefined escape"):
        unescape(text)


def test_names_are_escaped_like_values() -> None:
    frame = one(encode("SEND", [("destination", "/queue/a"), ("x\ninjected:yes", "v")]))
    assert frame.headers == {"destination": "/queue/a", "x\ninjected:yes": "v"}


def test_connect_frames_know_no_escapes() -> None:
    assert one(encode("CONNECT", [("passcode", "a:b\\c")])).headers == {"passcode": "a:b\\c"}
    with pytest.raises(FrameError):
        encode("CONNECT", [("login", "a\nhost:evil")])


def test_nul_in_a_header_cannot_be_sent() -> None:
    with pytest.raises(FrameError):
        encode("SEND", [("a", "b\0c")])


def test_a_body_may_hold_nul_behind_a_content_length() -> None:
    frame = one(encode("SEND", [("content-length", "3")], b"\0\n\0"))
    assert frame.body == b"\0\n\0"
    assert frame.content_length_at > 0


def test_line_ends_may_be_crlf() -> None:
    frame = one(b"MESSAGE\r\na:1\r\nb:2\r\n\r\nbody\r\n\0")
    assert (frame.command, frame.headers, frame.body) == (b"MESSAGE", {"a": "1", "b": "2"}, b"body\r\n")


def test_the_first_of_two_equal_headers_counts() -> None:
    assert one(b"MESSAGE\nfoo:World\nfoo:Hello\n\n\0").headers == {"foo": "World"}


def test_heart_beats_between_frames_vanish() -> None:
    parser = FrameParser()
    assert parser.feed(b"\n\n\r\n") == []
    assert [f.command for f in parser.feed(b"\nRECEIPT\nreceipt-id:1\n\n\0\n\nERROR\n\n\0\n")] == [b"RECEIPT", b"ERROR"]
    assert parser.feed(b"\n") == []


def test_a_value_keeps_its_spaces_and_colons() -> None:
    assert one(b"MESSAGE\na: x:y \n\n\0").headers == {"a": " x:y "}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n\0", None),  # looks like a frame: its command is refused, not its form
        (b"SEND\0", "NUL before the end"),
        (b"SEND\ncontent-length:x\n\n\0", "content-length"),
        (b"SEND\ncontent-length:-1\n\n\0", "content-length"),
        (b"SEND\ncontent-length:2\n\nabc\0", "no NUL"),
        (b"SEND\ncontent-length:99999999999\n\nabc\0", "longer"),
    ],
)
def test_what_makes_no_sense(data: bytes, reason: str | None) -> None:
    if reason is None:
        assert one(data).command == b"GET / HTTP/1.1"
    else:
        with pytest.raises(FrameError, match=reason):
            FrameParser().feed(data)


def test_head_and_body_are_bounded_however_they_arrive() -> None:
    with pytest.raises(FrameError, match="head"):
        drip(b"", FrameParser(max_head_bytes=100, max_body_bytes=1000))
    with pytest.raises(FrameError, match="body"):
        drip(b"SEND\n\n", FrameParser(max_head_bytes=100, max_body_bytes=1000))


def drip(start: bytes, parser: FrameParser) -> None:
    parser.feed(start)
    for _ in range(1000):
        parser.feed(b"aaaa")


@pytest.mark.parametrize("head", [b"MESSAGE\nno colon", b"MESSAGE\na:\xff", b"MESSAGE\na:\\x"])
def test_bad_headers_are_found_when_they_are_read(head: bytes) -> None:
    frame = one(head + b"\nack:7\n\nx\0")
    with pytest.raises(FrameError):
        _ = frame.headers
    assert raw_header(frame.head, b"ack") == "7"
    assert frame.original == head + b"\nack:7\n\nx\0"
