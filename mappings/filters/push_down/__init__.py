"""What of a filter the far side can do already (RULES.md 8.4): ETCL as a selector, a selector as ETCL, event types as a selector.

    etcl_to_selector("$type_name == 'Alarm' and $Severity > 2")
    PushDown(text="$type_name = 'Alarm' AND ($Severity IS NULL OR NOT ($Severity <= 2))", residual="$Severity > 2")

`text` is for the far side, `residual` for the gateway to evaluate on what then still comes; either may be empty, which accepts
everything. The messages are those that a bridge makes of events in profile strict, with the priorities of OC-VAR-1 (`clamp`).

An expression is pushed down conjunct by conjunct, and only whole ones. **Nothing is lost**: whatever the full expression accepts,
the pushed text accepts. That is harder than it looks. `$Severity` may be a member of the body, which no selector sees; a `fixed`,
a large `unsigned long long`, and over STOMP every number is a String to the broker, and no String is greater than 2. So what goes
to the far side asks only for what must be so, and what that leaves open stays in the residual.

With `simple_fields` the caller promises that every field that the expression names is a simple one, stands once, in the header
or in the filterable data, and has on the far side the type that it is compared with. Then the translation is the plain one of
the table, nothing of it stays in the residual, and where ETCL would have no result because a field is missing in `A or B`, the
selector decides.

    safe_selector.py, safe_etcl.py      the translations that lose nothing
    plain_selector.py, plain_etcl.py    the table
    places.py, fields.py                components and properties, and which is where
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from mappings.errors import FilterError
from mappings.filters import etcl_text, etcl_tree, selector_text, selector_tree
from mappings.filters.etcl import compile_etcl
from mappings.filters.event_types import WILDCARD, EventTypes
from mappings.filters.push_down import safe_etcl, safe_selector
from mappings.filters.push_down.plain_etcl import plain_etcl
from mappings.filters.push_down.plain_selector import plain_selector
from mappings.filters.selector import CONVERT_PREFIX, compile_selector
from mappings.translate.names import DOMAIN, STRICT, TYPE


class PushDown(NamedTuple):
    text: str
    residual: str


def etcl_to_selector(text: str, *, simple_fields: bool = False) -> PushDown:
    """Raises FilterError where the text is no ETCL."""
    translate = plain_selector if simple_fields else safe_selector.safe_selector
    pushed: list[selector_tree.Expression] = []
    residual: list[etcl_tree.Expression] = []
    for conjunct in _etcl_conjuncts(compile_etcl(text).tree):
        translated = translate(conjunct)
        if translated is not None:
            pushed.append(translated)
        if translated is None or not (simple_fields or safe_selector.says_all(conjunct)):
            residual.append(conjunct)
    selector = _selector_of(list(dict.fromkeys(pushed)))
    if not _compiles(compile_selector, selector):  # it may have become too long, or too deep
        return PushDown("", text)
    return PushDown(selector, _etcl_of(residual))


def selector_to_etcl(text: str, *, simple_fields: bool = False) -> PushDown:
    """Raises FilterError where the text is no selector."""
    selector = compile_selector(text)
    plain = simple_fields and not selector.converting  # a field that is converted is not what it is compared with
    translate = plain_etcl if plain else safe_etcl.safe_etcl
    pushed: list[etcl_tree.Expression] = []
    residual: list[selector_tree.Expression] = []
    for conjunct in _selector_conjuncts(selector.tree):
        translated = translate(conjunct)
        if translated is not None:
            pushed.append(translated)
        if translated is None or not (plain or safe_etcl.says_all(conjunct)):
            residual.append(conjunct)
    etcl = _etcl_of(list(dict.fromkeys(pushed)))
    if not _compiles(compile_etcl, etcl):
        return PushDown("", text)
    left = _selector_of(residual)
    return PushDown(etcl, f"{CONVERT_PREFIX}{left}" if left and selector.converting else left)


def event_types_to_selector(types: Iterable[tuple[str, str]]) -> str:
    """A selector that accepts the messages of the events that these event types cover, and no others; for names below 64 KiB."""
    alternatives = []
    for type_ in EventTypes(types).types:
        domain_name, type_name = type_.normal()
        tests = [_name_test(DOMAIN, domain_name), _name_test(TYPE, type_name)]
        alternatives.append(" AND ".join(test for test in tests if test))
    if "" in alternatives:
        return ""
    unique = list(dict.fromkeys(alternatives))
    return unique[0] if len(unique) == 1 else " OR ".join(f"({each})" for each in unique)


def _name_test(name: str, pattern: str) -> str:
    property_ = STRICT.root(name)
    if pattern == WILDCARD:
        return ""
    if WILDCARD not in pattern:
        return f"{property_} = {selector_text.quoted(pattern)}"
    escaped = selector_text.like_literal(pattern).replace(WILDCARD, "%")
    ending = f" ESCAPE '{selector_text.ESCAPE}'" if selector_text.ESCAPE in escaped else ""
    return f"{property_} LIKE {selector_text.quoted(escaped)}{ending}"


def _etcl_conjuncts(tree: etcl_tree.Expression | None) -> list[etcl_tree.Expression]:
    if isinstance(tree, etcl_tree.And):
        return [conjunct for operand in tree.operands for conjunct in _etcl_conjuncts(operand)]
    return [] if tree is None else [tree]


def _selector_conjuncts(tree: selector_tree.Expression | None) -> list[selector_tree.Expression]:
    if isinstance(tree, selector_tree.And):
        return [conjunct for operand in tree.operands for conjunct in _selector_conjuncts(operand)]
    return [] if tree is None else [tree]


def _etcl_of(conjuncts: list[etcl_tree.Expression]) -> str:
    if len(conjuncts) <= 1:
        return etcl_text.write(conjuncts[0] if conjuncts else None)
    return etcl_text.write(etcl_tree.And(0, 1, tuple(conjuncts)))


def _selector_of(conjuncts: list[selector_tree.Expression]) -> str:
    if len(conjuncts) <= 1:
        return selector_text.write(conjuncts[0] if conjuncts else None)
    return selector_text.write(selector_tree.And(0, 1, tuple(conjuncts)))


def _compiles(compile_text: Callable[[str], object], text: str) -> bool:
    try:
        compile_text(text)
    except FilterError:
        return False
    return True
