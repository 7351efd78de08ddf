"""Straight code for one shape of event: the same fields, of the same types, in the same order.

What is decided when the plan is made: property names and types, which fields become headers, the text of `$se`, the lines of an
explanation. What is left to the plan: to see that an event is of its shape, to take the values out and to put them into
properties. It gives NOT_MINE for an event of another shape, and BAIL where something is out of the ordinary (a limit is hit, a
reliability of 7): the walk of `forward.py` does those, and says the same in every other case.

Fields that no straight code can be written for (unions, anys, recursive types …) are walked by `flatten.py` inside the plan.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from mappings.idl_types import IdlType, unalias
from mappings.makers import maker
from mappings.model import EMPTY_BODY, Any_, Body, Headers, Message, MessageProperty, Property, StructuredEvent
from mappings.plan_source import PlanSource, Text
from mappings.translate import metadata as se
from mappings.translate import names, quality
from mappings.translate.body_out import REMAINDER
from mappings.translate.explanation import Entry, Trace
from mappings.translate.flatten import Flattener, TooMuch
from mappings.translate.forward import DEFAULT_PRIORITY, JMS_TYPE, Forward, timeout_entry, timeout_property
from mappings.translate.leaves import TEXTS
from mappings.translate.names import TakenNames
from mappings.translate.property_source import PropertySource
from mappings.translate.shapes import MAX_FIELDS, is_straight, roots_are_apart
from mappings.translate.shared_text import SharedText
from mappings.translate.type_tags import TooLargeType

NOT_MINE: Final = None
BAIL: Final = False
_make_body: Final = maker(Body)
_make_headers: Final = maker(Headers)
_make_message: Final = maker(Message)

ForwardPlan: TypeAlias = Callable[[StructuredEvent, int, int, "str | None", Trace], "Message | bool | None"]

_SIGNATURE: Final = "event, now_ms, elapsed_ms, gid, trace"


def forward_plan(
    forward: Forward, event: StructuredEvent, counts: Counter[str], *, explain: bool
) -> ForwardPlan | None:
    """A plan for events of this one's shape; None where the shape is too large for one."""
    if len(event.variable_header) + len(event.filterable_data) > MAX_FIELDS:
        return None
    writer = _Writer(forward, event, counts, explain)
    writer.guard()
    if writer.possible:
        writer.message()
    else:
        writer.source.line("return False")
    return writer.source.function(_SIGNATURE)


class _Writer(PropertySource):
    """Writes the source of one plan, in the order of `forward.py`."""

    def __init__(self, forward: Forward, event: StructuredEvent, counts: Counter[str], explain: bool) -> None:
        self._forward = forward
        self._event = event
        source = PlanSource(
            new=tuple.__new__,
            Property=MessageProperty,
            Entry=Entry,
            make_message=_make_message,
            make_headers=_make_headers,
            make_body=_make_body,
            TakenNames=TakenNames,
            TooMuch=TooMuch,
            base64=lambda data: b64encode(data).decode("ascii"),
            time_to_live=quality.time_to_live,
            delay=quality.delay,
            timeout_entry=timeout_entry,
            timeout_property=timeout_property,
            write_body=forward.bodies.write,
            walk=_walker(forward),
            counts=counts,
            profile=forward.profile,
            ordinals=forward.ordinals,
            indexes=forward.indexes,
        )
        super().__init__(source, forward.profile, forward.options, explain=explain)
        fields = [field.name for field in (*event.variable_header, *event.filterable_data)]
        self.possible = roots_are_apart(fields, self._profile, forward.reserved)
        self._header: list[se.Field] = []
        self._data: list[se.Field] = []
        self._counted: list[str] = []  # rules that give something up
        self._walks = False
        self._beside = ""  # the variable that says whether `$Priority` is sent, and `$se` says so
        self._mode = repr(forward.absent_mode)
        self._priority = str(DEFAULT_PRIORITY)
        self._timeout = self._stop = ""

    # Which events the plan is for

    def guard(self) -> None:
        tests = []
        for section, letter in (("variable_header", "h"), ("filterable_data", "f")):
            fields: tuple[Property, ...] = getattr(self._event, section)
            if fields:
                targets = ", ".join(f"({letter}n{at}, {letter}t{at}, {letter}{at})" for at in range(len(fields)))
                self.source.line(f"{targets}, = event.{section}")
            for at, field in enumerate(fields):
                tests.append(f"{letter}n{at} == {field.name!r}")
                tests.append(self._is_type(f"{letter}t{at}", field.type))
        self.source.line("remainder = event.remainder_of_body")
        self.source.line("body_type = remainder.type")
        tests.append(self._is_type("body_type", self._event.remainder_of_body.type))
        with self.source.block(f"if not ({' and '.join(tests)}):"):
            self.source.line("return None")

    def _is_type(self, variable: str, type_: IdlType) -> str:
        """Types are nearly always the very objects that the plan was made with."""
        constant = self.source.constant(type_)
        return f"({variable} is {constant} or {variable} == {constant})"

    # The message

    def message(self) -> None:
        line = self.source.line
        if any(not is_straight(field.type, self._options.limits.depth) for field in self._fields()):
            line("inner_types = {}")
            line("keys = TakenNames(profile)")
            self._walks = True
        self._time_to_live()
        self._fixed()
        for at, field in enumerate(self._event.variable_header):
            self._header.append(self._header_field(field, f"h{at}", f"variable_header[{at}].value"))
        for at, field in enumerate(self._event.filterable_data):
            self._data.append(self._field(field, f"f{at}", f"filterable_data[{at}].value"))
        self._flush()
        line(f"if size > {self._options.limits.property_bytes // 4}: return False")
        line(f"if len(out) > {3 + self._options.limits.properties}: return False")
        if self._stop:
            place = Text("", f"variable_header.{quality.STOP_TIME}")
            self._entry(place, "OC-VAR-3", Text("", "headers.JMSTimeToLive"), "long")
            self._flush()
        self._body()
        self._tail()

    def _fields(self) -> list[Property]:
        header = [field for field in self._event.variable_header if not quality.consumes(*field)]
        return [*header, *self._event.filterable_data]

    def _fixed(self) -> None:
        names_and_rules = (
            ("domain_name", names.DOMAIN, "SE-FIX-1"),
            ("type_name", names.TYPE, "SE-FIX-2"),
            ("event_name", names.EVENT, "SE-FIX-3"),
        )
        self.source.line("out = []")
        self.source.line("size = 0")
        for attribute, name, rule in names_and_rules:
            self.source.line(f"{attribute} = event.{attribute}")
            self._text(Text("", self._profile.root(name)), attribute, Text("", attribute), rule)

    def _time_to_live(self) -> None:
        """First of all: an event that is expired costs nothing more."""
        for at, (name, type_, value) in enumerate(self._event.variable_header):
            if name == quality.TIMEOUT and quality.consumes(name, type_, value):
                self._timeout = f"h{at}"
            elif name == quality.STOP_TIME and quality.is_time(type_):
                self._stop = f"h{at}['time']"
        if self._timeout or self._stop:
            arguments = f"{self._timeout or 0}, {self._stop or None}, now_ms, elapsed_ms"
            self.source.line(f"ttl = time_to_live({arguments})")
        else:
            self.source.line("ttl = 0")

    # Fields

    def _header_field(self, field: Property, variable: str, path: str) -> se.Field:
        name, type_, value = field
        if not quality.consumes(name, type_, value):
            if name in quality.CONSUMED:
                self._counted.append("OC-VAR-6")
                if unalias(type_) == quality.CONSUMED[name]:  # a value that is none today may be one tomorrow
                    self.source.line(f"if {variable} in (0, 1): return False")
            if name == quality.START_TIME and quality.is_time(type_) and self._options.scheduled_delay:
                self._delay(variable, path)
            return self._field(field, variable, path)
        root = self._profile.root(name)
        metadata = self._options.metadata
        if name == quality.RELIABILITY:
            self.source.line(f"if {variable} != 0 and {variable} != 1: return False")
            modes = tuple(map(quality.delivery_mode, (0, 1)))
            self._mode = f"{self.source.constant(modes)}[{variable}]"
            entries = tuple(Entry(path, "SE-VAR-1", "headers.JMSDeliveryMode", mode, True) for mode in modes)
            self._entries.append(f"{self.source.constant(entries)}[{variable}]")
        elif name == quality.TIMEOUT:
            self._entries.append(f"timeout_entry({path!r}, {variable}, elapsed_ms, {metadata})")
            if not metadata:
                self._properties.append(f"timeout_property({root!r}, {variable})")
                self._flush()
                self._entries.append(f"Entry({path!r}, 'OC-VAR-7', {root!r}, out[-1].type, True)")
        else:
            self._priority_field(variable, path, root)
        if not metadata and name != quality.TIMEOUT:
            self._property(Text("", root), "short", variable, Text("", path), "OC-VAR-7")
        return se.Field(name, type_, se.HEADER, 0 if metadata else 1)

    def _priority_field(self, variable: str, path: str, root: str) -> None:
        priority = self._forward.priority
        to_jms, back = self.source.constant(priority.to_jms), self.source.constant(priority.back)
        self._priority = "priority"
        self.source.line(f"priority = {to_jms}({variable})")
        self._entry(Text("", path), "SE-VAR-2", Text("", "headers.JMSPriority"), "int")
        if self._options.metadata:
            self._flush()
            self._beside = "beside"
            self.source.line(f"beside = {back}(priority) != {variable}")
            with self.source.block("if beside:"):
                self._property(Text("", root), "short", variable, Text("", path), "OC-VAR-1")
                self._flush()

    def _delay(self, variable: str, path: str) -> None:
        self._flush()
        self.source.line(f"wait = delay({variable}['time'], now_ms)")
        with self.source.block("if wait:"):
            self._property(Text("", quality.DELAY_PROPERTY), "long", "wait", Text("", path), "OC-VAR-4")
            self._flush()

    def _field(self, field: Property, variable: str, path: str) -> se.Field:
        name, type_, _ = field
        if unalias(type_).kind == "longdouble":
            self._counted.append("OC-TYPE-6")
            self._entries.append(self.source.constant(Entry(path, "OC-TYPE-6", "", "", False)))
            return se.Field(name, type_, se.LOST)
        root = self._profile.root(name)
        if is_straight(type_, self._options.limits.depth):
            self._value(type_, variable, Text("", root), Text("", path), 0)
        else:
            self._flush()
            trace = "trace" if self._explain else "None"
            with self.source.block("try:"):
                type_name = self.source.constant(type_)
                self.source.line(f"walk({type_name}, {variable}, {root!r}, {path!r}, out, inner_types, keys, {trace})")
            with self.source.block("except TooMuch:"):
                self.source.line("return False")
        return se.Field(name, type_)

    # The rest of the message

    def _body(self) -> None:
        remainder = self._event.remainder_of_body
        kind = unalias(remainder.type).kind
        if not self._options.rules and kind in ("null", "void"):
            self.source.line(f"body = {self.source.constant(EMPTY_BODY)}")
            self._form = se.BodyForm("none", remainder.type)
            self._body_entry("OC-BODY-1", "Message")
        elif not self._options.rules and kind in TEXTS:
            self.source.line("body = make_body('TextMessage', remainder.value)")
            self._form = se.BodyForm("text", remainder.type)
            self._body_entry("SE-BODY-2" if kind == "string" else "OC-BODY-3", "TextMessage")
        elif self._forward.bodies.is_always_cdr(remainder.type):
            self._cdr_body(remainder.type)
        else:
            self._written_body(remainder)

    def _body_entry(self, rule: str, to: str) -> None:
        comes_back = self._forward.bodies.comes_back(self._form, self._event.remainder_of_body.type)
        self._entries.append(self.source.constant(Entry(REMAINDER, rule, "body", to, comes_back)))
        self._flush()

    def _cdr_body(self, type_: IdlType) -> None:
        from mappings.cdr import any_encoder

        encode = self.source.constant(any_encoder(type_))
        self.source.line(f"body = make_body('BytesMessage', {encode}(remainder.value))")
        self._form = se.BodyForm("cdr-any", None)
        self._body_entry("OC-BODY-6", "BytesMessage")
        marks = ((names.BODY, "cdr-any"), (names.BODY_TYPE, getattr(type_, "id", "")))
        properties = tuple(MessageProperty(self._profile.root(name), "String", text) for name, text in marks if text)
        self.source.line(f"out += {self.source.constant(properties)}")

    def _written_body(self, remainder: Any_) -> None:
        """The form that this event's body takes is that of the next one's too, or the plan bails out."""
        self._form = self._forward.bodies.write(remainder, {}, TakenNames(self._profile), None, False).form
        if not self._walks:
            self.source.line("inner_types = {}")
            self.source.line("keys = TakenNames(profile)")
            self._walks = True
        trace = "trace" if self._explain else "None"
        self.source.line(f"written = write_body(remainder, inner_types, keys, {trace}, False)")
        self.source.line(f"if written.form != {self.source.constant(self._form)}: return False")
        self.source.line("body = written.body")
        for attribute, name in (("mark", names.BODY), ("type_id", names.BODY_TYPE)):
            root = self._profile.root(name)
            with self.source.block(f"if written.{attribute}:"):
                self.source.line(f"out.append(new(Property, ({root!r}, 'String', written.{attribute})))")

    def _tail(self) -> None:
        line, constant = self.source.line, self.source.constant
        root = self._profile.root(names.GATEWAY_ID)
        with self.source.block("if gid is not None:"):
            line(f"out.append(new(Property, ({root!r}, 'String', gid)))")
        if self._options.metadata:
            self._metadata()
        for rule in self._counted:
            line(f"counts[{rule!r}] += 1")
        headers = f"{JMS_TYPE!r}, {self._mode}, {self._priority}, ttl, None if gid is None else 'ID:' + gid, now_ms"
        line(f"headers = make_headers({headers}, None, {constant(self._options.destination)}, None, None, None)")
        line("return make_message(headers, tuple(out), body)")

    def _metadata(self) -> None:
        """One text for all events, or two where Priority may go beside its header field; further ones only where values tell."""
        line = self.source.line
        header_beside = [
            field._replace(parts=1) if field.how == se.HEADER and field.name == quality.PRIORITY else field
            for field in self._header
        ]
        try:
            plain = SharedText(self._forward, self._header, self._data, self._form)
            beside = SharedText(self._forward, header_beside, self._data, self._form)
        except (TooLargeType, ValueError):
            line("return False")
            return
        shared = self.source.constant(plain)
        if self._beside:
            shared = f"({shared}, {self.source.constant(beside)})[beside]"
        if self._walks or self._timeout:
            line("exact = None")
            if self._timeout:
                ticks = f"ttl * {quality.TICKS_PER_MS}"
                line(f"if not elapsed_ms and {ticks} != {self._timeout}: exact = {self._timeout}")
            inner = "inner_types" if self._walks else "{}"
            with self.source.block(f"if exact is not None or {inner}:"):
                line(f"more = {shared}.with_dynamic(exact, {inner})")
                line("if more is None: return False")
                line("out += more")
            with self.source.block("else:"):
                line(f"out += {shared}.properties")
        else:
            line(f"out += {shared}.properties")


def _walker(forward: Forward) -> Callable[..., None]:
    """Walks a field that no straight code is written for; raises TooMuch."""
    profile, options = forward.profile, forward.options

    def walk(
        type_: IdlType,
        value: Any,
        root: str,
        path: str,
        out: list[MessageProperty],
        inner_types: dict[str, IdlType | None],
        keys: TakenNames,
        trace: Trace,
    ) -> None:
        Flattener(
            profile,
            TakenNames(profile),  # of its own: names of two fields cannot be the same
            options.limits,
            include_seq_alias=options.include_seq_alias,
            trace=trace,
            out=out,
            inner_types=inner_types,
            keys=keys,
        ).field(type_, value, root, path)

    return walk
