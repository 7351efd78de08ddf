"""Components that lead through recursive types, and through valuetypes whose bases are recursive."""

from __future__ import annotations

from mappings.filters import compile_etcl
from mappings.idl_types import LONG, Member, Recursive, Sequence, Struct, Value
from tests.unit.filters.samples import untyped

TREE = Struct("IDL:Tree:1.0", "Tree", (Member("n", LONG), Member("children", Sequence(Recursive("IDL:Tree:1.0")))))
BASE = Value("IDL:Base:1.0", "Base", None, (Member("b", LONG), Member("next", Recursive("IDL:Base:1.0"))))
DERIVED = Value("IDL:Derived:1.0", "Derived", BASE, (Member("d", LONG), Member("self", Recursive("IDL:Derived:1.0"))))


def test_a_struct_inside_itself() -> None:
    leaf = {"n": 3, "children": []}
    event = untyped(TREE, {"n": 1, "children": [{"n": 2, "children": [leaf]}]})
    assert compile_etcl("$.children[0].children[0].n == 3").matches(event)
    assert compile_etcl("$.children[0].children[0]._repos_id == 'IDL:Tree:1.0'").matches(event)
    assert compile_etcl("$.children[0].children[0].children._length == 0").matches(event)
    assert not compile_etcl("exist $.children[0].children[0].children[0]").matches(event)


def test_a_valuetype_inside_itself_and_inside_its_base() -> None:
    base = {"b": 2, "next": {"b": 3, "next": None}}
    inner = {"b": 4, "next": None, "d": 5, "self": None}
    event = untyped(DERIVED, {"b": 1, "next": base, "d": 6, "self": inner})
    assert compile_etcl("$.b == 1 and $.2 == 6 and $.next.next.b == 3 and $.self.d == 5").matches(event)
    assert compile_etcl("$.next._type_id == 'Base' and $.self._type_id == 'Derived'").matches(event)
    assert not compile_etcl("exist $.self.self.d").matches(event)
    assert not compile_etcl("exist $.next.d").matches(event)
