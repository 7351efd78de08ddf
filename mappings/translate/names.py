"""Property names: the three naming profiles of RULES.md 5.3 (OC-NAME-1 … OC-NAME-7).

A property is named by a path: the field's name, then member names, ordinals, `_length`, `_d`. A profile writes a path as one name:

    profile   Fd1 / AlarmName      domain_type        for
    borland   $Fd1.AlarmName       $domain_type       STOMP brokers, which do not check names; the paper's own spelling
    strict    $Fd1$_AlarmName      $domain_type       any JMS provider: always a legal selector identifier
    mq        _sFd1_dAlarmName     _sdomain__type     MQRFH2: a legal XML name, no `.`, no `$`

`strict` and `mq` can be read back for every path of Unicode names; `borland` cannot where a name itself holds a `.`, which is why
`$se` lists the names (OC-META-1). The prefix keeps every name apart from selector keywords (OC-NAME-5) and from JMS… (OC-NAME-6).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from mappings.errors import MappingError

_ESCAPED_CHARACTER: Final = re.compile("u([0-9a-f]{6})")


@dataclass(frozen=True, slots=True)
class Profile:
    """How paths become names. `escape` is the character that starts an escape, or "" where nothing is escaped."""

    name: str
    prefix: str
    separator: str
    escape: str
    _illegal: re.Pattern[str] = field(repr=False)

    def component(self, text: str) -> str:
        """One component of a path as it stands inside a name."""
        return self._illegal.sub(self._escaped, text) if self.escape else text

    def root(self, field_name: str) -> str:
        """The name of a simple field (OC-NAME-2), and the beginning of the names of a complex one."""
        return self.prefix + self.component(field_name)

    def below(self, name: str, component: str) -> str:
        """The name one component further down (SE-PROP-4)."""
        return name + self.separator + self.component(component)

    def numbered(self, name: str, occurrence: int) -> str:
        """The name of a later occurrence of the same name: an extra last component `#2`, `#3` … (OC-NAME-3)."""
        return self.below(name, f"#{occurrence}")

    def encode(self, path: Sequence[str]) -> str:
        """The name of a path of one component or more."""
        return self.prefix + self.separator.join(map(self.component, path))

    def decode(self, name: str) -> tuple[str, ...]:
        """The path of a name. Raises MappingError where `encode` gives no such name."""
        if not name.startswith(self.prefix):
            raise self._undecodable(name)
        rest = name[len(self.prefix) :]
        path = self._unescape(name, rest) if self.escape else tuple(rest.split(self.separator))
        if self.encode(path) != name:
            raise self._undecodable(name)
        return path

    def _escaped(self, match: re.Match[str]) -> str:
        character = match[0]
        return self.escape * 2 if character == self.escape else f"{self.escape}u{ord(character):06x}"

    def _unescape(self, name: str, rest: str) -> tuple[str, ...]:
        """Every escape begins with the escape character, the separator among them."""
        path: list[str] = []
        component: list[str] = []
        boundary = self.separator[1]
        position = 0
        while (at := rest.find(self.escape, position)) >= 0:
            component.append(rest[position:at])
            what = rest[at + 1 : at + 2]
            position = at + 2
            if what == self.escape:
                component.append(what)
            elif what == boundary:
                path.append("".join(component))
                component.clear()
            elif (code := _ESCAPED_CHARACTER.match(rest, at + 1)) and int(code[1], 16) <= 0x10FFFF:
                component.append(chr(int(code[1], 16)))
                position = code.end()
            else:
                raise self._undecodable(name)
        path.append("".join(component) + rest[position:])
        return tuple(path)

    def _undecodable(self, name: str) -> MappingError:
        return MappingError("MAP-NAME", f"{name[:80]!r} is not a property name of profile {self.name}")


BORLAND: Final = Profile("borland", "$", ".", "", re.compile("(?!)"))
STRICT: Final = Profile("strict", "$", "$_", "$", re.compile("[^A-Za-z0-9_]"))
MQ: Final = Profile("mq", "_s", "_d", "_", re.compile("[^A-Za-z0-9]"))

PROFILES: Final = MappingProxyType({profile.name: profile for profile in (BORLAND, STRICT, MQ)})


@dataclass(frozen=True, slots=True)
class MapKeys(Profile):
    """Keys of a MapMessage: joined by `.`, nothing escaped, `#2` straight after a repeated key (OC-BODY-4, OC-BODY-5)."""

    def numbered(self, name: str, occurrence: int) -> str:
        return f"{name}#{occurrence}"


MAP_KEYS: Final = MapKeys("map keys", "", ".", "", re.compile("(?!)"))


_NUMBERED: Final = re.compile("#[0-9]+")


def field_name(name: str, profile: Profile) -> str:
    """The name that a field has by a property's name alone, where no metadata tells more."""
    if not name.startswith(profile.prefix):
        return name
    try:
        path = list(profile.decode(name))
    except MappingError:
        return name
    if len(path) > 1 and _NUMBERED.fullmatch(path[-1]):
        del path[-1]
    return ".".join(path)


class TakenNames:
    """Hands out each name once (OC-NAME-3, OC-NAME-7). Both directions take the same names in the same order, and so agree."""

    __slots__ = ("_journal", "_next", "_profile", "_taken")

    def __init__(self, profile: Profile, reserved: frozenset[str] = frozenset()) -> None:
        self._profile = profile
        self._taken = dict.fromkeys(reserved, True)
        self._next: dict[str, int] = {}
        self._journal: list[tuple[str, str | None, int]] = []

    def take(self, name: str) -> str:
        """The name itself, or its first numbered form that is free."""
        if name not in self._taken:
            self._taken[name] = True
            self._journal.append((name, None, 0))
            return name
        before = occurrence = self._next.get(name, 2)
        while (numbered := self._profile.numbered(name, occurrence)) in self._taken:
            occurrence += 1
        self._taken[numbered] = True
        self._next[name] = occurrence + 1
        self._journal.append((numbered, name, before))
        return numbered

    def mark(self) -> int:
        """A point to which `give_back` can return."""
        return len(self._journal)

    def give_back(self, mark: int) -> None:
        """Undo every `take` since the mark, as if it had never been."""
        while len(self._journal) > mark:
            taken, numbered_from, before = self._journal.pop()
            del self._taken[taken]
            if numbered_from is not None:
                self._next[numbered_from] = before


def reserved_names(profile: Profile) -> frozenset[str]:
    """Names that mean something of ours; a field of such a name gets a number (OC-NAME-3)."""
    metadata = profile.root(METADATA)
    rest = profile.below(metadata, REST)
    return frozenset(profile.root(name) for name in _RESERVED) | {
        rest,
        *(profile.below(name, str(part)) for name in (metadata, rest) for part in range(2, MAX_PARTS + 1)),
    }


DOMAIN: Final = "domain_type"
TYPE: Final = "type_name"
EVENT: Final = "event_name"
BODY: Final = "body"
BODY_TYPE: Final = "body_type"
GATEWAY_ID: Final = "gid"
HOPS: Final = "hops"  # mappings/marks.py
BATCH: Final = "batch"
METADATA: Final = "se"
REST: Final = "rest"  # below METADATA: the fields that found no room
MAX_PARTS: Final = 16  # of a text that is too long for one property
_RESERVED: Final = (DOMAIN, TYPE, EVENT, BODY, BODY_TYPE, GATEWAY_ID, HOPS, BATCH, METADATA)
