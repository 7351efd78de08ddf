"""A bridge, and what is wrong with one: the data types of CosBridgeAdmin, under the names of its IDL."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

from mappings.errors import IsthmusError


class Role(IntEnum):
    SOURCE = 0
    SINK = 1


class MessageType(IntEnum):
    JMS_MESSAGE = 0
    STRUCTURED_EVENT = 1
    SEQUENCE_EVENT = 2


class FlowStyle(IntEnum):
    PUSH = 0
    PULL = 1


class ErrorCode(IntEnum):
    INVALID_CHANNELID = 0
    INVALID_JMSDESTINATION = 1
    MISMATCH_ENDPOINTROLE_NOTIFSTYLE = 2


class EndPoint(NamedTuple):
    """One end: a destination (`queue` or `topic`, its name, and the endpoint that it is at; empty: the usual one), or a channel."""

    role: int
    type: int
    style: int
    kind: int  # the discriminator of the connector, a MessageType too
    channel: int = 0
    destination_type: str = ""
    destination_name: str = ""
    factory_name: str = ""

    @property
    def is_jms(self) -> bool:
        return self.type == MessageType.JMS_MESSAGE


class Bridge(NamedTuple):
    id: int
    source: EndPoint
    sink: EndPoint
    started: bool = False
    events: int = 0  # of one transaction; 0: none is asked for
    timeout_ms: int = 0

    @property
    def link(self) -> str:
        """Its name among the links."""
        return f"bridge.{self.id}"

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "source": list(self.source), "sink": list(self.sink)}


def bridge_from_json(form: dict[str, Any]) -> Bridge:
    return Bridge(**{**form, "source": EndPoint(*form["source"]), "sink": EndPoint(*form["sink"])})


class InvalidEndPoints(IsthmusError):
    def __init__(self, errors: list[tuple[Role, ErrorCode]], why: str = "") -> None:
        words = why or ", ".join(f"{role.name}: {code.name}" for role, code in errors)
        super().__init__("DOM-BRIDGE", f"no bridge can be between these: {words}")
        self.errors = errors


class BridgeNotFound(IsthmusError):
    def __init__(self, bridge: int) -> None:
        super().__init__("DOM-NO-BRIDGE", f"there is no bridge {bridge}")


class BridgeState(IsthmusError):
    """It is not in the state that an operation needs."""

    def __init__(self, name: str) -> None:
        super().__init__("DOM-BRIDGE-STATE", f"the bridge says {name}")
        self.name = name  # of the exception of the IDL


def check_end_points(source: EndPoint, sink: EndPoint) -> list[tuple[Role, ErrorCode]]:
    """What can be seen of them without asking anybody; at most one error for each side."""
    errors = []
    for role, end, other in ((Role.SOURCE, source, sink), (Role.SINK, sink, source)):
        wrong_place = ErrorCode.INVALID_JMSDESTINATION if end.is_jms else ErrorCode.INVALID_CHANNELID
        if end.role != role or (end.is_jms and role is Role.SINK and end.style == FlowStyle.PULL):
            errors.append((role, ErrorCode.MISMATCH_ENDPOINTROLE_NOTIFSTYLE))
            continue
        says_otherwise = (end.kind == MessageType.JMS_MESSAGE) != end.is_jms
        is_nameless = end.is_jms and not end.destination_name.strip()
        is_same_kind = role is Role.SINK and end.is_jms == other.is_jms  # one side is JMS, the other is not
        if says_otherwise or is_nameless or is_same_kind:
            errors.append((role, wrong_place))
    return errors
