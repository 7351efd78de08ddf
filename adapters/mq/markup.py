"""The markup of MQRFH2 folders and of map and stream bodies: elements, attributes, text, and nothing else of XML.

Safe by what it does not know: no DTD, no entity but the five of XML and character references, no comments, no processing
instructions. Tolerant where real writers are not XML: the prefix `xsi` is never declared, either quote will do, a bare `&` is
itself, and padding by blanks or NULs may follow.
"""

from __future__ import annotations

import re
from typing import Final

from adapters.mq.codec_error import CodecError

PADDING: Final = " \t\r\n\0"
DEEPEST: Final = 50

_NAME: Final = re.compile(r"[^ \t\r\n/<>=&'\"!?]+")
_ATTRIBUTE: Final = re.compile(r"[ \t\r\n]+([^ \t\r\n/<>=&'\"]+)[ \t\r\n]*=[ \t\r\n]*(?:\"([^\"<]*)\"|'([^'<]*)')")
_LEAF: Final = re.compile(
    r"<([^ \t\r\n/<>=&'\"!?]+)(?: dt=(?:'([A-Za-z0-9.]*)'|\"([A-Za-z0-9.]*)\"))?>([^<]*)</\1>"
)  # nearly every field: one match instead of many steps
_END: Final = re.compile(r"[ \t\r\n]*(/?)>")
_REFERENCE: Final = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));")
_ENTITIES: Final = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ESCAPES: Final = str.maketrans({char: f"&{name};" for name, char in _ENTITIES.items()})


class Element:
    """A tag with what is in it: children, or text."""

    __slots__ = ("attributes", "children", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = ""

    @property
    def is_nil(self) -> bool:
        return self.attributes.get("xsi:nil") in ("true", "1")


def escape(text: str) -> str:
    return text.translate(_ESCAPES)


def unescape(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def parse(text: str) -> Element:
    """The one element that the text holds. Raises CodecError."""
    root: Element | None = None
    stack: list[Element] = []
    position = 0
    while True:
        start = text.find("<", position)
        if stack:
            if start < 0:
                raise CodecError(f"<{stack[-1].name}> has no end")
            if start > position:
                stack[-1].text += text[position:start]
        elif text[position : start if start >= 0 else None].strip(PADDING):
            raise CodecError(f"text outside of any element, at character {position + 1}")
        if start < 0:
            break
        if stack:
            leaf = _LEAF.match(text, start)
            if leaf is not None:
                stack[-1].children.append(_leaf(leaf))
                position = leaf.end()
                continue
        if text.startswith("</", start):
            position = _close(text, start, stack)
            continue
        if not stack and root is not None:
            raise CodecError(f"a second element, at character {start + 1}")
        element, empty, position = _open(text, start)
        if stack:
            stack[-1].children.append(element)
        else:
            root = element
        if not empty:
            stack.append(element)
            if len(stack) > DEEPEST:
                raise CodecError(f"elements nest more than {DEEPEST} deep")
    if root is None:
        raise CodecError("no element")
    return root


def _leaf(match: re.Match[str]) -> Element:
    name, single, double, content = match.groups()
    dt = single if single is not None else double
    element = Element(name, {} if dt is None else {"dt": dt})
    element.text = unescape(content)
    return element


def _open(text: str, start: int) -> tuple[Element, bool, int]:
    """The element that begins here, whether it ends at once, and where its tag ends."""
    name = _NAME.match(text, start + 1)
    if name is None:
        raise CodecError(f"no element begins at character {start + 1}")
    attributes: dict[str, str] = {}
    position = name.end()
    while attribute := _ATTRIBUTE.match(text, position):
        value = attribute[2] if attribute[2] is not None else attribute[3]
        attributes.setdefault(attribute[1], unescape(value))
        position = attribute.end()
    end = _END.match(text, position)
    if end is None:
        raise CodecError(f"the tag of <{name[0]}> is broken, at character {position + 1}")
    return Element(name[0], attributes), bool(end[1]), end.end()


def _close(text: str, start: int, stack: list[Element]) -> int:
    end = text.find(">", start)
    name = text[start + 2 : end].rstrip(" \t\r\n")
    if end < 0 or not stack or stack[-1].name != name:
        raise CodecError(f"</{name[:40]}> ends nothing, at character {start + 1}")
    element = stack.pop()
    if element.children and element.text.strip(PADDING):
        raise CodecError(f"<{element.name}> holds both text and elements")
    element.text = unescape(element.text)
    return end + 1


def _character(reference: re.Match[str]) -> str:
    if reference[1] is not None:
        return _ENTITIES[reference[1]]
    code = int(reference[2]) if reference[2] is not None else int(reference[3], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise CodecError(f"{reference[0]} is no character")
    return chr(code)
