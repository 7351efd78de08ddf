"""The embedded broker, by what a client on a bare socket sees of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from adapters.base import StopError
from adapters.embedded_broker import Broker
from tests.unit.stomp.raw_client import RawClient

Start = Callable[..., str]


def connected(address: str, **headers: str) -> RawClient:
    client = RawClient(address)
    assert client.connect(**headers).command == b"CONNECTED"
    return client


def put(client: RawClient, *bodies: bytes, destination: str = "/queue/q", **headers: str) -> None:
    """Sent and known to the broker."""
    for body in bodies:
        client.send("SEND", body, destination=destination, **headers)
    client.send("SEND", b"", destination="/topic/nobody", receipt="put")
    client.receipt("put")


def test_connected_names_version_and_session(address: str) -> None:
    with RawClient(address) as client:
        headers = client.connect().headers
        assert headers["version"] == "1.2"
        assert headers["session"]


def test_a_queue_keeps_order_headers_and_body(client: RawClient) -> None:
    client.send("SEND", b"one\0two", destination="/queue/q", content_length="7", colon="a:b\n\\c", receipt="r:1")
    client.receipt("r:1")
    put(client, b"second")
    client.send("SUBSCRIBE", id="s:1", destination="/queue/q", ack="auto")
    first, second = client.message(), client.message()
    assert (first.body, second.body) == (b"one\0two", b"second")
    assert first.headers["colon"] == "a:b\n\\c"
    assert first.headers["subscription"] == "s:1"
    assert first.headers["destination"] == "/queue/q"
    assert int(first.headers["timestamp"]) > 1_700_000_000_000
    assert "receipt" not in first.headers
    assert first.headers["message-id"] != second.headers["message-id"]


def test_a_client_cannot_speak_for_the_broker(client: RawClient) -> None:
    client.send(
        "SEND", b"x", destination="/queue/q", message_id="mine", subscription="mine", ack="mine", redelivered="true"
    )
    client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
    headers = client.message().headers
    assert "mine" not in (headers["message-id"], headers["subscription"], headers["ack"])
    assert "redelivered" not in headers


def test_two_consumers_share_a_queue(address: str, client: RawClient) -> None:
    with connected(address) as other:
        for each in (client, other):
            each.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual", receipt="s")
            each.receipt("s")
        with connected(address) as producer:
            put(producer, *[b"%d" % n for n in range(10)])
        got = [client.message().body for _ in range(5)] + [other.message().body for _ in range(5)]
        assert sorted(got) == [b"%d" % n for n in range(10)]


def test_individual_acknowledgement_settles_one(address: str) -> None:
    with connected(address) as consumer:
        put(consumer, b"1", b"2", b"3")
        consumer.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
        messages = [consumer.message() for _ in range(3)]
        consumer.send("ACK", id=messages[1].headers["ack"], receipt="done")
        consumer.receipt("done")
    with connected(address) as again:
        again.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
        back = [again.message(), again.message()]
        assert [m.body for m in back] == [b"1", b"3"]
        assert [m.headers["redelivered"] for m in back] == ["true", "true"]
        assert back[0].headers["message-id"] == messages[0].headers["message-id"]
        again.nothing()


def test_client_acknowledgement_settles_all_before(address: str) -> None:
    with connected(address) as consumer:
        put(consumer, b"1", b"2", b"3")
        consumer.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client")
        messages = [consumer.message() for _ in range(3)]
        consumer.send("ACK", id=messages[1].headers["ack"], receipt="done")
        consumer.receipt("done")
    with connected(address) as again:
        again.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client")
        assert again.message().body == b"3"
        again.nothing()


def test_nack_delivers_again_at_the_head(client: RawClient) -> None:
    put(client, b"1", b"2")
    client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual", prefetch_count="1")
    first = client.message()
    client.nothing()
    client.send("NACK", id=first.headers["ack"])
    again = client.message()
    assert (again.body, again.headers["redelivered"]) == (b"1", "true")
    client.send("ACK", id=again.headers["ack"])
    assert client.message().body == b"2"


def test_prefetch_bounds_what_is_unacknowledged(client: RawClient) -> None:
    put(client, *[b"%d" % n for n in range(5)])
    client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual", prefetch_count="2")
    first, _ = client.message(), client.message()
    client.nothing()
    client.send("ACK", id=first.headers["ack"])
    assert client.message().body == b"2"
    client.nothing()


def test_unsubscribe_gives_back(address: str, client: RawClient) -> None:
    put(client, b"1")
    client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
    client.message()
    client.send("UNSUBSCRIBE", id="s", receipt="u")
    client.receipt("u")
    with connected(address) as other:
        other.send("SUBSCRIBE", id="s", destination="/queue/q", ack="auto")
        assert other.message().body == b"1"


def test_a_transaction_counts_at_commit_and_not_at_abort(address: str, client: RawClient) -> None:
    with connected(address) as consumer:
        consumer.send("SUBSCRIBE", id="s", destination="/queue/q", ack="auto", receipt="s")
        consumer.receipt("s")
        for transaction, ending in (("t1", "ABORT"), ("t2", "COMMIT")):
            client.send("BEGIN", transaction=transaction)
            client.send("SEND", transaction.encode(), destination="/queue/q", transaction=transaction)
            client.send("SEND", b"x", destination="/topic/nobody", receipt="r")
            client.receipt("r")
            consumer.nothing()
            client.send(ending, transaction=transaction, receipt="e")
            client.receipt("e")
        assert consumer.message().body == b"t2"
        consumer.nothing()


def test_acknowledgements_in_a_transaction(address: str) -> None:
    with connected(address) as consumer:
        put(consumer, b"1", b"2")
        consumer.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
        acks = [consumer.message().headers["ack"] for _ in range(2)]
        consumer.send("BEGIN", transaction="t")
        consumer.send("ACK", id=acks[0], transaction="t")
        consumer.send("COMMIT", transaction="t")
        consumer.send("BEGIN", transaction="u")
        consumer.send("ACK", id=acks[1], transaction="u", receipt="never committed")
        consumer.receipt("never committed")
    with connected(address) as again:
        again.send("SUBSCRIBE", id="s", destination="/queue/q")
        assert again.message().body == b"2"
        again.nothing()


def test_a_topic_reaches_everybody_who_listens_now(address: str, client: RawClient) -> None:
    put(client, b"too early", destination="/topic/t")
    with connected(address) as other:
        for each in (client, other):
            each.send("SUBSCRIBE", id="s", destination="/topic/t", receipt="s")
            each.receipt("s")
        with connected(address) as producer:
            put(producer, b"news", destination="/topic/t")
        assert (client.message().body, other.message().body) == (b"news", b"news")


@pytest.mark.parametrize(
    ("pattern", "topic", "matches"),
    [
        ("a.*", "a.b", True),
        ("a.*", "a", False),
        ("a.*", "a.b.c", False),
        ("a.#", "a", True),
        ("a.#", "a.b.c", True),
        ("a.>", "a.b.c", True),
        ("#", "x.y", True),
        ("*.b.#.d", "a.b.c.c.d", True),
        ("*.b.#.d", "a.b.c", False),
        ("#.c", "a.b.c", True),
        ("a.b", "aXb", False),
    ],
)
def test_patterns_of_topics(client: RawClient, pattern: str, topic: str, matches: bool) -> None:
    client.send("SUBSCRIBE", id="s", destination=f"/topic/{pattern}", receipt="s")
    client.receipt("s")
    client.send("SEND", b"x", destination=f"/topic/{topic}")
    if matches:
        assert client.message().headers["destination"] == f"/topic/{topic}"
    else:
        client.nothing()


def test_a_durable_subscription_collects_while_nobody_listens(address: str, client: RawClient) -> None:
    name = {"durable_subscription_name": "d", "destination": "/topic/t", "ack": "client-individual"}
    with connected(address, client_id="c") as listener:
        listener.send("SUBSCRIBE", id="s", receipt="s", **name)
        listener.receipt("s")
    put(client, b"1", b"2", destination="/topic/t")
    with connected(address, client_id="c") as listener:
        listener.send("SUBSCRIBE", id="s", **name)
        first = listener.message()
        listener.send("ACK", id=first.headers["ack"], receipt="a")
        assert listener.message().body == b"2"
        listener.receipt("a")
        listener.send("UNSUBSCRIBE", id="s", durable_subscription_name="d", receipt="u")
        listener.receipt("u")
    put(client, b"3", destination="/topic/t")
    with connected(address, client_id="c") as listener:
        listener.send("SUBSCRIBE", id="s", **name)
        listener.nothing()


def test_expired_messages_are_not_delivered(client: RawClient) -> None:
    put(client, b"old", expires="1")
    put(client, b"new", expires="99999999999999")
    client.send("SUBSCRIBE", id="s", destination="/queue/q")
    assert client.message().body == b"new"


def test_disconnect_answers_then_ends(client: RawClient) -> None:
    client.send("DISCONNECT", receipt="bye")
    client.receipt("bye")
    client.expect_end()


def test_login(start_broker: Start) -> None:
    address = start_broker(login="gw", password="päss:word")
    for wrong in ({}, {"login": "gw"}, {"login": "gw", "passcode": "pass"}, {"login": "x", "passcode": "päss:word"}):
        with RawClient(address) as client:
            client.send("CONNECT", accept_version="1.2", host="x", **wrong)
            assert "login refused" in client.error()
    with connected(address, login="gw", passcode="päss:word"):
        pass


def test_only_stomp_1_2(address: str) -> None:
    with RawClient(address) as client:
        client.send("CONNECT", accept_version="1.0,1.1", host="x")
        assert "1.2" in client.error()


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n\0",
        b"\0\0\0\0",
        b"\xff\xfe\xfd" * 100 + b"\n\n\0",
        b"SEND\ndestination:/queue/q\n\nx\0",  # before CONNECT
        b"CONNECT\naccept-version:1.2\nbad\n\n\0",
    ],
)
def test_garbage_is_answered_with_error(address: str, garbage: bytes) -> None:
    with RawClient(address) as client:
        client.socket.sendall(garbage)
        assert client.error()
    with connected(address):
        pass


@pytest.mark.parametrize(
    "frame",
    [
        b"SEND\n\nno destination\0",
        b"SEND\ndestination:elsewhere\n\nx\0",
        b"SEND\ndestination:/queue/q\nx:\\t\n\nx\0",
        b"SEND\ndestination:/queue/q\n:no name\n\nx\0",
        b"SEND\ndestination:/queue/q\ntransaction:none\n\nx\0",
        b"SEND\ndestination:/queue/q\ncontent-length:3\n\nlonger\0",
        b"ACK\nid:1\n\n\0",
        b"NACK\nid:1\n\n\0",
        b"ACK\n\n\0",
        b"COMMIT\ntransaction:none\n\n\0",
        b"BEGIN\n\n\0",
        b"SUBSCRIBE\ndestination:/queue/q\n\n\0",
        b"SUBSCRIBE\nid:1\ndestination:/queue/q\nack:sometimes\n\n\0",
        b"UNSUBSCRIBE\nid:1\n\n\0",
        b"FLY\n\n\0",
    ],
)
def test_what_is_not_understood_ends_the_session_only(client: RawClient, address: str, frame: bytes) -> None:
    client.socket.sendall(frame)
    assert client.error()
    with connected(address):
        pass


def test_a_head_without_an_end(start_broker: Start) -> None:
    with connected(start_broker(max_head_bytes=10_000)) as client:
        client.socket.sendall(b"X" * 10_001)
        assert "longer" in client.error()


def test_a_frame_that_is_too_large(start_broker: Start) -> None:
    with connected(start_broker(max_body_bytes=1000)) as client:
        client.socket.sendall(b"SEND\ndestination:/queue/q\ncontent-length:1001\n\n")
        assert "longer" in client.error()


def test_a_full_queue_holds_producers_back_until_there_is_room(start_broker: Start) -> None:
    address = start_broker(max_queue_messages=10)
    with connected(address) as producer, connected(address) as consumer:
        producer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024)
        count, body = 3000, b"x" * 2000
        done = threading.Event()

        def produce() -> None:
            for _ in range(count):
                producer.send("SEND", body, destination="/queue/q")
            producer.send("SEND", b"last", destination="/queue/q", receipt="last")
            done.set()

        thread = threading.Thread(target=produce)
        thread.start()
        assert not done.wait(0.5)  # six megabytes do not fit into the buffers of a loopback connection
        consumer.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual", prefetch_count="100")
        for _ in range(count):
            message = consumer.message()
            assert message.body == body
            consumer.send("ACK", id=message.headers["ack"])
        assert consumer.message().body == b"last"
        producer.receipt("last")
        thread.join(20)


def test_heart_beats_come_and_are_expected(start_broker: Start) -> None:
    address = start_broker(heartbeat_ms=100)
    with RawClient(address) as client:
        assert client.connect(heart_beat="0,100").headers["heart-beat"] == "100,100"
        assert client.socket.recv(1) == b"\n"
    with RawClient(address) as silent:
        silent.connect(heart_beat="100,0")
        silent.expect_end()


def test_a_client_may_have_its_silence_noticed_sooner_than_the_broker_would(start_broker: Start) -> None:
    with RawClient(start_broker(heartbeat_ms=60_000)) as silent:
        assert silent.connect(heart_beat="100,0").headers["heart-beat"] == "60000,100"
        silent.expect_end()


def test_too_many_clients(start_broker: Start) -> None:
    address = start_broker(max_clients=1)
    with connected(address), RawClient(address) as second:
        assert "as many clients" in second.error()


def test_a_taken_port_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        broker = Broker("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(StopError, match="cannot listen"):
            broker.start()
        broker.stop()


def test_stop_ends_everything_and_may_come_twice() -> None:
    before = set(threading.enumerate())
    broker = Broker("127.0.0.1", 0)
    address = broker.start()
    with connected(address) as client:
        put(client, b"1")
        assert broker.depths() == {"/queue/q": 1}
        broker.stop()
        client.expect_end()
    broker.stop()
    assert set(threading.enumerate()) <= before
    with pytest.raises(ConnectionRefusedError):
        RawClient(address)


def test_an_answer_reaches_the_temporary_queue_of_whoever_asked(address: str, client: RawClient) -> None:
    with connected(address) as asker:
        asker.send("SUBSCRIBE", id="t", destination="/temp-queue/mine")
        asker.send("SEND", b"?", destination="/queue/q", reply_to="/temp-queue/mine", x="y")
        client.send("SUBSCRIBE", id="s", destination="/queue/q")
        question = client.message().headers
        assert (question["x"], question["reply-to"][:19]) == ("y", "/remote-temp-queue/")
        client.send("SEND", b"!", destination=question["reply-to"])
        assert asker.message().body == b"!"
        with connected(address) as other:  # the same name, and another queue
            other.send("SUBSCRIBE", id="t", destination="/temp-queue/mine", receipt="there")
            other.receipt("there")
            client.send("SEND", b"again", destination=question["reply-to"])
            assert asker.message().body == b"again"
            other.nothing()
    put(client)
    client.send("SEND", b"too late", destination=question["reply-to"])
    assert "does not exist" in client.error()


def test_the_temporary_queue_is_there_before_it_is_listened_to(address: str, client: RawClient) -> None:
    with connected(address) as asker:
        asker.send("SEND", b"?", destination="/queue/q", reply_to="/temp-queue/mine")
        client.send("SUBSCRIBE", id="s", destination="/queue/q")
        put(client, b"!", destination=client.message().headers["reply-to"])
        asker.send("SUBSCRIBE", id="t", destination="/temp-queue/mine")
        assert asker.message().body == b"!"
        asker.send("SUBSCRIBE", id="u", destination="/remote-temp-queue/of-nobody")
        assert "does not exist" in asker.error()


def test_deliveries_are_counted(client: RawClient) -> None:
    put(client, b"x", JMSXDeliveryCount="77")
    client.send("SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual")
    counts = []
    for _ in range(3):
        headers = client.message().headers
        counts.append((headers.get("redelivered"), headers.get("JMSXDeliveryCount")))
        client.send("NACK", id=headers["ack"])
    assert counts == [(None, None), ("true", "2"), ("true", "3")]


def test_a_selector_chooses_and_leaves_the_rest(address: str, client: RawClient) -> None:
    for n in range(1, 6):
        client.send("SEND", b"%d" % n, destination="/queue/q", severity=str(n), kind="Alarm" if n % 2 else "Other")
    client.send(
        "SUBSCRIBE", id="s", destination="/queue/q", ack="client-individual", selector="severity > 2 AND kind = 'Alarm'"
    )
    assert [client.message().body for _ in range(2)] == [b"3", b"5"]
    client.nothing()
    with connected(address) as other:
        other.send("SUBSCRIBE", id="s", destination="/queue/q")
        assert [other.message().body for _ in range(3)] == [b"1", b"2", b"4"]


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("n = '3'", True),
        ("n = 3", True),
        ("n <> '3'", False),
        ("n > 2.5", True),
        ("flag = TRUE", True),
        ("flag = 'true'", True),
        ("missing IS NULL", True),
        ("JMSPriority = 7", True),
        ("JMSType LIKE 'Al%'", True),
        ("JMSType = 'x'", False),
    ],
)
def test_text_properties_count_as_numbers_too(client: RawClient, selector: str, matches: bool) -> None:
    client.send("SUBSCRIBE", id="s", destination="/topic/t", selector=selector, receipt="s")
    client.receipt("s")
    client.send("SEND", b"x", destination="/topic/t", n="3", flag="true", priority="7", type="Alarm")
    if matches:
        client.message()
    else:
        client.nothing()


def test_a_wrong_selector_is_refused(client: RawClient) -> None:
    client.send("SUBSCRIBE", id="s", destination="/queue/q", selector="a = = b")
    assert "selector" in client.error()
