"""Framing: whatever is encoded comes back, however the bytes are cut; garbage is a FrameError or no frame, never anything else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adapters.stomp.frames import FrameError, FrameParser, encode, escape, unescape

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = text.filter(bool).filter(lambda name: name != "content-length")
frames = st.tuples(
    st.sampled_from(["SEND", "MESSAGE", "RECEIPT"]), st.dictionaries(names, text, max_size=5), st.binary(max_size=50)
)


@given(text)
def test_unescape_undoes_escape(value: str) -> None:
    escaped = escape(value)
    assert unescape(escaped) == value
    assert not set(escaped) & set(":\n\r")


@given(st.lists(frames, max_size=5), st.data())
def test_frames_come_back_however_they_are_cut(
    sent: list[tuple[str, dict[str, str], bytes]], data: st.DataObject
) -> None:
    stream = b"\n".join(
        encode(command, [*headers.items(), ("content-length", str(len(body)))], body) for command, headers, body in sent
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    parser = FrameParser()
    got = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += parser.feed(stream[start:end])
    assert [(f.command.decode(), f.body) for f in got] == [(command, body) for command, _, body in sent]
    for frame, (_, headers, body) in zip(got, sent, strict=True):
        assert frame.headers == {**headers, "content-length": str(len(body))}


@given(
    st.lists(
        st.binary(max_size=60) | st.sampled_from([b"\n\n", b"\0", b"SEND\n", b"a:b\n", b"content-length:3\n", b"\r\n"])
    )
)
def test_garbage_is_refused_or_waited_for(pieces: list[bytes]) -> None:
    parser = FrameParser(max_head_bytes=200, max_body_bytes=200)
    try:
        for piece in pieces:
            for frame in parser.feed(piece):
                _ = frame.headers
    except FrameError:
        pass
