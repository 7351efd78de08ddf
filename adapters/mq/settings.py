"""Configuration of the IBM MQ wire. Imports no MQ library."""

from __future__ import annotations

import re
from typing import Final, Literal

from pydantic import Field, SecretStr, model_validator

from adapters.base import Capabilities
from adapters.mq.codec import TargetClient
from adapters.settings_base import ChannelBase, EndpointBase, Profile, StrictModel

NAME: Final = r"^[A-Za-z0-9._/%]{1,48}$"
_HOST: Final = re.compile(r"(?P<host>[^\s(),]+?)(?:\((?P<in_parentheses>\d{1,5})\)|:(?P<behind_colon>\d{1,5}))?")
DEFAULT_PORT: Final = 1414


class MqTls(StrictModel):
    """TLS towards the queue manager, by IBM's client."""

    cipher_spec: str = Field(default="ANY_TLS12_OR_HIGHER", description="As the channel has it.")
    key_repository: str = Field(description="Path of the key repository, as IBM's client wants it.")
    key_repository_password: SecretStr | None = Field(
        default=None, description="Only as ${env:NAME} or ${file:PATH}; absent: a stash file, or MQKEYRPWD."
    )
    certificate_label: str | None = Field(default=None, max_length=64, description="Which certificate is ours.")
    peer_name: str | None = Field(default=None, description="What the queue manager's certificate must say (SSLPEER).")


class MqStandIn(StrictModel):
    """A queue manager that is none: for tests and trials. Without this section no stand-in is ever used."""

    where: Literal["process", "client"] = Field(
        default="process", description="In this process, or behind the library in `client_folder`."
    )
    queues: list[str] = Field(default=[], description="Local queues that it has.")
    store: str | None = Field(default=None, description="File that keeps persistent messages; absent: in memory only.")


class MqEndpoint(EndpointBase):
    """An IBM MQ queue manager, reached as a client."""

    type: Literal["mq"] = Field(description="The wire.")
    queue_manager: str = Field(default="", max_length=48, description="Its name; empty: whichever answers.")
    channel: str | None = Field(default=None, max_length=20, description="Server-connection channel.")
    hosts: list[str] = Field(default=[], description="host(port) or host:port of each; tried in order by IBM's client.")
    ccdt: str | None = Field(
        default=None, description="URL of a client channel definition table, instead of `channel` and `hosts`."
    )
    user: str | None = Field(default=None, description="User at the queue manager.")
    password: SecretStr | None = Field(default=None, description="Only as ${env:NAME} or ${file:PATH}.")
    token: SecretStr | None = Field(
        default=None, description="JSON Web Token instead of user and password (library ibmmq only)."
    )
    tls: MqTls | None = Field(default=None, description="TLS towards the queue manager; absent: none.")
    library: Literal["auto", "ibmmq", "pymqi"] = Field(
        default="auto", description="Python library for the MQI; auto: ibmmq, else pymqi, whichever is installed."
    )
    client_folder: str | None = Field(
        default=None, description="Where IBM's client is unpacked, for example /opt/mqm; absent: found by the system."
    )
    connect_timeout_ms: int = Field(default=30_000, ge=1, description="Longest wait for a connection.")
    application_name: str = Field(
        default="isthmus", max_length=28, description="Shown to the queue manager's operators."
    )
    stand_in: MqStandIn | None = Field(default=None, description="Use a stand-in instead of a queue manager.")

    @model_validator(mode="after")
    def _one_way_there(self) -> MqEndpoint:
        if self.ccdt is not None and (self.channel is not None or self.hosts):
            raise ValueError("give either `ccdt`, or `channel` with `hosts`")
        if (self.channel is None) != (not self.hosts):
            raise ValueError("`channel` and `hosts` go together")
        if self.token is not None and (self.user is not None or self.password is not None):
            raise ValueError("give either `token`, or `user` with `password`")
        if (self.user is None) != (self.password is None):
            raise ValueError("`user` and `password` go together")
        for host in self.hosts:
            if _HOST.fullmatch(host) is None:
                raise ValueError("`hosts` are written host(port) or host:port")
        return self

    @property
    def connection_name(self) -> str:
        """`host(port),host(port)`, as an MQCD wants it."""
        found = [match for match in map(_HOST.fullmatch, self.hosts) if match is not None]
        return ",".join(f"{m['host']}({m['in_parentheses'] or m['behind_colon'] or DEFAULT_PORT})" for m in found)


class MqChannel(ChannelBase):
    """A queue or a topic of the queue manager."""

    queue: str | None = Field(default=None, pattern=NAME, description="Name of a queue.")
    topic: str | None = Field(default=None, min_length=1, description="Topic string, instead of a queue.")
    subscription: str | None = Field(
        default=None,
        min_length=1,
        description="Name of a durable subscription to the topic; it outlives our connections.",
    )
    profile: Profile = Field(default="mq", description="How property names are spelt.")
    target_client: TargetClient = Field(
        default="jms", description="Whether messages go with an MQRFH2 (jms) or as bare text or bytes (mq)."
    )
    message_ids: Literal["derived", "kept", "queue_manager"] = Field(
        default="derived",
        description="MsgId made of the event's own id, so that a message sent twice can be told; the one that it had on MQ, "
        "so that a reply finds its request (derived where it had none); or by the queue manager.",
    )
    context: Literal["default", "none", "identity"] = Field(
        default="default",
        description="Message context: our own, none, or the user of JMSXUserID (needs the right to set it).",
    )
    max_batch: int = Field(default=100, ge=1, le=5000, description="Most messages in one unit of work.")
    units: int = Field(
        default=2, ge=1, le=8, description="Units of work that may be open at once when reading; each is a connection."
    )
    max_message_bytes: int = Field(
        default=4_194_304, ge=1, le=104_857_600, description="A longer message is a dead letter."
    )
    backout_threshold: int | None = Field(
        default=None,
        ge=0,
        description="Deliveries before a message is put aside, 0: never; absent: BOTHRESH of the queue.",
    )
    backout_queue: str | None = Field(
        default=None,
        pattern=NAME,
        description="Where it is put; absent: BOQNAME of the queue, else the dead-letter queue.",
    )
    dead_letter_header: bool = Field(
        default=False,
        description="Put an MQDLH before what is sent: for a queue of dead letters (dead_letter.channel).",
    )
    other_folders: bool = Field(
        default=False, description="Keep folders of the MQRFH2 that JMS does not know, as properties rfh2.FOLDER.NAME."
    )
    provider_properties: bool = Field(
        default=False, description="Show JMSXUserID, JMSXAppID and JMSXDeliveryCount as properties."
    )

    @model_validator(mode="after")
    def _queue_or_topic(self) -> MqChannel:
        if (self.queue is None) == (self.topic is None):
            raise ValueError("give either `queue` or `topic`")
        if self.subscription is not None and self.topic is None:
            raise ValueError("`subscription` needs a `topic`")
        return self

    @property
    def destination(self) -> str:
        return f"queue://{self.queue}" if self.queue is not None else f"topic://{self.topic}"


def capabilities(channel: MqChannel) -> Capabilities:
    return Capabilities(
        form="message",
        typed_properties=True,
        transactions=True,
        durable=True,
        acknowledges=True,
        ordered=True,
        keeps=channel.topic is None or channel.subscription is not None,
        max_batch=channel.max_batch,
    )
