"""What differs between brokers that all speak STOMP 1.2: names of destinations, extra headers, what NACK means, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote

from adapters.topic_patterns import ARROW, HASH, Wildcards

Confirm = Literal["batch", "message"]
MapBodies = Literal["json", "broker"]


@dataclass(frozen=True, slots=True)
class Flavour:
    """One kind of broker. Facts come from its documentation and from a Java consumer on the far side (docs/stomp.md)."""

    name: str
    prefetch_header: str
    subscription_header: str | None  # names a durable subscription; None: the subscription's id does
    nack_requeues: bool  # else NACK drops or dead-letters the message, and is never sent
    confirm: Confirm = "batch"  # what proves a batch: the receipt of its COMMIT, or one for each message
    map_bodies: MapBodies = "json"  # "broker": it makes a real MapMessage of a transformation (OC-BODY-7)
    prefetch_bytes: int | None = None  # the prefetch header counts bytes: this many for one message
    typed_destinations: bool = False  # queue or topic is told by a header, not by the destination's name
    duplicate_header: str | None = None  # the broker drops a message whose value it has seen
    id_header: str | None = None  # the broker's own ids change with every delivery: ours goes here, as `ID:…`
    counts_ids: bool = False  # a message's id is but a number, which other brokers use too
    returns_header: str | None = None  # how often a message was delivered before, where the broker counts that
    queue_type_header: str | None = None  # names the kind of queue that is to be made
    reserved: frozenset[str] = frozenset()  # headers of SEND that the broker takes for orders of its own
    quoted_names: bool = False  # `/` in a name is written %2F; of what it delivers the broker quotes more
    marks_text: bool = (
        False  # it announces a content-length for every message: text needs a content-type to be told from bytes
    )
    text_length_last: bool = False  # of text it announces the length behind all other headers, of bytes before them
    text_with_length: bool = False  # amq-msg-type:text makes a TextMessage in spite of a content-length
    java_text: bool = False  # beyond U+FFFF its JMS clients need Java's UTF-8 in bodies, and lose properties (AMQ-8398)
    expiry_header: Literal["expires", "expiration"] = "expires"  # a moment, or a span, in milliseconds
    max_header_bytes: int | None = None  # the longest header line that it takes
    max_headers: int | None = None
    wildcards: Wildcards = HASH
    temporary: str = "/remote-temp-{kind}/"  # before the name of a temporary destination of somebody else
    vhost: str | None = None  # the `host` of CONNECT where the configuration names none; None: the broker's address

    def to_wire(self, destination: str) -> str:
        """`queue://NAME`, `topic://NAME`, `temp-queue://NAME` as the broker spells them; what only it understands as it is."""
        kind, scheme, name = destination.partition("://")
        if scheme and self.typed_destinations:
            return name
        if scheme and kind in ("temp-queue", "temp-topic"):
            return self._temporary(kind) + name
        if kind not in ("queue", "topic"):
            return destination
        return f"/{kind}/{name.replace('/', '%2F') if self.quoted_names else name}"

    def kind_headers(
        self, destination: str, *, subscribing: bool, queue_type: str | None = None
    ) -> list[tuple[str, str]]:
        """What else must be said of a destination."""
        kind, scheme, _ = destination.partition("://")
        if kind == "queue" and queue_type is not None and self.queue_type_header is not None:
            return [(self.queue_type_header, queue_type)]
        if not self.typed_destinations or not scheme:
            return []
        routing = "ANYCAST" if kind.endswith("queue") else "MULTICAST"
        return [("subscription-type" if subscribing else "destination-type", routing)]

    def subscribe_headers(
        self, destination: str, prefetch: int, durable_name: str | None, queue_type: str | None = None
    ) -> dict[str, str]:
        """What SUBSCRIBE needs besides destination, id and ack mode."""
        headers = dict(self.kind_headers(destination, subscribing=True, queue_type=queue_type))
        headers[self.prefetch_header] = str(prefetch * (self.prefetch_bytes or 1))
        if self.map_bodies == "broker":
            # Else a MapMessage arrives with an empty body. The answer tells the class: jms-map-xml, or jms-xml for all others.
            headers["transformation"] = "jms-xml"
        if durable_name is not None:
            headers |= self.durable_headers(durable_name)
        return headers

    def durable_headers(self, name: str) -> dict[str, str]:
        """What makes a SUBSCRIBE one to a durable subscription, and an UNSUBSCRIBE its end."""
        if self.subscription_header is not None:
            return {self.subscription_header: name}
        return {"durable": "true", "auto-delete": "false"}

    def reply_from_wire(self, destination: str) -> str:
        """As `from_wire`, of what passed through the broker untouched."""
        kind, _, name = destination.removeprefix("/").partition("/")
        if self.quoted_names and destination.startswith("/") and kind in ("queue", "topic"):
            return f"{kind}://{name.replace('%2F', '/')}"
        return self.from_wire(destination)

    def reply_to_wire(self, destination: str) -> str:
        """A destination for others to answer to."""
        return destination if self.typed_destinations else self.to_wire(destination)

    def message_id(self, header: str, own: str | None) -> str:
        """What stays the same when the message is delivered again: Artemis puts the number of the consumer before it. `own` is the
        value of our `id_header`: only an id that claims to be a JMS one is believed to be unique (JMS 3.4.3)."""
        if self.id_header is not None and own is not None and own.startswith("ID:"):
            return own
        return header.rpartition(",")[2] if self.typed_destinations else header

    def from_wire(self, destination: str, routing: str | None = None) -> str:
        """The inverse. What is no destination that we know passes as it is."""
        if routing is not None and self.typed_destinations and "://" not in destination:
            return f"{'queue' if routing == 'ANYCAST' else 'topic'}://{destination}"
        for kind in ("queue", "topic"):
            if destination.startswith(f"/{kind}/"):
                name = destination[len(kind) + 2 :]
                return f"{kind}://{unquote(name) if self.quoted_names else name}"
        for kind in ("temp-queue", "temp-topic"):
            if destination.startswith(self._temporary(kind)):
                return f"{kind}://{destination.removeprefix(self._temporary(kind))}"
        return destination

    def _temporary(self, kind: str) -> str:
        return self.temporary.format(kind=kind.removeprefix("temp-"))


RABBITMQ_ORDERS: Final = frozenset((
    "amqp-message-id", "app-id", "auto-delete", "content-encoding", "durable", "exclusive", "user-id", "x-dead-letter-exchange",
    "x-dead-letter-routing-key", "x-expires", "x-max-length", "x-max-length-bytes", "x-max-priority", "x-message-ttl",
    "x-delivery-count", "x-overflow", "x-queue-name", "x-queue-type", "x-stream-offset",
))  # fmt: skip

FLAVOURS: Final = {
    flavour.name: flavour
    for flavour in (
        Flavour(
            "activemq",
            prefetch_header="activemq.prefetchSize",
            subscription_header="activemq.subscriptionName",
            nack_requeues=False,
            map_bodies="broker",
            text_with_length=True,
            java_text=True,
            wildcards=ARROW,
            max_header_bytes=10 * 1024,
            max_headers=1000,
        ),
        Flavour(
            "artemis",
            prefetch_header="consumer-window-size",
            prefetch_bytes=1024,
            subscription_header="durable-subscription-name",
            nack_requeues=False,
            confirm="message",  # each transaction is a session of its own there: one may overtake another
            typed_destinations=True,
            counts_ids=True,
            text_length_last=True,
            duplicate_header="_AMQ_DUPL_ID",
        ),
        Flavour(
            "rabbitmq",
            prefetch_header="prefetch-count",
            subscription_header=None,
            nack_requeues=True,
            confirm="message",
            quoted_names=True,
            marks_text=True,
            expiry_header="expiration",
            vhost="/",
            id_header="amqp-message-id",
            temporary="/reply-queue/",
            returns_header="x-delivery-count",
            queue_type_header="x-queue-type",
            reserved=RABBITMQ_ORDERS,
        ),
        Flavour(
            "embedded",
            prefetch_header="prefetch-count",
            subscription_header="durable-subscription-name",
            nack_requeues=True,
        ),
    )
}
