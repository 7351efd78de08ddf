"""The `$se` of a shape, written once and ready to be sent with every event of it (OC-META-1)."""

from __future__ import annotations

from mappings.idl_types import IdlType
from mappings.model import MessageProperty
from mappings.translate import metadata as se
from mappings.translate import names
from mappings.translate.forward import Forward
from mappings.translate.type_tags import TooLargeType


class SharedText:
    """The `$se` of a shape, ready to be sent."""

    def __init__(self, forward: Forward, header: list[se.Field], data: list[se.Field], body: se.BodyForm) -> None:
        """Raises TooLargeType, and ValueError where it is too long."""
        self._profile = forward.profile
        self._metadata = forward.metadata(tuple(header), tuple(data), body, ())
        self._text, self._types = se.write_shared(self._metadata)
        if len(self._text) > se.MAX_TEXT:
            raise ValueError(len(self._text))
        self.properties = self._in_parts(self._text)

    def _in_parts(self, text: str) -> tuple[MessageProperty, ...]:
        parts = se.in_parts(text, self._profile.root(names.METADATA), self._profile, se.PART_BYTES)
        return tuple(MessageProperty(name, "String", part) for name, part in parts)

    def with_dynamic(
        self, timeout: int | None, inner_types: dict[str, IdlType | None]
    ) -> tuple[MessageProperty, ...] | None:
        """With what belongs to one event; None where it is too long."""
        try:
            text = se.with_dynamic(self._text, se.Dynamic(timeout, inner_types), self._types.continued())
        except TooLargeType:
            return None
        return self._in_parts(text) if len(text) <= se.MAX_TEXT else None
