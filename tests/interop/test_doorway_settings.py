"""The doorway under other settings of the ORB, and its end."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from adapters.base import StopError
from adapters.cosnotification.giop import messages
from adapters.cosnotification.giop.messages import read_reply
from tests.parts.doorway import OK, PATIENCE_SECS, PUSH, Peer, place


def test_who_has_gone_is_asked_no_more() -> None:
    with place() as here, Peer(here) as peer:
        peer.ask(here.push("first", first=True))
        assert peer.ask(here.push("taken")) == (7, OK)
        here.orb.forget_octets(here.reference)
        assert peer.ask(here.push("not taken")) == (7, OK)
        here.orb.serve_octets(here.reference, PUSH.decode(), here._take)
        assert peer.ask(here.push("taken again")) == (7, OK)
        here.orb.deactivate(b"consumer")
        assert peer.ask(here.push("nobody's")) == (7, messages.SYSTEM_EXCEPTION)
        assert [name for name, _ in here.taken] == ["first", "taken", "taken again"]


def test_only_who_is_allowed_comes_in() -> None:
    with place(allow=["127.0.0.5", "10.0.0.0/8"]) as here:
        with Peer(here, "127.0.0.5") as peer:
            assert peer.ask(here.push("first", first=True)) == (7, OK)
            assert peer.ask(here.push("taken")) == (7, OK)
        with pytest.raises(ConnectionError), Peer(here) as peer:
            peer.ask(here.push("first", first=True))


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", ":0"])
def test_on_every_address_references_name_the_one_that_the_library_would_write(listen: str) -> None:
    with place(listen=listen, bidirectional=True) as without:
        expected = without.profile.addresses[0].host
    with place(listen=listen) as here:
        assert here.profile.addresses[0].host == expected
        with Peer(here, None) as peer:
            peer.ask(here.push("first", first=True))
        address = ("127.0.0.1", here.profile.addresses[0].port)
        with socket.create_connection(address, PATIENCE_SECS) as connection:
            connection.sendall(here.push("second", first=True))
            assert read_reply(connection.recv(1000))
        assert [name for name, _ in here.taken] == ["first", "second"]


def test_an_address_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(StopError) as caught, place(listen=f"127.0.0.1:{taken.getsockname()[1]}"):
            pass
    assert caught.value.code == "COR-ORB"


def test_over_ipv6() -> None:
    with place(listen="[::1]:0") as here:
        address = here.profile.addresses[0]
        assert address.host == "::1"
        with socket.create_connection((address.host, address.port), PATIENCE_SECS) as connection:
            for request in (here.push("first", first=True), here.push("taken")):
                connection.sendall(request)
                assert read_reply(connection.recv(1000))
            connection.sendall(here.push("library's"))
            assert read_reply(connection.recv(1000))
        assert [name for name, _ in here.taken] == ["first", "taken"]
        assert here.consumer.hosts == ["::1"]


@pytest.mark.parametrize("more", [{"bidirectional": True}, {"code_set": "ISO-8859-1"}])
def test_where_there_is_no_doorway_the_library_is_called(more: dict[str, Any]) -> None:
    with place(**more) as here:
        with Peer(here) as peer:
            peer.ask(here.push("first", first=True))
            assert peer.ask(here.push("second")) == (7, OK)
        assert here.taken == []
        assert here.consumer.names == ["first", "second"]


def test_a_call_under_way_is_answered_before_the_end() -> None:
    going, go_on = threading.Event(), threading.Event()
    with place() as here, Peer(here) as peer:
        peer.ask(here.push("first", first=True))

        def slow(notification: Any) -> None:
            going.set()
            go_on.wait(PATIENCE_SECS)

        here.consumer.push_structured_event = slow  # type: ignore[method-assign]
        peer.socket.sendall(here.push("library's slow"))
        assert going.wait(PATIENCE_SECS)
        stopping = threading.Thread(target=here.orb.stop)
        stopping.start()
        go_on.set()
        assert peer.reply() == (7, OK)
        stopping.join(PATIENCE_SECS)
        assert not stopping.is_alive()
