"""Blank values fit every type; equivalence looks through typedefs and names, and at nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mappings import idl_types as idl
from mappings.blank_values import blank
from mappings.checking import check_value
from mappings.type_equivalence import equivalent
from tests.properties.strategies import idl_types


def renamed(type_: idl.IdlType) -> idl.IdlType:
    """The same on the wire: other names, and a typedef around each part."""
    changes: dict[str, Any] = {}
    for field in ("element", "type", "base", "discriminator"):
        inner = getattr(type_, field, None)
        if inner is not None:
            changes[field] = renamed(inner)
    if isinstance(type_, idl.Struct | idl.Exception_ | idl.Value | idl.Union):
        changes["members"] = tuple(
            replace(each, name=each.name + "_", type=renamed(each.type)) for each in type_.members
        )
    if hasattr(type_, "name"):
        changes["name"] = type_.name + "_"
    made = replace(type_, **changes) if changes else type_
    return made if isinstance(made, idl.Recursive | idl.Value) else idl.Alias("IDL:Alias:1.0", "Alias", made)


@given(idl_types)
def test_a_blank_value_fits(type_: idl.IdlType) -> None:
    check_value(type_, blank(type_))


@given(idl_types)
def test_names_and_typedefs_mean_nothing(type_: idl.IdlType) -> None:
    assert equivalent(type_, type_)
    assert equivalent(type_, renamed(type_))
    assert equivalent(renamed(type_), type_)


@given(idl_types, idl_types)
def test_equivalence_is_mutual(one: idl.IdlType, other: idl.IdlType) -> None:
    assert equivalent(one, other) == equivalent(other, one)


@given(st.sampled_from([idl.Struct, idl.Exception_]), idl_types)
def test_another_version_of_a_type_is_another_type(kind: Any, type_: idl.IdlType) -> None:
    old = kind("IDL:S:1.0", "S", (idl.Member("a", type_),))
    new = kind("IDL:S:1.0", "S", (idl.Member("a", type_), idl.Member("b", idl.LONG)))
    assert not equivalent(old, new)
    assert not equivalent(idl.Sequence(old), idl.Sequence(new))
    assert not equivalent(old, kind("IDL:T:1.0", "S", old.members))
    assert equivalent(old, kind("", "S", old.members)), "a peer may leave the id out"
