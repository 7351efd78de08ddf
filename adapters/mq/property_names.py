"""Names of properties in the `usr` folder (RULES.md 9.3).

What MQ's own property calls would not see, or XML would not bear, is written as `_x_` and the name with `__` for `_`, and `_u` with
six hexadecimal digits for every other character that is no letter or digit. The naming profile `mq` never needs it; properties
that come from elsewhere (`$gid`, `a.b`, `like`, `JMSsomething`) do, and come back under their own names.
"""

from __future__ import annotations

import re
from typing import Final

from adapters.mq.codec_error import CodecError

_START: Final = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
    "\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_LEGAL: Final = re.compile(f"(?!JMS|_x_)[{_START}][-0-9\xb7\u0300-\u036f\u203f-\u2040{_START}]*")
_KEYWORDS: Final = frozenset(("null", "true", "false", "not", "and", "or", "between", "like", "in", "is", "escape"))
_PREFIX: Final = "_x_"
_OTHERS: Final = re.compile("[^A-Za-z0-9]")
_ESCAPED: Final = re.compile("_(?:_|u([0-9a-f]{6}))")
_WHOLE: Final = re.compile("(?:[A-Za-z0-9]|__|_u[0-9a-f]{6})*")


def to_usr(name: str) -> str:
    """The name of the element. Raises CodecError."""
    if not name:
        raise CodecError("a property without a name")
    if _LEGAL.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return _PREFIX + _OTHERS.sub(_escaped, name)


def from_usr(element: str) -> str:
    """The inverse; an element that `to_usr` would never have made is taken as it is."""
    coded = element[len(_PREFIX) :]
    if not element.startswith(_PREFIX) or not coded or not _WHOLE.fullmatch(coded):
        return element
    try:
        name = _ESCAPED.sub(lambda match: "_" if match[1] is None else chr(int(match[1], 16)), coded)
    except ValueError:
        return element
    return name if to_usr(name) == element else element


def _escaped(match: re.Match[str]) -> str:
    return "__" if match[0] == "_" else f"_u{ord(match[0]):06x}"
