"""StructuredEvent to Message, for every event: the walk that the compiled plans are measured against and fall back on.

The order of the properties is that of the event: the fixed header (SE-FIX-*), the variable header, the filterable data, then
`$body`, `$body_type`, `$gid` and `$se`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from mappings.errors import MappingError, following
from mappings.idl_types import Basic, Fixed, IdlType, String, WString, unalias
from mappings.known_types import PROPERTY_SEQ
from mappings.model import (
    NON_PERSISTENT,
    PERSISTENT,
    Any_,
    Headers,
    Message,
    MessageProperty,
    Property,
    StructuredEvent,
)
from mappings.translate import metadata as se
from mappings.translate import names, quality
from mappings.translate.body_out import BodyOut, BodyWriter
from mappings.translate.explanation import Entry, Trace
from mappings.translate.flatten import Flattener, TooMuch, base64_of, encoded, exceeds
from mappings.translate.leaves import LARGEST_LONG
from mappings.translate.names import field_name
from mappings.translate.options import Options
from mappings.translate.priorities import PRIORITY_MAPS
from mappings.translate.rules import additions, renames
from mappings.translate.type_tags import TooLargeType

JMS_TYPE: Final = "Structured Event"  # SE-HDR-4
CUT_MARK: Final = "…"  # OC-EVT-1
DEFAULT_PRIORITY: Final = 4  # SE-VAR-4


class Forward:
    """Translates any event, field by field. `counts` says how often a rule had to give something up, by the rule's id."""

    def __init__(self, options: Options, counts: Counter[str]) -> None:
        self.options = options
        self.profile = names.PROFILES[options.profile]
        self.reserved = names.reserved_names(self.profile)
        self.priority = PRIORITY_MAPS[options.priority]
        self.absent_mode = PERSISTENT if options.absent_reliability == "persistent" else NON_PERSISTENT
        self.renames = tuple(renames(options.rules))
        self.added = tuple(additions(options.rules))
        self.bodies = BodyWriter(options)
        self.ordinals = tuple(str(ordinal) for ordinal in range(1, options.limits.properties + 1))  # for the plans
        self.indexes = tuple(f"[{index}]" for index in range(options.limits.properties))
        self._counts = counts

    def __call__(
        self, event: StructuredEvent, now_ms: int, elapsed_ms: int, gid: str | None, trace: Trace = None
    ) -> Message:
        """Raises MappingError, Expired."""
        try:
            try:
                once = _Once(self, event, now_ms, elapsed_ms, gid, trace)
                message = once.message(opaque=False)
            except _MetadataTooLong:
                # Types are what makes `$se` long: sent as CDR, a field brings its own.
                if trace is not None:
                    trace.clear()
                once = _Once(self, event, now_ms, elapsed_ms, gid, trace)
                message = once.message(opaque=True)
        except _MetadataTooLong:
            raise MappingError(
                "MAP-SIZE",
                "the types of this event take more room than $se has",
                path="properties.$se",
                hint="switch mapping.metadata off for this link, or use fewer fields",
                rule="OC-META-1",
            ) from None
        except RecursionError:
            raise MappingError("MAP-DEPTH", "nested too deep to be translated") from None
        self._counts.update(once.given_up)
        return message

    def metadata(
        self, header: tuple[se.Field, ...], data: tuple[se.Field, ...], body: se.BodyForm, cut: tuple[str, ...]
    ) -> se.Metadata:
        """The part of `$se` that all events of a shape share."""
        options = self.options
        return se.Metadata(self.profile, header, data, body, options.include_seq_alias, self.renames, self.added, cut)


def timeout_entry(path: str, timeout: int, elapsed_ms: int, metadata: bool) -> Entry:
    """A Timeout comes back as what is left of it; exactly, where no time has passed and `$se` keeps what is below 1 ms."""
    exact = not timeout % quality.TICKS_PER_MS and not elapsed_ms
    lossless = not timeout or (not elapsed_ms and metadata)
    return Entry(path, "SE-VAR-3" if exact else "OC-VAR-2", "headers.JMSTimeToLive", "long", lossless)


def timeout_property(name: str, timeout: int) -> MessageProperty:
    """A Timeout as a property (OC-VAR-7, OC-TYPE-4)."""
    if timeout > LARGEST_LONG:
        return MessageProperty(name, "String", str(timeout))
    return MessageProperty(name, "long", timeout)


class _MetadataTooLong(Exception):
    pass


class _Once:
    """One translation."""

    def __init__(
        self,
        forward: Forward,
        event: StructuredEvent,
        now_ms: int,
        elapsed_ms: int,
        gid: str | None,
        trace: Trace,
    ) -> None:
        self.forward = forward
        self.options = forward.options
        self.profile = forward.profile
        self.event = event
        self.now_ms = now_ms
        self.elapsed_ms = elapsed_ms
        self.gid = gid
        self.trace = trace
        self.given_up: list[str] = []  # rules
        self.out: list[MessageProperty] = []
        self.inner_types: dict[str, IdlType | None] = {}
        self.keys = names.TakenNames(self.profile)
        self.taken = names.TakenNames(self.profile, forward.reserved)
        self.rest: list[dict[str, Any]] = []
        self.cut: list[str] = []
        self.mode: str | None = None
        self.priority: int | None = None
        self.timeout: int | None = None
        self.stop: int | None = None

    def message(self, opaque: bool) -> Message:
        event, options = self.event, self.options
        ttl = self._time_to_live()
        self._fixed(names.DOMAIN, event.domain_name, "domain_name", "SE-FIX-1")
        self._fixed(names.TYPE, event.type_name, "type_name", "SE-FIX-2")
        self._fixed(names.EVENT, event.event_name, "event_name", "SE-FIX-3")
        self.flattener = Flattener(
            self.profile,
            self.taken,
            options.limits,
            include_seq_alias=options.include_seq_alias,
            trace=self.trace,
            out=self.out,
            inner_types=self.inner_types,
            keys=self.keys,
        )
        header = [self._header_field(field, index, opaque) for index, field in enumerate(event.variable_header)]
        data = [
            self._field(field, f"filterable_data[{index}].value", opaque)
            for index, field in enumerate(event.filterable_data)
        ]
        if self.stop is not None:
            self._explain("variable_header.StopTime", "OC-VAR-3", "headers.JMSTimeToLive", "long", True)
        self._send_rest()
        with following("OC-BODY-6"):  # what does not fit any other rule is CDR, and CDR alone looks at the value
            body = self.forward.bodies.write(event.remainder_of_body, self.inner_types, self.keys, self.trace, opaque)
        self._marks(body)
        if options.metadata:
            self._metadata(tuple(header), tuple(data), body.form, ttl)
        headers = Headers(
            JMS_TYPE,
            self.mode or self.forward.absent_mode,
            DEFAULT_PRIORITY if self.priority is None else self.priority,
            ttl,
            None if self.gid is None else f"ID:{self.gid}",  # SE-HDR-1
            self.now_ms,  # SE-HDR-2
            JMSDestination=options.destination,  # SE-HDR-3
        )
        return Message(headers, tuple(self.out), body.body)

    # The fixed header

    def _fixed(self, field: str, text: str, path: str, rule: str) -> None:
        name = self.profile.root(field)
        limit = self.options.limits.property_bytes
        whole = True
        if exceeds(text, limit):
            text = _cut(text, limit)
            rule, whole = "OC-EVT-1", False
            self.cut.append(field)
            self.given_up.append("OC-EVT-1")
        self.out.append(MessageProperty(name, "String", text))
        self._explain(path, rule, name, "String", whole)

    # Fields

    def _header_field(self, field: Property, index: int, opaque: bool) -> se.Field:
        name, type_, value = field
        path = f"variable_header[{index}].value"
        before = len(self.trace or ())
        if quality.consumes(name, type_, value) and (beside := self._consume(name, value, path)) is not None:
            if self.trace is not None and not self.options.metadata:
                self._without_metadata(before, type_ == quality.STANDARD_TYPES[name])
            return se.Field(name, type_, se.HEADER, beside)
        if name in quality.CONSUMED:
            self.given_up.append("OC-VAR-6")
        if name == quality.START_TIME and self.options.scheduled_delay and quality.is_time(type_):
            self._schedule(value["time"], path)
        return self._field(field, path, opaque)

    def _consume(self, name: str, value: int, path: str) -> int | None:
        """Make a header field of the first of its name; how many properties go beside it. None for any other."""
        metadata = self.options.metadata
        if name == quality.RELIABILITY and self.mode is None:
            self.mode = quality.delivery_mode(value)
            self._explain(path, "SE-VAR-1", "headers.JMSDeliveryMode", self.mode, True)
            beside = not metadata
        elif name == quality.PRIORITY and self.priority is None:
            self.priority = self.forward.priority.to_jms(value)
            beside = not metadata or self.forward.priority.back(self.priority) != value
            self._explain(path, "SE-VAR-2", "headers.JMSPriority", "int", True)
        elif name == quality.TIMEOUT and self.timeout is None:
            self.timeout = value
            if self.trace is not None:
                self.trace.append(timeout_entry(path, value, self.elapsed_ms, metadata))
            beside = not metadata
        else:
            return None
        if beside:  # OC-VAR-7
            taken = self.taken.take(self.profile.root(name))
            timeout = name == quality.TIMEOUT
            self.out.append(timeout_property(taken, value) if timeout else MessageProperty(taken, "short", value))
            self._explain(path, "OC-VAR-7" if not metadata else "OC-VAR-1", taken, self.out[-1].type, True)
        return int(beside)

    def _schedule(self, start: int, path: str) -> None:
        wait = quality.delay(start, self.now_ms)
        if wait and all(property_.name != quality.DELAY_PROPERTY for property_ in self.out):
            self.out.append(MessageProperty(quality.DELAY_PROPERTY, "long", wait))
            self._explain(path, "OC-VAR-4", quality.DELAY_PROPERTY, "long", True)

    def _field(self, field: Property, path: str, opaque: bool) -> se.Field:
        name, type_, value = field
        plain = unalias(type_)
        if plain.kind == "longdouble":
            self.given_up.append("OC-TYPE-6")
            self._explain(path, "OC-TYPE-6", "", "", False)
            return se.Field(name, type_, se.LOST)
        root = self.profile.root(name)
        before = len(self.trace or ())
        try:
            if opaque and _is_large(type_):
                raise TooMuch
            self.flattener.field(type_, value, root, path)
        except TooMuch:
            if self.flattener.room <= 0:
                self.rest.append({"name": name, "value": Any_(type_, value)})
                self._explain(path, "OC-TYPE-21", self._rest_name, "String", self.options.metadata)
                return se.Field(name, None, se.REST_OF)
            rule = "OC-TYPE-20" if plain.kind == "value" else "OC-TYPE-21"
            return se.Field(name, None, se.CDR, self._as_cdr(type_, value, root, path, rule))
        if self.trace is not None and not self.options.metadata:
            plain_name = name not in quality.CONSUMED and field_name(root, self.profile) == name
            is_plain = type_.kind in _PLAIN and plain_name and path.startswith("filterable_data")
            renamed = any(entry.rule == "OC-NAME-3" for entry in self.trace[before:])
            self._without_metadata(before, is_plain and not renamed)
        return se.Field(name, type_)

    def _as_cdr(self, type_: IdlType, value: Any, root: str, path: str, rule: str) -> int:
        """How many properties it took."""
        with following(rule):
            text = base64_of(encoded(type_, value))
            parts = _in_parts(text, root, self.profile, self.options.limits.property_bytes, path)
        for name, part in parts:
            taken = self.taken.take(name)
            self.out.append(MessageProperty(taken, "String", part))
            self._explain(path, rule, taken, "String", self.options.metadata)
        return len(parts)

    @property
    def _rest_name(self) -> str:
        return self.profile.below(self.profile.root(names.METADATA), names.REST)

    def _send_rest(self) -> None:
        if self.rest:
            limit = self.options.limits.property_bytes
            with following("OC-TYPE-21"):
                text = base64_of(encoded(PROPERTY_SEQ, self.rest))
                parts = _in_parts(text, self._rest_name, self.profile, limit, "filterable_data")
            for name, part in parts:
                self.out.append(MessageProperty(name, "String", part))

    def _without_metadata(self, before: int, lossless: bool) -> None:
        """Without `$se` only plain data of the seven plain types comes back as it was, and standard header fields."""
        assert self.trace is not None
        for index in range(before, len(self.trace)):
            self.trace[index] = self.trace[index]._replace(lossless=lossless)

    # The rest of the message

    def _time_to_live(self) -> int:
        """First of all: an event that is expired is not an error, whatever else is wrong with it."""
        header = self.event.variable_header
        timeout = next((f[2] for f in header if f[0] == quality.TIMEOUT and quality.consumes(*f)), 0)
        self.stop = quality.time_field(header, quality.STOP_TIME)
        return quality.time_to_live(timeout, self.stop, self.now_ms, self.elapsed_ms)

    def _marks(self, body: BodyOut) -> None:
        root = self.profile.root
        if body.mark:
            self.out.append(MessageProperty(root(names.BODY), "String", body.mark))
        if body.type_id:
            self.out.append(MessageProperty(root(names.BODY_TYPE), "String", body.type_id))
        if self.gid is not None:  # OC-ID-1
            self.out.append(MessageProperty(root(names.GATEWAY_ID), "String", self.gid))

    def _metadata(self, header: tuple[se.Field, ...], data: tuple[se.Field, ...], body: se.BodyForm, ttl: int) -> None:
        exact = None
        if self.timeout is not None and not self.elapsed_ms and ttl * quality.TICKS_PER_MS != self.timeout:
            exact = self.timeout
        shared = self.forward.metadata(header, data, body, tuple(self.cut))
        try:
            text = se.write(shared, se.Dynamic(exact, self.inner_types))
        except TooLargeType:
            raise _MetadataTooLong from None
        fields = (*header, *data)
        if len(text) > se.MAX_TEXT and any(field.how == se.SENT and _is_large(field.type) for field in fields):
            raise _MetadataTooLong
        name = self.profile.root(names.METADATA)
        with following("OC-META-1"):
            parts = _in_parts(text, name, self.profile, se.PART_BYTES, "properties.$se")
        for part_name, part in parts:
            self.out.append(MessageProperty(part_name, "String", part))

    def _explain(self, path: str, rule: str, to: str, type_: str, lossless: bool) -> None:
        if self.trace is not None:
            self.trace.append(Entry(path, rule, to, type_, lossless))


def _in_parts(text: str, name: str, profile: names.Profile, size: int, path: str) -> list[tuple[str, str]]:
    try:
        return se.in_parts(text, name, profile, size)
    except MappingError as error:
        error.path = path
        raise


def _is_large(type_: IdlType | None) -> bool:
    """Whether a type takes more than a tag in `$se`."""
    return not isinstance(type_, Basic | String | WString | Fixed) or type_.kind == "any"


_PLAIN: Final = frozenset({"boolean", "short", "long", "longlong", "float", "double", "string"})


def _cut(text: str, limit: int) -> str:
    """The beginning of a text, and a mark, in at most this many bytes."""
    room = max(0, limit - len(CUT_MARK.encode()))
    return text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore") + CUT_MARK
