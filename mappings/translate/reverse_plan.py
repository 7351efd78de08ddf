"""Straight code for the messages of one `$se` text: `forward_plan.py` the other way round.

The plan finds every property by its name, because JMS keeps no order, and takes it as it is where its value already is one of the
IDL type; what a wire turned into text, or an application into another number, goes through the reader of its leaf. It gives None
where something is out of the ordinary (a property is missing or unknown, a text holds NUL): the walk of `reverse.py` does those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from mappings.checking import INTEGER_RANGES
from mappings.idl_types import LONG, Alias, Array, Exception_, IdlType, Sequence, Struct, unalias
from mappings.model import PERSISTENT, Any_, Message, Property, StructuredEvent
from mappings.plan_source import PlanSource, Text
from mappings.translate import metadata as se
from mappings.translate import names, quality
from mappings.translate.flatten import LENGTH, is_octets
from mappings.translate.leaves import TEXTS, Leaf, leaf_of
from mappings.translate.metadata import NO_DYNAMIC
from mappings.translate.names import TakenNames
from mappings.translate.native import remaining_ms
from mappings.translate.plan_cache import PLANS, RECENT
from mappings.translate.rebuild import Rebuilder, Removed, octets_of
from mappings.translate.reverse import FIXED, Reverse, is_ours, timeout_of, undo_rules
from mappings.translate.shapes import MAX_FIELDS, is_straight, roots_are_apart
from mappings.translate.type_tags import TypeReader

ReversePlan: TypeAlias = Callable[[Message, "dict[str, Any]", se.Dynamic, int], "StructuredEvent | None"]

_SIGNATURE: Final = "message, values, dynamic, now_ms"
_DEPTH: Final = 16  # the sender's limit is not known; what is deeper is walked
_ORDINALS: Final = tuple(str(ordinal) for ordinal in range(1, 1001))
_AS_IT_IS: Final = {"boolean": "bool", "double": "float"}
_PLANNED: Final = frozenset({se.SENT, se.HEADER, se.LOST})


def reverse_plan(reverse: Reverse, metadata: se.Metadata) -> ReversePlan | None:
    """A plan for messages with this metadata; None where there is none to be made."""
    fields = (*metadata.header, *metadata.data)
    profile = metadata.profile
    if (
        len(fields) > MAX_FIELDS
        or metadata.cut
        or any(field.how not in _PLANNED or field.type is None for field in fields)
        or not roots_are_apart([field.name for field in fields], profile, names.reserved_names(profile))
    ):
        return None
    writer = _Writer(reverse, metadata)
    writer.event()
    return writer.source.function(_SIGNATURE)


class _Known(NamedTuple):
    plan: ReversePlan
    metadata: se.Metadata
    types: TypeReader
    has_rules: bool  # the sender's link changed names or added properties


class ReversePlans:
    """Plans by the text of `$se`, bounded. The first message of a text pays for its plan; when there is no room, the second."""

    def __init__(self, reverse: Reverse) -> None:
        self._reverse = reverse
        self._name = reverse.profile.root(names.METADATA)
        self._plans: dict[str, _Known | None] = {}
        self._get = self._plans.get
        self._seen: dict[str, None] = {}

    def event(self, message: Message, values: dict[str, Any], now_ms: int) -> StructuredEvent | None:
        """By a plan; None where the message must be walked. Raises MappingError, Expired."""
        text = values.get(self._name)
        known = self._get(text) if type(text) is str else None
        dynamic = NO_DYNAMIC
        if known is None:
            text = se.found_in(values, self._reverse.profile)
            if text is None:
                return None
            shared, more = se.split(text)
            if shared not in self._plans:
                self._learn(shared)
            known = self._get(shared)
            if known is None:
                return None
            dynamic = se.read_dynamic(more, known.types)
        if known.has_rules:
            undo_rules(known.metadata, values)
        return known.plan(message, values, dynamic, now_ms)

    def _learn(self, text: str) -> None:
        if len(self._plans) >= PLANS:
            if text not in self._seen:
                if len(self._seen) >= RECENT:
                    del self._seen[next(iter(self._seen))]
                self._seen[text] = None
                return
            del self._seen[text]
            del self._plans[next(iter(self._plans))]
        metadata, types = self._reverse.metadata(text)
        plan = reverse_plan(self._reverse, metadata)
        has_rules = bool(metadata.renames or metadata.added)
        self._plans[text] = None if plan is None else _Known(plan, metadata, types, has_rules)


class _Writer:
    def __init__(self, reverse: Reverse, metadata: se.Metadata) -> None:
        self._reverse = reverse
        self._metadata = metadata
        self._profile = profile = metadata.profile
        reserved = names.reserved_names(profile)

        def strangers(values: dict[str, Any], known: int) -> bool:
            """Whether there is a property that is neither a field's nor ours."""
            return len(values) - known != sum(1 for name in values if name in reserved or is_ours(name))

        self._limit = reverse.options.limits.properties
        self.source = PlanSource(
            new=tuple.__new__,
            Property=Property,
            StructuredEvent=StructuredEvent,
            Any_=Any_,
            TakenNames=TakenNames,
            Removed=Removed,
            profile=profile,
            remaining_ms=remaining_ms,
            timeout_of=timeout_of,
            strangers=strangers,
            octets_of=octets_of,
            rebuild=self._rebuilder(),
            read_body=reverse.bodies.read,
            read_length=leaf_of(LONG).read,  # type: ignore[union-attr]
            ordinals=_ORDINALS,
        )
        self._known = 0  # properties that are always there
        self._walks = False

    def event(self) -> None:
        metadata, line = self._metadata, self.source.line
        fields = [field for field in (*metadata.header, *metadata.data) if field.how == se.SENT]
        self._walks = any(not is_straight(_type(field), _DEPTH) for field in fields)
        with self.source.block("try:"):
            line("known = 0")
            line("headers = message.headers")
            line("left = remaining_ms(headers, now_ms) if headers.JMSExpiration or headers.JMSTimeToLive else None")
            line("keys = TakenNames(profile)" if self._walks else "keys = None")
            if self._walks:
                line("rebuilder = rebuild(values, dynamic.types, keys)")
            for name, variable in zip(FIXED, ("domain", "type_name", "event_name"), strict=True):
                line(f"{variable} = values[{self._profile.root(name)!r}]")
                line(f"if type({variable}) is not str or '\\0' in {variable}: return None")
            header = [self._field(field, "variable_header", at) for at, field in enumerate(metadata.header)]
            data = [self._field(field, "filterable_data", at) for at, field in enumerate(metadata.data)]
            if self._walks:
                line("known += len(rebuilder.used)")
            line(f"known += {self._known}")
            gid = self._profile.root(names.GATEWAY_ID)
            with self.source.block(f"if len(values) - known - {len(FIXED) + 1} != ({gid!r} in values):"):
                line("if strangers(values, known): return None")
            self._body()
            line(
                "return StructuredEvent(domain, type_name, event_name, "
                f"{_tuple(header)}, {_tuple(data)}, Any_({self.source.constant(metadata.body.type)}, remainder))"
                if self._body_is_plain
                else f"return StructuredEvent(domain, type_name, event_name, {_tuple(header)}, {_tuple(data)}, remainder)"
            )
        with self.source.block("except (KeyError, Removed):"):
            line("return None")

    def _rebuilder(self) -> Callable[..., Rebuilder]:
        reverse, metadata = self._reverse, self._metadata

        def rebuild(values: dict[str, Any], inner_types: dict[str, IdlType | None], keys: TakenNames) -> Rebuilder:
            return Rebuilder(
                metadata.profile,
                TakenNames(metadata.profile),
                values,
                inner_types,
                keys,
                reverse.counts,
                include_seq_alias=metadata.include_seq_alias,
                largest=reverse.options.limits.properties,
                trace=None,
            )

        return rebuild

    # Fields

    def _field(self, field: se.Field, section: str, at: int) -> str | None:
        """Code that reads a field; the expression of its Property, None where it is lost."""
        type_ = _type(field)
        root = self._profile.root(field.name)
        if field.how == se.LOST:
            return None
        if field.how == se.HEADER:
            value = self._from_header(field, root)
        elif is_straight(type_, _DEPTH):
            value = self._value(type_, Text("", root), static=True)
        else:
            value = self.source.variable()
            path = f"{section}[{at}].value"
            self.source.line(f"{value} = rebuilder.field({self.source.constant(type_)}, {root!r}, {path!r})")
        return f"new(Property, ({field.name!r}, {self.source.constant(field.type)}, {value}))"

    def _from_header(self, field: se.Field, root: str) -> str:
        if field.name == quality.RELIABILITY:
            self._skip_beside(field, root)
            return f"1 if headers.JMSDeliveryMode == {PERSISTENT!r} else 0"
        if field.name == quality.TIMEOUT:
            self._skip_beside(field, root)
            return "timeout_of(headers, left, dynamic.timeout)"
        if field.name == quality.PRIORITY:
            if field.parts:
                return self._value(_type(field), Text("", root), static=True)
            return f"{self.source.constant(self._reverse.priority.back)}(headers.JMSPriority)"
        self.source.line("return None")  # no sender of ours says that of another field
        return "None"

    def _skip_beside(self, field: se.Field, root: str) -> None:
        if field.parts:
            self.source.line(f"values[{root!r}]")
            self._known += 1

    def _value(self, type_: IdlType, name: Text, *, static: bool) -> str:
        """Code that reads a value of a type that `is_straight`; gives an expression. `static`: it is there exactly once."""
        plain = unalias(type_)
        leaf = leaf_of(plain)
        if leaf is not None:
            return self._leaf(leaf, name, static)
        if isinstance(plain, Struct | Exception_):
            members = []
            for member in plain.members:
                below = name + (self._profile.separator + self._profile.component(member.name))
                members.append(f"{member.name!r}: {self._value(member.type, below, static=static)}")
            return f"{{{', '.join(members)}}}"
        assert isinstance(plain, Sequence | Array)
        return self._octets(plain, name, static) if is_octets(plain) else self._elements(type_, plain, name, static)

    def _found(self, name: Text, static: bool) -> str:
        variable = self.source.variable()
        self.source.line(f"{variable} = values[{name}]")
        if static:
            self._known += 1
        else:
            self.source.line("known += 1")
        return variable

    def _leaf(self, leaf: Leaf, name: Text, static: bool) -> str:
        line = self.source.line
        value = self._found(name, static)
        read = f"{value} = {self.source.constant(leaf.read)}({value}, {name})"
        if leaf.kind in INTEGER_RANGES:
            low, high = INTEGER_RANGES[leaf.kind]
            line(f"if type({value}) is not int or not {low} <= {value} <= {high}: {read}")
        elif leaf.kind in _AS_IT_IS:
            line(f"if type({value}) is not {_AS_IT_IS[leaf.kind]}: {read}")
        elif leaf.kind in TEXTS:
            line(f"if type({value}) is not str: {read}" if not leaf.bounded else read)
            line(f"if '\\0' in {value}: return None")
        else:
            line(read)
        return value

    def _octets(self, plain: Sequence | Array, name: Text, static: bool) -> str:
        found = self._found(name, static)
        self.source.line(f"{found} = octets_of({found}, {name})")
        if isinstance(plain, Array):
            self.source.line(f"if len({found}) != {plain.length}: return None")
        elif plain.bound:
            self.source.line(f"if len({found}) > {plain.bound}: return None")
        return found

    def _elements(self, type_: IdlType, plain: Sequence | Array, name: Text, static: bool) -> str:
        line = self.source.line
        separator = self._profile.separator
        if isinstance(type_, Alias) and self._metadata.include_seq_alias:
            name = name + (separator + self._profile.component(type_.name))
        if isinstance(plain, Array):
            length = str(plain.length)
        else:
            below = name + (separator + self._profile.component(LENGTH))
            length = self._found(below, static)
            line(f"if type({length}) is not int: {length} = read_length({length}, {below})")
            line(f"if {length} < 0: return None")
            if plain.bound:
                line(f"if {length} > {plain.bound}: return None")
        line(f"if {length} > {len(_ORDINALS)} or {length} > len(values) and {length} > {self._limit}: return None")
        out, ordinal, prefix = (self.source.variable() for _ in range(3))
        line(f"{out} = []")
        with self.source.block(f"for {ordinal} in ordinals[:{length}]:"):
            line(f"{prefix} = {name + separator} + {ordinal}")
            line(f"{out}.append({self._value(plain.element, Text(prefix, ''), static=False)})")
        return out

    # The body

    def _body(self) -> None:
        form = self._metadata.body
        kind = "" if form.type is None else unalias(form.type).kind
        line = self.source.line
        plain_text = form.form == "text" and kind in TEXTS and not leaf_of(unalias(form.type)).bounded  # type: ignore[arg-type, union-attr]
        self._body_is_plain = plain_text or (form.form == "none" and kind in ("null", "void"))
        keys = "keys" if self._walks else "TakenNames(profile)"
        read = (
            f"read_body(message.body, {self.source.constant(form)}, dynamic.types, {keys}, "
            f"{self._metadata.include_seq_alias}, None)"
        )
        if not self._body_is_plain:
            line(f"remainder = {read}")
            return
        line("remainder = message.body.value")
        if plain_text:
            line(
                "if type(remainder) is not str or '\\0' in remainder or message.body.type != 'TextMessage': return None"
            )
        else:
            line("if remainder is not None: return None")


def _type(field: se.Field) -> IdlType:
    assert field.type is not None
    return field.type


def _tuple(expressions: list[str | None]) -> str:
    kept = [expression for expression in expressions if expression is not None]
    return f"({', '.join(kept)},)" if kept else "()"
