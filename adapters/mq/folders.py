"""The folders `mcd`, `jms` and `usr` of a JMS message (RULES.md 9.2): what they hold, as text and as fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from adapters.mq import values
from adapters.mq.codec_error import CodecError
from adapters.mq.markup import Element, escape, parse
from adapters.mq.property_names import from_usr, to_usr
from adapters.mq.rfh2 import Rfh2
from mappings.model import MessageProperty

_MCD: Final = re.compile(r"mcd://([^/?]*)/([^/?]*)/([^/?]*)(?:\?format=([^?]*))?")
_KNOWN: Final = frozenset({"mcd", "jms", "usr", "mqps", "mqext", "mq", "psc", "pscr"})
OTHER_PREFIX: Final = "rfh2."
LONGEST_KEPT: Final = 500


class Folders:
    """The merged folders of all MQRFH2 of a message: a later header wins; of two `usr` in one header the first counts."""

    def __init__(self, headers: Sequence[Rfh2], *, keep_others: bool = False) -> None:
        """Raises CodecError."""
        self.mcd: dict[str, str] = {}
        self.jms: dict[str, str] = {}
        self.mqps: dict[str, str] = {}
        self.usr: dict[str, MessageProperty] = {}
        self.null_text = False
        self._keep_others = keep_others
        for header in headers:
            seen: set[str] = set()
            for text in header.folders:
                folder = _parsed_mcd(text) if text.startswith("<mcd>") and len(text) < LONGEST_KEPT else parse(text)
                if folder.name not in seen:
                    seen.add(folder.name)
                    self._take(folder)

    @property
    def msd(self) -> str | None:
        return self.mcd.get("Msd")

    @property
    def jms_type(self) -> str | None:
        """`Type` alone for the kinds of JMS, else the URI that IBM MQ classes for JMS make of the message domain."""
        msd, type_ = self.msd, self.mcd.get("Type")
        if msd is None or msd.startswith("jms_"):
            return type_
        uri = f"mcd://{msd}/{self.mcd.get('Set', '')}/{type_ or ''}"
        return f"{uri}?format={self.mcd['Fmt']}" if self.mcd.get("Fmt") else uri

    def integer(self, field: str) -> int | None:
        """A number of the folder `jms`. Raises CodecError."""
        text = self.jms.get(field)
        if text is None:
            return None
        try:
            return values.read_long(text)
        except ValueError:
            raise CodecError(f"jms.{field} should be a number, and is {text[:40]!r}") from None

    def _take(self, folder: Element) -> None:
        match folder.name:
            case "usr":
                for child in folder.children:
                    self._property(from_usr(child.name), child)
            case "mcd":
                self.null_text = any(child.name == "msgbody" and child.is_nil for child in folder.children)
                self.mcd.update((child.name, child.text) for child in folder.children if not child.is_nil)
            case "jms":
                self.jms.update((child.name, child.text) for child in folder.children if not child.is_nil)
            case "mqps":
                self.mqps.update((child.name, child.text) for child in folder.children)
            case other if self._keep_others and other not in _KNOWN:
                for child in folder.children:
                    if not child.children:
                        self._property(f"{OTHER_PREFIX}{other}.{child.name}", child)

    def _property(self, name: str, element: Element) -> None:
        if element.children:
            return  # groups are no properties in `usr`; MQ's own property calls do not show them either
        type_, value = values.read(element)
        if type_ in ("bytes", "char"):
            type_, value = "String", element.text  # JMS has no such properties
        self.usr[name] = MessageProperty(name, type_, value)


@lru_cache(maxsize=256)
def _parsed_mcd(text: str) -> Element:
    """What is in it is the same for many messages. Nobody changes the elements."""
    return parse(text)


def mcd_folder(msd: str, jms_type: str | None, *, null_text: bool) -> str:
    pieces = [f"<mcd><Msd>{msd}</Msd>"]
    uri = _MCD.fullmatch(jms_type) if jms_type is not None and msd in ("jms_text", "jms_bytes") else None
    if uri is not None and uri[1] and not uri[1].startswith("jms_"):
        pieces = [f"<mcd><Msd>{escape(uri[1])}</Msd>"]
        parts = zip(("Set", "Type", "Fmt"), uri.groups()[1:], strict=True)
        pieces += [f"<{tag}>{escape(part)}</{tag}>" for tag, part in parts if part]
    elif jms_type is not None:
        pieces.append(f"<Type>{escape(jms_type)}</Type>")
    if null_text:
        pieces.append("<msgbody xsi:nil='true'></msgbody>")
    pieces.append("</mcd>")
    return "".join(pieces)


def jms_folder(fields: Sequence[tuple[str, str | int | None]]) -> str:
    filled = [f"<{tag}>{escape(str(value))}</{tag}>" for tag, value in fields if value is not None]
    return f"<jms>{''.join(filled)}</jms>"


class UsrFolder:
    """Writes `usr` folders; the names of an application's properties are few, and repeat."""

    MOST_NAMES: Final = 10_000

    def __init__(self) -> None:
        self._tags: dict[str, str] = {}

    def write(self, properties: Sequence[MessageProperty]) -> str:
        """Raises CodecError."""
        tags = self._tags
        pieces = ["<usr>"]
        for name, type_, value in properties:
            tag = tags.get(name)
            if tag is None:
                tag = to_usr(name)
                if len(tags) >= self.MOST_NAMES:
                    tags.clear()
                tags[name] = tag
            if type_ in ("char", "bytes"):
                raise CodecError(f"the property {name} is of type {type_}, which JMS properties cannot have")
            pieces.append(values.write(tag, type_, value))
        pieces.append("</usr>")
        return "".join(pieces)
