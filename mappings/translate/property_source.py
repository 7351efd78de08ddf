"""Source that takes values apart into properties: `flatten.py` for types whose parts are known when a plan is made."""

from __future__ import annotations

from mappings.idl_types import Alias, Array, Exception_, IdlType, Sequence, Struct, unalias
from mappings.plan_source import PlanSource, Text
from mappings.translate.explanation import Entry
from mappings.translate.flatten import LENGTH, is_octets
from mappings.translate.leaves import LARGEST_LONG, TEXTS, Leaf, leaf_of
from mappings.translate.names import Profile
from mappings.translate.options import Options


class PropertySource:
    """Writes source that appends to `out`, adds up the length of texts in `size`, and with `explain` appends to `trace`.

    Properties and lines are collected as expressions and written by `flush`, so that those of a whole run of fields are one
    tuple display.
    """

    def __init__(self, source: PlanSource, profile: Profile, options: Options, *, explain: bool) -> None:
        self.source = source
        self._profile = profile
        self._options = options
        self._explain = explain
        self._properties: list[str] = []  # expressions, not yet written
        self._entries: list[str] = []
        self._sizes: list[str] = []

    def _value(self, type_: IdlType, value: str, name: Text, path: Text, depth: int) -> None:
        """Code for a value of a type that `is_straight`; `value` is an expression."""
        plain = unalias(type_)
        leaf = leaf_of(plain)
        if leaf is not None:
            self._leaf(leaf, value, name, path, depth)
        elif isinstance(plain, Struct | Exception_):
            inside = self._variable(value)
            for member in plain.members:
                below = name + (self._profile.separator + self._profile.component(member.name))
                self._value(member.type, f"{inside}[{member.name!r}]", below, path + f".{member.name}", depth + 1)
        else:
            assert isinstance(plain, Sequence | Array)
            inside = self._variable(value)
            if is_octets(plain):
                self._sizes.append(f"len({inside}) * 2")
                self._property(name, "String", f"base64({inside})", path, "OC-TYPE-19")
            else:
                self._elements(type_, plain, inside, name, path, depth)

    def _variable(self, value: str) -> str:
        if value.isidentifier():
            return value
        variable = self.source.variable()
        self.source.line(f"{variable} = {value}")
        return variable

    def _leaf(self, leaf: Leaf, value: str, name: Text, path: Text, depth: int) -> None:
        rule = leaf.rule if leaf.rule != "OC-TYPE-1" or not depth else "SE-PROP-4"
        if leaf.kind in TEXTS:
            self._text(name, value, path, rule)
        elif leaf.kind == "ulonglong":
            value = self._variable(value)
            self.source.line(f"if {value} > {LARGEST_LONG}: return False")
            self._property(name, "long", value, path, rule)
        elif leaf.write is not None:
            self._property(name, leaf.jms, f"{self.source.constant(leaf.write)}({value})", path, rule)
        else:
            self._property(name, leaf.jms, value, path, rule)

    def _text(self, name: Text, value: str, path: Text, rule: str) -> None:
        value = self._variable(value)
        self._sizes.append(f"len({value})")
        self._property(name, "String", value, path, rule)

    def _elements(
        self, type_: IdlType, plain: Sequence | Array, value: str, name: Text, path: Text, depth: int
    ) -> None:
        separator = self._profile.separator
        if isinstance(type_, Alias) and self._options.include_seq_alias:
            name = name + (separator + self._profile.component(type_.name))
        if isinstance(plain, Sequence):
            length = name + (separator + self._profile.component(LENGTH))
            self._property(length, "int", f"len({value})", path, "OC-TYPE-18")
        self._flush()
        self.source.line(f"if len({value}) > {self._options.limits.properties}: return False")
        element, ordinal, index = (self.source.variable() for _ in range(3))
        if self._explain:
            head = f"for {ordinal}, {index}, {element} in zip(ordinals, indexes, {value}):"
        else:
            head = f"for {ordinal}, {element} in zip(ordinals, {value}):"
        with self.source.block(head):
            prefix, place = self.source.variable(), Text("", "")
            self.source.line(f"{prefix} = {name + separator} + {ordinal}")
            if self._explain:
                place = Text(self.source.variable(), "")
                self.source.line(f"{place} = {path} + {index}")
            self._value(plain.element, element, Text(prefix, ""), place, depth + 1)
            self._flush()
            if not leaf_of(unalias(plain.element)):
                self.source.line(f"if len(out) > {3 + self._options.limits.properties}: return False")

    def _property(self, name: Text, jms: str, value: str, path: Text, rule: str) -> None:
        self._properties.append(f"new(Property, ({name}, {jms!r}, {value}))")
        self._entry(path, rule, name, jms)

    def _entry(self, path: Text, rule: str, to: Text, type_: str) -> None:
        if not self._explain:
            return
        if path.variable or to.variable:
            self._entries.append(f"new(Entry, ({path}, {rule!r}, {to}, {type_!r}, True))")
        else:
            self._entries.append(self.source.constant(Entry(path.rest, rule, to.rest, type_, True)))

    def _flush(self) -> None:
        if self._sizes:
            self.source.line(f"size += {' + '.join(self._sizes)}")
        if self._properties:
            self.source.line(f"out += ({', '.join(self._properties)},)")
        if self._entries and self._explain:
            self.source.line(f"trace += ({', '.join(self._entries)},)")
        self._sizes.clear()
        self._properties.clear()
        self._entries.clear()
