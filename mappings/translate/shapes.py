"""When straight code may be written for a shape: names that cannot clash, and types whose parts are known beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from mappings.idl_types import Alias, Array, Exception_, IdlType, Sequence, Struct, unalias
from mappings.translate.flatten import is_octets
from mappings.translate.leaves import REFERENCES, leaf_of
from mappings.translate.names import Profile

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # no `.`, no ordinal, not `_length`, not `_d`
MAX_PARTS: Final = 200  # leaves that one field may add to a plan's source
MAX_FIELDS: Final = 1000


def roots_are_apart(names: Iterable[str], profile: Profile, reserved: frozenset[str]) -> bool:
    """Whether no property of one field can have the name of another's, whatever is below (OC-NAME-3, OC-NAME-7)."""
    roots = [profile.root(name) for name in names]
    distinct = set(roots)
    if len(distinct) != len(roots) or distinct & reserved:
        return False
    for root in roots:
        at = root.find(profile.separator)
        while at >= 0:
            if root[:at] in distinct:
                return False
            at = root.find(profile.separator, at + 1)
    return True


def is_straight(type_: IdlType, depth: int) -> bool:
    """Whether a value of this type is taken apart by code without a walk: every part known but for sequences' lengths."""
    return 0 < _leaves(type_, depth) <= MAX_PARTS


_NEVER: Final = 10**6


def _leaves(type_: IdlType, depth: int) -> int:
    plain = unalias(type_)
    leaf = leaf_of(plain)
    if leaf is not None:
        return 1 if leaf.kind not in REFERENCES else _NEVER  # a nil reference is noted in `$se`
    if depth <= 0:
        return _NEVER
    match plain:
        case Struct() | Exception_():
            names = [member.name for member in plain.members]
            if len(set(names)) < len(names) or not all(map(_PLAIN.fullmatch, names)) or not names:
                return _NEVER
            return min(_NEVER, sum(_leaves(member.type, depth - 1) for member in plain.members))
        case Sequence() | Array():
            if is_octets(plain):
                return 1
            if isinstance(type_, Alias) and not _PLAIN.fullmatch(type_.name):
                return _NEVER
            return min(_NEVER, 1 + _leaves(plain.element, depth - 1))
    return _NEVER
