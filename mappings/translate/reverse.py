"""Message to StructuredEvent, for every message (RULES.md 5.5): by `$se`, by the names alone, or as a native message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from mappings.errors import MappingError
from mappings.idl_types import unalias
from mappings.model import PERSISTENT, Any_, Headers, Message, Property, StructuredEvent
from mappings.translate import metadata as se
from mappings.translate import names, quality
from mappings.translate.body_in import BodyReader
from mappings.translate.explanation import Entry, Trace
from mappings.translate.forward import JMS_TYPE
from mappings.translate.leaves import leaf_of, text_of
from mappings.translate.names import PROFILES, Profile, TakenNames, field_name
from mappings.translate.native import Native, remaining_ms
from mappings.translate.options import Options
from mappings.translate.priorities import PRIORITY_MAPS
from mappings.translate.rebuild import Rebuilder, Removed, decoded, octets_of
from mappings.translate.type_tags import TypeReader, bad_metadata

CACHED_METADATA: Final = 256


class Reverse:
    """Translates any message. `counts` as in `forward.Forward`."""

    def __init__(self, options: Options, counts: Counter[str]) -> None:
        self.options = options
        self.counts = counts
        self.profile = PROFILES[options.profile]
        self.priority = PRIORITY_MAPS[options.priority]
        self.native = Native(options, counts)
        self.bodies = BodyReader(options, self.native, counts)
        self._read: dict[str, tuple[se.Metadata, TypeReader]] = {}

    def __call__(self, message: Message, now_ms: int, trace: Trace = None) -> StructuredEvent:
        """Raises MappingError, Expired."""
        values = {name: value for name, _, value in message.properties if value is not None}
        text = se.found_in(values, self.profile)
        try:
            if text is not None:
                shared, dynamic = se.split(text)
                metadata, types = self.metadata(shared)
                once = _Once(self, message, values, metadata, se.read_dynamic(dynamic, types), now_ms, trace)
                return once.event()
            if message.headers.JMSType == JMS_TYPE and (profile := self._profile_of(values)) is not None:
                return self._by_names(message, values, profile, now_ms, trace)
            return self.native.event(message, now_ms, trace)
        except RecursionError:
            raise MappingError("MAP-DEPTH", "nested too deep to be translated") from None

    def metadata(self, text: str) -> tuple[se.Metadata, TypeReader]:
        """Read once per text."""
        known = self._read.get(text)
        if known is None:
            known = se.read(text)
            if len(self._read) >= CACHED_METADATA:
                del self._read[next(iter(self._read))]
            self._read[text] = known
        return known

    def _profile_of(self, values: Mapping[str, Any]) -> Profile | None:
        for profile in (self.profile, *PROFILES.values()):
            if profile.root(names.DOMAIN) in values and profile.root(names.TYPE) in values:
                return profile
        return None

    def _by_names(
        self,
        message: Message,
        values: Mapping[str, Any],
        profile: Profile,
        now_ms: int,
        trace: Trace,
    ) -> StructuredEvent:
        """A gateway made it with `$se` switched off: sections and types are lost, names and plain values are not."""
        remaining_ms(message.headers, now_ms)
        reserved = names.reserved_names(profile)
        header: list[Property] = []
        data: list[Property] = []
        for property_ in message.properties:
            name = property_.name
            if property_.value is None or name in reserved or is_ours(name):
                continue
            field = field_name(name, profile)
            if (known := quality.STANDARD_TYPES.get(field)) is not None:
                leaf = leaf_of(unalias(known))
                assert leaf is not None
                header.append(Property(field, known, leaf.read(property_.value, name)))
            else:
                data.append(self.native.field(field, property_, f"filterable_data[{len(data)}]", trace))
        mark = _text(values, profile.root(names.BODY))
        type_id = _text(values, profile.root(names.BODY_TYPE))
        domain, type_name, event_name = (self.native.text(_text(values, profile.root(name))) for name in FIXED)
        return StructuredEvent(
            domain,
            type_name,
            event_name,
            tuple(header),
            tuple(data),
            self.bodies.marked(message.body, mark, type_id, trace),
        )


FIXED: Final = (names.DOMAIN, names.TYPE, names.EVENT)


def _text(values: Mapping[str, Any], name: str) -> str:
    return text_of(values.get(name)) or ""


class _Once:
    """One translation by `$se`."""

    def __init__(
        self,
        reverse: Reverse,
        message: Message,
        values: dict[str, Any],
        metadata: se.Metadata,
        dynamic: se.Dynamic,
        now_ms: int,
        trace: Trace,
    ) -> None:
        self.reverse = reverse
        self.message = message
        self.metadata = metadata
        self.dynamic = dynamic
        self.profile = metadata.profile
        self.reserved = names.reserved_names(self.profile)
        self.values = values
        self.now_ms = now_ms
        self.trace = trace
        self.keys = TakenNames(self.profile)
        undo_rules(metadata, values)
        self.rebuilder = Rebuilder(
            self.profile,
            TakenNames(self.profile, self.reserved),
            values,
            dynamic.types,
            self.keys,
            reverse.counts,
            include_seq_alias=metadata.include_seq_alias,
            largest=reverse.options.limits.properties,
            trace=trace,
        )
        self.rest: list[Property] | None = None

    def event(self) -> StructuredEvent:
        left = remaining_ms(self.message.headers, self.now_ms)
        domain, type_name, event_name = (
            self._fixed(name, rule) for name, rule in zip(FIXED, _FIXED_RULES, strict=True)
        )
        header: list[Property] = []
        for field in self.metadata.header:
            restored = (
                self._from_header(field, left)
                if field.how == se.HEADER
                else self._field(field, "variable_header", len(header))
            )
            if restored is not None:
                header.append(restored)
        data = [
            restored
            for index, field in enumerate(self.metadata.data)
            if (restored := self._field(field, "filterable_data", index)) is not None
        ]
        data += self._added(len(data))
        metadata = self.metadata
        remainder = self.reverse.bodies.read(
            self.message.body, metadata.body, self.dynamic.types, self.keys, metadata.include_seq_alias, self.trace
        )
        return StructuredEvent(domain, type_name, event_name, tuple(header), tuple(data), remainder)

    def _fixed(self, name: str, rule: str) -> str:
        root = self.profile.root(name)
        text = self.reverse.native.text(_text(self.values, root))
        cut = name in self.metadata.cut
        self._explain(f"properties.{root}", "OC-EVT-1" if cut else rule, _EVENT_PATHS[name], "string", not cut)
        return text

    def _from_header(self, field: se.Field, left: int | None) -> Property:
        headers = self.message.headers
        taken, beside = self.rebuilder.take(self.profile.root(field.name)) if field.parts else ("", None)
        value: int
        if field.type is None or (leaf := leaf_of(unalias(field.type))) is None:
            raise bad_metadata("a header field has no type")
        if field.name == quality.RELIABILITY:
            value = 1 if headers.JMSDeliveryMode == PERSISTENT else 0
        elif field.name == quality.PRIORITY:
            value = self.reverse.priority.back(headers.JMSPriority)
            if beside is not None:
                value = leaf.read(beside, taken)
        elif field.name == quality.TIMEOUT:
            value = timeout_of(headers, left, self.dynamic.timeout)
        else:
            raise bad_metadata("a field was made a header field that is none")
        rule, header = _HEADER_RULES[field.name]
        self._explain(f"headers.{header}", rule, f"variable_header.{field.name}", field.type.kind, True)
        return Property(field.name, field.type, value)

    def _field(self, field: se.Field, section: str, index: int) -> Property | None:
        path = f"{section}[{index}].value"
        root = self.profile.root(field.name)
        if field.how == se.LOST:
            self._explain("properties.$se", "OC-TYPE-6", path, "longdouble", False)
            return None
        if field.how == se.REST_OF:
            return self._from_rest(field)
        if field.how == se.CDR:
            return self._from_cdr(field, root, path)
        if field.type is None or field.how != se.SENT:
            raise bad_metadata("a field has no type")
        try:
            return Property(field.name, field.type, self.rebuilder.field(field.type, root, path))
        except Removed:
            return None

    def _from_cdr(self, field: se.Field, root: str, path: str) -> Property | None:
        parts = [root, *(self.profile.below(root, str(part)) for part in range(2, field.parts + 1))]
        text = "".join(text_of(value) or "" for _, value in map(self.rebuilder.take, parts))
        if not text:
            return None
        any_ = decoded(octets_of(text, root), root)
        self._explain(f"properties.{root}", "OC-TYPE-20", path, any_.type.kind, True)
        return Property(field.name, any_.type, any_.value)

    def _from_rest(self, field: se.Field) -> Property | None:
        if self.rest is None:
            name = self.profile.below(self.profile.root(names.METADATA), names.REST)
            found = se.joined(name, self.profile, self.values)
            self.rest = []
            if found is not None:
                any_ = decoded(octets_of(found[0], name), name, "OC-TYPE-21")
                self.rest = [_as_property(each) for each in reversed(any_.value)]
        if self.rest and self.rest[-1].name == field.name:
            self._explain("properties.$se.rest", "OC-TYPE-21", field.name, self.rest[-1].type.kind, True)
            return self.rest.pop()
        return None

    def _added(self, index: int) -> list[Property]:
        """Fields that somebody added on the way."""
        known = self.rebuilder.used
        unknown = [
            property_
            for property_ in self.message.properties
            if property_.value is not None
            and property_.name in self.values
            and property_.name not in known
            and property_.name not in self.reserved
            and not is_ours(property_.name)
        ]
        if not unknown:
            return []
        roots = tuple(
            self.profile.root(field.name) + self.profile.separator
            for field in (*self.metadata.header, *self.metadata.data)
        )
        return [
            self.reverse.native.field(
                field_name(property_.name, self.profile), property_, f"filterable_data[{index + place}]", self.trace
            )
            for place, property_ in enumerate(p for p in unknown if not p.name.startswith(roots))
        ]

    def _explain(self, source: str, rule: str, path: str, kind: str, lossless: bool) -> None:
        if self.trace is not None:
            self.trace.append(Entry(source, rule, path, kind, lossless))


def timeout_of(headers: Headers, left: int | None, exact: int | None) -> int:
    """A Timeout: what is left of the time to live; exactly the original where no time has passed since."""
    ticks = 0 if left is None else left * quality.TICKS_PER_MS
    if exact is None:
        return ticks
    return min(exact, ticks) if headers.JMSExpiration and ticks else exact


def undo_rules(metadata: se.Metadata, values: dict[str, Any]) -> None:
    """Take out what rules of the sender's link added, and give back the names that they changed."""
    for added in metadata.added:
        values.pop(added, None)
    for old, new in reversed(metadata.renames):
        if new in values and old not in values:
            values[old] = values.pop(new)


def is_ours(name: str) -> bool:
    """Properties that providers and gateways set beside those of the application."""
    return name.startswith("JMS") or name == quality.DELAY_PROPERTY


def _as_property(each: Any) -> Property:
    any_: Any_ = each["value"]
    return Property(each["name"], any_.type, any_.value)


_FIXED_RULES: Final = ("SE-FIX-1", "SE-FIX-2", "SE-FIX-3")
_EVENT_PATHS: Final = {names.DOMAIN: "domain_name", names.TYPE: "type_name", names.EVENT: "event_name"}
_HEADER_RULES: Final = {
    quality.RELIABILITY: ("SE-VAR-1", "JMSDeliveryMode"),
    quality.PRIORITY: ("SE-VAR-2", "JMSPriority"),
    quality.TIMEOUT: ("SE-VAR-3", "JMSTimeToLive"),
}
