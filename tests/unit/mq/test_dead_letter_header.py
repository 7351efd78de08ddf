"""A channel that dead letters are passed on to: an MQDLH stands before the message, and readers of ours still find it behind."""

from __future__ import annotations

from adapters.base import Outgoing
from adapters.mq.chain import DLH_LENGTH
from adapters.mq.sink import MqSink
from adapters.mq.source import MqSource
from mappings.model import Body, Headers, Message, MessageProperty
from tests.contract.wires.mq import channel_of, endpoint_of, stand_in


def test_an_mqdlh_stands_before_what_is_sent() -> None:
    message = Message(
        Headers(JMSType="order"), (MessageProperty("dl_code", "String", "MAP-TEST"),), Body("TextMessage", "hé")
    )
    with stand_in() as manager:
        manager.define("DEAD", fifo=True)
        endpoint = endpoint_of(manager)
        sink = MqSink(endpoint, channel_of("DEAD", dead_letter_header=True))
        source = MqSource(endpoint, channel_of("DEAD"))
        for end in (sink, source):
            end.connect()
        try:
            assert sink.send([Outgoing(message, "1")]).result(20.0) == ()
            (delivery,) = source.receive(1, 20.0)
        finally:
            sink.close()
            source.close()
    assert delivery.original is not None
    header = delivery.original[delivery.original.rindex(b"DLH ") :][:DLH_LENGTH]
    assert int.from_bytes(header[8:12], "little") == 65_536, "the first reason that applications may give"
    assert header[12:60].rstrip() == b"DEAD"
    assert isinstance(delivery.payload, Message)
    assert delivery.payload.headers.JMSType == "order"
    assert (delivery.payload.properties, delivery.payload.body) == (message.properties, message.body)
