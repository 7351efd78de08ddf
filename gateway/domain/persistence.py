"""Event domains as JSON data and back, with all ids and counters, so that what clients remember stays true over a restart.

```json
{"version": 1, "next_domain": 1, "domains": [
  {"id": 0, "cycles": "forbid", "diamonds": "forbid", "next_member": 2, "next_connection": 1,
   "default_consumer": 0, "default_supplier": 0,
   "members": [{"id": 0, "type": "CHANNEL", "channel": …}, {"id": 1, "type": "CHANNEL", "channel": …}],
   "connections": [{"id": 0, "supplier": 0, "consumer": 1, "ctype": "ANY_EVENT", "style": "Push", "interface": ""}]}]}
```

Members stand in the order in which they were added. `channel` is whatever the owner of the domain makes of a channel. Data that
breaks the rules of its own domain is refused: it was not written by us.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from enum import IntEnum
from typing import Any, Final, TypeVar

from gateway.domain.connection import HIGHEST_ID, LOWEST_ID, ChannelType, ClientType, Connection, NotificationStyle
from gateway.domain.errors import DomainError, DomainFormError
from gateway.domain.event_domain import EventDomain, Member
from gateway.domain.event_domains import EventDomains
from gateway.domain.qos import Rules

VERSION: Final = 1

C = TypeVar("C")
E = TypeVar("E", bound=IntEnum)
Json = Any
_RULE: Final = {"forbid": True, "allow": False}


def to_json(domains: EventDomains[C], write: Callable[[C], Json]) -> dict[str, Json]:
    return {
        "version": VERSION,
        "next_domain": domains.domain_ids.next,
        "domains": [{"id": id_, **domain_to_json(domain, write)} for id_, domain in domains.domains.items()],
    }


def domain_to_json(domain: EventDomain[C], write: Callable[[C], Json]) -> dict[str, Json]:
    return {
        "cycles": "forbid" if domain.rules.forbid_cycles else "allow",
        "diamonds": "forbid" if domain.rules.forbid_diamonds else "allow",
        "next_member": domain.member_ids.next,
        "next_connection": domain.connection_ids.next,
        "default_consumer": domain.default_consumer,
        "default_supplier": domain.default_supplier,
        "members": [
            {"id": id_, "type": member.channel_type.name, "channel": write(member.channel)}
            for id_, member in domain.members.items()
        ],
        "connections": [
            {"id": id_, **connection_to_json(connection)} for id_, connection in domain.connections.items()
        ],
    }


def connection_to_json(connection: Connection) -> dict[str, Json]:
    return {
        "supplier": connection.supplier_id,
        "consumer": connection.consumer_id,
        "ctype": ClientType(connection.ctype).name,
        "style": NotificationStyle(connection.notification_style).name,
        "interface": connection.interface,
    }


def restore(form: Json, domains: EventDomains[C], read: Callable[[Json], C]) -> None:
    """Puts what was saved into domains that has none yet. Raises DomainFormError, with the place; nothing is put in then."""
    version = _get(form, "version", int, "")
    if version != VERSION:
        raise DomainFormError(f"version {version} of the data is not known here, {VERSION} is", "version")
    next_domain = _id(form, "next_domain", "")
    found: dict[int, EventDomain[C]] = {}
    for index, entry in enumerate(_get(form, "domains", list, "")):
        path = f"domains[{index}]"
        id_ = _fresh_id(entry, path, found)
        found[id_] = domain_from_json(entry, domains.new_domain, read, path)
    domains.domains.update(found)
    domains.domain_ids.next = next_domain


def domain_from_json(
    form: Json, new_domain: Callable[[Rules], EventDomain[C]], read: Callable[[Json], C], path: str = "domain"
) -> EventDomain[C]:
    domain = new_domain(Rules(_rule(form, "cycles", path), _rule(form, "diamonds", path)))
    for index, entry in enumerate(_get(form, "members", list, path)):
        at = f"{path}.members[{index}]"
        id_ = _fresh_id(entry, at, domain.members)
        type_ = _named(ChannelType, entry, "type", at)
        domain.restore_channel(id_, Member(read(_get(entry, "channel", object, at)), type_))
    for index, entry in enumerate(_get(form, "connections", list, path)):
        at = f"{path}.connections[{index}]"
        id_ = _fresh_id(entry, at, domain.connections)
        try:
            domain.restore_connection(id_, connection_from_json(entry, at))
        except DomainFormError:
            raise
        except DomainError as error:
            raise DomainFormError(error.message, at) from error
    domain.member_ids.next = _id(form, "next_member", path)
    domain.connection_ids.next = _id(form, "next_connection", path)
    domain.default_consumer = _default(form, "default_consumer", path, domain.members)
    domain.default_supplier = _default(form, "default_supplier", path, domain.members)
    return domain


def connection_from_json(entry: Json, path: str = "connection") -> Connection:
    return Connection(
        _id(entry, "supplier", path),
        _id(entry, "consumer", path),
        _named(ClientType, entry, "ctype", path),
        _named(NotificationStyle, entry, "style", path),
        _get(entry, "interface", str, path),
    )


def _get(form: Json, key: str, kind: type, path: str) -> Any:
    if not isinstance(form, dict):
        raise DomainFormError("this is no JSON object", path)
    if key not in form:
        raise DomainFormError(f'"{key}" is missing', path)
    value = form[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise DomainFormError(f'"{key}" has a value of the wrong type', _below(path, key))
    return value


def _id(form: Json, key: str, path: str) -> int:
    value: int = _get(form, key, int, path)
    if not LOWEST_ID <= value <= HIGHEST_ID:
        raise DomainFormError("no id is as large as this", _below(path, key))
    return value


def _fresh_id(form: Json, path: str, used: Container[int]) -> int:
    id_ = _id(form, "id", path)
    if id_ in used:
        raise DomainFormError(f"id {id_} is there twice", _below(path, "id"))
    return id_


def _default(form: Json, key: str, path: str, members: Container[int]) -> int | None:
    """A domain has default channels exactly if it has channels."""
    value = _get(form, key, object, path)
    if value is None and not members:
        return None
    id_ = _id(form, key, path)
    if id_ not in members:
        raise DomainFormError(f"there is no member {id_}", _below(path, key))
    return id_


def _rule(form: Json, key: str, path: str) -> bool:
    value = _get(form, key, str, path)
    if value not in _RULE:
        raise DomainFormError(f'"{key}" is neither forbid nor allow', _below(path, key))
    return _RULE[value]


def _named(enumeration: type[E], form: Json, key: str, path: str) -> E:
    name = _get(form, key, str, path)
    if name not in enumeration.__members__:
        raise DomainFormError(f'"{key}" is none of {", ".join(enumeration.__members__)}', _below(path, key))
    return enumeration[name]


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
